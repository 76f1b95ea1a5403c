package primitives

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Shapes that a Tuning may name are those that the kernels can have; others are left aside.
func TestTunedShape(t *testing.T) {
	d := testdevice.Open(t, vk.Options{})
	s := d.SubgroupSize()
	for shape, ok := range map[[2]int]bool{{256, 8}: true, {384, 26}: true, {s, 2}: true, {1024, 32}: true,
		{256, 7}: false, {256, 34}: false, {256, 0}: false, {0, 8}: false, {96, 8}: false, {s + 1, 8}: false,
		{-256, 8}: false, {256, -8}: false, {s / 2, 8}: false} {
		got := tunedShape(d, vk.Tuning{"sort.workgroup": shape[0], "sort.items": shape[1]})
		if ok {
			require.Equal(t, tileShape{workgroup: shape[0], items: shape[1]}, got)
		} else {
			require.Zero(t, got, "%v", shape)
		}
	}
	require.Zero(t, tunedShape(d, nil))
	require.Zero(t, tunedShape(nil, nil))
}

// Long sorts have the shape of the Tuning in both forms and widths, and are right, of each one.
func TestTunedSorts(t *testing.T) {
	pass.OneWidth(t, "what differs between widths of subgroups is tried by TestSortShapes")
	const n = 1<<19 + 77
	for _, form := range []Form{SinglePass, MultiPass} {
		r := newRig(t, Options{Form: form})
		r.p.cpuSorts = false
		r.p.tuned = tileShape{workgroup: 128, items: 6}
		w32, w64 := Widths{}, Widths{}
		w64.Key, w64.Value = widthOf[uint64](), widthOf[uint64]()
		require.Equal(t, 6, r.p.sortTile(n, true, w32).items)
		require.Equal(t, 4, r.p.sortTile(n, true, w64).items)
		require.NotEqual(t, 6, r.p.sortTile(1<<19, true, w32).items)
		if form == SinglePass { // kernels of each are compiled anew, which takes time
			testSort[uint32, uint32](r, numbers[uint32](9, n, 0), Length{N: n}, n, 0, 32, fmt.Sprint(form))
		} else {
			testSort[uint64, uint64](r, numbers[uint64](9, n, 0), Length{N: n}, n, 0, 64, fmt.Sprint(form))
		}
	}
}

// The form of scans and sorts is a choice, too, after that of the Options.
func TestTunedForm(t *testing.T) {
	own := New(testdevice.Open(t, vk.Options{}), Options{}).form
	for choice, want := range map[int]Form{1: SinglePass, 2: MultiPass, 0: own, 3: own, -1: own,
		256 + int(SinglePass): own, 256 + int(MultiPass): own} {
		d := testdevice.Open(t, vk.Options{Tuning: vk.Tuning{"passes": choice}})
		require.Equal(t, want, New(d, Options{}).form, "%d", choice)
		require.Equal(t, MultiPass, New(d, Options{Form: MultiPass}).form)
	}
}
