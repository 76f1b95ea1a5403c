package bench

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

// keySpace makes the keys and values of a benchmark. Each is a function of an index and the seed, so any number of
// goroutines can make and check them, and they need no memory.
type keySpace struct{ seed uint32 }

// key is a bijection of the 32-bit numbers: different indices give different keys, in random order.
func (s keySpace) key(i int) uint32 { return scramble(uint32(i) + s.seed) }

// value returns the value of a key.
func (s keySpace) value(key uint32) uint32 { return scramble(key ^ 0x5bd1e995 ^ s.seed) }

// scramble is a bijection of the 32-bit numbers, because each step is one: x ^ x>>k, or a product with an odd number.
func scramble(x uint32) uint32 {
	x ^= x >> 17
	x *= 0xed5ad4bb
	x ^= x >> 11
	x *= 0xac4c1b51
	x ^= x >> 15
	x *= 0x31848bab
	return x ^ x>>14
}

// order is a random permutation of 0 … n-1.
type order struct {
	n, mask uint64
	shift   int
	seed    uint64
}

func newOrder(n int, seed uint64) order {
	width := max(bits.Len64(uint64(max(n, 1)-1)), 2)
	high, low := bits.Mul64(seed^0xd6e8feb86659fd93, 0x9e3779b97f4a7c15) // each bit of seed changes low bits
	return order{n: uint64(n), mask: 1<<width - 1, shift: (width + 1) / 2, seed: high ^ low ^ low>>32}
}

// queryOrder is the order in which n keys are looked up.
func queryOrder(n int, seed uint32) order { return newOrder(n, uint64(seed)<<17|1) }

// at returns element i of the permutation. It repeats a bijection of the numbers of a fixed width until the result is
// below n.
func (o order) at(i int) int {
	x := uint64(i)
	for {
		for _, odd := range [...]uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb} {
			x = (x*odd + o.seed) & o.mask
			x ^= x >> o.shift
		}
		if x < o.n {
			return int(x)
		}
	}
}

// parallel calls work for ranges of 0 … n-1 on all processors. It fails if one of the calls does.
func parallel(n int, work func(first, end int)) {
	const least = 1 << 14 // below that a goroutine is not worth it
	parts := max(1, min(runtime.GOMAXPROCS(0), n/least))
	errs := make([]error, parts)
	var wait sync.WaitGroup
	for p := range parts {
		wait.Go(func() { errs[p] = attempt(func() { work(p*n/parts, (p+1)*n/parts) }) })
	}
	wait.Wait()
	ok(cmp.Or(errs...))
}

// each is parallel for single indices.
func each(n int, do func(i int)) {
	parallel(n, func(first, end int) {
		for i := first; i < end; i++ {
			do(i)
		}
	})
}

// fill sets each element to of(index), on all processors.
func fill[T any](s []T, of func(i int) T) { each(len(s), func(i int) { s[i] = of(i) }) }

// inAscent returns the numbers sorted, using all processors: it divides them by their first bits and sorts the parts.
func inAscent(s []uint32) []uint32 {
	parted := make([]uint32, len(s))
	begins := threads.Divide(len(s), 256, func(i int) int { return int(s[i] >> 24) },
		func(i, to int) { parted[to] = s[i] })
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for part, begin := range begins[:256] {
		all.Go(func() error { slices.Sort(parted[begin:begins[part+1]]); return nil })
	}
	_ = all.Wait() // sorting has no errors
	return parted
}

// The orders of a benchmark's keys.
const (
	random     = "random"
	ascending  = "ascending"
	descending = "descending"
)

// sequence has n different keys in an order. Each is a function of its index. Keys that are not random are spread
// evenly over the 32-bit numbers.
type sequence struct {
	space keySpace
	order string
	n     int
	step  uint32 // from a key to the next greater one; at least 2
}

func newSequence(space keySpace, order string, n int) sequence {
	return sequence{space: space, order: cmp.Or(order, random), n: n, step: uint32(min(1<<32/uint64(n), 1<<31))}
}

func (s sequence) key(i int) uint32 {
	switch s.order {
	case random:
		return s.space.key(i)
	case descending:
		i = s.n - 1 - i
	}
	return uint32(i) * s.step
}

// absent returns a key that the sequence does not have, a different one for each index.
func (s sequence) absent(i int) uint32 {
	if s.order == random {
		return s.space.key(s.n + i)
	}
	return s.key(i) + s.step/2
}

// spread has n ascending keys. Key i is a random number in the i-th of n parts of the 32-bit numbers.
type spread struct {
	seed, step uint32
}

func newSpread(n int, seed uint32) spread {
	return spread{seed, uint32(min(1<<32/uint64(n), 1<<31))}
}

func (s spread) key(i int) uint32 {
	return uint32(i)*s.step + uint32(uint64(scramble(uint32(i)^s.seed))*uint64(s.step)>>32)
}

// The levels of an LSM that are full.
const (
	fullLevels = "full" // a batch less than n pairs: all levels
	oneLevel   = "one"  // n pairs: one level, if they are a power of two of batches
)

// batchesOf returns the number of batches for n pairs, at least one.
func batchesOf(levels string, n, batch int) int {
	all := 1 << (bits.Len(uint(max(n/batch, 1))) - 1) // a power of two
	if levels == oneLevel {
		return all
	}
	return max(1, all-1)
}

// Keys and values are made of 32-bit numbers at both widths. An element of 64 bits has the number in its high word, and
// another one, computed from it, in its low word. So elements have the order of their numbers, and a check finds words
// of different elements that were mixed up.

// element returns the element of a width for the number x.
func element(w structures.Width, x uint32) uint64 {
	if w == structures.Bits32 {
		return uint64(x)
	}
	return uint64(x)<<32 | uint64(scramble(x))
}

// element returns the element of the session's width for the number x.
func (s *session) element(x uint32) uint64 { return element(s.width, x) }

// elementOf returns the element of type W for the number x, and upperOf the number of an element.
func elementOf[W structures.Word](x uint32) W { return W(element(structures.WidthOf[W](), x)) }
func upperOf[W structures.Word](x W) uint32 {
	return uint32(uint64(x) >> (structures.WidthOf[W]().Bits() - 32))
}

// ofWidth returns a measurement that is generic in Go's words, for the session's width.
func ofWidth(narrow, wide func(*session)) func(*session) {
	return func(s *session) {
		if s.width == structures.Bits64 {
			wide(s)
		} else {
			narrow(s)
		}
	}
}

// download copies the first words of a buffer.
func (s *session) download(b *vk.Buffer[uint32], n int) []uint32 {
	words := make([]uint32, n)
	ok(b.Download(s.ctx, 0, words))
	return words
}

// downloadElements copies the numbers of the first elements of a buffer.
func (s *session) downloadElements(b *vk.Buffer[uint32], n int) []uint32 {
	if s.width == structures.Bits32 {
		return s.download(b, n)
	}
	made, words := make([]uint32, n), s.carried(2*n)
	ok(b.Download(s.ctx, 0, words))
	each(n, func(i int) {
		if made[i] = words[2*i+1]; words[2*i] != scramble(made[i]) {
			s.fail("place %d: words of two elements: %#x, %#x", i, words[2*i], words[2*i+1])
		}
	})
	return made
}

// numbers are numbers of the elements' width, as on the device: sums, or numbers of pairs.
type numbers struct {
	words []uint32
	width structures.Width
}

func (s *session) downloadNumbers(b *vk.Buffer[uint32], n int) numbers {
	return numbers{s.download(b, n<<s.width), s.width}
}

func (s numbers) at(i int) uint64 {
	if s.width == structures.Bits32 {
		return uint64(s.words[i])
	}
	return uint64(s.words[2*i]) | uint64(s.words[2*i+1])<<32
}

func (s numbers) len() int { return len(s.words) >> s.width }

// from returns n of the numbers, beginning with one.
func (s numbers) from(first, n int) numbers {
	return numbers{s.words[first<<s.width : (first+n)<<s.width], s.width}
}

// modulo returns x modulo 2^32 or 2^64, by the width.
func (s numbers) modulo(x uint64) uint64 { return x & (1<<(32<<s.width) - 1) }

// Pairs returns the first n random keys of a seed's benchmarks, their values, and the keys in the order of the queries.
// Programs that are compared with vkds use them.
func Pairs(seed uint32, n int) (keys, values, queries []uint32) {
	keys, values, queries = make([]uint32, n), make([]uint32, n), make([]uint32, n)
	space, order := keySpace{seed}, queryOrder(n, seed)
	fill(keys, space.key)
	fill(values, func(i int) uint32 { return space.value(keys[i]) })
	fill(queries, func(i int) uint32 { return keys[order.at(i)] })
	return keys, values, queries
}
