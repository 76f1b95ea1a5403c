package main

import (
	"fmt"

	"github.com/vkds/vkds/vk"
)

// open opens the device that the flags choose. Close it.
func (g *global) open() (*vk.Device, error) {
	return vk.Open(vk.Options{
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
