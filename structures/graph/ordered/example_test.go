package ordered_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/vk"
)

// A snapshot is the graph as it was, while edges come and go.
func ExampleGraph() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	g, err := ordered.New(ctx, d, ordered.Options{Weighted: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	_, err = g.InsertEdges(ctx, graph.Edges{From: []uint32{1, 1, 2}, To: []uint32{7, 2, 7}, Weights: []uint32{5, 6, 9}})
	if err != nil {
		log.Fatal(err)
	}
	before, err := g.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer before.Close()
	if _, err := g.DeleteEdges(ctx, graph.Edges{From: []uint32{7}, To: []uint32{1}}); err != nil {
		log.Fatal(err)
	}
	now, err := g.Now().Neighbors(ctx, []uint32{1})
	if err != nil {
		log.Fatal(err)
	}
	then, err := before.Neighbors(ctx, []uint32{1})
	if err != nil {
		log.Fatal(err)
	}
	common, err := before.CommonNeighbors(ctx, graph.Edges{From: []uint32{1}, To: []uint32{2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(then.Targets, now.Targets, common.Targets)
	// Output: [2 7] [2] [7]
}
