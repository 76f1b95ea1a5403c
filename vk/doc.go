// Package vk is the device layer of vkds: it chooses a Vulkan 1.3 device and gives typed buffers on it, streams
// of asynchronous work, and kernels made of SPIR-V modules. It is the only package that touches Vulkan.
//
// A program opens a Device, allocates Buffers, makes Kernels and records their dispatches on a Stream:
//
//	d, err := vk.Open(vk.Options{})
//	x, err := vk.NewBuffer[uint32](d, n)
//	err = x.Upload(ctx, 0, numbers)
//	k, err := vk.NewKernel[push](d, module, vk.KernelOptions{})
//	s, err := d.NewStream()
//	k.Dispatch(s, groups, push{X: x.Address(), Count: n})
//	err = s.Wait(ctx)
//	err = x.Download(ctx, 0, numbers)
//
// Recording methods of a Stream note a command, Submit sends the recorded commands on their way, and Wait waits for
// them. Upload and Download are synchronous and stand outside all streams: wait for a stream before touching from the
// host what its work touches. Everything else returns when it is done. What no call returns is told to Options.Logger
// (Device.Log).
//
// A Device, and its Buffers, Kernels and Points, may be used by several goroutines at once, a Stream by one at a time.
// Free comes after every other use, also by the device. After Close calls answer ErrClosed.
//
// Kernels reach buffers by address alone, without descriptors: a push-constant struct carries Buffer.Address as a
// uint64, which is a uvec2 or a buffer reference in GLSL.
//
// # Structures of your own
//
// What vkds's structures stand on is there for others. [Stream.Whole] records a call of several commands, all of it or
// nothing, and [Stream.Fail] says that one of them can't be had. [Uses] frees and replaces memory behind the work that
// names it; [Stream.OnSubmit] and [Stream.Finally] tell what becomes of that. [Device.Attached] keeps what belongs to a
// device; [Device.Accept] and [Device.Fits] say beforehand what can't be, and by [Device.NewRehearsal] kernels are made
// ahead.
//
// # A device that the program has already
//
// A program that renders or computes with Vulkan itself passes its device to [Adopt]. [Buffer.Handle] and
// [Point.Semaphore] give what its own commands need, [Device.PointAt] makes a stream wait for them, and
// [Device.Handles] is the way back: the handles of a device that Open has opened.
//
// # Drivers
//
// Building needs no Vulkan package, but cgo, and Linux or Windows: the loader is opened at run time. Built
// otherwise, Open answers *UnsupportedError. Any driver of Vulkan 1.3 will do that has bufferDeviceAddress,
// vulkanMemoryModel with device scope, subgroupSizeControl, computeFullSubgroups, timelineSemaphore, synchronization2,
// maintenance4, and the basic, vote, ballot, shuffle and arithmetic subgroup operations. Info.Missing names what a
// device lacks of that.
package vk
