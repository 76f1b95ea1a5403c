package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/vkds/vkds/vk"
)

// hostAlone is the device of dictionaries in the host's memory (package host).
const hostAlone = "none"

// named is the device that the user names; "" if he leaves the choice to vkds.
func (g *global) named() string { return cmp.Or(g.device, os.Getenv("VKDS_DEVICE")) }

// onHost tells whether dictionaries are to be kept in the host's memory.
func (g *global) onHost() bool { return g.named() == hostAlone }

// open opens the device that the flags choose. Close it.
func (g *global) open() (*vk.Device, error) { return g.openTelling(nil) }

// openGPU opens the device that the user names, or else the best GPU. If there is none that vkds can use, it returns
// nil: a CPU driver does for dictionaries nothing that the host doesn't do faster.
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

// opening is a device that is opened while something else is done.
type opening struct {
	done   chan struct{} // closed when the others are there
	device *vk.Device    // nil if dictionaries are kept in the host's memory
	err    error
}

// openAlready returns an opening of a device that is there, or of the host if it is nil.
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

// startOrHost is start, but for dictionaries, which may be kept in the host's memory.
func (g *global) startOrHost(open func() (*vk.Device, error)) *opening {
	if g.onHost() {
		return openAlready(nil)
	}
	return start(open)
}

// wait returns the device when it is open.
func (o *opening) wait() (*vk.Device, error) {
	<-o.done
	return o.device, o.err
}

// beside calls do, which may wait for the device. If the device can't be opened, beside returns why, whatever do
// returns, and do's context ends, so that it doesn't go on to read a long file or to wait for a pipe.
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

// nameOf names a device, or the host where there is none.
func nameOf(d *vk.Device) string {
	if d == nil {
		return "the host"
	}
	return d.Info().Name
}

// openTelling opens the device as open does; onKernel, if not nil, is told of each kernel that is made.
func (g *global) openTelling(onKernel func(vk.KernelReport)) (*vk.Device, error) {
	if g.onHost() {
		return nil, errors.New("--device none is for dictionaries: this needs a device")
	}
	return g.openNamed(g.device, onKernel)
}

func (g *global) openNamed(name string, onKernel func(vk.KernelReport)) (*vk.Device, error) {
	return vk.Open(vk.Options{
		OnKernel:   onKernel,
		Device:     name,
		Validation: g.validation,
		OnMessage: func(m vk.Message) {
			switch {
			case m.Severity == vk.Error:
				g.complaints.Add(1)
			case m.ID == "Loader Message":
				return // on layers that the environment turns off, not on what vkds does
			}
			fmt.Fprintf(g.err, "vkds: validation: %s\n", m)
		},
	})
}
