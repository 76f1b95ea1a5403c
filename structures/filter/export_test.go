package filter

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Blocks returns the memory of a filter.
func Blocks[K structures.Number](f *Filter[K]) *vk.Buffer[uint32] { return f.open().blocks }

// Rate and BlocksFor are how the size of a filter is found.
var Rate, BlocksFor = rate, blocksFor
