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

// onHost tells whether dictionaries are to be kept in the host's memory.
func (g *global) onHost() bool { return cmp.Or(g.device, os.Getenv("VKDS_DEVICE")) == hostAlone }

// open opens the device that the flags choose. Close it.
func (g *global) open() (*vk.Device, error) { return g.openTelling(nil) }

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

// startOpening opens the device that the flags choose in a goroutine of its own. Close the opening.
func (g *global) startOpening() *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.device, o.err = g.open()
	}()
	return o
}

// startOpeningOrNone is startOpening, but for dictionaries that may be kept in the host's memory.
func (g *global) startOpeningOrNone() *opening {
	if g.onHost() {
		return openAlready(nil)
	}
	return g.startOpening()
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
	return vk.Open(vk.Options{
		OnKernel:   onKernel,
		Device:     g.device,
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
