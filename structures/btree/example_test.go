package btree_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// This example finds the range of addresses that contains an address. The first address of each range is a key, its
// owner the value, and the floor of an address gives the answer.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	t, err := btree.Build(ctx, d, []uint32{0x01000000, 0x08000000, 0x08080800, 0x08080900}, []uint32{1, 2, 3, 2},
		btree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	owners, err := t.Neighbor(ctx, structures.Floor, []uint32{0x08080808, 0x0a000001, 0x00000001})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(owners.Values, owners.Found)
	// Output:
	// [3 2 0] [true true false]
}

// This example sums the prices of each product.
func ExampleTree_InsertAdd() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	t, err := btree.New[uint32, float64](ctx, d, btree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	products := []uint32{3, 1, 3, 2, 1}
	prices := []float64{9.5, 1.25, 0.75, 20, -0.25}
	if _, err := t.InsertAdd(ctx, products, prices); err != nil {
		log.Fatal(err)
	}
	for pair, err := range t.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pair.Key, pair.Value)
	}
	// Output:
	// 1 1
	// 2 20
	// 3 10.25
}

// A batch may have operations of all kinds. They run concurrently, and each has its own result.
func ExampleTree_Apply() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	t, err := btree.Build(ctx, d, []uint32{10, 20, 30, 40}, []uint32{1, 2, 3, 4}, btree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	r, err := t.Apply(ctx, u32.Batch{
		Kinds: []structures.Kind{structures.Insert, structures.Delete, structures.Find, structures.FindSuccessor,
			structures.FindRange},
		Keys:   []uint32{50, 60, 20, 20, 10},
		Values: []uint32{5, 0, 0, 0, 0},
		Highs:  []uint32{0, 0, 0, 0, 30}, // for the range
		Width:  8,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status)
	fmt.Println("value", r.Values[2], "successor", r.Keys[3], "with", r.Values[3])
	fmt.Println("range", r.Ranges.Keys[r.Ranges.Offsets[4]:r.Ranges.Offsets[5]])
	// Output:
	// [inserted absent found found found]
	// value 2 successor 30 with 3
	// range [10 20 30]
}

// Iterators return pairs in ascending or descending key order.
func ExampleTree_Descend() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	t, err := btree.Build(ctx, d, []uint32{5, 1, 9, 7}, []uint32{50, 10, 90, 70}, btree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	for pair, err := range t.Descend(ctx, u32.Range{Lo: 2, Hi: 8}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pair.Key, pair.Value)
	}
	// Output:
	// 7 70
	// 5 50
}
