package vk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/vk/internal/spirv"
)

func TestManyGroups(t *testing.T) {
	for groups, want := range map[int][2]uint32{1: {1, 1}, 65535: {65535, 1}, 65536: {32768, 2}, 65537: {32769, 2},
		200_000: {50_000, 4}, 1 << 31: {65535, 32769}} {
		x, y := rows(groups)
		require.Equal(t, want, [2]uint32{x, y}, groups)
		require.GreaterOrEqual(t, int(x)*int(y), groups)
	}
	d := openFor(t, Options{})
	const n = 70_000*32 + 1
	a := buffer[uint32](t, d, n)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	s := stream(t, d)
	s.Fill(a, 0, n, 1)
	k.Dispatch(s, n/32+1, scale{a.Address(), a.Address(), n, 1})
	k.Dispatch(s, 0, scale{})
	require.NoError(t, s.Wait(context.Background()))
	got := download(t, a)
	require.Equal(t, n, len(got)-len(slices.DeleteFunc(slices.Clone(got), func(v uint32) bool { return v == 2 })))

	var e *ModuleError
	for _, groups := range []int{-1, 1 << 40} {
		k.Dispatch(s, groups, scale{})
		require.ErrorAs(t, s.Wait(context.Background()), &e)
	}
}

func TestIndirect(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a, args := buffer[uint32](t, d, 320), buffer[uint32](t, d, 5)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	s := stream(t, d)
	s.Fill(a, 0, 320, 0)
	// The previous command writes the arguments.
	s.Fill(args, 0, 5, 1)
	s.Fill(args, 1, 1, 3)
	k.DispatchIndirect(s, args, 1, scale{a.Address(), a.Address(), 320, 1})
	require.NoError(t, s.Wait(ctx))
	got := download(t, a)
	require.EqualValues(t, 1, got[95])
	require.EqualValues(t, 0, got[96])
	k.DispatchIndirect(s, args, 3, scale{})
	var e *RangeError
	require.ErrorAs(t, s.Wait(ctx), &e)
	k.DispatchIndirect(s, buffer[uint8](t, d, 20), 2, scale{})
	require.ErrorContains(t, s.Wait(ctx), "multiple of 4")
}

func TestKernelRefusals(t *testing.T) {
	d := openFor(t, Options{})
	make := func(o KernelOptions) error {
		k, err := NewKernel[scale](d, module(t, "scale"), o)
		if err == nil {
			k.Free()
		}
		return err
	}
	require.NoError(t, make(KernelOptions{Workgroup: 64, Constants: map[string]uint32{"WORKGROUP": 64}}))
	require.NoError(t, make(KernelOptions{Constants: map[string]uint32{"WORKGROUP": 64}}))
	require.ErrorContains(t, make(KernelOptions{Constants: map[string]uint32{"FACTR": 1}}),
		`no specialization constant "FACTR" (it has FACTOR, WORKGROUP)`)
	require.ErrorContains(t, make(KernelOptions{Workgroup: 64, Constants: map[string]uint32{"WORKGROUP": 32}}),
		"set twice")
	require.ErrorContains(t, make(KernelOptions{Workgroup: 1 << 20}), "the device takes 1 to")
	require.ErrorContains(t, make(KernelOptions{Workgroup: -64}), "the device takes 1 to")
	require.ErrorContains(t, make(KernelOptions{Workgroup: d.SubgroupSize() + 1}), "no multiple of the subgroup")
	var missing *MissingFeatureError
	require.ErrorAs(t, make(KernelOptions{SubgroupSize: 3}), &missing)
	require.ErrorAs(t, make(KernelOptions{SubgroupSize: 1024}), &missing)
	require.NoError(t, make(KernelOptions{SubgroupSize: d.SubgroupSize()}))

	plain, err := NewKernel[struct{}](d, module(t, "plain"), KernelOptions{})
	require.NoError(t, err)
	require.Equal(t, 32, plain.Workgroup())
	require.Equal(t, d.SubgroupSize(), plain.SubgroupSize())
	_, err = NewKernel[struct{}](d, module(t, "plain"), KernelOptions{Workgroup: 64})
	require.ErrorContains(t, err, "fixed at 32, not 64")
	s := stream(t, d)
	plain.Dispatch(s, 5, struct{}{})
	require.NoError(t, s.Wait(context.Background()))
	plain.Free()
	plain.Free()
	plain.Dispatch(s, 1, struct{}{})
	require.ErrorIs(t, s.Wait(context.Background()), ErrClosed)

	var e *ModuleError
	code := module(t, "plain").Code
	for _, broken := range [][]byte{nil, []byte("hello"), code[:20], code[:len(code)-4], code[1:], code[:40]} {
		_, err := NewKernel[struct{}](d, shaders.Module{Name: "broken", Code: broken}, KernelOptions{})
		require.ErrorAs(t, err, &e)
		require.Equal(t, "broken", e.Module)
	}
	other := openFor(t, Options{})
	k := scaleKernel(t, other, KernelOptions{})
	k.Dispatch(s, 1, scale{})
	var foreign *ForeignError
	require.ErrorAs(t, s.Wait(context.Background()), &foreign)
}

type atomicPush struct {
	Total  uint64
	Steps  [2]uint64
	Unused float32
}

func TestInt64Atomics(t *testing.T) {
	// If 64-bit features are left off, modules that need them return an error that names them, on every device.
	d := openFor(t, Options{Without: []Feature{Int64, Int64Atomics}})
	require.False(t, d.Has(Int64))
	_, err := NewKernel[atomicPush](d, module(t, "atomic64"), KernelOptions{})
	var e *MissingFeatureError
	require.ErrorAs(t, err, &e)
	require.ElementsMatch(t, []string{"shaderInt64", "shaderBufferInt64Atomics"}, e.Features)

	d = openFor(t, Options{})
	if !d.Has(Int64Atomics) {
		t.Skipf("%s has no 64-bit atomics", d.Info().Name)
	}
	k, err := NewKernel[atomicPush](d, module(t, "atomic64"), KernelOptions{})
	require.NoError(t, err)
	total := buffer[uint64](t, d, 1)
	s := stream(t, d)
	s.Fill(total, 0, 1, 0)
	k.Dispatch(s, 10, atomicPush{Total: total.Address(), Steps: [2]uint64{1 << 32, 1}})
	require.NoError(t, s.Wait(context.Background()))
	require.Equal(t, []uint64{640 * (1<<32 + 1)}, download(t, total))
}

func TestLayouts(t *testing.T) {
	d := openFor(t, Options{})
	m := module(t, "scale")
	refused := func(err error, field, reason string) {
		t.Helper()
		var e *ModuleError
		require.ErrorAs(t, err, &e)
		require.Equal(t, "scale", e.Module)
		require.True(t, strings.HasPrefix(e.Reason, "push constants: "+field+": "), e.Reason)
		require.Contains(t, e.Reason, reason)
	}
	try := func(err error) error { return err }
	_, err := NewKernel[struct {
		X, Y  uint64
		Count uint32
	}](d, m, KernelOptions{})
	refused(try(err), "add", "byte 20 of the block, where")
	_, err = NewKernel[struct {
		X, Y             uint64
		Count, Add, More uint32
	}](d, m, KernelOptions{})
	refused(err, "More", "byte 24, where the block of 24 bytes has nothing")
	_, err = NewKernel[struct {
		X, Y  uint64
		Count uint32
		Add   float32
	}](d, m, KernelOptions{})
	refused(err, "Add", "is a float where the block's add is a 32-bit integer")
	_, err = NewKernel[struct {
		X, Y       uint64
		Add, Count uint32
	}](d, m, KernelOptions{})
	refused(err, "Add", "is at byte 16, but at byte 20 in the block")
	_, err = NewKernel[struct {
		Y, X       uint64
		Count, Add uint32
	}](d, m, KernelOptions{})
	refused(err, "Y", "is at byte 0, but at byte 8 in the block")
	_, err = NewKernel[struct {
		X     uint64
		Count uint32
		Y     uint64
		Add   uint32
	}](d, m, KernelOptions{})
	refused(err, "Count", "is at byte 8, but at byte 16")
	_, err = NewKernel[struct {
		X, Y  uint64
		Count uint16
	}](d, m, KernelOptions{})
	refused(err, "Count", "is a uint16")
	_, err = NewKernel[struct{}](d, m, KernelOptions{})
	refused(err, "x", "byte 0 of the block")
	_, err = NewKernel[uint32](d, m, KernelOptions{})
	refused(err, "uint32", "is no struct")

	// Other ways to write the same struct: halves, nested structs, padding, other names.
	k, err := NewKernel[struct {
		From  [2]uint32
		To    struct{ Low, High uint32 }
		N     int32
		Extra uint32
		_     uint64
	}](d, m, KernelOptions{})
	require.NoError(t, err)
	k.Free()
}

func TestStatistics(t *testing.T) {
	d := openFor(t, Options{})
	k := scaleKernel(t, d, KernelOptions{})
	all, err := k.p.statistics()
	if !d.Has(ExecutableStatistics) {
		var e *MissingFeatureError
		require.ErrorAs(t, err, &e)
		require.Equal(t, []string{"pipelineExecutableInfo"}, e.Features)
		return
	}
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, s := range all {
		require.NotEmpty(t, s.Name)
		t.Log(s.Name, s.Value)
	}
}

func TestOnKernel(t *testing.T) {
	var told []KernelReport
	o := Options{OnKernel: func(r KernelReport) { told = append(told, r) }}
	if !openFor(t, Options{}).Has(ExecutableStatistics) {
		_, err := Open(o)
		var e *MissingFeatureError
		require.ErrorAs(t, err, &e)
		require.Equal(t, []string{"pipelineExecutableInfo"}, e.Features)
		return
	}
	k := scaleKernel(t, openFor(t, o), KernelOptions{Workgroup: 64})
	all, err := k.p.statistics()
	require.NoError(t, err)
	require.Len(t, told, 1)
	require.Equal(t, 64, told[0].Workgroup)
	require.Equal(t, k.SubgroupSize(), told[0].SubgroupSize)
	require.Equal(t, all, told[0].Statistics)
}

// Tiles that are wider than a subgroup or a node, or whose width is not a power of two, return an error, also if the
// width is not set.
func TestTileRefusals(t *testing.T) {
	d := openFor(t, Options{})
	make := func(name string, constants map[string]uint32) error {
		m, err := kernels.Load(name)
		require.NoError(t, err)
		about, err := spirv.Parse(m.Code)
		require.NoError(t, err)
		p, err := d.newPipeline(m, KernelOptions{Workgroup: 64, Constants: constants}, pushType(about))
		if err == nil {
			d.drop(p)
		}
		return err
	}
	tile := func(lanes int) map[string]uint32 { return map[string]uint32{"TILE": uint32(lanes)} }
	size := d.SubgroupSize()
	for _, name := range []string{"test/tile", "test/node"} {
		for _, lanes := range []int{0, 3, 2 * size} {
			var refused *ModuleError
			require.ErrorAs(t, make(name, tile(lanes)), &refused, "%s, tiles of %d", name, lanes)
			require.Contains(t, refused.Reason, fmt.Sprintf("its tiles have %d lanes", lanes))
		}
		require.NoError(t, make(name, tile(min(size, 8))))
		unset := make(name, nil) // 8
		require.Equal(t, size < 8, unset != nil, "%v", unset)
	}
	require.NoError(t, make("test/tile", tile(min(size, 32))))
	if size > 8 {
		require.ErrorContains(t, make("test/node", tile(16)), "a tile on a node may have 8")
	}
}
