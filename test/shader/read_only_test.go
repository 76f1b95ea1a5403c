package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
)

// pairsAndQueries are pairs with random keys, both ends among them, and queries for these, for their neighbours and for
// others.
func pairsAndQueries(seed uint64, n int) (pairs map[uint32]uint32, keys, values, queries []uint32) {
	rnd := random(seed)
	pairs = map[uint32]uint32{0: 7, ^uint32(0): ^uint32(0)}
	for len(pairs) < n {
		pairs[rnd.Uint32()>>rnd.Uint32N(20)] = rnd.Uint32()
	}
	for k, v := range pairs {
		keys, values, queries = append(keys, k), append(values, v), append(queries, k, k+1, rnd.Uint32())
	}
	return pairs, keys, values, queries
}

type hashReadPush struct {
	Hash                             slabhash.Device
	Queries, Answers, Pairs, Counter uint64
	Count, Room                      uint32
}

// What a kernel of one's own finds in a read-only phase of a table, key by key and bucket by bucket: in short lists and
// in long ones.
func TestSlabHashReadOnly(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		for _, buckets := range []int{5, 300} {
			const n = 2000
			want, keys, values, queries := pairsAndQueries(uint64(buckets), n)
			m, err := slabhash.New[uint32, uint32](t.Context(), r.d, slabhash.Options{Buckets: buckets, MaxLoad: -1})
			require.NoError(t, err)
			_, err = m.Insert(t.Context(), keys, values)
			require.NoError(t, err)
			constants := m.Constants()
			constants["TILE"] = uint32(width)
			k := kernel[hashReadPush](t, r, "test/slab_hash_read_only.k32v32", constants)
			answers, pairs, counter := room[uint32](r, 2*len(queries)), room[uint32](r, 2*n), put(r, []uint32{0})
			run(r, k, max(len(queries), buckets*width), hashReadPush{
				m.Device(), put(r, queries).Address(), answers.Address(), pairs.Address(), counter.Address(),
				uint32(len(queries)), n,
			})
			out := get(r, answers)
			for i, key := range queries {
				value, there := want[key]
				require.Equal(t, []any{there, value}, []any{out[2*i] != 0, out[2*i+1]}, "key %#x", key)
			}
			require.EqualValues(t, []uint32{n}, get(r, counter))
			got := map[uint32]uint32{}
			for i, words := 0, get(r, pairs); i < n; i++ {
				got[words[2*i]] = words[2*i+1]
			}
			require.Equal(t, want, got)
			r.release()
			require.NoError(t, m.Close())
		}
	})
}

type treeReadPush struct {
	Tree             btree.Device
	Index            prefixIndex
	Queries, Answers uint64
	Count            uint32
}

// prefixIndex is where searches begin: without one, at the root.
type prefixIndex struct {
	Entries uint64
	Bits    uint32
	_       uint32
}

// What a kernel of one's own finds in a read-only phase of a tree; and the leaf that it is led to is the key's.
func TestBTreeReadOnly(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		for _, parts := range []uint32{1, 2} {
			want, keys, values, queries := pairsAndQueries(uint64(parts), 3000)
			tree, err := btree.Build(t.Context(), r.d, keys, values, btree.Options{})
			require.NoError(t, err)
			constants := tree.Constants()
			constants["TILE"], constants["NODE_PARTS"] = uint32(width), parts
			k := kernel[treeReadPush](t, r, "test/btree_read_only", constants)
			answers := room[uint32](r, 4*len(queries))
			run(r, k, len(queries), treeReadPush{
				Tree: tree.Device(), Queries: put(r, queries).Address(), Answers: answers.Address(),
				Count: uint32(len(queries)),
			})
			out := get(r, answers)
			for i, key := range queries {
				value, there := want[key]
				times := uint32(0)
				if there {
					times = 1
				}
				require.Equal(t, []uint32{times, value, 1, times}, out[4*i:][:4], "key %#x", key)
			}
			r.release()
			require.NoError(t, tree.Close())
		}
	})
}
