package lsm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/vk"
)

// A dictionary in key order from Go slices, on the best device there is.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l, err := lsm.New(ctx, d, lsm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	statuses, err := l.Insert(ctx, []uint32{30, 10, 20, 10}, []uint32{3, 1, 2, 11})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statuses)
	if _, err := l.Delete(ctx, []uint32{20}); err != nil {
		log.Fatal(err)
	}
	r, err := l.Range(ctx, []structures.Range{{Lo: 5, Hi: 25}, structures.AllKeys})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		from, to := r.Offsets[i], r.Offsets[i+1]
		fmt.Println(r.Keys[from:to], r.Values[from:to])
	}
	// Output:
	// [inserted inserted inserted assigned]
	// [10] [11]
	// [10 30] [11 3]
}

// The iterators go up and down in key order.
func ExampleLSM_Descend() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l, err := lsm.Build(ctx, d, []uint32{5, 1, 9, 7}, []uint32{50, 10, 90, 70}, lsm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	pairs, failure := l.Descend(ctx, structures.Range{Lo: 2, Hi: 8})
	for key, value := range pairs {
		fmt.Println(key, value)
	}
	if err := failure(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 7 70
	// 5 50
}

// Batches in device memory, on a stream: nothing waits until the end.
func ExampleLSM_UpdateOn() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	const batch = 1 << 10
	l, err := lsm.New(ctx, d, lsm.Options{Batch: batch, Capacity: 4 * batch})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	stream, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	data := make([]uint32, 4*batch)
	for i := range data {
		data[i] = uint32(i) * 2654435761
	}
	keys, err := vk.NewBuffer[uint32](d, len(data))
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Free()
	if err := keys.Upload(ctx, 0, data); err != nil {
		log.Fatal(err)
	}
	for first := 0; first < len(data); first += batch {
		u := structures.DeviceBatch{Count: batch, First: first, Keys: keys, Values: keys}
		if err := l.UpdateOn(ctx, stream, structures.Insert, u); err != nil {
			log.Fatal(err)
		}
	}
	if err := stream.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	stats, err := l.Stats(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Pairs, stats.Levels)
	// Output: 4096 [{2 4096}]
}
