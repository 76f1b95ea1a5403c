package slabhash

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

const maxTile = 8 // quads of a slab

// tiles are the numbers of lanes that work on one slab together, by sort of kernel.
type tiles struct {
	find   int // lookups that don't run concurrently with updates: many slabs in flight, few instructions each
	insert int // batches of Insert, InsertUnique or InsertDuplicate
	update int // concurrent lookups, and other updates
	walk   int // reads whole buckets, one after the other
}

// Tiles returns how many lanes work on one slab together, for 32-bit pairs and unless Options.Tile is set: in read-only
// lookups, in concurrent lookups and updates, and in walks over whole tables.
func Tiles(d *vk.Device) (find, update, walk int) {
	t := bestTiles(d, structures.Bits32, false, 0)
	return t.find, t.update, t.walk
}

// bestTiles returns the widths that measured best on a type of device (docs/notes/measurements.md). On a CPU, a lane is
// a loop iteration and shuffles are expensive, so one lane reads the whole slab.
func bestTiles(d *vk.Device, width structures.Width, keys bool, wish int) tiles {
	t := tiles{find: 4, insert: 4, update: 4, walk: 8}
	if width == structures.Bits64 && !keys {
		t.insert = 2
	}
	if d.Info().Type == vk.CPU {
		t = tiles{find: 1, insert: 1, update: 1, walk: 1}
	}
	return tiles{
		find:   recording.Tile(d, wish, "hash.find", t.find, maxTile),
		insert: recording.Tile(d, wish, "hash.insert", t.insert, maxTile),
		update: recording.Tile(d, wish, "hash.update", t.update, maxTile),
		walk:   recording.Tile(d, wish, "hash.walk", t.walk, maxTile),
	}
}
