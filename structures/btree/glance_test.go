package btree

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Lookups glance at a tree while updates of the same dispatch split its leaves, and assign to and delete other keys.
// Keys that stay are found with their values, and others with what they have before or after their update.
func TestGlancesBesideUpdates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		if !d.Has(vk.Int64Atomics) {
			t.Skip("trees without 64-bit atomics are not glanced at")
		}
		for round := range 4 + 100*stress.Level {
			glanceBesideUpdates(t, d, tile, random(uint64(round)))
		}
	})
}

func glanceBesideUpdates(t *testing.T, d *vk.Device, tile int, rng *rand.Rand) {
	const n, bits = 3000, 8
	keys := ramp(n, 0, ^uint32(0)/n)
	tree := buildTree(t, d, keys, keys, Options{Tile: tile, Fill: 0.9, Capacity: 4 * n})
	want := modelOf[uint32]{}.insert(keys, keys)
	updates := map[uint32]structures.Kind{}
	values := map[uint32]uint32{}
	var kinds []uint8
	var asked, given []uint32
	add := func(kind structures.Kind, key, value uint32) {
		kinds, asked, given = append(kinds, uint8(kind)), append(asked, key), append(given, value)
	}
	for range n {
		key := keys[rng.IntN(n)] + rng.Uint32N(2)
		kind := structures.Insert
		if rng.IntN(4) == 0 {
			kind = structures.Delete
		}
		if _, there := updates[key]; !there {
			updates[key], values[key] = kind, rng.Uint32()
			add(kind, key, values[key])
		}
		add(structures.Find, key, 0)
		add(structures.Find, keys[rng.IntN(n)], 0)
	}
	rng.Shuffle(len(kinds), func(i, j int) {
		kinds[i], kinds[j] = kinds[j], kinds[i]
		asked[i], asked[j] = asked[j], asked[i]
		given[i], given[j] = given[j], given[i]
	})
	m, err := kernels.Load("test/btree_glance.a64")
	require.NoError(t, err)
	constants := tree.Constants()
	constants["BTREE_TORN"], constants["WORKGROUP"] = 1, workgroup
	constants["NODE_PARTS"] = uint32(1 + rng.IntN(2))
	k, err := vk.NewKernel[applyPush](d, m, vk.KernelOptions{Constants: constants})
	require.NoError(t, err)
	defer k.Free()
	s := testdevice.Stream(t, d)
	at := testdevice.Room[uint32](t, d, tree.indexBytes(bits)/4)
	index, err := tree.recordConcurrentIndex(s, at.Address(), bits, askedFor{})
	require.NoError(t, err)
	room, counts := upload(t, d, given), testdevice.Upload(t, d, []uint32{0, 0})
	status := testdevice.Room[uint8](t, d, recording.Padded(len(kinds)))
	k.Dispatch(s, groups(len(kinds)), applyPush{
		Tree: tree.description(), Index: index, Keys: upload(t, d, asked).Address(), Values: room.Address(),
		Kinds: testdevice.Upload(t, d, slices.Concat(kinds, make([]uint8, 3))).Address(), Statuses: status.Address(),
		Pending: counts.Address(), Hints: counts.AddressOf(1), Count: uint32(len(kinds)), Visits: tree.visits,
	})
	require.NoError(t, s.Wait(t.Context()))
	counted := testdevice.Download(t, counts, 2)
	require.Zero(t, counted[0], "pending")
	require.Greater(t, int(counted[1]), n/2, "lookups that a glance has answered")
	found := download[uint32](t, room, len(kinds))
	for i, s := range testdevice.Download(t, status, len(kinds)) {
		if structures.Kind(kinds[i]) != structures.Find {
			continue
		}
		old, was := want[asked[i]]
		kind, changes := updates[asked[i]]
		switch structures.Status(s) {
		case structures.Found:
			inserted := changes && kind == structures.Insert && found[i] == values[asked[i]]
			require.True(t, was && found[i] == old || inserted, "key %#x has %#x", asked[i], found[i])
		default:
			require.Equal(t, structures.Absent, structures.Status(s))
			require.True(t, !was || changes && kind == structures.Delete, "key %#x is there", asked[i])
		}
	}
	for key, kind := range updates {
		if kind == structures.Delete {
			delete(want, key)
		} else {
			want[key] = values[key]
		}
	}
	tree.known.unsure = true // as after a kernel of the caller
	requireTree(t, tree, want)
}
