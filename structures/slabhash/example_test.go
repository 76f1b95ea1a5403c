package slabhash_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"slices"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// A map from Go slices, on the best device there is.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.Build(ctx, d, []uint32{7, 8, 9}, []uint32{70, 80, 90}, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	values, found, err := m.Find(ctx, []uint32{9, 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values, found)
	statuses, err := m.Insert(ctx, []uint32{9, 10}, []uint32{91, 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statuses)
	// Output:
	// [90 0] [true false]
	// [assigned inserted]
}

// How often each key of a stream occurs: keys that come again add to their count.
func ExampleMap_InsertAdd() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	requests := []uint32{4, 4, 2, 4, 1, 2}
	if _, err := m.InsertAdd(ctx, requests, slices.Repeat([]uint32{1}, len(requests))); err != nil {
		log.Fatal(err)
	}
	counts := map[uint32]uint32{}
	for pair, err := range m.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		counts[pair.Key] = pair.Value
	}
	fmt.Println(counts)
	// Output: map[1:1 2:2 4:3]
}

// The greatest timestamp of each key: the last time at which it was seen.
func ExampleMap_InsertMax() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.New[uint32, int64](ctx, d, slabhash.Options{}) // a user: nanoseconds since 1970
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	at := func(year int) int64 { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano() }
	users := []uint32{7, 9, 7, 7, 9}
	if _, err := m.InsertMax(ctx, users, []int64{at(1969), at(1961), at(2024), at(1984), at(1957)}); err != nil {
		log.Fatal(err)
	}
	last, _, err := m.Find(ctx, []uint32{7, 9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(time.Unix(0, last[0]).UTC().Year(), time.Unix(0, last[1]).UTC().Year())
	// Output: 2024 1961
}

// Operations of several kinds in one dispatch. They run at the same time, so those of one key come in any order; here
// each has a key of its own.
func ExampleMap_Apply() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.Build(ctx, d, []uint32{1, 2, 3}, []uint32{10, 20, 30}, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	r, err := m.Apply(ctx, u32.Batch{
		Kinds:  []structures.Kind{structures.Find, structures.Delete, structures.InsertMax, structures.InsertUnique},
		Keys:   []uint32{1, 2, 3, 4},
		Values: []uint32{0, 0, 33, 44},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status, r.Values[0])
	// Output: [found deleted assigned inserted] 10
}

// A key with many values.
func ExampleMap_FindAll() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	for _, value := range []uint32{5, 6, 7} {
		if _, err := m.InsertDuplicate(ctx, []uint32{1, 2}, []uint32{value, 10 * value}); err != nil {
			log.Fatal(err)
		}
	}
	offsets, values, err := m.FindAll(ctx, []uint32{2, 3, 1})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		fmt.Println(values[offsets[i]:offsets[i+1]])
	}
	// Output:
	// [50 60 70]
	// []
	// [5 6 7]
}

// A set of keys.
func ExampleNewSet() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	s, err := slabhash.NewSet[uint32](ctx, d, slabhash.Options{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	statuses, err := s.Insert(ctx, []uint32{3, 1, 4})
	if err != nil {
		log.Fatal(err)
	}
	there, err := s.Contains(ctx, []uint32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statuses, there)
	// Output: [inserted inserted inserted] [true false true]
}

// A map goes to a file, or wherever an io.Writer leads, and another structure comes out of it: here a network's two
// ends.
func ExampleMap_Save() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.Build(ctx, d, []uint32{1, 2, 3}, []uint32{10, 20, 30}, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	r, w := io.Pipe()
	go func() {
		_, err := m.Save(ctx, w)
		w.CloseWithError(err)
	}()
	again, err := slabhash.Load[uint32, uint32](ctx, d, r, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	values, found, err := again.Find(ctx, []uint32{3, 4})
	fmt.Println(values, found, err)
	// Output: [30 0] [true false] <nil>
}
