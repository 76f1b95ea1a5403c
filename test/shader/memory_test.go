package shader

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// What shaders/test/memory.comp can do.
const (
	addressAdd = iota
	addressAt
	plainLoad
	plainLoad2
	plainLoad4
	plainStore
	plainStore2
	plainStore4
	coherentLoad2
	coherentLoad4
	atomicLoad
	atomicStore
	atomicAdd
	atomicMin
	atomicMax
	atomicAnd
	atomicOr
	atomicExchange
	atomicCas
	plainLoadAt
	plainStoreAt
	plainLoadNear
	plainStoreNear
	atomicLoad2
	atomicAdd2
	atomicAnd2
	atomicCas2
	atomicMin2
	atomicMax2
)

const lastNarrow, lastWide = plainStoreNear, atomicMax2

type memoryPush struct {
	Operations, Addresses, Answers uint64
	Count                          uint32
}

type (
	pair [2]uint32
	quad [4]uint32
)

func (p pair) long() uint64    { return uint64(p[1])<<32 | uint64(p[0]) }
func short(long uint64) pair   { return pair{uint32(long), uint32(long >> 32)} }
func (q quad) pair() pair      { return pair{q[0], q[1]} }
func (q *quad) setPair(p pair) { q[0], q[1] = p[0], p[1] }

// memoryOperation is one invocation's.
type memoryOperation struct {
	what uint32
	a, b pair
}

// apply is the model: what an operation does to the memory at its place, and answers.
func (o memoryOperation) apply(at *quad) (answer quad) {
	word, long := at[0], at.pair()
	switch o.what {
	case addressAdd:
		answer.setPair(short(o.a.long() + uint64(o.b[0])))
	case addressAt:
		answer.setPair(short(o.a.long() + uint64(o.b[0])<<o.b[1]))
	case plainLoad, atomicLoad, plainLoadAt, plainLoadNear:
		answer[0] = word
	case plainLoad2, coherentLoad2, atomicLoad2:
		answer.setPair(long)
	case plainLoad4, coherentLoad4:
		answer = *at
	case plainStore, atomicStore, plainStoreAt, plainStoreNear:
		at[0] = o.a[0]
	case plainStore2:
		at.setPair(o.a)
	case plainStore4:
		*at = quad{o.a[0], o.a[1], o.b[0], o.b[1]}
	case atomicAdd, atomicMin, atomicMax, atomicAnd, atomicOr, atomicExchange, atomicCas:
		answer[0] = word
		switch o.what {
		case atomicAdd:
			at[0] = word + o.a[0]
		case atomicMin:
			at[0] = min(word, o.a[0])
		case atomicMax:
			at[0] = max(word, o.a[0])
		case atomicAnd:
			at[0] = word & o.a[0]
		case atomicOr:
			at[0] = word | o.a[0]
		case atomicExchange:
			at[0] = o.a[0]
		case atomicCas:
			if word == o.b[0] {
				at[0] = o.a[0]
			}
		}
	case atomicAdd2:
		answer.setPair(long)
		at.setPair(short(long.long() + o.a.long()))
	case atomicAnd2:
		answer.setPair(long)
		at.setPair(short(long.long() & o.a.long()))
	case atomicMin2:
		answer.setPair(long)
		at.setPair(short(min(long.long(), o.a.long())))
	case atomicMax2:
		answer.setPair(long)
		at.setPair(short(max(long.long(), o.a.long())))
	case atomicCas2:
		answer.setPair(long)
		if long == o.b {
			at.setPair(o.a)
		}
	}
	return answer
}

// before is how many bytes before its cell the array begins of which the cell is the word b[0].
func (o memoryOperation) before() uint64 {
	switch o.what {
	case plainLoadAt, plainStoreAt, plainLoadNear, plainStoreNear:
		return 4 * uint64(o.b[0])
	}
	return 0
}

// machine runs memory operations on the device.
type machine struct {
	r    *rig
	k    *vk.Kernel[memoryPush]
	wide bool
}

func newMachine(t *testing.T, r *rig, wide bool) machine {
	module := "test/memory.a32"
	if wide {
		module = "test/memory.a64"
	}
	return machine{r, kernel[memoryPush](t, r, module, nil), wide}
}

// run does operation i at cell places[i], and returns what the operations answer and what the cells hold then.
func (m machine) run(operations []memoryOperation, places []int, cells []quad) (answers, after []quad) {
	var memory, words []uint32
	for _, c := range cells {
		memory = append(memory, c[:]...)
	}
	at := put(m.r, memory)
	addresses := make([]uint64, len(places))
	for i, place := range places {
		addresses[i] = at.AddressOf(4*place) - operations[i].before()
	}
	for _, o := range operations {
		words = append(words, o.what, 0, o.a[0], o.a[1], o.b[0], o.b[1], 0, 0)
	}
	out := room[uint32](m.r, 4*len(operations))
	run(m.r, m.k, len(operations), memoryPush{
		put(m.r, words).Address(), put(m.r, addresses).Address(), out.Address(), uint32(len(operations)),
	})
	return quads(get(m.r, out)), quads(get(m.r, at))
}

func quads(words []uint32) []quad {
	all := make([]quad, len(words)/4)
	for i := range all {
		all[i] = quad(words[4*i:])
	}
	return all
}

// interesting is a word at the edges half of the time.
func interesting(rnd *rand.Rand) uint32 {
	edges := []uint32{0, 1, ^uint32(0), ^uint32(0) - 1, 1 << 31, 1<<31 - 1}
	if i := rnd.IntN(2 * len(edges)); i < len(edges) {
		return edges[i]
	}
	return rnd.Uint32()
}

// Every function, each invocation on memory of its own.
func TestMemory(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		m := newMachine(t, r, wide)
		last := uint32(lastNarrow)
		if wide {
			last = lastWide
		}
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			const n = 500
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			operations, places, cells := make([]memoryOperation, n), rnd.Perm(n), make([]quad, n)
			for i := range operations {
				o := memoryOperation{rnd.Uint32N(last + 1), pair{interesting(rnd), interesting(rnd)},
					pair{interesting(rnd), interesting(rnd)}}
				cell := &cells[places[i]]
				*cell = quad{interesting(rnd), interesting(rnd), interesting(rnd), interesting(rnd)}
				switch {
				case o.what == addressAt:
					o.b[1] = 1 + rnd.Uint32N(31) // its shift
				case o.what == plainLoadNear || o.what == plainStoreNear:
					o.b[0] >>= 3
				case (o.what == atomicCas || o.what == atomicCas2) && rnd.IntN(2) == 0:
					o.b = cell.pair()
				}
				operations[i] = o
			}
			answers, after := m.run(operations, places, cells)
			for i, o := range operations {
				cell := cells[places[i]]
				want := o.apply(&cell)
				require.Equal(t, want, answers[i], "answer of %+v at %v", o, cells[places[i]])
				require.Equal(t, cell, after[places[i]], "memory after %+v at %v", o, cells[places[i]])
			}
		})
	})
}

// All invocations on one cell: whatever their order, the answers and the end are those of one.
func TestAtomicsTogether(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		m := newMachine(t, r, wide)
		const n = 4096
		// together does an operation of each operand, and returns what the operations saw, and the end.
		together := func(what uint32, start pair, a []pair, b pair) (seen []pair, end pair) {
			defer r.release()
			operations := make([]memoryOperation, len(a))
			for i := range a {
				operations[i] = memoryOperation{what, a[i], b}
			}
			answers, after := m.run(operations, make([]int, len(a)), []quad{{start[0], start[1], 5, 6}})
			for _, q := range answers {
				seen = append(seen, q.pair())
			}
			require.Equal(t, pair{5, 6}, pair{after[0][2], after[0][3]}, "the memory behind")
			return seen, after[0].pair()
		}
		rnd := random(6)
		operands := make([]pair, n)
		for i := range operands {
			operands[i] = pair{rnd.Uint32(), rnd.Uint32()}
		}
		fold := func(what uint32, start pair) pair {
			cell := quad{start[0], start[1]}
			for _, a := range operands {
				memoryOperation{what, a, pair{}}.apply(&cell)
			}
			return cell.pair()
		}
		ones := make([]pair, n)
		for i := range ones {
			ones[i] = pair{1, 0}
		}
		// One after the other, each adding 1, sees each number once.
		requireSteps := func(seen []pair, start uint64, mask uint64) {
			t.Helper()
			times := map[uint64]int{}
			for _, p := range seen {
				times[p.long()&mask]++
			}
			for i := range uint64(n) {
				require.Equal(t, 1, times[(start+i)&mask], "the sum after %d steps", i)
			}
		}
		const word, long = 1<<32 - 1, 1<<64 - 1
		for name, what := range map[string]uint32{
			"add": atomicAdd, "min": atomicMin, "max": atomicMax, "and": atomicAnd, "or": atomicOr,
		} {
			start := pair{1 << 31, 77}
			_, end := together(what, start, operands, pair{})
			require.Equal(t, fold(what, start), end, name)
		}
		seen, end := together(atomicAdd, pair{word - 100, 77}, ones, pair{})
		requireSteps(seen, word-100, word)
		require.Equal(t, pair{n - 101, 77}, end, "a word's sum carries into no other")

		// What is exchanged goes round: everything put in comes out but the last.
		seen, end = together(atomicExchange, pair{42, 77}, operands, pair{})
		in, out := []uint32{42}, []uint32{end[0]}
		for i := range n {
			in, out = append(in, operands[i][0]), append(out, seen[i][0])
		}
		slices.Sort(in)
		slices.Sort(out)
		require.Equal(t, in, out)

		requireOneWins := func(seen []pair, start, end pair) {
			t.Helper()
			winners := 0
			for i := range seen {
				if seen[i] == start {
					winners++
					require.Equal(t, end[0], operands[i][0])
				} else {
					require.Equal(t, end[0], seen[i][0], "a loser sees the winner's")
				}
			}
			require.Equal(t, 1, winners)
		}
		seen, end = together(atomicCas, pair{42, 0}, operands, pair{42})
		requireOneWins(seen, pair{42, 0}, end)

		if !wide {
			return
		}
		seen, end = together(atomicAdd2, pair{word - 100, 7}, ones, pair{})
		requireSteps(seen, pair{word - 100, 7}.long(), long)
		require.Equal(t, pair{n - 101, 8}, end, "a pair's sum carries")
		for name, what := range map[string]uint32{"add2": atomicAdd2, "and2": atomicAnd2} {
			start := pair{word, word}
			_, end := together(what, start, operands, pair{})
			require.Equal(t, fold(what, start), end, name)
		}
		seen, end = together(atomicCas2, pair{42, 43}, operands, pair{42, 43})
		requireOneWins(seen, pair{42, 43}, end)
	})
}

type messagePush struct {
	Messages, Flags, Partners, Answers uint64
	Count                              uint32
}

// Who sees a flag that was published behind a release fence sees, behind an acquire fence, what was written before it.
func TestFences(t *testing.T) {
	r := newRig(t)
	k := kernel[messagePush](t, r, "test/message", nil)
	const n = 1 << 15
	delivered := 0
	for round := range 10 {
		rnd := random(uint64(round))
		partners := make([]uint32, n)
		for i := range partners {
			partners[i] = rnd.Uint32N(uint32(i + 1)) // an earlier one: its flag is likely to be up
		}
		answers := room[uint32](r, 2*n)
		run(r, k, n, messagePush{
			put(r, make([]uint32, 2*n)).Address(), put(r, make([]uint32, n)).Address(),
			put(r, partners).Address(), answers.Address(), n,
		})
		out := get(r, answers)
		for i := range n {
			if out[2*i] == 1 {
				delivered++
				require.Zero(t, out[2*i+1], "half of a message")
			}
		}
		r.release()
	}
	require.NotZero(t, delivered, "no message came through")
}
