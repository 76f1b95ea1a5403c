package runs

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Kind is which neighbor of a key is searched for.
type Kind uint8

const (
	Successor   Kind = iota // the least key above
	Predecessor             // the largest key below
	Ceil                    // the least key that is not below
	Floor                   // the largest key that is not above
)

// NeighborArgs are the operands of Neighbor.
type NeighborArgs struct {
	Keys      uint64 // a key for each query
	OutKeys   uint64 // out: the neighbor for each query, 0 if there is none
	OutValues uint64 // out: its value, 0 if there is none
	// out: a byte for each query: structures.Found, Absent or Pending; room for N rounded up to a multiple of 4
	Status  uint64
	N       int    // queries
	CountAt uint64 // 0, or the address of the number of queries, at most N

	// Left is the address of a word; the number of pending queries is added to it. A query is pending if it met more
	// keys without a valid pair than it may look at in one dispatch. OutKeys then has the key at which it continues.
	Left   uint64
	Resume bool // continue the pending queries of an earlier call
	Visits int  // keys that a query looks at before it is left pending; 0: 64
}

type neighborPush struct {
	Stack                                    Stack
	Keys, OutKeys, OutValues, Statuses, Left uint64
	Count                                    recording.Length
	Strict, Resume, Visits                   uint32
}

const (
	neighborWorkgroup = 128
	neighborVisits    = 64
)

// Neighbor records the search for the nearest valid pairs of keys. The paper's section II names such queries and leaves
// them out.
func (q *Queries) Neighbor(s *vk.Stream, st Stack, kind Kind, a NeighborArgs) error {
	if err := check(a.N); err != nil {
		return err
	}
	var upward, strict, resume uint32
	if kind == Successor || kind == Ceil {
		upward = 1
	}
	if kind == Successor || kind == Predecessor {
		strict = 1
	}
	if a.Resume {
		resume = 1
	}
	if a.Visits == 0 {
		a.Visits = neighborVisits
	}
	k, err := q.of.neighbor[upward].Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(a.N, neighborWorkgroup), neighborPush{
		st, a.Keys, a.OutKeys, a.OutValues, a.Status, a.Left, recording.Length{At: a.CountAt, N: uint32(a.N)}, strict,
		resume, uint32(a.Visits),
	})
	return nil
}
