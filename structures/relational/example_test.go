package relational_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/relational"
	"github.com/vkds/vkds/vk"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Sum the bytes of each user, and find the greatest request.
func ExampleGroup() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	r, err := relational.New(d, relational.Options{})
	check(err)
	defer r.Close()

	users, bytes := []uint32{4, 2, 4, 4}, []uint32{100, 7, 50, 4_000_000_000}
	g, err := relational.Group[uint64](context.Background(), r, users, bytes, relational.Sums|relational.Maxs)
	check(err)
	for i, user := range g.Keys {
		fmt.Println(user, g.Counts[i], g.Sums[i], g.Maxs[i])
	}
	// Output:
	// 2 1 7 7
	// 4 3 4000000150 4000000000
}

// Count words, here by their numbers in a list, and find the two most frequent.
func ExampleTopK() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	r, err := relational.New(d, relational.Options{})
	check(err)
	defer r.Close()

	list, text := []string{"the", "cat", "saw", "dog"}, []uint32{0, 1, 2, 0, 3, 0, 1}
	words, counts, err := relational.Distinct(context.Background(), r, text)
	check(err)
	top, rows, err := relational.TopK(context.Background(), r, counts, 2)
	check(err)
	for i, row := range rows {
		fmt.Println(list[words[row]], top[i])
	}
	// Output:
	// the 3
	// cat 2
}

// Find the orders whose customer is not in the table of customers.
func ExampleJoin() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	r, err := relational.New(d, relational.Options{})
	check(err)
	defer r.Close()

	orders, customers := []int64{12, 15, 12, 99}, []int64{15, 12, 20}
	rows, _, err := relational.Join(context.Background(), r, orders, customers, relational.Anti)
	check(err)
	fmt.Println(rows)
	// Output: [3]
}
