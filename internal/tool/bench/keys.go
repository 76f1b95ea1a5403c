package bench

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// keySpace makes the keys and values of a benchmark: everything is a function of an index and the seed, so that
// any number of goroutines make and check them, and nothing need be kept.
type keySpace struct{ seed uint32 }

// key is a bijection of 32-bit numbers: different indices give different keys, in random order.
func (s keySpace) key(i int) uint32 { return scramble(uint32(i) + s.seed) }

// value is the value that belongs to a key.
func (s keySpace) value(key uint32) uint32 { return scramble(key ^ 0x5bd1e995 ^ s.seed) }

// scramble is a bijection of 32-bit numbers: each step (a shift onto itself, a product by an odd number) is one.
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
	high, low := bits.Mul64(seed^0xd6e8feb86659fd93, 0x9e3779b97f4a7c15) // every bit counts in the low ones
	return order{n: uint64(n), mask: 1<<width - 1, shift: (width + 1) / 2, seed: high ^ low ^ low>>32}
}

// queryOrder is the order in which n keys are asked for.
func queryOrder(n int, seed uint32) order { return newOrder(n, uint64(seed)<<17|1) }

// at returns what stands at place i: a bijection of the numbers of so many bits, repeated until it falls below n.
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

// parallel calls work for parts of 0 … n-1 on all processors and returns the first error.
func parallel(n int, work func(first, end int) error) error {
	const least = 1 << 14 // below that a goroutine is not worth it
	parts := max(1, min(runtime.GOMAXPROCS(0), n/least))
	errs := make([]error, parts)
	var wait sync.WaitGroup
	for p := range parts {
		wait.Go(func() { errs[p] = work(p*n/parts, (p+1)*n/parts) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls do for 0 … n-1, on all processors, and returns the first error.
func each(n int, do func(i int) error) error {
	return parallel(n, func(first, end int) error {
		for i := first; i < end; i++ {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// fill sets each element to what the function says of its index, on all processors.
func fill[T any](s []T, of func(i int) T) {
	parallel(len(s), func(first, end int) error {
		for i := first; i < end; i++ {
			s[i] = of(i)
		}
		return nil
	})
}

// ascending returns numbers in order, by all processors: parted by their first bits, and each part sorted.
func ascending(s []uint32) []uint32 {
	const parts, shift = 256, 24
	var ends [parts]int
	for _, x := range s {
		ends[x>>shift]++
	}
	var starts [parts]int
	for p := 1; p < parts; p++ {
		starts[p] = ends[p-1]
		ends[p] += ends[p-1]
	}
	parted, next := make([]uint32, len(s)), starts
	for _, x := range s {
		parted[next[x>>shift]] = x
		next[x>>shift]++
	}
	var turn atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for p := turn.Add(1) - 1; p < parts; p = turn.Add(1) - 1 {
				slices.Sort(parted[starts[p]:ends[p]])
			}
		})
	}
	wait.Wait()
	return parted
}
