package lsm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// Use an ordered dictionary with Go slices, on the best device that the system has.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{})
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
	r, err := l.Range(ctx, []u32.Range{{Lo: 5, Hi: 25}, u32.AllKeys})
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

	for pair, err := range l.Descend(ctx, u32.Range{Lo: 2, Hi: 8}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pair.Key, pair.Value)
	}
	// Output:
	// 7 70
	// 5 50
}

// Insert batches that lie in device memory, on a stream. Nothing waits until the end.
func ExampleLSM_On() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	const batch = 1 << 10
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: batch, Capacity: 4 * batch})
	check(err)
	defer l.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()
	keys, err := vk.NewBuffer[uint32](d, 4*batch)
	check(err)
	defer keys.Free()
	data := make([]uint32, keys.Len())
	for i := range data {
		data[i] = uint32(i) * 2654435761
	}
	check(keys.Upload(ctx, 0, data))
	for first := 0; first < len(data); first += batch {
		u := structures.DeviceBatch{Count: batch, First: first, Keys: keys, Values: keys}
		check(l.On(stream).Update(ctx, structures.Insert, u))
	}
	check(stream.Wait(ctx))
	stats, err := l.Inspect().Stats(ctx)
	check(err)
	fmt.Println(stats.Pairs, stats.Levels)
	// Output: 4096 [{2 4096}]
}

// Insert events and count those of a time range, in one batch of a stream. The number of events is known to the device
// only.
func ExampleLSM_On_count() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{})
	check(err)
	defer l.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()
	events, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Insert, 1000)
	check(err)
	defer events.Free()
	events.DeviceCount, err = vk.NewBuffer[uint32](d, 1)
	check(err)
	times, err := structures.NewDeviceCounts(d, structures.Bits32, 1)
	check(err)
	defer times.Free()
	check(events.Keys.Upload(ctx, 0, []uint32{12, 15, 31, 18}))
	check(events.Values.Upload(ctx, 0, []uint32{1, 2, 3, 4}))
	check(events.DeviceCount.Upload(ctx, 0, []uint32{4}))
	check(times.Ranges.Upload(ctx, 0, []uint32{10, 19}))

	events.Clear(stream)
	check(l.On(stream).Update(ctx, structures.Insert, events))
	check(l.On(stream).Count(times))
	check(stream.Wait(ctx))

	count := make([]uint32, 1)
	check(times.Counts.Download(ctx, 0, count))
	fmt.Println(count[0], "events")
	// Output: 3 events
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
