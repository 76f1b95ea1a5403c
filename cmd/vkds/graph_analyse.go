package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
)

// analyse reads a graph, brings it to the device and has it analysed there. The function returns how long the device
// worked for the analysis.
func (s *graphSource) analyse(ctx context.Context, g *global, path string,
	analyse func(*loadedGraph, *analytics.Analyzer) (time.Duration, error)) error {
	return s.use(ctx, g, path, func(l *loadedGraph) (err error) {
		a := analytics.New(l.CSR)
		if s.live {
			changing, err := graph.Build(ctx, l.device, l.CSR, graph.Options{Directed: l.Directed,
				Weighted: l.CSR.Weights != nil, SelfLoops: s.options.Multi})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, changing.Close()) }()
			a = analytics.NewLive(changing)
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		took, err := analyse(l, a)
		if err == nil {
			g.note("analysed in %.3g s of %s", took.Seconds(), l.device.Info().Name)
		}
		return err
	})
}

// vertexRows answers a row for each vertex, in the order of their numbers. value gives the row what stands after the
// vertex.
func (l *loadedGraph) vertexRows(a *answer, value func(r *row, vertex int)) error {
	ids := l.ids()
	return a.end(a.rows(l.CSR.Vertices, func(r *row, v int) {
		r.word(ids, l.Graph.Vertices.Word(uint32(v)))
		value(r, v)
	}))
}

func newGraphBFSCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "bfs FILE --from VERTEX",
		Short: "Tell how many edges each vertex is away from one",
		Long: `Bfs prints each vertex with its distance from one, in edges along the shortest path, by a
breadth-first search. A vertex that no path leads to has none.

` + graphHelp,
		Example: `  vkds graph bfs karate.mtx --from 1
  vkds graph bfs links.txt.gz --directed --from 4711 --json`,
	}
	return distances(c, g, new(graphSource), graphFlags{directed: true},
		func(ctx context.Context, z *analytics.Analyzer, from uint32) ([]uint32, time.Duration, error) {
			r, err := z.BFS(ctx, from, analytics.BFSOptions{})
			return r.Distances, r.Elapsed, err
		})
}

func newGraphSSSPCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "sssp FILE --from VERTEX",
		Short: "Tell the length of the shortest path from a vertex to each",
		Long: `Sssp prints each vertex with the length of the shortest path from one to it: the sum of
the weights of its edges, which are integers from 0 to 4294967295, or 1 each where the
file has none. A vertex that no path of less than 4294967295 leads to has none. With
--multi the least weight of equal edges counts, else the last one.

` + graphHelp,
		Example: `  vkds graph sssp roads.gr.gz --from 4711
  vkds graph sssp flights.csv --from-column origin --to target --weight miles --from Oslo`,
	}
	var s graphSource
	s.options.Weighted = true
	return distances(c, g, &s, graphFlags{directed: true, multi: true, weight: true},
		func(ctx context.Context, z *analytics.Analyzer, from uint32) ([]uint32, time.Duration, error) {
			r, err := z.SSSP(ctx, from, analytics.SSSPOptions{})
			return r.Distances, r.Elapsed, err
		})
}

// distances gives a command its flags and what it does: it prints how far each vertex is from one.
func distances(c *cobra.Command, g *global, s *graphSource, has graphFlags,
	search func(context.Context, *analytics.Analyzer, uint32) ([]uint32, time.Duration, error)) *cobra.Command {
	var rows rowFlags
	var from string
	columns := []string{"vertex", "distance"}
	c.Args = takes("one FILE", 1, 1)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		ctx := c.Context()
		return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
			source, err := l.number(from)
			if err != nil {
				return 0, err
			}
			all, took, err := search(ctx, z, source)
			if err != nil {
				return 0, err
			}
			return took, l.vertexRows(newAnswer(g.out, rows, columns...), func(r *row, v int) {
				r.numberIf(uint64(all[v]), all[v] != analytics.Unreached)
			})
		})
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&from, "from", "", "the `vertex` to begin at")
	_ = c.MarkFlagRequired("from") // which there is
	rows.add(flags, columns...)
	has.from, has.live = "from-column", true
	s.add(flags, has)
	return c
}

func newGraphComponentsCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	var each bool
	c := &cobra.Command{
		Use:   "components FILE",
		Short: "Count the connected components",
		Long: `Components counts a graph's connected components, and the vertices of the largest one. A
vertex without edges is one by itself. With --vertices it prints each vertex instead, and
the least one of its component (of texts, the one that came first).

` + graphHelp,
		Example: `  vkds graph components friends.txt.gz --json
  vkds graph components friends.txt.gz --vertices`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
				r, err := z.Components(ctx)
				switch {
				case err != nil:
				case each:
					err = l.answerLabels(newAnswer(g.out, rows, labelColumns...), r.Labels)
				default:
					err = g.answerMeasures([]measure{{"components", r.Count}, {"largest", r.Largest}}, rows.json)
				}
				return r.Elapsed, err
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&each, "vertices", false, "print each vertex, and the least one of its component")
	rows.add(flags, labelColumns...)
	flags.Lookup("json").Usage = `print one JSON object: {"components": …, "largest": …}, or with --vertices rows`
	s.add(flags, graphFlags{live: true})
	return c
}

var labelColumns = []string{"vertex", "component"}

func (l *loadedGraph) answerLabels(a *answer, labels []uint32) error {
	ids := l.ids()
	return l.vertexRows(a, func(r *row, v int) { r.word(ids, l.Graph.Vertices.Word(labels[v])) })
}

func newGraphCoresCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	c := &cobra.Command{
		Use:   "kcore FILE",
		Short: "Tell how deep in the graph each vertex is",
		Long: `Kcore prints each vertex with its core number: the greatest k for which it is in a part
of the graph where each vertex has k neighbours.

` + graphHelp,
		Example: `  vkds graph kcore karate.mtx`,
		Args:    takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
				r, err := z.Cores(ctx)
				if err != nil {
					return 0, err
				}
				return r.Elapsed, l.vertexRows(newAnswer(g.out, rows, coreColumns...), func(line *row, v int) {
					line.number(uint64(r.Cores[v]))
				})
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	rows.add(flags, coreColumns...)
	s.add(flags, graphFlags{live: true})
	return c
}

var coreColumns = []string{"vertex", "core"}

func newGraphTrianglesCommand(g *global) *cobra.Command {
	var s graphSource
	var asJSON bool
	c := &cobra.Command{
		Use:   "triangles FILE",
		Short: "Count the triangles",
		Long: `Triangles counts a graph's triangles: three vertices, each two of which are neighbours.

` + graphHelp,
		Example: `  vkds graph triangles friends.txt.gz --json`,
		Args:    takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
				r, err := z.Triangles(ctx)
				if err != nil {
					return 0, err
				}
				return r.Elapsed, g.answerMeasures([]measure{{"triangles", r.Count}}, asJSON)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(flags, graphFlags{live: true})
	return c
}

func newGraphPageRankCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	var top uint64 = math.MaxUint64
	var o analytics.PageRankOptions
	c := &cobra.Command{
		Use:   "pagerank FILE",
		Short: "Print the vertices of the highest PageRank",
		Long: `Pagerank prints the vertices and their ranks, which are 1 together, the highest first, or
with --top the K highest alone. Ranks are computed until all of them change by less than
--tolerance together, or --iterations times.

` + graphHelp,
		Example: `  vkds graph pagerank links.txt.gz --directed --top 20`,
		Args:    takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			rows.left = top
			if !within(float64(o.Damping), 0.0001, 0.9999) || o.Tolerance <= 0 || o.Iterations < 1 {
				return errors.New("--damping is between 0 and 1, --tolerance above 0, --iterations at least 1")
			}
			return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
				r, err := z.PageRank(ctx, o)
				if err != nil {
					return 0, err
				}
				g.note("%d iterations, the last of which changed all ranks by %.2g together", r.Iterations, r.Change)
				return r.Elapsed, l.answerRanks(newAnswer(g.out, rows, rankColumns...), r.Ranks)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(limitFlag{&top}, "top", "print the `K` highest alone")
	flags.Float32Var(&o.Damping, "damping", 0.85, "the share of a rank that goes along edges")
	flags.Float32Var(&o.Tolerance, "tolerance", 1e-6, "how much all ranks may change together in the last iteration")
	flags.IntVar(&o.Iterations, "iterations", 100, "how many iterations there are at most")
	rows.addJSON(flags, rankColumns...)
	s.add(flags, graphFlags{directed: true, live: true})
	return c
}

var rankColumns = []string{"vertex", "rank"}

// answerRanks answers the vertices in the order of their ranks, the highest first.
func (l *loadedGraph) answerRanks(a *answer, ranks []float32) error {
	order := make([]uint32, len(ranks))
	for v := range order {
		order[v] = uint32(v)
	}
	slices.SortStableFunc(order, func(u, v uint32) int { return cmp.Compare(ranks[v], ranks[u]) })
	ids := l.ids()
	return a.end(a.rows(len(order), func(r *row, i int) {
		r.word(ids, l.Graph.Vertices.Word(order[i]))
		r.fraction(float64(ranks[order[i]]), 32)
	}))
}
