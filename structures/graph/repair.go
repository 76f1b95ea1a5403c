package graph

import (
	"context"
	"errors"

	"github.com/vkds/vkds/structures"
)

// repair makes whole what a batch on an undirected graph has left half done when err stopped it: edges of which the
// first arc was changed, and the second is pending. It needs no room. An edge whose first arc is there, and whose second
// isn't, was new: the first goes, and its operations stay pending. Where both are there, the second gets the weight of
// the first, and where the first was deleted, so is the second: these operations are done. Returns err, and what stopped
// itself, which only a device that is lost or out of memory can.
func (g *Graph) repair(ctx context.Context, q request, err error) error {
	var half []int
	var there, back Edges
	for i, stage := range q.stages {
		if stage == structures.Pending || q.status[i] != structures.Pending {
			continue
		}
		from, to := min(q.edges.From[i], q.edges.To[i]), max(q.edges.From[i], q.edges.To[i])
		half = append(half, i)
		there.From, there.To = append(there.From, from), append(there.To, to)
		back.From, back.To = append(back.From, to), append(back.To, from)
	}
	if len(half) == 0 {
		return err
	}
	weights, first, second := make([]uint32, len(half)), make([]bool, len(half)), make([]bool, len(half))
	failure := errors.Join(g.find(ctx, there, weights, first), g.find(ctx, back, nil, second))
	if failure != nil {
		return errors.Join(err, failure)
	}
	var gone, assigned Edges
	for j, i := range half {
		switch {
		case first[j] && !second[j]:
			gone = gone.with(there.From[j], there.To[j])
			continue
		case !first[j] && second[j]:
			gone = gone.with(back.From[j], back.To[j])
		case first[j] && g.o.Weighted:
			assigned = assigned.with(back.From[j], back.To[j])
			assigned.Weights = append(assigned.Weights, weights[j])
		}
		if first[j] || q.stages[i] == structures.Deleted {
			q.status[i] = q.stages[i]
		}
	}
	q.inOrder(half)
	for _, part := range []request{
		{kind: structures.Delete, edges: gone, arcs: 1}, {kind: structures.Insert, edges: assigned, arcs: 1},
	} {
		_, failed := g.run(ctx, part, false)
		failure = errors.Join(failure, failed)
	}
	return errors.Join(err, failure)
}

// inOrder gives equal edges, of those that some operations are about, the statuses of their order: the first that is
// done is the one that inserted.
func (q request) inOrder(some []int) {
	ends := func(i int) [2]uint32 {
		return [2]uint32{min(q.edges.From[i], q.edges.To[i]), max(q.edges.From[i], q.edges.To[i])}
	}
	first := map[[2]uint32]int{}
	for _, i := range some {
		first[ends(i)] = -1
	}
	for i, status := range q.status {
		at, about := first[ends(i)]
		switch {
		case !about || status == structures.Pending:
		case at < 0:
			first[ends(i)] = i
		case status == structures.Inserted:
			q.status[i], q.status[at] = q.status[at], status
		}
	}
}

func (e Edges) with(from, to uint32) Edges {
	e.From, e.To = append(e.From, from), append(e.To, to)
	return e
}
