package vk

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/vk/internal/native"
	"github.com/vkds/vkds/vk/internal/spirv"
)

// Every module compiles to a pipeline at the device's smallest subgroup size, in the long form at all of its sizes, and
// none spills registers if the driver reports that. "make test-radv" runs this test with AMD's compiler, without its
// hardware: for a GPU whose only size is 64, and for one that begins at 32.
func TestEveryModuleCompiles(t *testing.T) {
	pass.OneWidth(t, "the tests of each module compile it at the other widths")
	d := openToCompile(t)
	t.Log(d.Info())
	var told KernelReport
	if d.Has(ExecutableStatistics) {
		d.onKernel = func(r KernelReport) { told = r }
		d.native = &compiledOnce{Device: d.native}
	}
	features, largest := d.info.Features, d.Info().MinSubgroup
	if stress.Level > 0 {
		largest = d.Info().MaxSubgroup
	}
	halves := stress.Level == 0 && d.Has(ExecutableStatistics) // AMD's compiler: two GPUs have half of the modules each
	half := 0
	if d.Info().MinSubgroup == d.Info().MaxSubgroup {
		half = 1
	}
	for i, name := range kernels.Names() {
		if halves && i%2 != half {
			continue
		}
		if stress.Level == 0 && d.info.Type == CPU && strings.HasSuffix(name, ".unrolled") {
			continue // for GPUs, and slow to compile on a CPU device
		}
		module, err := kernels.Load(name)
		require.NoError(t, err)
		about, err := spirv.Parse(module.Code)
		require.NoError(t, err, name)
		for size := d.Info().MinSubgroup; size <= largest; size *= 2 {
			told = KernelReport{}
			d.info.Features = features
			if slices.Contains(about.Functions, pairsBy32) { // only for devices without 64-bit atomics
				d.info.Features = slices.DeleteFunc(slices.Clone(features),
					func(f Feature) bool { return f == Int64Atomics })
			}
			o := KernelOptions{SubgroupSize: size, Constants: map[string]uint32{}}
			for _, c := range about.Constants {
				if c.Name == "TILE" {
					o.Constants[c.Name] = min(c.Default, uint32(size))
				}
			}
			p, err := d.newPipeline(module, o, pushType(about))
			var lacks *MissingFeatureError
			if errors.As(err, &lacks) {
				t.Logf("%s: not for this device: %v", name, err)
				break
			}
			require.NoError(t, err, "%s, subgroups of %d", name, size)
			if d.Has(ExecutableStatistics) {
				require.Equal(t, name, told.Module)
				require.Equal(t, size, told.SubgroupSize)
				require.NotEmpty(t, told.Statistics, "%s, subgroups of %d", name, size)
				var line strings.Builder
				for _, s := range told.Statistics {
					if slices.Contains(worthTelling, s.Name) {
						fmt.Fprintf(&line, ", %s %g", s.Name, s.Value)
					}
					if most, ok := mostSpilled[s.Name]; ok {
						require.LessOrEqual(t, s.Value, most, "%s, subgroups of %d: %s", name, size, s.Name)
					}
				}
				t.Logf("%s, subgroups of %d%s", name, size, line.String())
			}
			delete(d.alive, p)
			p.destroy(d) // no queue has used it
		}
	}
}

// compiledOnce is a device that compiles once: NewPipeline for statistics returns the pipeline that was made before.
type compiledOnce struct {
	native.Device
	made native.Pipeline
}

func (c *compiledOnce) NewPipeline(how native.PipelineInfo) (native.Pipeline, native.Result) {
	if how.Statistics {
		return c.made, native.Success
	}
	how.Statistics = true
	var result native.Result
	c.made, result = c.Device.NewPipeline(how)
	return c.made, result
}

func (c *compiledOnce) DestroyPipeline(p native.Pipeline) {
	if p == c.made {
		c.made = 0
		c.Device.DestroyPipeline(p)
	}
}

// mostSpilled is the number of registers of each kind that AMD's compiler may spill. Spilled scalars may take the lanes
// of vector registers, so nothing is spilled to memory.
var mostSpilled = map[string]float64{"Spilled VGPRs": 0, "Spilled SGPRs": 64}

// worthTelling has AMD's names of the statistics to log.
var worthTelling = []string{"VGPRs", "Spilled VGPRs", "Code size", "Scratch size", "Subgroups per SIMD", "Instructions"}

// openToCompile opens the device only for making kernels, without queues and memory, which hardware that is not present
// does not have.
func openToCompile(t *testing.T) *Device {
	in, err := newInstance(nil)
	require.NoError(t, err)
	t.Cleanup(in.Destroy)
	all, err := candidates(in)
	require.NoError(t, err)
	c, err := choose(all, "")
	require.NoError(t, err)
	d := &Device{instance: in, physical: c.physical, about: c.about, info: c.info, subgroup: c.info.SubgroupSize,
		log: logFor(nil, c.info), alive: map[resource]struct{}{}}
	family, _ := computeFamily(c.about.Families)
	var result native.Result
	d.native, result = in.NewDevice(c.physical, uint32(family), 1, c.about.Features)
	require.Equal(t, native.Success, result)
	t.Cleanup(d.native.Destroy)
	return d
}

// pushType returns a struct type that matches a module's push-constant block.
func pushType(about spirv.Module) reflect.Type {
	var fields []reflect.StructField
	end := 0
	pad := func(to int) {
		if to > end {
			fields = append(fields, reflect.StructField{Name: "_", PkgPath: "vk",
				Type: reflect.ArrayOf(to-end, reflect.TypeFor[byte]())})
			end = to
		}
	}
	for _, w := range about.Push {
		kind := reflect.TypeFor[uint32]()
		if w.Kind == spirv.Float {
			kind = reflect.TypeFor[float32]()
		}
		pad(w.Offset)
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("At%d", w.Offset), Type: kind})
		end = w.Offset + 4
	}
	pad(about.PushBytes)
	return reflect.StructOf(fields)
}
