package shader

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
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
	Hash                             slabhash.Description
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
			constants := m.InShaders().Constants()
			constants["TILE"] = uint32(width)
			k := kernel[hashReadPush](t, r, "test/slab_hash_read_only.k32v32", constants)
			answers, pairs, counter := room[uint32](r, 2*len(queries)), room[uint32](r, 2*n), put(r, []uint32{0})
			run(r, k, max(len(queries), buckets*width), hashReadPush{
				m.InShaders().Description(), put(r, queries).Address(), answers.Address(), pairs.Address(),
				counter.Address(),
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
	Tree             btree.Description
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
			constants := tree.InShaders().Constants()
			constants["TILE"], constants["NODE_PARTS"] = uint32(width), parts
			k := kernel[treeReadPush](t, r, "test/btree_read_only", constants)
			answers := room[uint32](r, 4*len(queries))
			run(r, k, len(queries), treeReadPush{
				Tree: tree.InShaders().Description(), Queries: put(r, queries).Address(), Answers: answers.Address(),
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

type snapshotPush struct {
	Tree                    btree.Description
	State, Queries, Answers uint64
	Count                   uint32
}

// What a kernel of one's own finds at snapshots: behind updates that split leaves, and where nothing was changed since.
func TestBTreeSnapshot(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		first, keys, values, queries := pairsAndQueries(3, 3000)
		tree, err := btree.Build(t.Context(), r.d, keys, values, btree.Options{})
		require.NoError(t, err)
		constants := tree.InShaders().Constants()
		constants["TILE"] = uint32(width)
		k := kernel[snapshotPush](t, r, "test/btree_snapshot.then", constants)
		in, answers := put(r, queries), room[uint32](r, 4*len(queries))
		state := tree.InShaders().Description().State
		ask := func(at *btree.Snapshot[uint32, uint32], queries *vk.Buffer[uint32], count int) {
			require.NoError(t, at.InShaders(r.s, func(d btree.Description) error {
				k.Dispatch(r.s, (count+k.Workgroup())/k.Workgroup(), snapshotPush{d, state, queries.Address(),
					answers.Address(), uint32(count)})
				return nil
			}))
			require.NoError(t, r.s.Wait(t.Context()))
		}
		holds := func(at *btree.Snapshot[uint32, uint32], want map[uint32]uint32) (leaves map[uint32]uint32) {
			ask(at, in, len(queries))
			leaves = map[uint32]uint32{}
			out := get(r, answers)
			for i, key := range queries {
				value, there := want[key]
				times := uint32(0)
				if there {
					times = 1
				}
				require.Equal(t, []uint32{times, value, times}, out[4*i:][:3], "key %#x", key)
				leaves[key] = out[4*i+3]
			}
			return leaves
		}
		before, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		holds(before, first)

		// What was asked for and not there comes to be there, so that leaves split, and every third pair is deleted.
		second := maps.Clone(first)
		var more, gone []uint32
		for i, key := range queries {
			if _, there := first[key]; !there {
				more = append(more, key)
				second[key] = ^key
			} else if i%9 == 0 {
				gone = append(gone, key)
				delete(second, key)
			}
		}
		others := make([]uint32, len(more))
		for i, key := range more {
			others[i] = ^key
		}
		_, err = tree.Insert(t.Context(), more, others)
		require.NoError(t, err)
		_, err = tree.Delete(t.Context(), gone)
		require.NoError(t, err)
		after, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		holds(before, first)
		holds(after, second)
		_, err = tree.Insert(t.Context(), []uint32{0}, []uint32{1})
		require.NoError(t, err)
		leaves := holds(after, second)
		holds(before, first)

		// The leaf of 0 was changed behind both, that of ~0 behind the first alone.
		ask(after, put(r, []uint32{leaves[0], leaves[^uint32(0)]}), 0)
		stamps := get(r, answers)[:6]
		require.NotEqual(t, stamps[:2], stamps[2:4])
		require.Equal(t, stamps[2:4], stamps[4:])
		require.NoError(t, before.Close())
		require.NoError(t, after.Close())
		require.ErrorIs(t, after.InShaders(r.s, nil), vk.ErrClosed)
		r.release()
		require.NoError(t, tree.Close())
	})
}
