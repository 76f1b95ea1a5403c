package analytics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
)

func ExampleAnalyzer_SSSP() {
	ctx := context.Background()
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	g, err := graph.New(ctx, d, graph.Options{Weighted: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.InsertEdges(ctx, graph.Edges{From: []uint32{0, 1, 0}, To: []uint32{1, 2, 2},
		Weights: graph.Float32Bits([]float32{0.5, 0.75, 2})}); err != nil {
		log.Fatal(err)
	}
	a := analytics.NewLive(g)
	defer a.Close()
	r, err := a.SSSP(ctx, 0, analytics.SSSPOptions{FloatWeights: true, Parents: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.FloatDistances, analytics.Path(r.Parents, 2))
	// Output: [0 0.5 1.25] [0 1 2]
}
