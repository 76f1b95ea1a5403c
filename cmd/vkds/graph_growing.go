package main

import (
	"context"
	"errors"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
)

// growingGraph is a graph of which edges, triangles and components are kept up by what each batch changes.
type growingGraph struct {
	d                *vk.Device
	graph            *graph.Graph
	live             *analytics.Analyzer
	linked           *analytics.Connectivity // nil: edges go, too, and components are found anew
	room             int                     // vertices of linked
	edges, triangles uint64
}

// newGrowingGraph makes an empty one; deletes: edges will go, too.
func newGrowingGraph(ctx context.Context, d *vk.Device, deletes bool) (g *growingGraph, err error) {
	g = &growingGraph{d: d}
	if g.graph, err = graph.New(ctx, d, graph.Options{}); err != nil {
		return nil, err
	}
	g.live = analytics.NewLive(g.graph)
	if !deletes {
		if err := g.link(ctx, 1<<6); err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

func (g *growingGraph) close() error {
	var err error
	if g.linked != nil {
		err = g.linked.Close()
	}
	return errors.Join(err, g.live.Close(), g.graph.Close())
}

// link makes room for the components of so many vertices, and has those that were known.
func (g *growingGraph) link(ctx context.Context, vertices int) error {
	larger, err := analytics.NewConnectivity(ctx, g.d, vertices)
	if err != nil {
		return err
	}
	if g.linked != nil {
		known, err := g.linked.Components(ctx)
		if err == nil {
			all := make([]uint32, len(known.Labels))
			for v := range all {
				all[v] = uint32(v)
			}
			_, err = larger.Insert(ctx, all, known.Labels)
		}
		if err = errors.Join(err, g.linked.Close()); err != nil {
			return errors.Join(err, larger.Close())
		}
	}
	g.linked, g.room = larger, vertices
	return nil
}

// change has edges come and then others go, among so many vertices. What comes may be there, what goes is.
func (g *growingGraph) change(ctx context.Context, come, gone edgeList, vertices int) error {
	status, err := g.graph.InsertEdges(ctx, graph.Edges{From: come.From, To: come.To})
	if err != nil {
		return err
	}
	var fresh edgeList
	for i, s := range status {
		if s == structures.Inserted {
			fresh.From, fresh.To = append(fresh.From, come.From[i]), append(fresh.To, come.To[i])
		}
	}
	more, err := g.live.TrianglesThroughEdges(ctx, fresh.From, fresh.To)
	if err != nil {
		return err
	}
	fewer, err := g.live.TrianglesThroughEdges(ctx, gone.From, gone.To)
	if err != nil {
		return err
	}
	if _, err = g.graph.DeleteEdges(ctx, graph.Edges{From: gone.From, To: gone.To}); err != nil {
		return err
	}
	g.edges += uint64(len(fresh.From)) - uint64(len(gone.From))
	g.triangles += more.Count - fewer.Count
	if g.linked == nil {
		return nil
	}
	if vertices > g.room {
		if err := g.link(ctx, max(vertices, 2*g.room)); err != nil {
			return err
		}
	}
	_, err = g.linked.Insert(ctx, fresh.From, fresh.To)
	return err
}

// components counts those of so many vertices that have come; the others, which have no edge, are none.
func (g *growingGraph) components(ctx context.Context, vertices int) (uint64, error) {
	if g.linked != nil {
		all, err := g.linked.Components(ctx)
		return uint64(all.Count - g.room + vertices), err
	}
	all, err := g.live.Components(ctx)
	return uint64(all.Count - len(all.Labels) + vertices), err
}
