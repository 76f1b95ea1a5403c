package conformance

import "github.com/vkds/vkds/structures"

// Short names for what has keys and values of one width, as all that is tested here has.
type (
	Pair[W structures.Word]       = structures.Pair[W, W]
	Batch[W structures.Word]      = structures.Batch[W, W]
	Results[W structures.Word]    = structures.Results[W, W]
	Range[W structures.Word]      = structures.Range[W]
	Ranges[W structures.Word]     = structures.Ranges[W, W]
	Neighbors[W structures.Word]  = structures.Neighbors[W, W]
	Dictionary[W structures.Word] = structures.Dictionary[W, W]
	Ordered[W structures.Word]    = structures.Ordered[W, W]
)
