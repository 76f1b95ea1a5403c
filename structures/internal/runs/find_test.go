package runs

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

func TestIndex(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 1000, 1024, 1025, 32 * 1024, 32*1024 + 1, 40000} {
		g := random(uint64(n))
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = g.Uint32()
		}
		slices.Sort(keys)
		var want []uint32 // every 32nd key, then every 32nd of these before them, …
		for level := keys; len(level) > node; {
			var next []uint32
			for i := 0; i < len(level); i += node {
				next = append(next, level[i])
			}
			level = next
			want = slices.Concat(padded(next), want)
		}
		k := room(r, Padded(n))
		require.NoError(t, k.Upload(t.Context(), 0, keys))
		index := room(r, IndexWords(n))
		require.NoError(t, r.s.Wait(t.Context()))
		require.NoError(t, k.Upload(t.Context(), 0, keys))
		r.run(r.q.BuildIndex(r.s, k.Address(), n, index.Address()))
		requireWords(t, want, download(r, index, IndexWords(n)), "the index of %d keys", n)
		requireWords(t, padded(keys), download(r, k, Padded(n)), "%d keys", n)
		r.release()
	}
}

// padded is keys filled up to whole nodes.
func padded(keys []uint32) []uint32 {
	all := slices.Clone(keys)
	for len(all)%node != 0 {
		all = append(all, ^uint32(0))
	}
	return all
}

func TestFind(t *testing.T) {
	r := newRig(t)
	eachShape(r, func(t *testing.T, m *model) {
		for _, n := range []int{0, 1, 2, 5, 127, 1000, 4099} {
			g := random(uint64(n))
			keys := m.probes(g, n)
			want, there := make([]uint32, n), make([]uint8, n)
			for i, key := range keys {
				if value, ok := m.live[key]; ok {
					want[i], there[i] = value, 1
				}
			}
			k := upload(r, keys).Address()
			for name, find := range map[string]func(*vk.Stream, Stack, FindArgs) error{
				"one by one": r.q.Find, "sorted": r.q.FindSorted} {
				values, found := room(r, n), room(r, (n+3)/4)
				r.run(find(r.s, m.Stack, FindArgs{
					Keys: k, Values: values.Address(), Found: found.Address(), N: n,
					Scratch: r.scratch(r.q.FindSortedScratch(n)),
				}))
				requireWords(t, want, download(r, values, n), "values of %d queries, %s", n, name)
				require.True(t, slices.Equal(there, downloadBytes(r, found, n)), "found, of %d queries, %s", n, name)
			}
		}
	})
}

// Every width of tiles, more queries an invocation than the test's own sizes lead to, and workgroups of one subgroup.
func TestFindLayouts(t *testing.T) {
	r := newRig(t)
	m := r.stack(1, shape{unit: 512, full: 0x15, front: 70001, keys: anyKey, tombstones: 0.1})
	const n = 20011
	keys := m.probes(random(1), n)
	want := make([]uint32, n)
	for i, key := range keys {
		want[i] = m.live[key]
	}
	k, scratch := upload(r, keys).Address(), r.scratch(r.q.FindSortedScratch(n))
	for tile := 1; tile <= min(8, r.d.SubgroupSize()); tile *= 2 {
		for _, each := range []int{1, 7, 32} {
			o := layout{workgroup: 64, tile: uint32(tile), each: each, wanted: 1}
			r.q.each, r.q.sorted = o, o
			for name, find := range map[string]func(*vk.Stream, Stack, FindArgs) error{
				"one by one": r.q.Find, "sorted": r.q.FindSorted} {
				values, found := room(r, n), room(r, (n+3)/4)
				r.run(find(r.s, m.Stack, FindArgs{Keys: k, Values: values.Address(), Found: found.Address(), N: n,
					Scratch: scratch}))
				requireWords(t, want, download(r, values, n), "%s, tiles of %d, %d queries each", name, tile, each)
			}
		}
	}
}
