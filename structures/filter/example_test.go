package filter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/vk"
)

// Addresses that were seen before are found; others are not, but for one in a thousand.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	seen, err := filter.New[uint64](ctx, d, filter.Options{Capacity: 1_000_000, FalsePositives: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	if err := seen.Insert(ctx, []uint64{7, 8, 9}); err != nil {
		log.Fatal(err)
	}
	found, err := seen.Contains(ctx, []uint64{6, 7, 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
	// Output: [false true true]
}
