package main

import (
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// plan is what vkds will do on a device: which of its ways it takes.
type plan struct {
	// Protocol is "64-bit", where a pair is one atomic, or "32-bit", where its words are changed one after the other.
	Protocol     string `json:"protocol"`
	SubgroupSize int    `json:"subgroup_size"` // lanes
	FindTile     int    `json:"find_tile"`     // lanes that read a slab together: in read-only lookups,
	UpdateTile   int    `json:"update_tile"`   // in concurrent lookups and updates,
	WalkTile     int    `json:"walk_tile"`     // and in walks over whole tables
	// Transfers are "direct", copies in memory that host and device share, or "staged", through a ring.
	Transfers string `json:"transfers"`
}

func planFor(d *vk.Device) plan {
	p := plan{Protocol: "32-bit", SubgroupSize: d.SubgroupSize(), Transfers: "staged"}
	if d.Has(vk.Int64Atomics) {
		p.Protocol = "64-bit"
	}
	if d.DirectTransfers() {
		p.Transfers = "direct"
	}
	p.FindTile, p.UpdateTile, p.WalkTile = slabhash.Tiles(d)
	return p
}
