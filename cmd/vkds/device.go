package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/vk"
)

// hostAlone is the value of --device that keeps dictionaries in the host's memory (package host).
const hostAlone = "none"

// named returns the device that --device or VKDS_DEVICE names, "" if neither does.
func (g *global) named() string { return cmp.Or(g.device, os.Getenv("VKDS_DEVICE")) }

// onHost reports whether dictionaries are to be kept in the host's memory.
func (g *global) onHost() bool { return g.named() == hostAlone }

// open opens the device that the flags choose. Close it.
func (g *global) open() (*vk.Device, error) { return g.openTelling(nil) }

// openGPU opens the device that the user names, or else the best GPU. If there is no GPU that vkds can use, it returns
// nil, because dictionaries in the host's memory are faster than those of a CPU driver.
func (g *global) openGPU() (*vk.Device, error) {
	if g.named() != "" || g.validation {
		return g.open()
	}
	d, err := g.openNamed("gpu", nil)
	var driver *vk.NoDriverError
	var device *vk.NoDeviceError
	var missing *vk.MissingFeatureError
	if errors.As(err, &driver) || errors.As(err, &device) || errors.As(err, &missing) {
		return nil, nil
	}
	return d, err
}

// opening is a device that is being opened in the background.
type opening struct {
	done   chan struct{} // closed when device and err are set
	device *vk.Device    // nil if dictionaries are kept in the host's memory
	err    error
}

// openAlready returns a completed opening, of the host if d is nil.
func openAlready(d *vk.Device) *opening {
	o := &opening{done: make(chan struct{}), device: d}
	close(o.done)
	return o
}

// start opens a device by open, in a goroutine of its own. Close the opening.
func start(open func() (*vk.Device, error)) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.device, o.err = open()
	}()
	return o
}

// startOrHost is start for a dictionary of a file: by openGPU, unless the user asked for the host's memory, or for
// nothing and the file is small.
func (g *global) startOrHost(path string) *opening {
	if g.onHost() || g.named() == "" && !g.validation && small(path) {
		return openAlready(nil)
	}
	return start(g.openGPU)
}

// small reports whether a file is loaded in the host's memory before a GPU is open, which takes 0.3 to 0.5 s. On the
// host of an H200, with 16 cores, that is so up to 100 MB of CSV. A compressed file may hold ten times as much.
func small(path string) bool {
	file, err := stat(path, os.Stdin)
	most := int64(min(8, runtime.GOMAXPROCS(0))) * smallPerCore
	if input.TrimCompression(path) != path {
		most /= 8
	}
	return err == nil && file.Mode().IsRegular() && file.Size() <= most
}

const smallPerCore = 8 << 20 // bytes

// wait returns the device when it is open.
func (o *opening) wait() (*vk.Device, error) {
	<-o.done
	return o.device, o.err
}

// beside calls do while the device is being opened; do may wait for it. If the device can't be opened, beside cancels
// do's context, so that it doesn't go on reading a long file or waiting for a pipe, and returns the device's error.
func (o *opening) beside(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if _, err := o.wait(); err != nil {
			cancel(err)
		}
	}()
	err := do(ctx)
	if _, failed := o.wait(); failed != nil {
		return failed
	}
	return err
}

// Close waits for the device and closes it.
func (o *opening) Close() error {
	if d, _ := o.wait(); d != nil {
		return d.Close()
	}
	return nil
}

// nameOf returns the name of a device, or of the host if d is nil.
func nameOf(d *vk.Device) string {
	if d == nil {
		return "the host"
	}
	return d.Info().Name
}

// openTelling opens the device as open does. onKernel, if not nil, is called with a report on each kernel that is made.
func (g *global) openTelling(onKernel func(vk.KernelReport)) (*vk.Device, error) {
	if g.onHost() {
		return nil, errors.New("--device none is for dictionaries: this needs a device")
	}
	return g.openNamed(g.device, onKernel)
}

func (g *global) openNamed(name string, onKernel func(vk.KernelReport)) (*vk.Device, error) {
	return g.openWith(vk.Options{Device: name, OnKernel: onKernel})
}

// openTraced opens the device that the flags choose, with instrumented kernels.
func (g *global) openTraced(events int) (*vk.Device, error) {
	if g.onHost() {
		return nil, errors.New("--device none: traces are of what a device does")
	}
	return g.openWith(vk.Options{Device: g.device, Trace: traced.Kernels(events)})
}

func (g *global) openWith(o vk.Options) (*vk.Device, error) {
	o.Validation = g.validation
	o.OnMessage = func(m vk.Message) {
		switch {
		case m.Severity == vk.Error:
			g.complaints.Add(1)
		case m.ID == "Loader Message":
			return // about layers that the environment turns off, not about vkds
		}
		fmt.Fprintf(g.err, "vkds: validation: %s\n", m)
	}
	if g.adopt != nil {
		return g.adopt(o)
	}
	return vk.Open(o)
}
