package btree

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// queryShape is how the kernels of queries in the read-only phase are laid out.
type queryShape struct {
	find       int // lanes that search together: for keys,
	neighbor   int // for neighbors,
	seek       int // and for where ranges begin
	walk       int // lanes that read the leaves of a range together
	parts      int // in which lookups read a node: 1 or 2
	indexBits  int // log2 of the entries of a prefix index; -1: by the number of queries
	partBits   int // log2 of the parts that keys are brought into which are looked up in order
	partsOfFew int // log2 of the parts that few ranges are cut into together

	order structures.LookupOrder // of neighbors and ranges
}

// bestQueryShape returns what measured best (docs/benchmarks.md). wish is the Tile of Options.
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

// constant is the part of the shape that kernels are specialised for.
func (q queryShape) constant() recording.Specialization {
	return recording.Constant("NODE_PARTS", uint32(q.parts))
}
