package runs

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

func TestIndex(t *testing.T) { eachWidth(t, testIndex) }

func testIndex(t *testing.T, r *rig) {
	node := nodeOf(r.w)
	for _, n := range []int{0, 1, node - 1, node, node + 1, 2*node - 1, 1000, node * node, node*node + 1, 32 * 1024,
		32*1024 + 1, 40000} {
		g := random(uint64(n))
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = r.number(g.Uint64())
		}
		slices.Sort(keys)
		var want []uint64 // the first keys of nodes, preceded by the first keys of the nodes of these, and so on
		for level := keys; len(level) > node; {
			var next []uint64
			for i := 0; i < len(level); i += node {
				next = append(next, level[i])
			}
			level = next
			want = slices.Concat(r.padded(next), want)
		}
		require.Equal(t, len(want), IndexKeys(r.w, n))
		k := room(r, r.size(Padded(r.w, n)))
		index := room(r, r.size(len(want)))
		require.NoError(t, r.s.Wait(t.Context()))
		require.NoError(t, k.Upload(t.Context(), 0, r.words(keys)))
		r.run(r.q.BuildIndex(r.s, k.Address(), n, index.Address()))
		r.requireNumbers(want, index, "the index of %d keys", n)
		r.requireNumbers(r.padded(keys), k, "%d keys", n)
		r.release()
	}
}

// padded returns keys filled up to whole nodes.
func (r *rig) padded(keys []uint64) []uint64 {
	all := slices.Clone(keys)
	for len(all) < Padded(r.w, len(keys)) {
		all = append(all, r.most())
	}
	return all
}

func TestFind(t *testing.T) { eachWidth(t, testFind) }

func testFind(t *testing.T, r *rig) {
	eachShape(r, func(t *testing.T, m *model) {
		for _, n := range []int{0, 1, 2, 5, 127, 1000, 4099} {
			g := random(uint64(n))
			keys := r.probes(m, g, n)
			want, there := make([]uint64, n), make([]uint8, n)
			for i, key := range keys {
				if value, ok := m.live[key]; ok {
					want[i], there[i] = value, 1
				}
			}
			k := r.numbers(keys).Address()
			for name, find := range map[string]func(*vk.Stream, Stack, FindArgs) error{
				"one by one": r.q.Find, "sorted": r.q.FindSorted} {
				values, found := room(r, r.size(n)), room(r, (n+3)/4)
				r.run(find(r.s, m.Stack, FindArgs{
					Keys: k, Values: values.Address(), Found: found.Address(), N: n,
					Scratch: r.scratch(r.q.FindSortedScratch(n)),
				}))
				r.requireNumbers(want, values, "values of %d queries, %s", n, name)
				require.True(t, slices.Equal(there, downloadBytes(r, found, n)), "found, of %d queries, %s", n, name)
			}
		}
	})
}

// Every width of tiles, more queries for each invocation than the other tests have, and workgroups of one subgroup.
func TestFindLayouts(t *testing.T) { eachWidth(t, testFindLayouts) }

func testFindLayouts(t *testing.T, r *rig) {
	m := r.stack(1, shape{unit: 512, full: 0x15, front: 70001, keys: anyKey, tombstones: 0.1})
	const n = 20011
	keys := r.probes(m, random(1), n)
	want := make([]uint64, n)
	for i, key := range keys {
		want[i] = m.live[key]
	}
	k, scratch := r.numbers(keys).Address(), r.scratch(r.q.FindSortedScratch(n))
	for tile := 1; tile <= min(8, r.d.SubgroupSize()); tile *= 2 {
		for _, each := range []int{1, 7, 32} {
			o := layout{workgroup: 64, tile: uint32(tile), each: each, wanted: 1}
			r.q.each, r.q.sorted = o, o
			for name, find := range map[string]func(*vk.Stream, Stack, FindArgs) error{
				"one by one": r.q.Find, "sorted": r.q.FindSorted} {
				values, found := room(r, r.size(n)), room(r, (n+3)/4)
				r.run(find(r.s, m.Stack, FindArgs{Keys: k, Values: values.Address(), Found: found.Address(), N: n,
					Scratch: scratch}))
				r.requireNumbers(want, values, "%s, tiles of %d, %d queries each", name, tile, each)
			}
		}
	}
}
