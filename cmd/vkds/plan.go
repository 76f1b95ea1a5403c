package main

import (
	"runtime"

	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// protocols say how pairs are changed while others are, by the width of their keys and values.
type protocols struct {
	Bits32 string `json:"32_bits"`
	Bits64 string `json:"64_bits"`
}

// protocolsWith are those of a device with 64-bit atomics, or of one without.
func protocolsWith(atomics bool) protocols {
	if atomics {
		return protocols{"a pair by one 64-bit atomic",
			"in hash tables a key by one 64-bit atomic, then its value; in trees under a node's latch"}
	}
	return protocols{"in hash tables a key by one 32-bit atomic, then its value; in trees under a node's latch",
		"under a slab's or a node's latch"}
}

// plan is what vkds will do on a device: which of its ways it takes.
type plan struct {
	// Protocol is "64-bit" where there are atomics of so many bits, else "32-bit"; Protocols say what follows.
	Protocol     string    `json:"protocol"`
	Protocols    protocols `json:"protocols"`
	SubgroupSize int       `json:"subgroup_size"` // lanes
	FindTile     int       `json:"find_tile"`     // lanes that read a slab together: in read-only lookups,
	UpdateTile   int       `json:"update_tile"`   // in concurrent lookups and updates,
	WalkTile     int       `json:"walk_tile"`     // and in walks over whole tables
	// Transfers are "direct", copies in memory that host and device share, or "staged", through a ring.
	Transfers string       `json:"transfers"`
	Lacks     []vk.Feature `json:"lacks"`    // optional features that it goes without
	Platform  string       `json:"platform"` // the system and the processor that this program was built for
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
