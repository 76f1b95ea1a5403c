package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/structures"
)

// repair completes what a batch on an undirected graph has left half done when err stopped it: edges whose first arc
// was changed and whose second arc is pending, and edges whose arcs do not have the weight yet that follows from the
// order of the batch. It needs no room:
//   - If the first arc is there and the second is not, the edge was new. The first arc is removed, and the operations
//     stay pending.
//   - If both arcs are there, both get the weight by the order of the batch. The operations are done.
//   - If the first arc was deleted, the second is deleted. The operations are done.
//
// test/models has the protocol. repair returns err, joined with its own error. Only a lost device, or one without
// memory, causes that.
func (g *Graph) repair(ctx context.Context, q request, err error) error {
	broken := q.unsettled(g.o.Weighted)
	if len(broken) == 0 {
		return err
	}
	var there, back Edges
	for _, e := range broken {
		there, back = there.with(e.from, e.to), back.with(e.to, e.from)
	}
	n := len(broken)
	weights, first, second := make([]uint32, n), make([]bool, n), make([]bool, n)
	failure := joint.Error(g.find(ctx, there, weights, first), g.find(ctx, back, nil, second))
	if failure != nil {
		return joint.Error(err, failure)
	}
	var gone, assigned Edges
	for i, e := range broken {
		switch {
		case first[i] && second[i]:
			weight := q.settle(e, weights[i])
			if g.o.Weighted {
				assigned = assigned.with(e.from, e.to).with(e.to, e.from)
				assigned.Weights = append(assigned.Weights, weight, weight)
			}
		case first[i]:
			gone = gone.with(e.from, e.to)
		case second[i]:
			gone = gone.with(e.to, e.from)
			q.finish(e)
		}
	}
	for _, part := range []request{
		{kind: structures.Delete, edges: gone, arcs: 1}, {kind: structures.Insert, edges: assigned, arcs: 1},
	} {
		_, failed := g.run(ctx, part, false)
		failure = joint.Error(failure, failed)
	}
	return joint.Error(err, failure)
}

// edgeOperations are the operations of a batch on one edge: their indices, in order.
type edgeOperations struct {
	from, to uint32 // the lesser end first
	of       []int
}

// unsettled returns the edges that are half done, or for which several operations have stored a weight.
func (q request) unsettled(weighted bool) (some []edgeOperations) {
	all := map[[2]uint32]int{}
	half := map[int]bool{}
	for i, from := range q.edges.From {
		to := max(from, q.edges.To[i])
		from = min(from, q.edges.To[i])
		n, known := all[[2]uint32{from, to}]
		if !known {
			n = len(some)
			all[[2]uint32{from, to}] = n
			some = append(some, edgeOperations{from: from, to: to})
		}
		some[n].of = append(some[n].of, i)
		if q.status[i] == structures.Pending && q.stages[i] != structures.Pending {
			half[n] = true
		}
	}
	stores := weighted && (q.kind == structures.Insert || q.kind == structures.InsertUnique)
	n := 0
	for i, e := range some {
		if half[i] || stores && len(e.of) > 1 {
			some[n] = e
			n++
		}
	}
	return some[:n]
}

// finish completes the half done operations on an edge.
func (q request) finish(e edgeOperations) {
	for _, i := range e.of {
		if q.status[i] == structures.Pending {
			q.status[i] = q.stages[i]
		}
	}
}

// settle completes the operations on an edge that is there, gives them the statuses of their order (the first one that
// is done has inserted the edge), and returns the weight of the edge. now is the weight of its first arc.
func (q request) settle(e edgeOperations, now uint32) uint32 {
	q.finish(e)
	first, last, inserted := -1, -1, -1
	for _, i := range e.of {
		if q.status[i] == structures.Pending {
			continue
		}
		if first < 0 {
			first = i
		}
		if q.status[i] == structures.Inserted {
			inserted = i
		}
		last = i
	}
	if inserted >= 0 {
		q.status[inserted], q.status[first] = q.status[first], structures.Inserted
	}
	switch {
	case q.edges.Weights == nil:
	case q.kind == structures.Insert && last >= 0:
		return q.edges.Weights[last]
	case q.kind == structures.InsertUnique && inserted >= 0:
		return q.edges.Weights[first]
	}
	return now
}

func (e Edges) with(from, to uint32) Edges {
	e.From, e.To = append(e.From, from), append(e.To, to)
	return e
}
