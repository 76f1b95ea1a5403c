// Package vk is the device layer of vkds: it chooses a Vulkan 1.3 device and provides typed buffers on it, streams of
// asynchronous work, and kernels made from SPIR-V modules. It is the only package that calls Vulkan.
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
// Methods of a Stream record commands, Submit submits the recorded commands and returns, and Wait also waits until they
// have ended. Upload and Download are synchronous and do not belong to a stream: before the host reads or writes memory
// that submitted work uses, wait for that work. All other calls are synchronous. Events that no call returns are logged
// to Options.Logger (Device.Log).
//
// A Device and its Buffers, Kernels and Points may be used by several goroutines at once, a Stream by one at a time.
// Free an object only after all other uses of it, also by the device. After Close, calls return ErrClosed.
//
// Kernels reach buffers only by address, without descriptors: a push-constant struct contains Buffer.Address as a
// uint64, which is a uvec2 or a buffer reference in GLSL.
//
// # Structures of your own
//
// Other packages can build data structures on the functions that vkds's own structures use:
//
//   - [Stream.Whole] records several commands completely or not at all. [Stream.Fail] marks a batch as failed.
//   - [Uses] frees or replaces memory after the work that uses it.
//   - [Stream.OnSubmit] tells when work is submitted or dropped, [Stream.Finally] when it has ended.
//   - [Device.Attached] keeps values that belong to a device.
//   - [Device.Accept] and [Device.Fits] check arguments and memory in advance.
//
// # A device that the program already has
//
// A program that renders or computes with Vulkan itself passes its device to [Adopt]. [Buffer.Handle] and
// [Point.Semaphore] return the handles that the program's own commands need. [Device.PointAt] returns a Point for the
// program's own semaphore, so that a stream can wait for it. In the other direction, [Device.Handles] returns the
// handles of a device that Open has opened.
//
// # Drivers
//
// Building needs cgo and Linux or Windows, but no Vulkan package, because the loader is opened at run time. In a
// program that was built otherwise, Open returns *NoDriverError. Any driver of Vulkan 1.3 works if it has
// bufferDeviceAddress, vulkanMemoryModel with device scope, subgroupSizeControl, computeFullSubgroups,
// timelineSemaphore, synchronization2, maintenance4, and the basic, vote, ballot, shuffle and arithmetic subgroup
// operations. Info.Missing names those that a device lacks.
package vk
