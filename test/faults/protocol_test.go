package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A kernel that changes or watches pairs by the other protocol than the device's tables is refused by name.
func TestKernelsOfTheOtherProtocol(t *testing.T) {
	with := testdevice.Open(t)
	without := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}})
	type push struct{} // the protocol is looked at first
	for _, m := range []struct{ name, a32, a64 string }{
		{"test/slab_hash_program", "k32v32a32", "k32v32a64"}, {"test/slab_change", "k32v32a32", "k32v32a64"},
		{"test/slab_hash_program", "k64v64a32", "k64v64a64"}, {"test/slab_change", "k64a32", "k64a64"},
		{"slabhash/apply", "k32v32a32", "k32v32a64"}, {"slabhash/apply", "k64v64a32", "k64v64a64"},
		{"slabhash/apply", "k64a32", "k64a64"},
		{"test/btree_program", "a32", "a64"}, {"btree/apply", "a32.rolled", "a64.rolled"},
		{"btree/mixed_apply", "a32.rolled", "a64.rolled"},
	} {
		refused := func(d *vk.Device, variant string) error {
			module, err := kernels.Load(m.name + "." + variant)
			require.NoError(t, err)
			_, err = vk.NewKernel[push](d, module, vk.KernelOptions{})
			return err
		}
		var protocol *vk.ModuleError
		const layout = "push constants" // they are right otherwise
		require.ErrorContains(t, refused(without, m.a32), layout, m.name)
		if with.Has(vk.Int64Atomics) {
			require.ErrorAs(t, refused(with, m.a32), &protocol, m.name)
			require.ErrorContains(t, protocol, "VKDS_INT64_ATOMICS=1")
			require.ErrorContains(t, refused(with, m.a64), layout, m.name)
		}
		var lacks *vk.MissingFeatureError
		require.ErrorAs(t, refused(without, m.a64), &lacks, m.name)
		require.Contains(t, lacks.Features, string(vk.Int64Atomics))
	}
}
