package vk

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
)

// A device keeps its choices for later programs, options come before them, and a file that can't be read is no error.
func TestTuning(t *testing.T) {
	folder := t.TempDir()
	opened := func(o Options) *Device {
		if o.CacheDir == "" {
			o.CacheDir = folder
		}
		d, err := Open(o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	d := opened(Options{})
	require.Empty(t, d.Tuning())
	file, err := d.SaveTuning(Tuning{"a": 1, "b": 2})
	require.NoError(t, err)
	require.Empty(t, d.Tuning(), "an open device keeps its own")

	t.Setenv("VKDS_TUNING", "none")
	require.Empty(t, opened(Options{}).Tuning())
	t.Setenv("VKDS_TUNING", "")
	d = opened(Options{})
	require.Equal(t, Tuning{"a": 1, "b": 2}, d.Tuning())
	d.Tuning()["a"] = 5
	require.Equal(t, 1, d.Tuning()["a"], "a copy")
	require.Equal(t, Tuning{"a": 3}, opened(Options{Tuning: Tuning{"a": 3}}).Tuning())
	require.Empty(t, opened(Options{Tuning: Tuning{}}).Tuning())
	require.Empty(t, opened(Options{CacheDir: t.TempDir()}).Tuning())

	// A new driver begins without choices, and has its own.
	t.Cleanup(func() { alterDescription = nil })
	for i, alter := range []func(*native.Description){
		func(d *native.Description) { d.DriverVersion++ },
		func(d *native.Description) { d.DriverInfo += ".1" },
	} {
		alterDescription = alter
		newer := opened(Options{})
		require.Empty(t, newer.Tuning())
		own := Tuning{"a": 4 + i}
		_, err = newer.SaveTuning(own)
		require.NoError(t, err)
		require.Equal(t, own, opened(Options{}).Tuning())
	}
	alterDescription = nil
	require.Equal(t, Tuning{"a": 1, "b": 2}, opened(Options{}).Tuning())

	none := opened(Options{CacheDir: "none"})
	require.Empty(t, none.Tuning())
	_, err = none.SaveTuning(Tuning{"a": 1})
	require.ErrorAs(t, err, new(*OptionError))

	require.NoError(t, os.WriteFile(file, []byte(`{"Choices": 7`), 0o644))
	require.Empty(t, opened(Options{}).Tuning())
	for range 2 {
		_, err = d.SaveTuning(nil)
		require.NoError(t, err)
		require.NoFileExists(t, file)
	}
	_, err = (*Device)(nil).SaveTuning(nil)
	require.ErrorIs(t, err, ErrNotOpen)
	require.Nil(t, (*Device)(nil).Tuning())
}

// The size of subgroups is a choice. One that the device lacks is left aside, unless an option asks for it.
func TestTunedSubgroup(t *testing.T) {
	d := openFor(t, Options{CacheDir: "none"})
	i := d.Info()
	for size, want := range map[int]int{0: i.SubgroupSize, -8: i.SubgroupSize, 3: i.SubgroupSize,
		2 * i.MaxSubgroup: i.SubgroupSize, i.MaxSubgroup: i.MaxSubgroup, i.MinSubgroup: i.MinSubgroup} {
		d := openFor(t, Options{CacheDir: "none", Tuning: Tuning{"subgroup": size}})
		require.Equal(t, want, d.SubgroupSize(), "%d", size)
		d = openFor(t, Options{CacheDir: "none", Tuning: Tuning{"subgroup": size}, SubgroupSize: i.MaxSubgroup})
		require.Equal(t, i.MaxSubgroup, d.SubgroupSize())
	}
}

// Without a Tuning, subgroups are the device's own, on Intel's GPUs those of 16 lanes if there are such.
func TestBestSubgroup(t *testing.T) {
	sizes := []Feature{SubgroupSizes}
	intel := Info{VendorID: 0x8086, Type: Integrated, SubgroupSize: 32, MinSubgroup: 8, MaxSubgroup: 32,
		Features: sizes}
	require.Equal(t, 16, bestSubgroup(intel))
	for _, change := range []func(i *Info){
		func(i *Info) { i.VendorID = 0x1002 },
		func(i *Info) { i.Type = CPU },
		func(i *Info) { i.Features = nil },
		func(i *Info) { i.MinSubgroup = 32 },
	} {
		i := intel
		change(&i)
		require.Equal(t, 32, bestSubgroup(i))
	}
	intel.SubgroupSize, intel.MaxSubgroup = 8, 8
	require.Equal(t, 8, bestSubgroup(intel))
}

// A workgroup has a bound of subgroups, too: with fewer lanes, it may have fewer invocations.
func TestMostInvocations(t *testing.T) {
	i := Info{MaxWorkgroup: 1024, Features: []Feature{SubgroupSizes}}
	for _, c := range [][3]int{{32, 56, 1024}, {16, 56, 512}, {8, 56, 256}, {16, 64, 1024}, {8, 0, 8}} {
		require.Equal(t, c[2], mostInvocations(i, c[0], c[1]), "%v", c)
	}
	i.Features = nil // the size of subgroups is the device's own, and the bound is meant for others
	require.Equal(t, 1024, mostInvocations(i, 16, 56))
	d := openFor(t, Options{CacheDir: "none"})
	require.Equal(t, mostInvocations(describe(d.about), d.SubgroupSize(), int(d.about.MaxSubgroups)),
		d.Info().MaxWorkgroup)
}
