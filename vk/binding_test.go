package vk

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
)

// collecting runs garbage collections one after another until the test ends.
func collecting(t *testing.T) {
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	t.Cleanup(func() { close(stop); wait.Wait() })
}

// TestUnderGarbageCollection makes pipelines with specialization constants, and submits with waits, copies and
// barriers, while the garbage collector runs all the time. These are the calls that take slices of structs, whose C
// copies vulkan-go frees too early. Go's own check of pointers passed to C (GODEBUG=cgocheck=1) is on by default.
func TestUnderGarbageCollection(t *testing.T) {
	pass.OneWidth(t, "it is about Go's garbage collection")
	ctx := context.Background()
	d := openFor(t, Options{})
	collecting(t)
	const n = 256
	a, b := buffer[uint32](t, d, n), buffer[uint32](t, d, n)
	require.NoError(t, a.Upload(ctx, 0, numbers(n)))
	one, two := stream(t, d), stream(t, d)
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for i := range rounds {
		factor := uint32(i)
		k := scaleKernel(t, d, KernelOptions{Workgroup: 32 << (i % 3), Constants: map[string]uint32{"FACTOR": factor}})
		for range 5 {
			one.Fill(b, 0, n, 0)
			p, err := one.Submit()
			require.NoError(t, err)
			two.After(p)
			two.Timed("dispatch", func() {
				k.Dispatch(two, (n+k.Workgroup()-1)/k.Workgroup(), scale{a.Address(), b.Address(), n / 2, factor})
			})
			p, err = two.Submit()
			require.NoError(t, err)
			one.After(p)
			one.Copy(b, n/2, b, 0, n/2)
			require.NoError(t, one.Wait(ctx))
			got := download(t, b)
			for j, v := range numbers(n / 2) {
				require.Equal(t, v*factor+factor, got[j])
				require.Equal(t, v*factor+factor, got[n/2+j])
			}
		}
		require.NoError(t, two.Wait(ctx))
		k.Free()
	}
	require.Len(t, two.Timings(), 5*rounds)
}

// resident returns the memory of the process in bytes, both Go's and C's.
func resident(t *testing.T) int {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("how much memory the process has can't be told here: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// TestSubmissionsLeakNothing submits many times and compares the memory of the process at the end with that at half
// time, when the number of submissions in flight has reached its maximum. VKDS_STRESS=1 makes it 10,000 submissions.
func TestSubmissionsLeakNothing(t *testing.T) {
	ctx := context.Background()
	rounds := 5_000
	if stress.Level > 0 {
		rounds = 10_000 * stress.Level
	} else {
		t.Logf("%d submissions; VKDS_STRESS=1 makes 10,000", rounds)
	}
	d, err := Open(Options{}) // without validation, which has its own records
	require.NoError(t, err)
	defer d.Close()
	a := buffer[uint32](t, d, 64)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	s, other := stream(t, d), stream(t, d)
	s.Fill(a, 0, 64, 0)
	first := 0
	for i := range rounds {
		k.Dispatch(s, 2, scale{a.Address(), a.Address(), 64, 1})
		p, err := s.Submit()
		require.NoError(t, err)
		if i%10 == 0 {
			other.After(p)
			other.Timed("copy", func() { other.Copy(a, 0, a, 32, 0) })
			q, err := other.Submit()
			require.NoError(t, err)
			s.After(q)
			other.Timings()
		}
		if i == rounds/2 {
			require.NoError(t, s.Wait(ctx))
			runtime.GC()
			first = resident(t)
		}
	}
	require.NoError(t, s.Wait(ctx))
	runtime.GC()
	grown := resident(t) - first
	t.Logf("%d submissions: the process grew by %d KiB in the second half", rounds, grown>>10)
	require.Less(t, grown, 8<<20)
	for _, v := range download(t, a) {
		require.EqualValues(t, rounds, v)
	}
}

// TestObjectsLeakNothing makes and frees buffers, kernels, streams and devices.
func TestObjectsLeakNothing(t *testing.T) {
	rounds := 200
	if stress.Level > 0 {
		rounds = 2_000 * stress.Level
	} else {
		t.Logf("%d rounds; VKDS_STRESS=1 makes 2,000", rounds)
	}
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	defer d.Close()
	for i := range rounds {
		b := buffer[uint32](t, d, 1+i%100_000)
		s := stream(t, d)
		s.Timed("fill", func() { s.Fill(b, 0, 1, 1) })
		require.NoError(t, s.Wait(context.Background()))
		if i%50 == 0 {
			k := scaleKernel(t, d, KernelOptions{})
			k.Free()
		}
		require.NoError(t, s.Close())
		b.Free()
		require.Empty(t, d.alive)
	}
	used, _ := d.Memory()
	require.Zero(t, used)
}

// TestManyGoroutines uses one Device from many goroutines, each with its own stream.
func TestManyGoroutines(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{staged: true, StagingBytes: 64 << 10})
	k := scaleKernel(t, d, KernelOptions{Constants: map[string]uint32{"FACTOR": 1}})
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			s, err := d.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 20 {
				const n = 10_000
				b, err := NewBuffer[uint32](d, n)
				if err != nil {
					t.Error(err)
					return
				}
				got := make([]uint32, n)
				err = b.Upload(ctx, 0, numbers(n))
				if err == nil {
					k.Dispatch(s, (n+127)/128, scale{b.Address(), b.Address(), n, uint32(g)})
					err = s.Wait(ctx)
				}
				if err == nil {
					err = b.Download(ctx, 0, got)
				}
				b.Free()
				if err != nil {
					t.Error(err)
					return
				}
				for i, v := range numbers(n) {
					if got[i] != v+uint32(g) {
						t.Errorf("goroutine %d: element %d is %d", g, i, got[i])
						return
					}
				}
			}
		})
	}
	wait.Wait()
}
