package runs

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// RankArgs are the operands of Rank.
type RankArgs struct {
	Keys    uint64 // a key for each query
	Ranks   uint64 // out: a word for each query: the number of valid pairs with smaller keys
	N       int    // queries
	CountAt uint64 // 0, or the address of the number of queries, at most N
	Unique  bool   // as in CountArgs
	Scratch uint64 // RankScratch bytes
}

// SelectArgs are the operands of Select.
type SelectArgs struct {
	Ranks              uint64 // a word for each query; the least valid pair has rank 0
	OutKeys, OutValues uint64 // out: the pair of each rank, 0 and 0 if there is none
	// out: a byte for each query: structures.Found or Absent; room for N rounded up to a multiple of 4
	Status  uint64
	N       int    // queries
	CountAt uint64 // as in RankArgs, like the fields below
	Unique  bool
	Scratch uint64
}

// validity is Validity of shaders/runs/run_rank.glsl.
type validity struct{ Flags, Before uint64 }

type validPairsPush struct {
	Stack        Stack
	Flags        uint64
	First, Count uint32
}

type rankPush struct {
	Stack       Stack
	Validity    validity
	Keys, Ranks uint64
	Count       recording.Length
}

type selectPush struct {
	Stack                               Stack
	Validity                            validity
	Ranks, OutKeys, OutValues, Statuses uint64
	Count                               recording.Length
	All, First                          uint32
}

// rankWorkgroup is the workgroup size of the kernels that find the places of pairs, a multiple of 32.
const rankWorkgroup = 128

// selectAtOnce is how many bits of keys one dispatch finds by ranks if some pairs are not valid. Each bit takes a
// search of all runs.
const selectAtOnce = 1 << 21

// AtOnce returns how many pairs one dispatch should look up in all newer runs at most, so that it takes little time.
func (q *Queries) AtOnce() int {
	if q.d.Info().Type == vk.CPU {
		return 1 << 17
	}
	return 1 << 24
}

// validityPlan is the division of the scratch memory of Rank and Select.
type validityPlan struct {
	validity
	counts, scan uint64
	words        int
	bytes        uint64
}

func (q *Queries) validityPlan(st Stack, unique bool, scratch uint64) validityPlan {
	if unique {
		return validityPlan{}
	}
	p := recording.Parts{Base: scratch}
	v := validityPlan{words: groups(int(st.Pairs()), 32)}
	v.Flags, v.Before, v.counts = p.Take(4*v.words), p.Take(4*(v.words+1)), p.Take(4*v.words)
	v.scan = p.Take(q.p.Scratch(primitives.ScanArgs{Length: primitives.Length{N: v.words}}))
	v.bytes = p.Used
	return v
}

// RankScratch returns the bytes of scratch memory that Rank and Select need: three eighths of a byte for each pair of
// the stack.
func (q *Queries) RankScratch(st Stack, unique bool) int {
	return int(q.validityPlan(st, unique, 0).bytes)
}

// valid records the search for valid pairs, unless all are valid: a bit for each pair, and sums of the bits.
func (q *Queries) valid(s *vk.Stream, st Stack, unique bool, scratch uint64) (validity, error) {
	if unique {
		return validity{}, nil
	}
	v := q.validityPlan(st, unique, scratch)
	mark, err := q.of.valid.Kernel(q.kernels, s)
	if err != nil {
		return validity{}, err
	}
	count, err := q.of.flags.Kernel(q.kernels, s)
	if err != nil {
		return validity{}, err
	}
	n, part := int(st.Pairs()), q.AtOnce()
	for first := 0; first < n; first += part {
		some := min(part, n-first)
		mark.Dispatch(s, groups(some, rankWorkgroup), validPairsPush{st, v.Flags, uint32(first), uint32(some)})
	}
	count.Dispatch(s, groups(v.words, rangeWorkgroup), flagsPush{v.Flags, v.counts, uint32(v.words)})
	return v.validity, q.p.Scan(s, primitives.ScanArgs{
		In: v.counts, Out: v.Before, Length: primitives.Length{N: v.words}, Total: v.Before + uint64(4*v.words),
		Scratch: v.scan,
	})
}

// Rank records the counting of the valid pairs below keys. Unless all pairs are valid, it first finds which are.
func (q *Queries) Rank(s *vk.Stream, st Stack, a RankArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	v, err := q.valid(s, st, a.Unique, a.Scratch)
	if err != nil {
		return err
	}
	k, err := q.of.rank.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(a.N, rankWorkgroup), rankPush{st, v, a.Keys, a.Ranks,
		recording.Length{At: a.CountAt, N: uint32(a.N)}})
	return nil
}

// Select records the search for the valid pairs of ranks. Unless all pairs are valid, it first finds which are.
func (q *Queries) Select(s *vk.Stream, st Stack, a SelectArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	v, err := q.valid(s, st, a.Unique, a.Scratch)
	if err != nil {
		return err
	}
	k, err := q.of.selects.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	part := selectAtOnce / q.w.Bits()
	if a.Unique {
		part = a.N
	}
	for first := 0; first < a.N; first += part {
		k.Dispatch(s, groups(min(part, a.N-first), rankWorkgroup), selectPush{
			st, v, a.Ranks, a.OutKeys, a.OutValues, a.Status, recording.Length{At: a.CountAt, N: uint32(a.N)},
			uint32(st.Pairs()), uint32(first),
		})
	}
	return nil
}
