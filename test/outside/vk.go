package main

import (
	"time"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

func init() {
	parts = append(parts,
		part{"buffers, 32 bits", memory[uint32]},
		part{"buffers, 64 bits", memory[UserID]},
		part{"buffers, named types", memory[Celsius]},
		part{"buffers, signed", memory[time.Duration]},
		part{"kernels", kernels},
	)
}

// element is a number that buffers may have.
type element interface {
	structures.Number
	vk.Element
}

// memory compares buffers, kernels and their arguments.
func memory[T element]() {
	what := name[T, T]("buffers")
	code := structures.KeyCode[T]()
	numbers := some[T](0, 100)
	b, h := must(vk.NewBuffer[T](device, 100)), must(vk.NewHostBuffer[T](device, 100))
	check(b.Upload(ctx, 0, numbers))
	equal(what+": lengths", []int{100, 100}, []int{b.Len(), h.Len()})
	size := uint64(structures.WidthOf[T]().Bytes())
	equal(what+": bytes", []uint64{100 * size, 100 * size}, []uint64{b.Bytes(), h.Bytes()})
	equal(what+": addresses", []uint64{3 * size, 3 * size},
		[]uint64{b.AddressOf(3) - b.Address(), h.AddressOf(3) - h.Address()})
	for _, handle := range []func() (uint64, uint64){b.Handle, h.Handle} {
		memory, _ := handle()
		equal(what+": a handle", true, memory != 0)
	}
	equal(what+": Download", numbers, download(b, 100))
	onStream(func(s *vk.Stream) { s.Copy(h, 0, b, 0, b.Len()) })
	equal(what+": Slice", numbers, append([]T(nil), h.Slice()...))

	p := primitives.New(device, primitives.Options{})
	words := must(vk.NewBuffer[uint32](device, 200))
	encode := primitives.EncodeArgs{In: b.Address(), Out: words.Address(), Length: primitives.Length{N: 100}}
	decode := primitives.EncodeArgs{In: words.Address(), Out: h.Address(), Length: primitives.Length{N: 100}}
	onStream(func(s *vk.Stream) {
		check(primitives.EncodeKeys[T](p, s, encode))
		check(primitives.DecodeKeys[T](p, s, decode))
	})
	equal(what+": DecodeKeys", numbers, append([]T(nil), h.Slice()...))
	keys := keyColumn[T]()
	equal(what+": EncodeKeys", numbers, keys.download(words, 100))
	words.Free()
	check(p.Close())
	b.Free()
	h.Free()

	for _, x := range numbers {
		equal(what+": Of", x, code.Of(code.Word(x)))
	}
	equal(what+": a code keeps the order", true, code.Word(1) < code.Word(2))
	least, greatest := structures.Least[T](), structures.Greatest[T]()
	equal(what+": Least", true, code.Word(least) < code.Word(0) || least == 0)
	equal(what+": Greatest", true, code.Word(greatest) > code.Word(1))
	one := T(1)
	equal(what+": Float", one/2 != 0, structures.Float[T]())
	equal(what+": Signed", one-2 < 0 && !structures.Float[T](), structures.Signed[T]())
	negative, positive := code.Flips()
	equal(what+": Flips", one-2 < 0, negative|positive != 0)
	equal(what+": Shift", uint8(0), code.Shift())
}

// kernels runs one by a struct of push constants, and of arguments.
func kernels() {
	type push struct {
		Indices uint64
		Count   uint32
	}
	k := must(vk.NewKernel[push](device, must(shaders.Load("primitives/iota")), vk.KernelOptions{Workgroup: 64}))
	equal("kernels: Workgroup", 64, k.Workgroup())
	equal("kernels: SubgroupSize", device.SubgroupSize(), k.SubgroupSize())
	b := must(vk.NewBuffer[uint32](device, 128))
	groups := must(vk.NewBuffer[uint32](device, 3))
	check(groups.Upload(ctx, 0, []uint32{1, 1, 1}))
	onStream(func(s *vk.Stream) {
		k.Dispatch(s, 1, push{b.Address(), 64})
		k.DispatchIndirect(s, groups, 0, push{b.AddressOf(64), 64})
	})
	want := make([]uint32, 128)
	for i := range want {
		want[i] = uint32(i % 64)
	}
	equal("kernels: Dispatch", want, download(b, 128))
	k.Free()
	groups.Free()
	b.Free()

	type arguments struct{ A, B UserID }
	out := must(vk.NewBuffer[UserID](device, 2))
	p := primitives.New(device, primitives.Options{})
	onStream(func(s *vk.Stream) {
		a := vk.NewArguments(s, arguments{7, 9})
		check(primitives.EncodeKeys[UserID](p, s,
			primitives.EncodeArgs{In: a.Address(), Out: out.Address(), Length: primitives.Length{N: 2}}))
	})
	equal("kernels: NewArguments", []UserID{7, 9}, download(out, 2))
	check(p.Close())
	out.Free()
}
