package btree

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// queryShape is the layout of the kernels of queries in the read-only phase.
type queryShape struct {
	find       int // lanes that search together: for keys,
	neighbor   int // for neighbors,
	seek       int // and for the leaves where ranges begin
	walk       int // lanes that read the leaves of a range together
	parts      int // the parts in which lookups read a node: 1 or 2
	indexBits  int // log2 of the entries of a prefix index; -1: by the number of queries
	partBits   int // log2 of the parts of a partition
	partsOfFew int // log2 of the parts into which few ranges are divided together

	order structures.LookupOrder // for neighbors and ranges
}

// bestQueryShape returns the layout that measured best (docs/notes/measurements.md). wish is Options.Tile.
func bestQueryShape(d *vk.Device, wish int) queryShape {
	q := queryShape{find: 2, neighbor: 4, seek: 4, walk: 4, parts: 2, indexBits: -1, partBits: 8, partsOfFew: 16}
	if d.Info().Type == vk.CPU {
		q.find, q.neighbor, q.seek, q.walk = 1, 1, 1, 1
		q.partsOfFew = 8
	}
	for _, tile := range []*int{&q.find, &q.neighbor, &q.seek, &q.walk} {
		if wish != 0 {
			*tile = wish
		}
		*tile = min(*tile, d.SubgroupSize())
	}
	return q
}

// constant returns the specialization constant of the shape.
func (q queryShape) constant() recording.Specialization {
	return recording.Constant("NODE_PARTS", uint32(q.parts))
}
