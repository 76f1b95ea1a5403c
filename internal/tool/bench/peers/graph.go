package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/traverse"
)

// graphUsage is the help of "peers graph".
const graphUsage = `usage: peers graph [-repeat n] FILE…

Measures, on each file's edges as an undirected graph, its insertion into an empty graph, a search for all of its edges,
a breadth-first search from the first edge's end and a count of its triangles: by vkds on its best device, whose times
are walls, by a Go map of maps and by gonum's undirected graph; compares what they say, and prints a report.
`

// graphPeer is an undirected graph, and its operations.
type graphPeer struct {
	name      string
	insert    func(from, to []uint32) error // into an empty graph
	find      func(from, to []uint32) (found int, err error)
	reach     func(from uint32) (vertices int, err error)
	triangles func() (uint64, error)
}

func graphs(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("peers graph", flag.ContinueOnError)
	runs := flags.Int("repeat", 3, "runs, of which the median counts; the first one is not measured")
	flags.Usage = func() { fmt.Fprint(flags.Output(), graphUsage); flags.PrintDefaults() }
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() == 0 || *runs < 1 {
		return errors.New("a file of edges, please, and one run at least")
	}
	d, err := vk.Open(vk.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	report := bench.Report{Environment: bench.Environment{Device: d.Info().Name, Driver: d.Info().Driver}}
	for _, path := range flags.Args() {
		file, err := graphfile.Load(ctx, path, graphfile.LoadOptions{})
		if err != nil {
			return err
		}
		if file.Len() == 0 {
			return fmt.Errorf("%s: no edges", path)
		}
		ours, closed := vkdsGraph(ctx, d)
		defer closed()
		said := map[string]uint64{}
		for _, p := range []graphPeer{ours, mapOfMaps(), gonumGraph()} {
			if err := p.measure(&report, filepath.Base(path), file.From, file.To, *runs, said); err != nil {
				return fmt.Errorf("%s of %s: %w", p.name, path, err)
			}
		}
	}
	return report.Write(out)
}

// measure appends a peer's measurements on a file's edges to the report. said has what the peers before have said; the
// first one fills it.
func (p graphPeer) measure(r *bench.Report, name string, from, to []uint32, runs int, said map[string]uint64) error {
	for stage, do := range []func() (uint64, error){
		func() (uint64, error) { return 0, p.insert(from, to) },
		func() (uint64, error) { n, err := p.find(from, to); return uint64(n), err },
		func() (uint64, error) { n, err := p.reach(from[0]); return uint64(n), err },
		p.triangles,
	} {
		m := bench.Measurement{Structure: p.name, Op: []string{"insert", "find", "search", "triangles"}[stage],
			N: len(from), Operations: len(from), Form: name}
		for run := range runs + 1 { // the first one warms up
			started := time.Now()
			got, err := do()
			if err != nil {
				return err
			}
			m.Wall = append(m.Wall, time.Since(started))
			if want, is := said[m.Op]; is && got != want {
				return fmt.Errorf("%s: %d instead of %d", m.Op, got, want)
			}
			said[m.Op] = got
			if run == 0 {
				m.Wall = nil
			}
		}
		r.Measurements = append(r.Measurements, m)
	}
	return nil
}

// vkdsGraph is ours. Each insertion makes a new graph. Analytics read it live.
func vkdsGraph(ctx context.Context, d *vk.Device) (p graphPeer, closed func()) {
	var g *graph.Graph
	var on *analytics.Analyzer
	closed = func() {
		if g != nil {
			_, _ = on.Close(), g.Close()
		}
	}
	return graphPeer{
		name: "vkds",
		insert: func(from, to []uint32) (err error) {
			closed()
			if g, err = graph.New(ctx, d, graph.Options{}); err != nil {
				return err
			}
			on = analytics.NewLive(g)
			_, err = g.InsertEdges(ctx, graph.Edges{From: from, To: to})
			return err
		},
		find: func(from, to []uint32) (n int, err error) {
			_, found, err := g.FindEdges(ctx, graph.Edges{From: from, To: to})
			for _, is := range found {
				if is {
					n++
				}
			}
			return n, err
		},
		reach: func(from uint32) (n int, err error) {
			r, err := on.BFS(ctx, from, analytics.BFSOptions{})
			for _, d := range r.Distances {
				if d != analytics.Unreached {
					n++
				}
			}
			return n, err
		},
		triangles: func() (uint64, error) {
			r, err := on.Triangles(ctx)
			return r.Count, err
		},
	}, closed
}

// mapOfMaps is what a Go program may use: a map of each vertex's neighbors.
func mapOfMaps() graphPeer {
	var rows map[uint32]map[uint32]struct{}
	return graphPeer{
		name: "map of maps",
		insert: func(from, to []uint32) error {
			rows = map[uint32]map[uint32]struct{}{}
			add := func(u, v uint32) {
				row := rows[u]
				if row == nil {
					row = map[uint32]struct{}{}
					rows[u] = row
				}
				row[v] = struct{}{}
			}
			for i, u := range from {
				add(u, to[i])
				add(to[i], u)
			}
			return nil
		},
		find: func(from, to []uint32) (n int, err error) {
			for i, u := range from {
				if _, is := rows[u][to[i]]; is {
					n++
				}
			}
			return n, nil
		},
		reach: func(from uint32) (int, error) {
			seen := map[uint32]struct{}{from: {}}
			for queue := []uint32{from}; len(queue) > 0; queue = queue[1:] {
				for v := range rows[queue[0]] {
					if _, is := seen[v]; !is {
						seen[v] = struct{}{}
						queue = append(queue, v)
					}
				}
			}
			return len(seen), nil
		},
		triangles: func() (n uint64, err error) {
			for u, row := range rows {
				for v := range row {
					if v < u {
						continue
					}
					few, many := row, rows[v]
					if len(few) > len(many) {
						few, many = many, few
					}
					for w := range few {
						if _, is := many[w]; is && w > v {
							n++
						}
					}
				}
			}
			return n, nil
		},
	}
}

// gonumGraph is the undirected graph of gonum.
func gonumGraph() graphPeer {
	var g *simple.UndirectedGraph
	return graphPeer{
		name: "gonum",
		insert: func(from, to []uint32) error {
			g = simple.NewUndirectedGraph()
			for i, u := range from {
				g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(to[i])})
			}
			return nil
		},
		find: func(from, to []uint32) (n int, err error) {
			for i, u := range from {
				if g.HasEdgeBetween(int64(u), int64(to[i])) {
					n++
				}
			}
			return n, nil
		},
		reach: func(from uint32) (n int, err error) {
			walk := traverse.BreadthFirst{Visit: func(gonum.Node) { n++ }}
			walk.Walk(g, simple.Node(from), nil)
			return n, nil
		},
		triangles: func() (n uint64, err error) {
			for edges := g.Edges(); edges.Next(); {
				u, v := edges.Edge().From().ID(), edges.Edge().To().ID()
				few, many := g.From(u), v
				if other := g.From(v); other.Len() < few.Len() {
					few, many = other, u
				}
				for few.Next() {
					if w := few.Node().ID(); w > max(u, v) && g.HasEdgeBetween(w, many) {
						n++
					}
				}
			}
			return n, nil
		},
	}
}
