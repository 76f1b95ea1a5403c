package vk

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk/internal/native"
	"github.com/vkds/vkds/vk/internal/spirv"
)

// KernelOptions specialize a module.
type KernelOptions struct {
	// Workgroup is the number of invocations in a workgroup if the module does not fix it (local_size_x_id). The
	// default is 128.
	Workgroup    int
	Constants    map[string]uint32 // specialization constants by their GLSL names, as bits if they are floats or bools
	SubgroupSize int               // 0 = the Device's
}

// Kernel is a compute shader that is ready to run. Its push constants have the struct type P, which is struct{} if it
// has none. Several goroutines may dispatch a Kernel to different streams at once.
type Kernel[P any] struct{ p *pipeline }

// pipeline is the part of a Kernel that does not depend on the type of its push constants.
type pipeline struct {
	d         *Device
	name      string
	handle    native.Pipeline
	layout    native.Layout
	pushBytes uint32
	workgroup int
	subgroup  int
	freed     atomic.Bool

	module shaders.Module // statistics compiles module and how again
	how    native.PipelineInfo
}

const defaultWorkgroup = 128

// pairsBy32 is the function of memory.glsl that only modules with the 32-bit protocol have.
const pairsBy32 = "pairs_by_32_bit_atomics"

// NewKernel makes a kernel from a module, with full subgroups. Errors:
//
//   - *MissingFeatureError if the module needs a feature that the device lacks or that was left off, or if the device
//     has no subgroups of the requested size.
//   - *ModuleError if the module is not a compute shader, if P does not match its push-constant block, if a constant is
//     unknown, if the workgroup does not fit the device, if the device has Int64Atomics and the module has the protocol
//     for devices without, or if the module's tiles (the constant TILE of the headers) are wider than a subgroup or a
//     node.
func NewKernel[P any](d *Device, m shaders.Module, o KernelOptions) (*Kernel[P], error) {
	p, err := d.newPipeline(m, o, reflect.TypeFor[P]())
	if err != nil {
		return nil, err
	}
	return &Kernel[P]{p}, nil
}

func (d *Device) newPipeline(m shaders.Module, o KernelOptions, push reflect.Type) (*pipeline, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	m, o.Constants = d.tracer.instead(m, o.Constants)
	about, err := spirv.Parse(m.Code)
	if err != nil {
		return nil, &ModuleError{m.Name, err.Error()}
	}
	if err := d.checkCapabilities(about.Capabilities); err != nil {
		return nil, err
	}
	if d.Has(Int64Atomics) && slices.Contains(about.Functions, pairsBy32) {
		return nil, &ModuleError{m.Name, "it changes pairs by 32-bit atomics, and on " + d.info.Name +
			" tables are changed by 64-bit ones, which don't mix: compile it with -DVKDS_INT64_ATOMICS=1"}
	}
	if err := checkLayout(push, about, m.Name); err != nil {
		return nil, err
	}
	if about.PushBytes > d.info.PushConstantBytes {
		return nil, &ModuleError{m.Name, fmt.Sprintf("its push constants have %d bytes, but the device allows %d",
			about.PushBytes, d.info.PushConstantBytes)}
	}
	p := &pipeline{d: d, name: m.Name, module: m, pushBytes: uint32(about.PushBytes)}
	if p.subgroup, err = d.subgroupSize(o.SubgroupSize, d.subgroup); err != nil {
		return nil, err
	}
	if err := p.specialize(about, o); err != nil {
		return nil, err
	}
	if p.layout, err = d.layouts.of(d, p.pushBytes); err != nil {
		return nil, err
	}
	p.how.Entry, p.how.Cache, p.how.Layout = about.Entry, d.cache.handle, p.layout
	// In a module of SPIR-V 1.6 the subgroup size varies unless one is required. If the device has only one size,
	// requiring it would only lower the largest workgroup.
	if d.info.Has(SubgroupSizes) {
		p.how.Subgroup = uint32(p.subgroup)
	}
	begin := time.Now()
	if p.handle, err = d.compile(m, p.how); err != nil {
		return nil, err
	}
	d.log.LogAttrs(context.Background(), slog.LevelDebug, "kernel made", slog.String("kernel", m.Name),
		slog.Int("workgroup", p.workgroup), slog.Int("subgroup", p.subgroup),
		slog.Duration("duration", time.Since(begin)))
	d.adopt(p)
	if d.onKernel != nil {
		all, err := p.statistics()
		if err != nil {
			d.drop(p)
			return nil, err
		}
		d.onKernel(KernelReport{m.Name, p.workgroup, p.subgroup, maps.Clone(o.Constants), all})
	}
	return p, nil
}

// checkCapabilities returns an error if a module needs a feature that was not enabled, because a driver may crash on
// such a module.
func (d *Device) checkCapabilities(needed []uint32) error {
	var lacks []string
	for _, c := range needed {
		switch c {
		case spirv.CapabilityInt64:
			if !d.Has(Int64) {
				lacks = append(lacks, string(Int64))
			}
		case spirv.CapabilityInt64Atomics:
			if !d.Has(Int64Atomics) {
				lacks = append(lacks, string(Int64Atomics))
			}
		case 0, 1, 61, 62, 63, 64, 65, 5345, 5346, 5347:
			// Matrix, Shader, subgroup operations, the memory model with device scope, buffer addresses
		default:
			lacks = append(lacks, fmt.Sprintf("SPIR-V capability %d, which vkds does not turn on", c))
		}
	}
	if len(lacks) > 0 {
		return &MissingFeatureError{d.info.Name, lacks}
	}
	return nil
}

// specialize determines the workgroup size and the values of the constants.
func (p *pipeline) specialize(about spirv.Module, o KernelOptions) error {
	fail := func(format string, args ...any) error {
		return &ModuleError{p.name, fmt.Sprintf(format, args...)}
	}
	values := map[uint32]uint32{}
	byName := map[string]spirv.Constant{}
	for _, c := range about.Constants {
		if c.Name != "" {
			byName[c.Name] = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Constants)) {
		c, ok := byName[name]
		if !ok {
			return fail("it has no specialization constant %q (it has %s)", name,
				strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
		}
		if c.Bits != 32 {
			return fail("its specialization constant %s has %d bits; 32 can be set", name, c.Bits)
		}
		values[c.ID] = o.Constants[name]
	}

	if err := p.checkTiles(about, values); err != nil {
		return err
	}

	x := about.LocalSize[0]
	switch {
	case x.Specialized:
		set, ok := values[x.ID]
		if o.Workgroup != 0 && ok && int(set) != o.Workgroup {
			return fail("its workgroup is set twice, to %d and to %d", o.Workgroup, set)
		}
		switch {
		case o.Workgroup != 0:
			p.workgroup = o.Workgroup
		case ok:
			p.workgroup = int(set)
		default:
			p.workgroup = defaultWorkgroup
		}
		if p.workgroup > 0 {
			values[x.ID] = uint32(p.workgroup)
		}
	case o.Workgroup != 0 && o.Workgroup != int(x.Value):
		return fail("its workgroup is fixed at %d, not %d", x.Value, o.Workgroup)
	default:
		p.workgroup = int(x.Value)
	}
	most := int(min(p.d.about.MaxInvocations, p.d.about.MaxWorkgroup)) // the kernel may have other subgroups
	if p.d.info.Has(SubgroupSizes) {
		most = min(most, p.subgroup*int(p.d.about.MaxSubgroups))
	}
	invocations := p.workgroup
	for _, s := range about.LocalSize[1:] {
		if v, ok := values[s.ID]; ok && s.Specialized {
			s.Value = v
		}
		invocations *= int(s.Value)
	}
	if p.workgroup <= 0 || invocations > most {
		return fail("workgroups of %d: the device takes 1 to %d", invocations, most)
	}
	if p.workgroup%p.subgroup != 0 {
		return fail("workgroups of %d are no multiple of the subgroup, %d", p.workgroup, p.subgroup)
	}

	for _, id := range slices.Sorted(maps.Keys(values)) {
		p.how.ConstantIDs = append(p.how.ConstantIDs, id)
		p.how.Constants = append(p.how.Constants, values[id])
	}
	return nil
}

// mostNodeTile is the number of quads in a node (node.glsl), and so the most lanes of a tile on a node.
const mostNodeTile = 8

// checkTiles returns an error if tiles (tile.glsl) are wider than a subgroup or than the nodes that they work on. Their
// operations would stay pending for ever, or access memory beyond the node.
func (p *pipeline) checkTiles(about spirv.Module, values map[uint32]uint32) error {
	at := slices.IndexFunc(about.Constants, func(c spirv.Constant) bool { return c.Name == "TILE" })
	inTiles := func(name string) bool { return strings.HasPrefix(name, "tile_") }
	if at < 0 || !slices.ContainsFunc(about.Functions, inTiles) {
		return nil
	}
	lanes, set := values[about.Constants[at].ID]
	if !set {
		lanes = about.Constants[at].Default
	}
	most, of := p.subgroup, "a subgroup here has"
	onNodes := func(name string) bool { return strings.HasPrefix(name, "node_") }
	if mostNodeTile < most && slices.ContainsFunc(about.Functions, onNodes) {
		most, of = mostNodeTile, "a tile on a node may have"
	}
	if lanes == 0 || lanes > uint32(most) || lanes&(lanes-1) != 0 {
		return &ModuleError{p.name, fmt.Sprintf("its tiles have %d lanes, and %s %d: "+
			"set the constant TILE to a power of two up to that", lanes, of, most)}
	}
	return nil
}

// compile makes the pipeline. The shader module exists only during the call.
func (d *Device) compile(m shaders.Module, how native.PipelineInfo) (native.Pipeline, error) {
	var result native.Result
	how.Module, result = d.native.NewModule(m.Code)
	if err := d.check("vkCreateShaderModule", result); err != nil {
		return 0, err
	}
	defer d.native.DestroyModule(how.Module)
	handle, result := d.native.NewPipeline(how)
	return handle, d.check("vkCreateComputePipelines", result)
}

// maxRow is the most workgroups in a row of a dispatch. Every device supports this number.
const maxRow = 65535

// Dispatch records a run of a number of workgroups with push constants p. Up to 65,535 workgroups are one row (x). More
// are several rows (y) of equal length, so there may be a few more workgroups than requested. A kernel for large
// dispatches must therefore number its workgroups by gl_WorkGroupID.y*gl_NumWorkGroups.x+gl_WorkGroupID.x, and check
// its bounds. If groups is 0, nothing is recorded.
func (k *Kernel[P]) Dispatch(s *Stream, groups int, p P) {
	if groups == 0 || !k.runsOn(s) {
		return
	}
	if groups < 0 || groups > maxRow*min(maxRow, k.p.d.info.MaxGroups[1]) {
		s.fail(&ModuleError{k.p.name, fmt.Sprintf("can't run %d workgroups", groups)})
		return
	}
	x, y := rows(groups)
	push := &p
	k.timed(s, int(x*y), func() {
		if commands, ok := k.record(s, native.Shader, push); ok {
			s.d.native.Dispatch(commands, x, y)
		}
	})
}

// rows divides workgroups into as few rows of equal length as possible.
func rows(groups int) (x, y uint32) {
	n := (groups + maxRow - 1) / maxRow
	return uint32((groups + n - 1) / n), uint32(n)
}

// DispatchIndirect records a run for which the device reads the numbers of workgroups (x, y and z, 32 bits each) from
// args when the command runs, from element at on. Each number must not exceed the device's limit; every device supports
// 65,535.
func (k *Kernel[P]) DispatchIndirect(s *Stream, args Memory, at int, p P) {
	if !k.runsOn(s) {
		return
	}
	r, each := args.where(), args.each()
	at, _, ok := s.accept("indirect arguments", args, at, (12+each-1)/each)
	if !ok {
		return
	}
	if at%4 != 0 {
		s.fail(fmt.Errorf("vk: indirect arguments at byte %d: not a multiple of 4", at))
		return
	}
	push := &p
	k.timed(s, 0, func() {
		if commands, ok := k.record(s, native.Shader|native.Indirect, push); ok {
			s.d.native.DispatchIndirect(commands, r.block.buffer, r.at+uint64(at))
		}
	})
}

// runsOn reports whether a dispatch is to be recorded into a stream.
func (k *Kernel[P]) runsOn(s *Stream) bool {
	if !k.made() {
		s.Fail(ErrNotOpen)
	}
	return k.made() && s.made()
}

// made reports whether NewKernel has made the kernel.
func (k *Kernel[P]) made() bool { return k != nil && k.p != nil }

// timed records a dispatch, in a Timed section of its own if Options.TimeDispatches is set.
func (k *Kernel[P]) timed(s *Stream, groups int, record func()) {
	if s.d.timeDispatches {
		s.timed(k.p.name, groups, record)
		return
	}
	record()
}

func (k *Kernel[P]) record(s *Stream, kind native.Work, p *P) (native.Commands, bool) {
	switch {
	case k.p.freed.Load():
		s.fail(&ClosedError{"kernel " + k.p.name})
		return 0, false
	case k.p.d != s.d:
		s.fail(&ForeignError{"kernel " + k.p.name})
		return 0, false
	}
	commands, ok := s.command(kind)
	if ok {
		s.push = append(s.push[:0], unsafe.Slice((*byte)(unsafe.Pointer(p)), k.p.pushBytes)...)
		s.d.native.Run(commands, k.p.handle, k.p.layout, unsafe.Pointer(unsafe.SliceData(s.push)), k.p.pushBytes)
	}
	return commands, ok
}

// Workgroup returns the number of invocations of a workgroup in x.
func (k *Kernel[P]) Workgroup() int {
	if !k.made() {
		return 0
	}
	return k.p.workgroup
}

// SubgroupSize returns the number of lanes of a subgroup.
func (k *Kernel[P]) SubgroupSize() int {
	if !k.made() {
		return 0
	}
	return k.p.subgroup
}

// Statistic is a number that the driver reports about a compiled kernel, such as registers, spills and instructions.
type Statistic struct {
	Name        string
	Description string
	Value       float64
}

// KernelReport describes a compiled kernel: the driver's statistics, and how the kernel was specialized.
type KernelReport struct {
	Module       string
	Workgroup    int               // invocations
	SubgroupSize int               // lanes
	Constants    map[string]uint32 // the constants of KernelOptions
	Statistics   []Statistic
}

// statistics compiles the kernel once more and returns the driver's statistics. It returns *MissingFeatureError if the
// device lacks ExecutableStatistics.
func (p *pipeline) statistics() ([]Statistic, error) {
	d := p.d
	if p.freed.Load() {
		return nil, &ClosedError{"kernel " + p.name}
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if !d.Has(ExecutableStatistics) {
		return nil, &MissingFeatureError{d.info.Name, []string{string(ExecutableStatistics)}}
	}
	how := p.how
	how.Statistics = true
	handle, err := d.compile(p.module, how)
	if err != nil {
		return nil, err
	}
	defer d.native.DestroyPipeline(handle)
	raw, result := d.native.Statistics(handle)
	if err := d.check("vkGetPipelineExecutableStatisticsKHR", result); err != nil {
		return nil, err
	}
	var all []Statistic
	for _, r := range raw {
		s := Statistic{Name: r.Name, Description: r.Description, Value: float64(r.Bits)}
		switch r.Format {
		case native.FormatInt64:
			s.Value = float64(int64(r.Bits))
		case native.FormatFloat64:
			s.Value = math.Float64frombits(r.Bits)
		}
		all = append(all, s)
	}
	return all, nil
}

// Free frees the kernel. The work that uses it must have ended. Further calls do nothing.
func (k *Kernel[P]) Free() {
	if k.made() {
		k.p.d.drop(k.p)
	}
}

func (p *pipeline) release() {
	p.freed.Store(true)
	p.d.dead.bury(p)
}

func (p *pipeline) destroy(d *Device) {
	d.native.DestroyPipeline(p.handle)
}

// layouts has the pipeline layouts of a device, one for each size of push constants. They live as long as the device.
// Kernels share them because SwiftShader's pipeline cache also compares layouts: it would never find a kernel that has
// its own layout.
type layouts struct {
	mu  sync.Mutex
	all map[uint32]native.Layout
}

func (l *layouts) of(d *Device, pushBytes uint32) (native.Layout, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if layout, ok := l.all[pushBytes]; ok {
		return layout, nil
	}
	layout, result := d.native.NewLayout(pushBytes)
	if result < 0 {
		return 0, d.check("vkCreatePipelineLayout", result)
	}
	if l.all == nil {
		l.all = map[uint32]native.Layout{}
	}
	l.all[pushBytes] = layout
	return layout, nil
}

func (l *layouts) destroy(d *Device) {
	for _, layout := range l.all {
		d.native.DestroyLayout(layout)
	}
}
