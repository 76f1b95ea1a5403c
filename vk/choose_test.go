package vk

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk/internal/native"
)

func candidatesOf(infos ...Info) []candidate {
	var all []candidate
	for i, info := range infos {
		info.Index = i
		all = append(all, candidate{info: info})
	}
	return all
}

func TestChoice(t *testing.T) {
	t.Setenv("VKDS_DEVICE", "")
	all := candidatesOf(
		Info{Name: "NVIDIA H200", Type: Discrete},
		Info{Name: "AMD Radeon RX 6800", Type: Discrete},
		Info{Name: "Intel UHD 630", Type: Integrated},
		Info{Name: "llvmpipe (LLVM 15.0.6, 256 bits)", Type: CPU},
		Info{Name: "Old Card 6800", Type: Discrete, Missing: []string{"timelineSemaphore", "maintenance4"}},
	)
	for asked, want := range map[string]int{
		"": 0, "0": 0, "3": 3, "discrete": 0, "Integrated": 2, "CPU": 3, "radeon": 1, "LLVMpipe": 3, "6800": 1,
		" uhd ": 2, "gpu": 0, "GPU": 0,
	} {
		c, err := choose(all, asked)
		require.NoError(t, err, asked)
		require.Equal(t, want, c.info.Index, asked)
	}
	// "15" is an index, not a part of llvmpipe's name.
	for _, asked := range []string{"5", "15", "-1", "virtual", "arc"} {
		_, err := choose(all, asked)
		var e *NoDeviceError
		require.ErrorAs(t, err, &e, asked)
		require.Equal(t, asked, e.Asked)
		require.Equal(t, "1: AMD Radeon RX 6800 (discrete)", e.Have[1])
		require.Len(t, e.Have, 5)
	}
	require.EqualError(t, &NoDeviceError{"gpu", []string{"0: llvmpipe (LLVM 15.0.6) (cpu)", "1: other (cpu)"}},
		`vk: no device "gpu"; choose one by its number, name or type: 0: llvmpipe (LLVM 15.0.6) (cpu); 1: other (cpu)`)
	_, err := choose(all, "4")
	require.EqualError(t, err, "vk: Old Card 6800 lacks timelineSemaphore, maintenance4")
	_, err = choose(nil, "")
	require.EqualError(t, err, "vk: the Vulkan drivers here found no device")

	t.Setenv("VKDS_DEVICE", "uhd")
	c, err := choose(all, "")
	require.NoError(t, err)
	require.Equal(t, 2, c.info.Index)
	c, err = choose(all, "h200")
	require.NoError(t, err)
	require.Equal(t, 0, c.info.Index)
}

func TestOpenByNameTypeAndIndex(t *testing.T) {
	list, err := List()
	require.NoError(t, err)
	for _, asked := range []string{"0", string(list[0].Type), list[0].Name[2:]} {
		d := openFor(t, Options{Device: asked})
		require.Equal(t, list[0].Name, d.Info().Name)
		require.Equal(t, list[0].UUID, d.Info().UUID)
	}
	_, err = Open(Options{Device: "no such device"})
	var e *NoDeviceError
	require.ErrorAs(t, err, &e)
	t.Setenv("VKDS_DEVICE", "99")
	_, err = Open(Options{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "99", e.Asked)
}

// TestMissingFeatures removes abilities from the device, one at a time, and expects the error to name each.
func TestMissingFeatures(t *testing.T) {
	t.Cleanup(func() { alterDescription = nil })
	refused := func(want string, alter func(*native.Description)) {
		t.Helper()
		alterDescription = alter
		list, err := List()
		require.NoError(t, err)
		require.Equal(t, []string{want}, list[0].Missing)
		_, err = Open(Options{})
		var e *MissingFeatureError
		require.ErrorAs(t, err, &e)
		require.Equal(t, []string{want}, e.Features)
		require.Equal(t, list[0].Name, e.Device)
	}
	for _, r := range required {
		refused(r.name, func(d *native.Description) { d.Features &^= r.bit })
	}
	for _, o := range subgroupOperations {
		refused("subgroup "+o.name+" in compute", func(d *native.Description) { d.SubgroupOperations &^= o.bit })
	}
	refused("a compute queue", func(d *native.Description) { d.Families = nil })
	refused("Vulkan 1.3 (it has 1.2.7)", func(d *native.Description) { d.APIVersion = 1<<22 | 2<<12 | 7 })

	// Devices that can't be used come after those that can, whatever their types.
	alterDescription = nil
	usable := candidatesOf(Info{Name: "a"})
	require.Empty(t, usable[0].info.Missing)
}

func TestComputeFamily(t *testing.T) {
	const graphics, compute, transfer = 1, 2, 4
	family := func(want int, found bool, families ...native.QueueFamily) {
		t.Helper()
		f, ok := computeFamily(families)
		require.Equal(t, found, ok)
		require.Equal(t, want, f)
	}
	all := native.QueueFamily{Flags: graphics | compute | transfer, Queues: 16, TimestampBits: 64}
	family(0, true, all)
	family(2, true, all, native.QueueFamily{Flags: transfer, Queues: 2},
		native.QueueFamily{Flags: compute | transfer, Queues: 8, TimestampBits: 64})
	// A compute family without timestamps is not preferred.
	family(0, true, all, native.QueueFamily{Flags: compute, Queues: 8})
	family(1, true, native.QueueFamily{Flags: graphics, Queues: 1}, native.QueueFamily{Flags: compute, Queues: 1})
	family(0, false, native.QueueFamily{Flags: transfer, Queues: 1})
}

func TestNoDriver(t *testing.T) {
	t.Run("no driver for the loader", func(t *testing.T) {
		pass.NotInWine(t, "nothing sees the variables that it sets")
		nowhere := t.TempDir() + "/none.json"
		t.Setenv("VK_DRIVER_FILES", nowhere)
		t.Setenv("VK_ICD_FILENAMES", nowhere)
		_, err := Open(Options{})
		var e *NoDriverError
		require.ErrorAs(t, err, &e)
		require.Empty(t, e.Reason)
		require.ErrorContains(t, err, "no Vulkan driver is installed")
		_, err = List()
		require.ErrorAs(t, err, &e)
	})
	t.Run("no loader", func(t *testing.T) {
		defer func(name string) { loaderName = name }(loaderName)
		loaderName = "no-such-" + loaderName
		_, err := Open(Options{})
		var e *NoDriverError
		require.ErrorAs(t, err, &e)
		require.Equal(t, loaderName, e.Library)
		require.NotEmpty(t, e.Reason)
		require.ErrorContains(t, err, loaderName)
		_, err = List()
		require.ErrorAs(t, err, &e)
	})
	openFor(t, Options{})
}

func TestWithoutFromEnvironment(t *testing.T) {
	t.Setenv("VKDS_WITHOUT", "shaderBufferInt64Atomics, VK_EXT_memory_budget")
	d := openFor(t, Options{})
	require.False(t, d.Has(Int64Atomics))
	require.False(t, d.Has(MemoryBudget))
	t.Setenv("VKDS_WITHOUT", "shaderBufferInt46Atomics")
	_, err := Open(Options{})
	var unknown *OptionError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "$VKDS_WITHOUT", unknown.Option)
	require.Contains(t, unknown.Reason, "shaderBufferInt46Atomics")
}

func TestMemoryOfClosedDevice(t *testing.T) {
	d := openFor(t, Options{})
	require.NoError(t, d.Close())
	used, budget := d.Memory()
	require.Zero(t, used)
	require.Zero(t, budget)
}
