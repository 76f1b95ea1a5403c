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

// analysis is what a command does with a graph. It returns how long the device worked.
type analysis func(context.Context, *loadedGraph, *analytics.Analyzer) (time.Duration, error)

// analyse reads a graph, builds it on the device, and analyses it.
func (s *graphSource) analyse(ctx context.Context, g *global, path string, do analysis) error {
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
		took, err := do(ctx, l, a)
		if err == nil {
			g.note("analysed in %.3g s of %s", took.Seconds(), l.device.Info().Name)
		}
		return err
	})
}

// analyses is analyse for a command whose argument is the graph's file.
func (s *graphSource) analyses(g *global, do analysis) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, arguments []string) error { return s.analyse(c.Context(), g, arguments[0], do) }
}

// vertexRows prints a row for each vertex, in the order of their numbers. value appends what follows the vertex.
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
		Short: "Print the distance from a vertex to each, in edges",
		Long: `Bfs prints each vertex with its distance from the one that --from names: the
number of edges on a shortest path, found by a breadth-first search. If no path
leads to a vertex, its distance is empty. With --path it prints the vertices of
one shortest path, in their order, or none if there is no path.

` + graphHelp,
		Example: `  vkds graph bfs karate.mtx --from 1
  vkds graph bfs karate.mtx --from 17 --path 26
  vkds graph bfs links.txt.gz --directed --from 4711 --json`,
	}
	return distances(c, g, new(graphSource), graphFlags{directed: true},
		func(ctx context.Context, _ *loadedGraph, z *analytics.Analyzer, from uint32, parents bool) (found, error) {
			r, err := z.BFS(ctx, from, analytics.BFSOptions{Parents: parents})
			return found{distances: r.Distances, parents: r.Parents, took: r.Elapsed}, err
		})
}

func newGraphSSSPCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "sssp FILE --from VERTEX",
		Short: "Print the distance from a vertex to each, by weights",
		Long: `Sssp prints each vertex with its distance from the one that --from names: the
length of a shortest path, which is the sum of its edges' weights. Weights are
numbers from 0 on, or 1 each if the file has none. If all are integers, so are
distances; otherwise both are 32-bit floats. If no path leads to a vertex, or
only paths of 4294967295 or more (floats: more than 3.4e38), its distance is
empty. Of equal edges the last one's weight counts; with --multi, the least
weight does. With --path it prints the vertices of one shortest path, in their
order, or none if there is no path.

` + graphHelp,
		Example: `  vkds graph sssp roads.gr.gz --from 4711
  vkds graph sssp flights.csv --from-column a --to b --weight miles --from Oslo`,
	}
	var s graphSource
	s.options.Weighted = true
	return distances(c, g, &s, graphFlags{directed: true, multi: true, weight: true},
		func(ctx context.Context, l *loadedGraph, z *analytics.Analyzer, from uint32, parents bool) (found, error) {
			r, err := z.SSSP(ctx, from, analytics.SSSPOptions{FloatWeights: l.Floats, Parents: parents})
			return found{r.Distances, r.FloatDistances, r.Parents, r.Elapsed}, err
		})
}

// found is what a search from a vertex finds: distances or floats, and parents, nil unless it was asked for them.
type found struct {
	distances []uint32
	floats    []float32
	parents   []uint32
	took      time.Duration
}

// distance appends the distance of a vertex, nothing if there is none.
func (f found) distance(r *row, v uint32) {
	switch {
	case f.floats == nil:
		r.numberIf(uint64(f.distances[v]), f.distances[v] != analytics.Unreached)
	case math.IsInf(float64(f.floats[v]), 1):
		r.numberIf(0, false)
	default:
		r.fraction(float64(f.floats[v]), 32)
	}
}

// distances gives a command its flags and its RunE, which prints how far each vertex is from one.
func distances(c *cobra.Command, g *global, s *graphSource, has graphFlags,
	search func(_ context.Context, _ *loadedGraph, _ *analytics.Analyzer, from uint32, parents bool) (found,
		error)) *cobra.Command {
	var rows rowFlags
	var from, path string
	columns := []string{"vertex", "distance"}
	c.Args = takes("one FILE", 1, 1)
	c.RunE = s.analyses(g, func(ctx context.Context, l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
		source, err := l.number(from)
		if err != nil {
			return 0, err
		}
		var to uint32
		along := c.Flags().Changed("path")
		if along {
			if to, err = l.number(path); err != nil {
				return 0, err
			}
		}
		r, err := search(ctx, l, z, source, along)
		if err != nil {
			return 0, err
		}
		answer := newAnswer(g.out, rows, columns...)
		if !along {
			return r.took, l.vertexRows(answer, func(row *row, v int) { r.distance(row, uint32(v)) })
		}
		vertices, ids := analytics.Path(r.parents, to), l.ids()
		if vertices == nil {
			g.note("no path leads from %s to %s", from, path)
		}
		return r.took, answer.end(answer.rows(len(vertices), func(row *row, i int) {
			row.word(ids, l.Graph.Vertices.Word(vertices[i]))
			r.distance(row, vertices[i])
		}))
	})
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "the `vertex` to begin at")
	_ = c.MarkFlagRequired("from") // it exists
	flags.StringVar(&path, "path", "", "print only a shortest path to this `vertex`")
	rows.add(flags, columns...)
	has.from, has.live = "from-column", true
	s.add(flags, has)
	return c
}

func newGraphComponentsCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "components FILE",
		Short: "Count the connected components",
		Long: `Components counts a graph's connected components, and the vertices of the
largest one. A vertex without edges is a component of its own. With --vertices
it prints each vertex instead, with the least vertex of its component (if ids
are texts, the one that came first).

` + graphHelp,
		Example: `  vkds graph components friends.txt.gz --json
  vkds graph components friends.txt.gz --vertices`,
	}
	return components(c, g, graphFlags{}, componentNames, (*analytics.Analyzer).Components)
}

func newGraphStrongComponentsCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "scc FILE",
		Short: "Count the strongly connected components",
		Long: `Scc counts a graph's strongly connected components, and the vertices of the
largest one. Two vertices are in the same component if a path along the edges'
directions leads from each to the other. Without --directed, edges lead both
ways. With --vertices it prints each vertex instead, with the least vertex of its
component (if ids are texts, the one that came first).

` + graphHelp,
		Example: `  vkds graph scc links.txt.gz --directed --json
  vkds graph scc links.txt.gz --directed --vertices`,
	}
	return components(c, g, graphFlags{directed: true}, componentNames, (*analytics.Analyzer).StrongComponents)
}

// partNames are what the parts of a graph are called.
type partNames struct{ many, one string }

var componentNames = partNames{"components", "component"}

// components gives a command its flags and its RunE, which prints the components of a sort, or the communities.
func components(c *cobra.Command, g *global, has graphFlags, names partNames,
	find func(*analytics.Analyzer, context.Context) (analytics.ComponentsResult, error)) *cobra.Command {
	var s graphSource
	var rows rowFlags
	var each bool
	columns := []string{"vertex", names.one}
	c.Args = takes("one FILE", 1, 1)
	c.RunE = s.analyses(g, func(ctx context.Context, l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
		r, err := find(z, ctx)
		switch {
		case err != nil:
		case each:
			err = l.answerLabels(newAnswer(g.out, rows, columns...), r.Labels)
		default:
			err = g.answerMeasures([]measure{{names.many, r.Count}, {"largest", r.Largest}}, rows.json)
		}
		return r.Elapsed, err
	})
	flags := c.Flags()
	flags.BoolVar(&each, "vertices", false, "print each vertex, with the least one of its\n"+names.one)
	rows.add(flags, columns...)
	flags.Lookup("json").Usage = `print one JSON object: {"` + names.many +
		`": …, "largest": …}, or with --vertices rows`
	has.live = true
	s.add(flags, has)
	return c
}

func newGraphCommunitiesCommand(g *global) *cobra.Command {
	var o analytics.CommunitiesOptions
	c := &cobra.Command{
		Use:   "communities FILE",
		Short: "Count the communities, found by label propagation",
		Long: `Communities divides a graph's vertices into communities, whose members have at
least as many neighbours in their own community as in any other, and counts
these and the vertices of the largest one. With --vertices it prints each vertex
instead, with the least vertex of its community (if ids are texts, the one that
came first).

At first each vertex has a label of its own. In an iteration each vertex takes
the label that is the most frequent one among its neighbours, and of several the
least: first one half of the vertices, then the other. Weights do not count.
With the same vertices in the same order, the result is always the same.

` + graphHelp,
		Example: `  vkds graph communities friends.txt.gz
  vkds graph communities karate.mtx --vertices`,
	}
	find := func(z *analytics.Analyzer, ctx context.Context) (analytics.ComponentsResult, error) {
		if o.Iterations < 1 {
			return analytics.ComponentsResult{}, errors.New("--iterations is at least 1")
		}
		r, err := z.Communities(ctx, o)
		if err == nil && !r.Settled {
			g.note("labels still changed in the last of %d iterations", r.Iterations)
		}
		return analytics.ComponentsResult{Labels: r.Labels, Count: r.Count, Largest: r.Largest, Elapsed: r.Elapsed}, err
	}
	components(c, g, graphFlags{}, partNames{"communities", "community"}, find)
	c.Flags().IntVar(&o.Iterations, "iterations", 100, "greatest number of iterations")
	return c
}

func (l *loadedGraph) answerLabels(a *answer, labels []uint32) error {
	ids := l.ids()
	return l.vertexRows(a, func(r *row, v int) { r.word(ids, l.Graph.Vertices.Word(labels[v])) })
}

func newGraphCoresCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	c := &cobra.Command{
		Use:   "kcore FILE",
		Short: "Print the core number of each vertex",
		Long: `Kcore prints each vertex with its core number, which says how deep in the graph
it is: the greatest k such that the vertex is in a part of the graph in which
each vertex has at least k neighbours.

` + graphHelp,
		Example: `  vkds graph kcore karate.mtx`,
		Args:    takes("one FILE", 1, 1),
		RunE: s.analyses(g, func(ctx context.Context, l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
			r, err := z.Cores(ctx)
			if err != nil {
				return 0, err
			}
			return r.Elapsed, l.vertexRows(newAnswer(g.out, rows, coreColumns...), func(line *row, v int) {
				line.number(uint64(r.Cores[v]))
			})
		}),
	}
	flags := c.Flags()
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
		Long: `Triangles counts a graph's triangles: sets of three vertices, each two of which
are neighbours.

` + graphHelp,
		Example: `  vkds graph triangles friends.txt.gz --json`,
		Args:    takes("one FILE", 1, 1),
		RunE: s.analyses(g, func(ctx context.Context, l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
			r, err := z.Triangles(ctx)
			if err != nil {
				return 0, err
			}
			return r.Elapsed, g.answerMeasures([]measure{{"triangles", r.Count}}, asJSON)
		}),
	}
	flags := c.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(flags, graphFlags{live: true})
	return c
}

func newGraphPageRankCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	var top uint64 = math.MaxUint64
	var o analytics.PageRankOptions
	var around []string
	c := &cobra.Command{
		Use:   "pagerank FILE",
		Short: "Print the vertices by their PageRank, the highest first",
		Long: `Pagerank prints the vertices with their ranks, the highest first; with --top,
only the K highest. The sum of all ranks is 1. Ranks are computed in iterations,
until one changes them by at most --tolerance in total, or --iterations times.
With --around they are personalized: the random walk begins again at one of these
vertices, each as often, so that vertices near them rank high.

` + graphHelp,
		Example: `  vkds graph pagerank links.txt.gz --directed --top 20
  vkds graph pagerank karate.mtx --around 17 --top 5`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			rows.left = top
			if !within(float64(o.Damping), 0.0001, 0.9999) || o.Tolerance <= 0 || o.Iterations < 1 {
				return errors.New("--damping is between 0 and 1, --tolerance above 0, --iterations at least 1")
			}
			return s.analyse(c.Context(), g, arguments[0], func(ctx context.Context, l *loadedGraph,
				z *analytics.Analyzer) (time.Duration, error) {
				for _, id := range around {
					v, err := l.number(id)
					if err != nil {
						return 0, err
					}
					if o.Personalization == nil {
						o.Personalization = make([]float32, l.CSR.Vertices)
					}
					o.Personalization[v] = 1
				}
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
	flags.Var(limitFlag(&top), "top", "print only the `K` highest")
	flags.StringArrayVar(&around, "around", nil, "begin again at this `vertex`; may be given several times")
	flags.Float32Var(&o.Damping, "damping", 0.85, "share of a rank that goes along edges")
	flags.Float32Var(&o.Tolerance, "tolerance", 1e-6,
		"stop when an iteration changes all ranks by at most\nthis in total")
	flags.IntVar(&o.Iterations, "iterations", 100, "greatest number of iterations")
	rows.addJSON(flags, rankColumns...)
	s.add(flags, graphFlags{directed: true, live: true})
	return c
}

var rankColumns = []string{"vertex", "rank"}

// answerRanks prints the vertices in the order of their ranks, the highest first.
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
