package btree_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// This example inserts pairs and reads ranges of them in one batch of a stream.
func ExampleTree_On() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	t, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	check(err)
	defer t.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()
	insertions, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Insert, 5)
	check(err)
	defer insertions.Free()
	ranges, err := structures.NewDeviceRanges(d, structures.Bits32, 2, 5)
	check(err)
	defer ranges.Free()
	check(insertions.Keys.Upload(ctx, 0, []uint32{50, 10, 40, 20, 30}))
	check(insertions.Values.Upload(ctx, 0, []uint32{5, 1, 4, 2, 3}))
	check(ranges.Ranges.Upload(ctx, 0, []uint32{15, 30, 40, 1000}))

	insertions.Clear(stream)
	check(t.On(stream).Update(ctx, structures.Insert, insertions))
	check(t.On(stream).Range(ranges))
	check(stream.Wait(ctx))

	offsets, keys := make([]uint32, 3), make([]uint32, 5)
	check(ranges.Offsets.Download(ctx, 0, offsets))
	check(ranges.Keys.Download(ctx, 0, keys))
	fmt.Println(keys[offsets[0]:offsets[1]], keys[offsets[1]:offsets[2]])
	// Output: [20 30] [40 50]
}

// Operations of all kinds run concurrently: some insert bids while others ask for the best bid. Each has its own
// result.
func ExampleTree_On_concurrent() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	bids, err := btree.Build(ctx, d, []uint32{100, 120}, []uint32{1, 2}, btree.Options{})
	check(err)
	defer bids.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()
	b, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Mixed, 3)
	check(err)
	defer b.Free()
	check(b.Kinds.Upload(ctx, 0, []uint8{uint8(structures.Insert), uint8(structures.Delete), uint8(structures.Find)}))
	check(b.Keys.Upload(ctx, 0, []uint32{150, 100, 120}))
	check(b.Values.Upload(ctx, 0, []uint32{3, 0, 0}))

	b.Clear(stream)
	check(bids.On(stream).Apply(structures.Mixed, b))
	check(bids.On(stream).Finish(ctx, structures.Mixed, b))

	status, values := make([]uint8, 3), make([]uint32, 3)
	check(b.Status.Download(ctx, 0, status))
	check(b.Values.Download(ctx, 0, values))
	fmt.Println(structures.Status(status[0]), structures.Status(status[1]), structures.Status(status[2]), values[2])
	// Output: inserted deleted found 2
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
