package vk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/test/pass"
)

//go:generate sh testdata/compile.sh

func TestMain(m *testing.M) {
	pass.Tests{Passes: "4 8 16 swiftshader", Why: "tests of validation turn it on themselves"}.Begin()
	// Tests write nothing to the user's cache. But Mesa's cache of compiled kernels stays, because otherwise each run
	// would compile all kernels again.
	if user, err := os.UserCacheDir(); err == nil && os.Getenv("MESA_SHADER_CACHE_DIR") == "" {
		os.Setenv("MESA_SHADER_CACHE_DIR", user)
	}
	folder, err := os.MkdirTemp("", "vkds-test")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", folder)
	os.Setenv("TMPDIR", folder) // also for child processes, which may crash or be killed
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// clockStep is the longest time between two readings of the clock that may return the same value: that of Windows'
// ticks.
var clockStep = map[string]time.Duration{"windows": 16 * time.Millisecond}[runtime.GOOS]

// openFor opens the device for one test, with validation if the layer is installed: a message fails the test.
func openFor(t testing.TB, o Options) *Device {
	t.Helper()
	if o.OnMessage == nil && layerInstalled() {
		o.Validation = true
		o.OnMessage = func(m Message) {
			t.Errorf("validation: %v", m)
		}
	}
	d, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// layerInstalled reports whether the validation layer is installed. CI installs it.
func layerInstalled() bool {
	d, err := Open(Options{Validation: true, CacheDir: "none", OnMessage: func(Message) {}})
	if err == nil {
		d.Close()
	}
	return err == nil
}

func module(t testing.TB, name string) shaders.Module {
	t.Helper()
	code, err := os.ReadFile("testdata/" + name + ".spv")
	require.NoError(t, err)
	return shaders.Module{Name: name, Code: code}
}

func buffer[T Element](t testing.TB, d *Device, n int) *Buffer[T] {
	t.Helper()
	b, err := NewBuffer[T](d, n)
	require.NoError(t, err)
	return b
}

func stream(t testing.TB, d *Device) *Stream {
	t.Helper()
	s, err := d.NewStream()
	require.NoError(t, err)
	return s
}

// scale is the push-constant block of testdata/scale.comp.
type scale struct {
	X, Y       uint64
	Count, Add uint32
}

func scaleKernel(t testing.TB, d *Device, o KernelOptions) *Kernel[scale] {
	t.Helper()
	k, err := NewKernel[scale](d, module(t, "scale"), o)
	require.NoError(t, err)
	return k
}

func numbers(n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i) * 2654435761
	}
	return all
}

func TestListAndInfo(t *testing.T) {
	list, err := List()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for i, info := range list {
		require.Equal(t, i, info.Index)
		require.NotEmpty(t, info.Name)
		t.Log(info, info.Driver, info.APIVersion, info.Features, info.Missing)
	}
	d := openFor(t, Options{})
	info := d.Info()
	require.Empty(t, info.Missing)
	require.Positive(t, info.HeapBytes)
	require.GreaterOrEqual(t, info.MaxWorkgroup, 128)
	require.GreaterOrEqual(t, info.PushConstantBytes, 128)
	require.Positive(t, info.Queues)
	require.Equal(t, info.SubgroupSize, d.SubgroupSize())
	require.LessOrEqual(t, info.MinSubgroup, info.SubgroupSize)
	require.GreaterOrEqual(t, info.MaxSubgroup, info.SubgroupSize)
}

func TestDispatch(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	const n = 100_003
	x, y := buffer[uint32](t, d, n), buffer[uint32](t, d, n)
	require.NoError(t, x.Upload(ctx, 0, numbers(n)))
	for _, workgroup := range []int{0, 32, 64, 256} {
		k := scaleKernel(t, d, KernelOptions{Workgroup: workgroup, Constants: map[string]uint32{"FACTOR": 3}})
		if workgroup > 0 {
			require.Equal(t, workgroup, k.Workgroup())
		}
		s := stream(t, d)
		s.Fill(y, 0, y.Len(), 0)
		k.Dispatch(s, (n+k.Workgroup()-1)/k.Workgroup(), scale{x.Address(), y.Address(), n, 5})
		// In place, so that it must see the writes of the first dispatch.
		k.Dispatch(s, (n+k.Workgroup()-1)/k.Workgroup(), scale{y.Address(), y.Address(), n, 1})
		require.NoError(t, s.Wait(ctx))
		got := make([]uint32, n)
		require.NoError(t, y.Download(ctx, 0, got))
		for i, v := range numbers(n) {
			require.Equal(t, (v*3+5)*3+1, got[i], i)
		}
		require.NoError(t, s.Close())
		k.Free()
	}
}

func TestSubgroups(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	type push struct{ Result uint64 }
	k, err := NewKernel[push](d, module(t, "subgroup"), KernelOptions{Workgroup: 128})
	require.NoError(t, err)
	result := buffer[uint32](t, d, 3)
	s := stream(t, d)
	s.Fill(result, 0, 3, 0)
	k.Dispatch(s, 1, push{result.Address()})
	require.NoError(t, s.Wait(ctx))
	got := make([]uint32, 3)
	require.NoError(t, result.Download(ctx, 0, got))
	require.Equal(t, []uint32{uint32(d.SubgroupSize()), uint32(128 / d.SubgroupSize()), 128}, got)
}

// TestShadersAreFresh compiles the tests' shaders again and compares.
func TestShadersAreFresh(t *testing.T) {
	const pinned = "Glslang Version: 11:12.0.0"
	version, err := exec.Command("glslangValidator", "--version").Output()
	if have, _, _ := strings.Cut(string(version), "\n"); err != nil || have != pinned {
		t.Skipf("the committed SPIR-V is of %q; here is %q (%v)", pinned, have, err)
	}
	sources, err := filepath.Glob("testdata/*.comp")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		fresh := filepath.Join(t.TempDir(), "fresh.spv")
		out, err := exec.Command("glslangValidator", "--quiet", "--target-env", "vulkan1.3", "-o", fresh,
			source).CombinedOutput()
		require.NoError(t, err, string(out))
		want, err := os.ReadFile(fresh)
		require.NoError(t, err)
		require.Equal(t, want, module(t, strings.TrimSuffix(filepath.Base(source), ".comp")).Code,
			"%s: run go generate ./vk", source)
	}
}
