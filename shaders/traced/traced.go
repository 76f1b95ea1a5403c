// Package traced has those kernels of package shaders that change structures, compiled so that they write what they do
// to a buffer, as events. They are four megabytes, so a program has them only if it asks:
//
//	d, err := vk.Open(vk.Options{Trace: traced.Kernels(1 << 20)})
//
// Package structures/trace reads the events.
package traced

import (
	"embed"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

//go:embed spv
var spirv embed.FS

// Kernels returns the option that has kernels write events to a buffer that has room for that many, 32 bytes each.
func Kernels(events int) vk.Tracing { return vk.Tracing{Events: events, Module: module} }

func module(name string) (shaders.Module, bool) {
	code, err := spirv.ReadFile("spv/" + name + ".spv")
	return shaders.Module{Name: name, Code: code}, err == nil
}
