package recording_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// The kernels of a first batch are made at the same time, those that the batch asks for last, too: a batch that fails
// at the first of them leaves the others made.
func TestKernelsOfFirstBatch(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	keys, kinds := make([]uint32, 5000), make([]structures.Kind, 5000)
	for i := range keys {
		keys[i], kinds[i] = rand.Uint32N(2000), structures.InsertAdd+structures.Kind(i%2)
	}
	tree := func(t *testing.T, d *vk.Device) *btree.Tree[uint32, uint32] {
		tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{Path: btree.Batched, Capacity: 1 << 16})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, tree.Close()) })
		return tree
	}
	for name, of := range map[string]func(t *testing.T, d *vk.Device) func() error{
		"btree, insertion": func(t *testing.T, d *vk.Device) func() error {
			tree := tree(t, d)
			return func() error { _, err := tree.Insert(t.Context(), keys, keys); return err }
		},
		"slabhash": func(t *testing.T, d *vk.Device) func() error {
			m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Capacity: 1 << 16})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, m.Close()) })
			return func() error { _, err := m.Insert(t.Context(), keys, keys); return err }
		},
		"btree, mixed": func(t *testing.T, d *vk.Device) func() error {
			tree := tree(t, d)
			return func() error {
				_, err := tree.Apply(t.Context(), u32.Batch{Keys: keys, Values: keys, Kinds: kinds})
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, kernels := testdevice.OpenNew(t)
			update := of(t, d)
			kernels.Take()
			require.NoError(t, update())
			wanted := slices.DeleteFunc(kernels.Take(), func(name string) bool {
				return strings.HasPrefix(name, "alloc/") ||
					strings.HasPrefix(name, "primitives/") && !strings.HasPrefix(name, "primitives/sort")
			})
			require.Greater(t, len(wanted), 5)

			recording.AheadOnCPU(t)
			d, kernels = testdevice.OpenNew(t)
			update = of(t, d)
			broken := errors.New("broken")
			recording.Failing(t, func(module string) error {
				if module == "primitives/iota" { // which comes before the sort
					return nil
				}
				return broken
			})
			require.ErrorIs(t, update(), broken)
			var made []string
			require.Eventually(t, func() bool {
				made = append(made, kernels.Take()...)
				return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(made, w) })
			}, 20*time.Second, 10*time.Millisecond, "%v are made without being asked for", wanted)
			recording.FailWith(nil)
			require.NoError(t, update())
			late := kernels.Take()
			require.False(t, slices.ContainsFunc(late, func(l string) bool { return slices.Contains(wanted, l) }), late)
		})
	}
}

// Begin on a device that is closed meanwhile, and behind the end of its kernels.
func TestAheadWhenClosed(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	recording.AheadOnCPU(t)
	d, made := testdevice.OpenNew(t)
	k := recording.NewKernels(d)
	var a recording.Ahead
	begin := func(i int) {
		a.Begin(k, i, func() recording.Table { return recording.Table{recording.ClearKernel()} })
	}
	begin(0)
	require.Eventually(t, func() bool { return len(made.Take()) == 1 }, time.Minute, time.Millisecond)
	begin(0)
	s := testdevice.Stream(t, d)
	_, err := recording.ClearKernel().Kernel(k, s)
	require.NoError(t, err)
	require.Empty(t, made.Take())
	k.Close()
	a.Begin(k, 1, func() recording.Table { panic("the kernels are closed") })

	for range 20 {
		d, err := vk.Open(vk.Options{CacheDir: "none"})
		require.NoError(t, err)
		var a recording.Ahead
		a.Begin(recording.NewKernels(d), 0, func() recording.Table {
			return recording.Table{recording.ClearKernel(), recording.Of[[4]uint32]("runs/pack", 64)}
		})
		require.NoError(t, d.Close())
	}
}
