package main

import (
	"cmp"
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

// openOrNone is open, and returns nil if dictionaries are to be kept in the host's memory. close ends its use.
func (g *global) openOrNone() (d *vk.Device, close func() error, err error) {
	if g.onHost() {
		return nil, func() error { return nil }, nil
	}
	if d, err = g.open(); err != nil {
		return nil, nil, err
	}
	return d, d.Close, nil
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
