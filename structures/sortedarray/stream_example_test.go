package sortedarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

// Each price is valid from a day on. An update adds a price, and the price of a day is that of its floor.
func ExampleArray_On() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	prices, err := sortedarray.Build(ctx, d, []uint32{1, 100}, []uint32{20, 25}, sortedarray.Options{})
	check(err)
	defer prices.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()
	news, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Insert, 1)
	check(err)
	defer news.Free()
	days, err := structures.NewDeviceNeighbors(d, structures.Bits32, 3)
	check(err)
	defer days.Free()
	check(news.Keys.Upload(ctx, 0, []uint32{50}))
	check(news.Values.Upload(ctx, 0, []uint32{22}))
	check(days.Keys.Upload(ctx, 0, []uint32{49, 50, 365}))

	news.Clear(stream)
	days.Clear(stream)
	check(prices.On(stream).Update(ctx, structures.Insert, news))
	check(prices.On(stream).Neighbor(structures.Floor, days))
	check(prices.On(stream).FinishNeighbors(ctx, structures.Floor, days))

	values := make([]uint32, 3)
	check(days.OutValues.Download(ctx, 0, values))
	fmt.Println(values)
	// Output: [20 22 25]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
