package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/vk"
)

func newInfoCommand(g *global) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info",
		Short: "List the devices, and what vkds runs on them",
		Long: `Info lists every Vulkan device with its driver, the one that vkds prefers first.
If a device lacks features that vkds needs, "runs" names them. "goes without"
names optional features that it lacks: vkds works without them.

The device that vkds would use now, by --device, VKDS_DEVICE or preference, is
marked as chosen. If that is a CPU device which neither of them names,
dictionaries are kept in the host's memory instead.`,
		Args: takes("no arguments", 0, 0),
		RunE: func(*cobra.Command, []string) error { return info(g, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array with all properties of each device")
	return c
}

func info(g *global, asJSON bool) error {
	devices, err := vk.List()
	if err != nil {
		return err
	}
	chosen := -1
	d, err := g.open()
	switch {
	case err == nil:
		chosen = d.Info().Index
		for i := range devices {
			if devices[i].Index == chosen {
				devices[i] = d.Info() // as it is used
			}
		}
		if err := d.Close(); err != nil {
			return err
		}
	case g.device != "" || len(devices) == 0:
		return err
	default:
		g.note("no device to use: %v", err)
	}
	if asJSON {
		list := []described{}
		for _, i := range devices {
			list = append(list, describe(i, i.Index == chosen))
		}
		return g.answerJSON(list)
	}
	var rows [][]string
	for _, i := range devices {
		x := describe(i, i.Index == chosen)
		mark := ""
		if x.Chosen {
			mark = "*"
		}
		rows = append(rows, []string{
			fmt.Sprint(x.Index), mark, x.Name, x.Type, x.Driver, x.Vulkan,
			fmt.Sprintf("%d (%d-%d)", x.Subgroup.Size, x.Subgroup.Min, x.Subgroup.Max),
			fmt.Sprintf("%.1f GiB", float64(x.MemoryBytes)/(1<<30)),
			x.Atomics,
			x.Protocols.Bits32,
			x.Protocols.Bits64,
			lacking(x.Lacks),
			x.runs(),
		})
	}
	titles := []string{"device", "chosen", "name", "type", "driver", "vulkan", "subgroup", "memory", "atomics",
		"pairs of 32 bits", "pairs of 64 bits", "goes without", "runs"}
	if g.terminal(g.out) && len(rows) > 0 {
		titles, rows = transpose(titles, rows) // long names side by side overflow a screen
	}
	return g.answerTable(titles, rows)
}

// transpose turns rows into columns.
func transpose(titles []string, rows [][]string) ([]string, [][]string) {
	turned := make([][]string, len(titles))
	for i, title := range titles {
		turned[i] = []string{title}
		for _, row := range rows {
			turned[i] = append(turned[i], row[i])
		}
	}
	return turned[0], turned[1:]
}

// described is a device as info prints it.
type described struct {
	Index    int    `json:"index"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Driver   string `json:"driver"`
	Vulkan   string `json:"vulkan"`
	VendorID uint32 `json:"vendor_id"`
	DeviceID uint32 `json:"device_id"`
	UUID     string `json:"uuid"`
	Subgroup struct {
		Size int `json:"size"`
		Min  int `json:"min"`
		Max  int `json:"max"`
	} `json:"subgroup"`
	MemoryBytes    uint64       `json:"memory_bytes"`
	MaxBufferBytes uint64       `json:"max_buffer_bytes"`
	Queues         int          `json:"queues"`
	Features       []vk.Feature `json:"features"`
	Missing        []string     `json:"missing"`
	Lacks          []vk.Feature `json:"lacks"`
	Atomics        string       `json:"atomics"`
	Protocols      protocols    `json:"protocols"`
	Structures     []string     `json:"structures"`
	Chosen         bool         `json:"chosen"`
}

func describe(i vk.Info, chosen bool) described {
	d := described{
		Index: i.Index, Name: i.Name, Type: string(i.Type), Driver: i.Driver, Vulkan: i.APIVersion,
		VendorID: i.VendorID, DeviceID: i.DeviceID, UUID: fmt.Sprintf("%x", i.UUID),
		MemoryBytes: i.HeapBytes, MaxBufferBytes: i.MaxBufferBytes, Queues: i.Queues,
		Features: append([]vk.Feature{}, i.Features...), Missing: append([]string{}, i.Missing...),
		Lacks:   append([]vk.Feature{}, i.Lacks()...),
		Atomics: "32-bit", Protocols: protocolsWith(i.Has(vk.Int64Atomics)), Structures: []string{}, Chosen: chosen,
	}
	d.Subgroup.Size, d.Subgroup.Min, d.Subgroup.Max = i.SubgroupSize, i.MinSubgroup, i.MaxSubgroup
	if i.Has(vk.Int64Atomics) {
		d.Atomics = "64-bit"
	}
	if len(i.Missing) == 0 {
		d.Structures = structureNames(false)
	}
	return d
}

// lacking lists the optional features that a device does without.
func lacking(features []vk.Feature) string {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = string(f)
	}
	return cmp.Or(strings.Join(names, ", "), "nothing")
}

// runs says in a table's cell what runs on the device, or why nothing does.
func (d described) runs() string {
	if len(d.Missing) > 0 {
		return "nothing: lacks " + strings.Join(d.Missing, ", ")
	}
	return strings.Join(d.Structures, ", ")
}
