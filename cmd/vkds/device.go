package main

import (
	"fmt"

	"github.com/vkds/vkds/vk"
)

// open opens the device that the flags choose. Close it.
func (g *global) open() (*vk.Device, error) { return g.openTelling(nil) }

// openTelling opens the device as open does; onKernel, if not nil, is told of each kernel that is made.
func (g *global) openTelling(onKernel func(vk.KernelReport)) (*vk.Device, error) {
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
