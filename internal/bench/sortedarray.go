package bench

import (
	"context"

	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

func sortedArrayKind() orderedKind {
	return orderedKind{
		name:  "sortedarray",
		waits: true,
		open: func(ctx context.Context, d *vk.Device, s *orderedSession) (orderedTable, error) {
			return sortedarray.New(ctx, d, sortedarray.Options{Capacity: s.n})
		},
		ops: sortedArrayOps,
	}
}

var sortedArrayOps = operations[*orderedSession]{
	{Op{"insert", "n pairs into an empty array, batch by batch", true}, (*orderedSession).series},
	{Op{"find-exist", "search of n keys, all present", true}, (*orderedSession).findExist},
	{Op{"find-none", "search of n keys, none present", true}, (*orderedSession).findNone},
	{Op{"count", "how many keys are in each of n ranges", true}, (*orderedSession).count},
	{Op{"range", "the pairs of n ranges, in order", true}, (*orderedSession).list},
}

// SortedArray measures the sorted array. With an error, the report holds what was measured before it. Errors as of
// SlabHash.
func SortedArray(ctx context.Context, d *vk.Device, o OrderedOptions) (Report, error) {
	return sortedArrayKind().run(ctx, d, o)
}
