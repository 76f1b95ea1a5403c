package btree_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// A snapshot keeps the content of the tree. Diff returns what has changed since.
func Example_snapshots() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	prices, err := btree.Build(ctx, d, []uint32{1, 2, 3}, []int64{100, 250, 80}, btree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer prices.Close()

	opening, err := prices.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer opening.Close()
	if _, err := prices.Insert(ctx, []uint32{2, 4}, []int64{260, 10}); err != nil {
		log.Fatal(err)
	}
	if _, err := prices.Delete(ctx, []uint32{3}); err != nil {
		log.Fatal(err)
	}
	closing, err := prices.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer closing.Close()

	values, found, err := opening.Find(ctx, []uint32{2, 3, 4})
	fmt.Println(values, found, err)
	for change, err := range btree.Diff(ctx, opening, closing) {
		fmt.Println(change, err)
	}
	// Output:
	// [250 80 0] [true true false] <nil>
	// {2 250 260 true true} <nil>
	// {3 80 0 true false} <nil>
	// {4 0 10 false true} <nil>
}
