package btree

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
)

// dictionary is a tree with batches in slices of words.
type dictionary[W structures.Word] struct {
	*tree
	structures.Updates[W, W]
	ordered.Queries[W, W]
}

var _ structures.Dictionary[uint32, uint32] = (*dictionary[uint32])(nil)

func dictionaryOf[W structures.Word](t *tree) *dictionary[W] {
	d := &dictionary[W]{tree: t, Queries: ordered.Queries[W, W]{Reader: t.reader}}
	d.Updates = pipeline.Updates[W](d.UpdateInto)
	return d
}
