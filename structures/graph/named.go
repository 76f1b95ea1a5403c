package graph

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// Named is a Graph whose vertices have names: numbers of any type of 32 or 64 bits (NewNamed), or texts
// (NewNamedByText). A slab hash maps names, or the hashes of texts, to the vertices of the graph: 0, 1, 2, … in the
// order in which names first come. A new name gets the number of a deleted vertex, if there is one. A Named is safe for
// many goroutines, like a Graph.
type Named[ID comparable] struct {
	graph *Graph
	dense names[ID]
	gate  *gate.Gate // guards the fields below, and keeps graph and map equal
	names []ID       // by vertex
	free  []uint32   // deleted vertices; the last one is reused first
}

// NamedEdges are Edges between names.
type NamedEdges[ID comparable] struct {
	From, To []ID
	Weights  []uint32
}

// NewNamed makes a graph without vertices whose names are numbers. Options.Vertices must be 0. Errors: those of New.
func NewNamed[ID structures.Number](ctx context.Context, d *vk.Device, o Options) (*Named[ID], error) {
	return newNamed(ctx, d, o, newNumberNames[ID])
}

// NewNamedByText makes a graph without vertices whose names are texts. The graph keeps the texts and compares all of
// their bytes. Errors: those of New.
func NewNamedByText(ctx context.Context, d *vk.Device, o Options) (*Named[string], error) {
	return newNamed(ctx, d, o, newTextNames)
}

// errNoNames is returned for Options.Vertices, because these vertices would have no names.
var errNoNames = &vk.OptionError{Option: "Vertices", Reason: "not 0, but vertices have no names yet"}

func newNamed[ID comparable](ctx context.Context, d *vk.Device, o Options,
	make func(ctx context.Context, d *vk.Device, o Options) (names[ID], error)) (*Named[ID], error) {
	if o.Vertices != 0 {
		return nil, errNoNames
	}
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	dense, err := make(ctx, d, o)
	if err != nil {
		return nil, joint.Error(err, g.Close())
	}
	return newNamedOf(g, dense), nil
}

func newNamedOf[ID comparable](g *Graph, dense names[ID]) *Named[ID] {
	return &Named[ID]{graph: g, dense: dense, gate: gate.New("graph of names")}
}

// Graph returns the graph of the numbered vertices, for queries and analytics. Do not change it directly: that would
// leave names without a vertex, or vertices without a name.
func (n *Named[ID]) Graph() *Graph {
	if n == nil {
		return nil
	}
	return n.graph
}

// turns returns the gate, nil if the graph was never open.
func (n *Named[ID]) turns() *gate.Gate {
	if n == nil {
		return nil
	}
	return n.gate
}

// Name returns the name of a vertex, and whether there is a vertex with that number.
func (n *Named[ID]) Name(ctx context.Context, vertex uint32) (name ID, there bool, err error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return name, false, err
	}
	defer n.gate.LeaveShared()
	if uint64(vertex) >= uint64(len(n.names)) {
		return name, false, nil
	}
	name = n.names[vertex] // also of a deleted vertex
	now, found, err := n.dense.find(ctx, []ID{name}, n.names)
	return name, err == nil && found[0] && now[0] == vertex, err
}

// Numbers returns the vertex of each name, and whether it is there.
func (n *Named[ID]) Numbers(ctx context.Context, names []ID) (vertices []uint32, there []bool, err error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return nil, nil, err
	}
	defer n.gate.LeaveShared()
	return n.dense.find(ctx, names, n.names)
}

// numbers returns the vertex of each name. New names get vertices; fresh marks them. The caller has entered alone.
func (n *Named[ID]) numbers(ctx context.Context, names []ID) (vertices []uint32, fresh []bool, err error) {
	vertices, there, err := n.dense.find(ctx, names, n.names)
	if err != nil {
		return nil, nil, err
	}
	var keys []ID
	var numbers []uint32
	fresh = make([]bool, len(names))
	free, next := len(n.free), uint32(len(n.names))
	for i, first := range n.dense.firsts(names, there) {
		if there[i] {
			continue
		}
		if fresh[i] = first == i; fresh[i] {
			if vertices[i] = next; free > 0 {
				free--
				vertices[i] = n.free[free]
			} else {
				next++
			}
			keys, numbers = append(keys, names[i]), append(numbers, vertices[i])
		}
		vertices[i] = vertices[first]
	}
	if len(keys) == 0 {
		return vertices, fresh, nil
	}
	if _, err := n.graph.InsertVertices(ctx, numbers); err != nil {
		return nil, nil, n.unnumber(ctx, numbers, err)
	}
	if err := n.dense.insert(ctx, keys, numbers); err != nil {
		return nil, nil, n.unnumber(ctx, numbers, err)
	}
	n.free = n.free[:free]
	n.names = append(n.names, make([]ID, int(next)-len(n.names))...)
	for i, number := range numbers {
		n.names[number] = keys[i]
	}
	return vertices, fresh, nil
}

// unnumber removes the vertices that numbers has made before an error.
func (n *Named[ID]) unnumber(ctx context.Context, numbers []uint32, err error) error {
	_, undone := n.graph.DeleteVertices(context.WithoutCancel(ctx), numbers)
	return joint.Error(pipeline.Cause(err), undone)
}

// Update does a batch of one kind, as Graph.UpdateEdgesInto. The ends of inserted edges become vertices, even if
// inserting the edges fails. Errors: those of Graph.InsertEdges and of slabhash.Map.Insert.
func (n *Named[ID]) Update(ctx context.Context, kind structures.Kind, e NamedEdges[ID]) ([]structures.Status, error) {
	if err := n.turns().Err(); err != nil {
		return nil, err
	}
	status := make([]structures.Status, len(e.From))
	shape := edgelist.Edges{From: make([]uint32, len(e.From)), To: make([]uint32, len(e.To)), Weights: e.Weights}
	if err := n.graph.o.rules().CheckUpdate(kind, shape, nil); err != nil {
		return nil, err
	}
	ctx, end := n.Graph().handle().Progress.Begin(ctx)
	defer end()
	if err := n.turns().Enter(ctx); err != nil {
		return pipeline.Made(status, pipeline.NotBegun(status, len(e.From), err))
	}
	defer n.gate.Leave()
	if !kind.Inserts() {
		e.Weights = nil
	}
	numbered, all, there, err := n.edges(ctx, e, kind.Inserts())
	if err != nil {
		return status, pipeline.Stopped(status, len(e.From), err)
	}
	some := make([]structures.Status, len(numbered.From))
	err = n.graph.UpdateEdgesInto(ctx, kind, numbered, some)
	for i := range status {
		status[i] = structures.Absent // an end is not a vertex
		if at := all[i]; there[i] {
			status[i] = some[at]
		}
	}
	return pipeline.Made(status, err)
}

// edges returns the edges between vertices of the graph, and for each edge of e whether it is there, and its index
// among them. If fresh is set, new names get vertices, so that all edges are there.
func (n *Named[ID]) edges(ctx context.Context, e NamedEdges[ID], fresh bool) (some Edges, at []int, there []bool,
	err error) {
	names := slices.Concat(e.From, e.To)
	var vertices []uint32
	known := make([]bool, len(names))
	if fresh {
		if vertices, _, err = n.numbers(ctx, names); err == nil {
			for i := range known {
				known[i] = true
			}
		}
	} else {
		vertices, known, err = n.dense.find(ctx, names, n.names)
	}
	if err != nil {
		return Edges{}, nil, nil, err
	}
	count := len(e.From)
	at, there = make([]int, count), make([]bool, count)
	for i := range count {
		if there[i] = known[i] && known[count+i]; !there[i] {
			continue
		}
		at[i] = len(some.From)
		if some = some.with(vertices[i], vertices[count+i]); e.Weights != nil {
			some.Weights = append(some.Weights, e.Weights[i])
		}
	}
	return some, at, there, nil
}

// InsertEdges inserts edges, as Graph.InsertEdges.
func (n *Named[ID]) InsertEdges(ctx context.Context, e NamedEdges[ID]) ([]structures.Status, error) {
	return n.Update(ctx, structures.Insert, e)
}

// DeleteEdges deletes edges, as Graph.DeleteEdges.
func (n *Named[ID]) DeleteEdges(ctx context.Context, e NamedEdges[ID]) ([]structures.Status, error) {
	return n.Update(ctx, structures.Delete, e)
}

// FindEdges looks edges up, as Graph.FindEdges. There are no edges between names that are not vertices.
func (n *Named[ID]) FindEdges(ctx context.Context, e NamedEdges[ID]) (weights []uint32, found []bool, err error) {
	ctx, end := n.Graph().handle().Progress.Begin(ctx)
	defer end()
	if err := n.turns().EnterShared(ctx); err != nil {
		return nil, nil, err
	}
	defer n.gate.LeaveShared()
	if len(e.To) != len(e.From) {
		return nil, nil, &structures.LengthError{Keys: len(e.From), Other: "targets", Got: len(e.To)}
	}
	e.Weights = nil
	some, at, there, err := n.edges(ctx, e, false)
	if err != nil {
		return nil, nil, err
	}
	values, is, err := n.graph.FindEdges(ctx, some)
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	for i := range e.From {
		if err == nil && there[i] {
			weights[i], found[i] = values[at[i]], is[at[i]]
		}
	}
	return weights, found, err
}

// InsertVertices adds names as vertices: Inserted, or Found if a name is there or comes a second time. Errors: those of
// Update; then no name was added.
func (n *Named[ID]) InsertVertices(ctx context.Context, names []ID) ([]structures.Status, error) {
	status := make([]structures.Status, len(names))
	if err := n.turns().Enter(ctx); err != nil {
		return pipeline.Made(status, pipeline.NotBegun(status, len(names), err))
	}
	defer n.gate.Leave()
	_, fresh, err := n.numbers(ctx, names)
	if err != nil {
		return status, pipeline.Stopped(status, len(names), err)
	}
	for i := range status {
		if status[i] = structures.Found; fresh[i] {
			status[i] = structures.Inserted
		}
	}
	return status, nil
}

// DeleteVertices deletes vertices, as Graph.DeleteVertices: Deleted or Absent. If names are equal, any one is Deleted.
func (n *Named[ID]) DeleteVertices(ctx context.Context, names []ID) ([]structures.Status, error) {
	status := make([]structures.Status, len(names))
	if err := n.turns().Enter(ctx); err != nil {
		return pipeline.Made(status, pipeline.NotBegun(status, len(names), err))
	}
	defer n.gate.Leave()
	vertices, there, err := n.dense.find(ctx, names, n.names)
	if err != nil {
		return status, pipeline.Stopped(status, len(names), err)
	}
	var some []uint32
	var at []int
	for i := range names {
		if status[i] = structures.Absent; there[i] {
			some, at = append(some, vertices[i]), append(at, i)
		}
	}
	of, err := n.graph.DeleteVertices(ctx, some)
	if err != nil {
		clear(status)
		return status, pipeline.Stopped(status, len(names), pipeline.Cause(err))
	}
	var gone []ID
	for j, i := range at {
		if status[i] = of[j]; of[j] == structures.Deleted {
			gone, n.free = append(gone, names[i]), append(n.free, some[j])
		}
	}
	return status, pipeline.Cause(n.dense.remove(context.WithoutCancel(ctx), gone, n.names))
}

// Neighbors returns the names of the neighbors of each name, in the order of Graph.Neighbors. A name that is not a
// vertex has none.
func (n *Named[ID]) Neighbors(ctx context.Context, names []ID) (offsets []int, targets []ID, weights []uint32,
	err error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return nil, nil, nil, err
	}
	defer n.gate.LeaveShared()
	vertices, there, err := n.dense.find(ctx, names, n.names)
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range vertices {
		if !there[i] {
			vertices[i] = edgelist.Deleted
		}
	}
	found, err := n.graph.Neighbors(ctx, vertices)
	targets = make([]ID, len(found.Targets))
	for i, v := range found.Targets {
		targets[i] = n.names[v]
	}
	return found.Offsets, targets, found.Weights, err
}

// Close frees the memory. Further calls do nothing.
func (n *Named[ID]) Close() error {
	return n.turns().Close(func() error {
		if err := n.graph.Close(); err != nil {
			return err
		}
		n.gate.End()
		return n.dense.Close()
	})
}
