package trace_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/vk"
)

// The steps of one insertion into a hash table.
func Example() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{Trace: traced.Kernels(1000)})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Insert(ctx, []uint32{7}, []uint32{70}); err != nil {
		log.Fatal(err)
	}

	t, err := trace.Take(ctx, d)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range t.Operations() {
		fmt.Print(o.Kind, " of ", o.Key, ":")
		for _, i := range o.Events {
			fmt.Print(" ", t.Events[i].What)
		}
		fmt.Println(",", o.Status)
	}
	// Output: insert of 7: begin visit write end, inserted
}
