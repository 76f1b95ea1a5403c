package graph

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Named is a Graph whose vertices have names: numbers of any kind, of 32 or 64 bits (NewNamed), or texts
// (NewNamedByText). A slab hash maps them, or the hashes of texts, to the graph's own numbers: 0, 1, 2, … in the order
// in which names come first. The number of a vertex that was deleted goes to the next new name. Several goroutines may
// use one, as a Graph.
type Named[ID comparable] struct {
	graph *Graph
	dense names[ID]
	gate  *gate.Gate // of what follows, and that the graph and the map agree
	names []ID       // by the graph's numbers
	free  []uint32   // numbers of vertices that were deleted, the next one last
}

// NamedEdges are Edges between vertices with names.
type NamedEdges[ID comparable] struct {
	From, To []ID
	Weights  []uint32
}

// NewNamed makes a graph without vertices, whose names will be numbers: Options.Vertices has to be 0. Errors: those of
// New.
func NewNamed[ID structures.Number](ctx context.Context, d *vk.Device, o Options) (*Named[ID], error) {
	return newNamed(ctx, d, o, newNumberNames[ID])
}

// NewNamedByText makes one whose names will be texts, which are told apart exactly; the graph keeps them. Errors: those
// of New.
func NewNamedByText(ctx context.Context, d *vk.Device, o Options) (*Named[string], error) {
	return newNamed(ctx, d, o, newTextNames)
}

// errNoNames refuses vertices that nothing names.
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
	return &Named[ID]{graph: g, dense: dense, gate: gate.New()}
}

// Graph is the graph of the numbers, for queries and analytics: who changes it by itself leaves names behind that have
// no vertex, or vertices without names.
func (n *Named[ID]) Graph() *Graph {
	if n == nil {
		return nil
	}
	return n.graph
}

// turns is the gate, nil of a graph that is not open.
func (n *Named[ID]) turns() *gate.Gate {
	if n == nil {
		return nil
	}
	return n.gate
}

// Name is the name of one of the graph's numbers; false where it is no vertex with a name.
func (n *Named[ID]) Name(ctx context.Context, vertex uint32) (name ID, there bool, err error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return name, false, err
	}
	defer n.gate.LeaveShared()
	if uint64(vertex) >= uint64(len(n.names)) {
		return name, false, nil
	}
	name = n.names[vertex] // of a vertex that was deleted, too
	now, found, err := n.dense.find(ctx, []ID{name}, n.names)
	return name, err == nil && found[0] && now[0] == vertex, err
}

// Numbers are those of names in the graph, and whether they are there.
func (n *Named[ID]) Numbers(ctx context.Context, names []ID) (vertices []uint32, there []bool, err error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return nil, nil, err
	}
	defer n.gate.LeaveShared()
	return n.dense.find(ctx, names, n.names)
}

// numbers are those of names; new ones get numbers, and become vertices. Who calls has entered, alone.
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

// unnumber takes back the vertices that numbers has made before an error.
func (n *Named[ID]) unnumber(ctx context.Context, numbers []uint32, err error) error {
	_, undone := n.graph.DeleteVertices(context.WithoutCancel(ctx), numbers)
	return joint.Error(pipeline.Cause(err), undone)
}

// Update does a batch of one kind, as Graph.UpdateEdgesInto. Ends of edges that are inserted become vertices, also
// where the insertion fails. Errors: those of Graph.InsertEdges, and of slabhash.Map.Insert.
func (n *Named[ID]) Update(ctx context.Context, kind structures.Kind, e NamedEdges[ID]) ([]structures.Status, error) {
	if err := n.turns().Err(); err != nil {
		return nil, err
	}
	status := make([]structures.Status, len(e.From))
	err := (Edges{make([]uint32, len(e.From)), make([]uint32, len(e.To)), nil}).check(false)
	if err == nil && !n.graph.o.does(kind) {
		err = &structures.KindError{Kind: kind}
	}
	if err == nil && kind.Inserts() && n.graph.o.Weighted && len(e.Weights) != len(e.From) {
		err = &structures.LengthError{Keys: len(e.From), Other: "weights", Got: len(e.Weights)}
	}
	if err != nil {
		return nil, err
	}
	ctx, end := n.Graph().told().Begin(ctx)
	defer end()
	if err := n.turns().Enter(ctx); err != nil {
		return pipeline.Made(status, pipeline.NotBegun(status, len(e.From), err))
	}
	defer n.gate.Leave()
	numbered, all, there, err := n.edges(ctx, e, kind.Inserts())
	if err != nil {
		return status, pipeline.Stopped(status, len(e.From), err)
	}
	if !kind.Inserts() {
		numbered.Weights = nil
	}
	some := make([]structures.Status, len(numbered.From))
	err = n.graph.UpdateEdgesInto(ctx, kind, numbered, some)
	for i := range status {
		status[i] = structures.Absent // of deletions, between what is no vertex
		if at := all[i]; there[i] {
			status[i] = some[at]
		}
	}
	return pipeline.Made(status, err)
}

// edges are edges in the graph's numbers: those whose ends are there, each with its place among them. fresh: new names
// get numbers, so that all are.
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

// InsertEdges is Graph.InsertEdges.
func (n *Named[ID]) InsertEdges(ctx context.Context, e NamedEdges[ID]) ([]structures.Status, error) {
	return n.Update(ctx, structures.Insert, e)
}

// DeleteEdges is Graph.DeleteEdges.
func (n *Named[ID]) DeleteEdges(ctx context.Context, e NamedEdges[ID]) ([]structures.Status, error) {
	return n.Update(ctx, structures.Delete, e)
}

// FindEdges is Graph.FindEdges: between names that are no vertices there is no edge.
func (n *Named[ID]) FindEdges(ctx context.Context, e NamedEdges[ID]) (weights []uint32, found []bool, err error) {
	ctx, end := n.Graph().told().Begin(ctx)
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

// InsertVertices makes names vertices: Inserted, of equal ones the first, or Found. Errors: those of Update, as whole:
// with one, no name has become a vertex.
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

// DeleteVertices is Graph.DeleteVertices: Deleted, of equal names any one, or Absent.
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

// Neighbors are the names of the neighbours of each name, as Graph.Neighbors has their numbers; none of what is no
// vertex.
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
			vertices[i] = noVertex
		}
	}
	found, err := n.graph.Neighbors(ctx, vertices)
	targets = make([]ID, len(found.Targets))
	for i, v := range found.Targets {
		targets[i] = n.names[v]
	}
	return found.Offsets, targets, found.Weights, err
}

// Close frees the memory.
func (n *Named[ID]) Close() error {
	leave, open, err := n.turns().Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	if err := n.graph.Close(); err != nil {
		return err
	}
	n.gate.End()
	return n.dense.Close()
}
