package vk_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// load reads a module of the tests. Programs use shaders.Load, or embed their own modules.
func load(name string) shaders.Module {
	code, err := os.ReadFile("testdata/" + name + ".spv")
	if err != nil {
		log.Fatal(err)
	}
	return shaders.Module{Name: name, Code: code}
}

func ExampleOpen() {
	// Open the best device of the machine, or the one that VKDS_DEVICE names.
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(d.SubgroupSize() >= 4, len(d.Info().Missing))

	// Open a device that does not exist.
	_, err = vk.Open(vk.Options{Device: "abacus"})
	var none *vk.NoDeviceError
	fmt.Println(errors.As(err, &none), none.Asked)
	// Output:
	// true 0
	// true abacus
}

// This example runs a kernel that computes y = 3x + 1, from a Go slice to a Go slice.
func ExampleNewKernel() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	// The GLSL side is
	//	layout(push_constant) uniform Push { uvec2 x; uvec2 y; uint count; uint add; } push;
	// and NewKernel checks that this struct is the same.
	type push struct {
		X, Y       uint64
		Count, Add uint32
	}
	k, err := vk.NewKernel[push](d, load("scale"), vk.KernelOptions{
		Workgroup: 64,
		Constants: map[string]uint32{"FACTOR": 3},
	})
	if err != nil {
		log.Fatal(err)
	}

	numbers := []uint32{1, 2, 3, 4, 5}
	x, err := vk.NewBuffer[uint32](d, len(numbers))
	if err != nil {
		log.Fatal(err)
	}
	y, err := vk.NewBuffer[uint32](d, len(numbers))
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Upload(ctx, 0, numbers); err != nil {
		log.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	groups := (len(numbers) + k.Workgroup() - 1) / k.Workgroup()
	k.Dispatch(s, groups, push{X: x.Address(), Y: y.Address(), Count: uint32(len(numbers)), Add: 1})
	if err := s.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	if err := y.Download(ctx, 0, numbers); err != nil {
		log.Fatal(err)
	}
	fmt.Println(numbers)
	// Output: [4 7 10 13 16]
}

// In this example a stream waits for a point of another stream, and a section is timed by the device's clock.
func ExampleStream() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	b, err := vk.NewBuffer[uint32](d, 4)
	if err != nil {
		log.Fatal(err)
	}
	first, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	second, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}

	first.Fill(b, 0, 4, 7)
	filled, err := first.Submit() // returns at once
	if err != nil {
		log.Fatal(err)
	}
	second.After(filled)
	second.Timed("half", func() { second.Fill(b, 2, 2, 9) })
	if err := second.Wait(ctx); err != nil {
		log.Fatal(err)
	}

	got := make([]uint32, 4)
	if err := b.Download(ctx, 0, got); err != nil {
		log.Fatal(err)
	}
	fmt.Println(got)
	for _, t := range second.Timings() {
		fmt.Println(t.Label, t.Duration >= 0)
	}
	// Output:
	// [7 7 9 9]
	// half true
}

// A host buffer is memory that both the host and the device can access.
func ExampleHostBuffer() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	h, err := vk.NewHostBuffer[uint32](d, 3)
	if err != nil {
		log.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	copy(h.Slice(), []uint32{1, 2, 3})
	s.Fill(h, 1, 1, 20)
	if err := s.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Slice())
	// Output: [1 20 3]
}

// tripler is an example of a data structure outside vkds. Its results go to memory that it keeps, and that it replaces
// if it is too small. Calls can be recorded on any stream while earlier calls still run.
type tripler struct {
	d    *vk.Device
	k    *vk.Kernel[tripling]
	out  *vk.Buffer[uint32]
	uses vk.Uses // the work that uses out
}

type tripling struct {
	X, Y       uint64
	Count, Add uint32
}

// TripleOn records that out becomes 3x + 1, or 3(3x + 1) + 1 if there are few numbers. If a stage cannot be recorded,
// neither is the other.
func (t *tripler) TripleOn(s *vk.Stream, x *vk.Buffer[uint32], twice bool) error {
	if err := t.d.Accept("stream", s); err != nil {
		return err
	}
	if t.out.Len() < x.Len() {
		larger, err := vk.NewBuffer[uint32](t.d, x.Len())
		if err != nil {
			return err
		}
		t.uses.Free(t.out.Free) // after the work that uses it has ended
		t.out = larger
	}
	err := s.Whole(func() error {
		groups := (x.Len() + t.k.Workgroup() - 1) / t.k.Workgroup()
		t.k.Dispatch(s, groups, tripling{x.Address(), t.out.Address(), uint32(x.Len()), 1})
		if twice {
			t.k.Dispatch(s, groups, tripling{t.out.Address(), t.out.Address(), uint32(x.Len()), 1})
		}
		return nil
	})
	if err == nil {
		t.uses.On(s)
	}
	return err
}

func ExampleUses() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close() // frees the remaining memory
	t := &tripler{d: d}
	t.k, err = vk.NewKernel[tripling](d, load("scale"), vk.KernelOptions{Workgroup: 64,
		Constants: map[string]uint32{"FACTOR": 3}})
	if err != nil {
		log.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []int{2, 5} {
		x, err := vk.NewBuffer[uint32](d, n)
		if err != nil {
			log.Fatal(err)
		}
		s.Fill(x, 0, n, uint32(n))
		if err := t.TripleOn(s, x, true); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	got := make([]uint32, 5)
	if err := t.out.Download(ctx, 0, got); err != nil {
		log.Fatal(err)
	}
	fmt.Println(got)
	// Output: [49 49 49 49 49]
}
