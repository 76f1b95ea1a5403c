package sortedarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// Build a dictionary at once and query it, on the best device that the system has.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	a, err := sortedarray.Build(ctx, d, []uint32{400, 100, 300, 200}, []uint32{4, 1, 3, 2}, sortedarray.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()

	counts, err := a.Count(ctx, []u32.Range{{Lo: 100, Hi: 300}, {Lo: 301, Hi: 399}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts)
	floor, err := a.Neighbor(ctx, structures.Floor, []uint32{250, 99})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(floor.Keys, floor.Found)
	for greatest, err := range a.Descend(ctx, u32.AllKeys) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(greatest.Key, greatest.Value)
		break
	}
	// Output:
	// [3 0]
	// [200 0] [true false]
	// 400 4
}
