package slabhash_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Customers that have paid leave the table of debts: they are looked up, those that have debts are picked, and these
// are deleted. It is one batch of a stream, and how many there are only the device knows.
func ExampleMap_On() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	debts, err := slabhash.Build(ctx, d, []uint32{10, 11, 12, 13}, []uint32{500, 70, 80, 900}, slabhash.Options{})
	check(err)
	defer debts.Close()
	stream, err := d.NewStream()
	check(err)
	defer stream.Close()

	paid := []uint32{13, 99, 10, 98}
	lookups, err := structures.NewDeviceLookups(d, structures.Bits32, len(paid))
	check(err)
	defer lookups.Free()
	deletions, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Delete, len(paid))
	check(err)
	defer deletions.Free()
	deletions.DeviceCount, err = vk.NewBuffer[uint32](d, 1)
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()
	scratch, err := vk.NewBuffer[uint8](d, p.Scratch(primitives.CompactArgs{}))
	check(err)
	defer scratch.Free()

	check(lookups.Keys.Upload(ctx, 0, paid))
	check(debts.On(stream).Find(lookups))
	check(p.Compact(stream, primitives.CompactArgs{
		Keys: lookups.Keys.Address(), Flags: lookups.FoundBits.Address(), Length: primitives.Length{N: len(paid)},
		OutKeys: deletions.Keys.Address(), OutCount: deletions.DeviceCount.Address(), Scratch: scratch.Address(),
	}))
	deletions.Clear(stream)
	check(debts.On(stream).Update(ctx, structures.Delete, deletions))
	check(debts.On(stream).Finish(ctx, structures.Delete, deletions))

	left, err := debts.Len(ctx)
	check(err)
	fmt.Println(left, "customers have debts")
	// Output: 2 customers have debts
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
