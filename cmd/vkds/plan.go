package main

import (
	"runtime"

	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// protocols describe how threads of the device change pairs concurrently, by the width of keys and values.
type protocols struct {
	Bits32 string `json:"32_bits"`
	Bits64 string `json:"64_bits"`
}

// protocolsWith returns the protocols of a device with or without 64-bit atomics.
func protocolsWith(atomics bool) protocols {
	if atomics {
		return protocols{"a pair by one 64-bit atomic",
			"in hash tables a key by one 64-bit atomic, then its value; in trees under a node's latch"}
	}
	return protocols{"in hash tables a key by one 32-bit atomic, then its value; in trees under a node's latch",
		"under a slab's or a node's latch"}
}

// plan is what vkds will do on a device, as doctor prints it.
type plan struct {
	// Protocol is "64-bit" if the device has 64-bit atomics, else "32-bit". Protocols say what follows from that.
	Protocol     string    `json:"protocol"`
	Protocols    protocols `json:"protocols"`
	SubgroupSize int       `json:"subgroup_size"` // lanes
	FindTile     int       `json:"find_tile"`     // lanes that read a slab together in read-only lookups
	UpdateTile   int       `json:"update_tile"`   // the same in concurrent lookups and updates
	WalkTile     int       `json:"walk_tile"`     // the same in walks over whole tables
	// Transfers is "direct" for copies in memory that host and device share, "staged" for copies through a ring of
	// buffers.
	Transfers string       `json:"transfers"`
	Lacks     []vk.Feature `json:"lacks"`    // optional features that the device does not have
	Platform  string       `json:"platform"` // the system and processor that vkds was built for
}

func planFor(d *vk.Device) plan {
	p := plan{Protocol: "32-bit", Protocols: protocolsWith(d.Has(vk.Int64Atomics)), SubgroupSize: d.SubgroupSize(),
		Transfers: "staged", Lacks: append([]vk.Feature{}, d.Info().Lacks()...),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if d.Has(vk.Int64Atomics) {
		p.Protocol = "64-bit"
	}
	if d.DirectTransfers() {
		p.Transfers = "direct"
	}
	p.FindTile, p.UpdateTile, p.WalkTile = slabhash.Tiles(d)
	return p
}
