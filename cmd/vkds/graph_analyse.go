package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures/graph/analytics"
)

// analyse reads a graph, brings it to the device and has it analysed there. The function returns how long the device
// worked for the analysis.
func (s *graphSource) analyse(ctx context.Context, g *global, path string,
	analyse func(*loadedGraph, *analytics.Analyzer) (time.Duration, error)) error {
	return s.use(ctx, g, path, func(l *loadedGraph) (err error) {
		a := analytics.New(l.CSR)
		defer func() { err = errors.Join(err, a.Close()) }()
		took, err := analyse(l, a)
		if err == nil {
			g.note("analysed in %.3g s of %s", took.Seconds(), l.device.Info().Name)
		}
		return err
	})
}

// vertexRows answers a row for each vertex, in the order of their numbers; value gives the row what stands behind the
// vertex.
func (l *loadedGraph) vertexRows(a *answer, value func(a *answer, vertex int)) error {
	ids := l.ids()
	return a.end(a.rows(l.CSR.Vertices, func(v int) {
		a.word(ids, l.Graph.Vertices.Word(uint32(v)))
		value(a, v)
	}))
}

func newGraphBFSCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	var from string
	c := &cobra.Command{
		Use:   "bfs FILE --from VERTEX",
		Short: "Tell how many edges each vertex is away from one",
		Long: `Bfs prints each vertex with its distance from one, in edges along the shortest path, by a
breadth-first search. A vertex that no path leads to has none.

` + graphHelp,
		Example: `  vkds graph bfs karate.mtx --from 1
  vkds graph bfs links.txt.gz --directed --from 4711 --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.analyse(ctx, g, arguments[0], func(l *loadedGraph, z *analytics.Analyzer) (time.Duration, error) {
				source, err := l.number(from)
				if err != nil {
					return 0, err
				}
				r, err := z.BFS(ctx, source, analytics.BFSOptions{})
				if err != nil {
					return 0, err
				}
				return r.Device, l.answerDistances(newAnswer(g.out, rows, distanceColumns...), r.Distances)
			})
		},
	}
	addFrom(c, &from)
	rows.add(c.Flags(), distanceColumns...)
	s.add(c.Flags(), graphFlags{directed: true, from: "from-column"})
	return c
}

var distanceColumns = []string{"vertex", "distance"}

// addFrom adds the flag for the vertex that a command begins at.
func addFrom(c *cobra.Command, from *string) {
	c.Flags().SortFlags = false
	c.Flags().StringVar(from, "from", "", "the `vertex` to begin at")
	_ = c.MarkFlagRequired("from") // which there is
}

func (l *loadedGraph) answerDistances(a *answer, distances []uint32) error {
	return l.vertexRows(a, func(a *answer, v int) {
		a.numberIf(uint64(distances[v]), distances[v] != analytics.Unreached)
	})
}
