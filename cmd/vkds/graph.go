package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

// graphHelp says where a command's FILE is explained.
const graphHelp = `"vkds help graphs" tells what a FILE may be and how it is read.`

func newGraphCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph",
		Short: "Analyse a graph, or replay one as it grew",
	}
	for _, construct := range []func(*global) *cobra.Command{newGraphStatsCommand, newGraphTrianglesCommand,
		newGraphBFSCommand, newGraphSSSPCommand, newGraphComponentsCommand, newGraphPageRankCommand,
		newGraphCoresCommand, newGraphNeighborsCommand, newGraphExportCommand, newGraphReplayCommand} {
		c.AddCommand(construct(g))
	}
	return c
}

// graphSource is the FILE of a command on graphs, and the flags that say how to read it.
type graphSource struct {
	options  graphfile.LoadOptions
	text     delimitedFlags
	live     bool // it is analysed as a graph that may change
	oneWay   bool // edges lead one way, whatever the format says
	bothWays bool // or both
}

// Which of the flags a command has, beside those that all have.
type graphFlags struct {
	directed, multi, weight, live bool

	from string // the name of the flag for the column that edges come from
}

func (s *graphSource) add(flags *pflag.FlagSet, has graphFlags) {
	flags.Var(choice[graphfile.Format]{&s.options.Format, graphfile.Formats.Parse,
		graphfile.Formats.Names(), "format"}, "format",
		"how the file is stored: "+strings.Join(graphfile.Formats.Names()[1:], ", ")+
			";\nauto: by its name or its first bytes")
	if has.directed {
		flags.BoolVar(&s.oneWay, "directed", false, "edges lead from the first vertex to the second alone")
		flags.BoolVar(&s.bothWays, "undirected", false, "edges lead both ways (default: as the format says, and both\n"+
			"ways where it says nothing)")
	} else {
		s.bothWays = true
	}
	if has.live {
		flags.BoolVar(&s.live, "live", false, "analyse the dynamic graph itself, and not compressed sparse rows")
	}
	if has.multi {
		flags.BoolVar(&s.options.Multi, "multi", false, "keep loops, and edges as often as they come")
	}
	flags.StringVar(&s.options.From, cmp.Or(has.from, "from"), "", "of edges and tables: the `column` that edges come "+
		"from,\nby number from 1, or in tables by name (default 1)")
	flags.StringVar(&s.options.To, "to", "", "the `column` that they lead to (default 2)")
	if has.weight {
		flags.StringVar(&s.options.Weight, "weight", "", "the `column` of their weights (default: none)")
	}
	addType(flags, &s.options.ID, "id-type", "of edges and tables: what ids are: u64, i64, ip, hex, text, …\n"+
		"(default: integers, or text where none of the first is a number)")
	s.text.add(flags)
	flags.BoolVar(&s.options.SkipInvalid, "skip-invalid", false, "of edges and tables: pass over lines that hold no "+
		"edge,\nand count them")
}

// complete completes the options by the flags.
func (s *graphSource) complete(g *global, show func(read, size int64)) {
	o := &s.options.Options
	o.Delimiter, o.Header, o.Comment = s.text.delimiter, s.text.choice(), s.text.comment
	o.Progress, o.Note = show, func(text string) { g.note("%s", text) }
	switch {
	case s.oneWay:
		s.options.Direction = graphfile.Directed
	case s.bothWays:
		s.options.Direction = graphfile.Undirected
	}
}

// loadedGraph is a graph in the device's memory, and what the host knows of it.
type loadedGraph struct {
	*graphfile.Graph
	*graph.CSR
	device *vk.Device
}

// read reads a graph's file.
func (s *graphSource) read(ctx context.Context, g *global, path string) (*graphfile.Graph, error) {
	started := time.Now()
	show, end := g.progress("reading " + filepath.Base(path))
	s.complete(g, show)
	file, err := graphfile.Load(ctx, path, s.options)
	end()
	if err != nil {
		return nil, err
	}
	directed := map[bool]string{true: "directed", false: "undirected"}[file.Directed]
	note := fmt.Sprintf("read %s; %s vertices; %s", rate(file.Rows, "edges", time.Since(started)),
		grouped(file.Vertices.Len()), directed)
	if file.Loops > 0 && !s.options.Multi {
		note += fmt.Sprintf("; %s from a vertex to itself left out", grouped(file.Loops))
	}
	if file.Skipped > 0 {
		note += fmt.Sprintf("; %s skipped", grouped(file.Skipped))
	}
	if s.options.Weighted && file.Weights == nil {
		note += "; no weights (of a table, --weight names their column)"
	}
	g.note("%s", note)
	return file, nil
}

// use reads a graph, brings it to the device and has it used there.
func (s *graphSource) use(ctx context.Context, g *global, path string, use func(*loadedGraph) error) (err error) {
	if err := checkInputs("-", path); err != nil {
		return err
	}
	device := start(g.open)
	defer func() { err = errors.Join(err, device.Close()) }()
	var file *graphfile.Graph
	err = device.beside(ctx, func(ctx context.Context) (err error) {
		file, err = s.read(ctx, g, path)
		return err
	})
	if err != nil {
		return err
	}
	d, _ := device.wait() // beside returns its error
	if s.options.Multi {
		leastLast(&file.Edges)
	}
	rows, err := graph.BuildCSR(ctx, d, graph.Edges{From: file.From, To: file.To, Weights: file.Weights},
		graph.CSROptions{Vertices: file.Vertices.Len(), DropLoops: !s.options.Multi, Symmetric: !file.Directed})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return use(&loadedGraph{file, rows, d})
}

// leastLast puts edges of lesser weights after others, because the last one of equal edges counts.
func leastLast(e *graphfile.Edges) {
	if e.Weights == nil {
		return
	}
	order := make([]int, e.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(e.Weights[b], e.Weights[a]) })
	var sorted graphfile.Edges
	for _, i := range order {
		sorted.From, sorted.To = append(sorted.From, e.From[i]), append(sorted.To, e.To[i])
		sorted.Weights = append(sorted.Weights, e.Weights[i])
	}
	*e = sorted
}

// ids are the vertices to people.
func (l *loadedGraph) ids() shown { return shownVertices(l.Graph.Vertices) }

func shownVertices(v *graphfile.Vertices) shown { return shown{v.Type(), v.Texts()} }

// number is that of the vertex that a command is asked about.
func (l *loadedGraph) number(id string) (uint32, error) {
	number, found, err := l.Graph.Vertices.Find(id)
	switch {
	case err != nil:
		err = fmt.Errorf("vertex %q: %w", id, err)
	case !found:
		err = fmt.Errorf("vertex %s isn't in the graph", id)
	}
	return number, err
}

// edges is how many there are.
func (l *loadedGraph) edges() int {
	if l.Symmetric {
		return l.Arcs / 2 // of which no one is a loop
	}
	return l.Arcs
}

func newGraphStatsCommand(g *global) *cobra.Command {
	var s graphSource
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats FILE",
		Short: "Count vertices, edges and the edges of a vertex",
		Long: `Stats counts a graph's vertices and edges, the loops that the file has, and the least,
the greatest and the mean number of edges of a vertex (of directed graphs, that lead from
it).

` + graphHelp,
		Example: `  vkds graph stats roads.mtx.gz
  vkds graph stats calls.parquet --from caller --to callee --directed --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.use(ctx, g, arguments[0], func(l *loadedGraph) error {
				stats, err := l.stats(ctx, s.options)
				if err != nil {
					return err
				}
				return g.answerGraphStats(stats, asJSON)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(flags, graphFlags{directed: true, multi: true})
	return c
}

// graphStats is what stats tells.
type graphStats struct {
	Vertices int   `json:"vertices"`
	Edges    int   `json:"edges"`
	Loops    int64 `json:"loops"`
	Degree   struct {
		Min  uint32  `json:"min"`
		Max  uint32  `json:"max"`
		Mean float64 `json:"mean"`
	} `json:"degree"`
}

func (l *loadedGraph) stats(ctx context.Context, o graphfile.LoadOptions) (s graphStats, err error) {
	var degrees []uint32
	if s.Edges = l.Len(); o.Multi {
		degrees = l.counted()
	} else {
		s.Edges = l.edges()
		degrees, err = l.degrees(ctx)
	}
	s.Vertices, s.Loops = l.Graph.Vertices.Len(), l.Loops
	if len(degrees) > 0 {
		sum := uint64(0)
		for _, n := range degrees {
			sum += uint64(n)
		}
		s.Degree.Min, s.Degree.Max = slices.Min(degrees), slices.Max(degrees)
		s.Degree.Mean = float64(sum) / float64(len(degrees))
	}
	return s, err
}

// degrees are the numbers of the vertices' arcs.
func (l *loadedGraph) degrees(ctx context.Context) ([]uint32, error) {
	offsets := make([]uint32, l.CSR.Vertices+1)
	err := l.Use(ctx, func() error { return l.Offsets.Download(ctx, 0, offsets) })
	for v := range l.CSR.Vertices {
		offsets[v] = offsets[v+1] - offsets[v]
	}
	return offsets[:l.CSR.Vertices], err
}

// counted are the vertices' edges with all that are equal, and a loop at both of its ends.
func (l *loadedGraph) counted() []uint32 {
	degrees := make([]uint32, l.CSR.Vertices)
	for i, from := range l.From {
		if degrees[from]++; !l.Directed {
			degrees[l.To[i]]++
		}
	}
	return degrees
}

func (g *global) answerGraphStats(s graphStats, asJSON bool) error {
	if asJSON {
		return g.answerJSON(s)
	}
	return g.answerMeasures([]measure{{"vertices", s.Vertices}, {"edges", s.Edges}, {"loops", s.Loops},
		{"degree_min", s.Degree.Min}, {"degree_max", s.Degree.Max}, {"degree_mean", s.Degree.Mean}}, false)
}

func newGraphNeighborsCommand(g *global) *cobra.Command {
	var s graphSource
	var rows rowFlags
	c := &cobra.Command{
		Use:   "neighbors FILE VERTEX…",
		Short: "List the neighbours of vertices",
		Long: `Neighbors lists the neighbours of each vertex that is asked for, in the order of their
ids; of directed graphs, those that edges lead to. With --weighted it adds the edges'
weights, where the file has them.

` + graphHelp,
		Example: `  vkds graph neighbors karate.mtx 1 34
  vkds graph neighbors roads.gr 4711 --weighted`,
		Args: func(c *cobra.Command, arguments []string) error {
			return takes("a FILE, then vertices", 2, len(arguments))(c, arguments)
		},
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return s.use(ctx, g, arguments[0], func(l *loadedGraph) error {
				return l.answerNeighbors(ctx, g, arguments[1:], rows)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&s.options.Weighted, "weighted", false, "weights, too")
	rows.add(flags, "vertex", "neighbor", "weight")
	s.add(flags, graphFlags{directed: true, weight: true})
	return c
}

func (l *loadedGraph) answerNeighbors(ctx context.Context, g *global, asked []string, rows rowFlags) error {
	var vertices []uint32
	for _, id := range asked {
		number, err := l.number(id)
		if err != nil {
			return err
		}
		vertices = append(vertices, number)
	}
	offsets, targets, weights, err := l.Slices(ctx)
	if err != nil {
		return err
	}
	columns := []string{"vertex", "neighbor"}
	if weights != nil {
		columns = append(columns, "weight")
	}
	a, ids := newAnswer(g.out, rows, columns...), l.ids()
	for _, v := range vertices {
		first, end := int(offsets[v]), int(offsets[v+1])
		if err = a.rows(end-first, func(r *row, i int) {
			r.word(ids, l.Graph.Vertices.Word(v))
			r.word(ids, l.Graph.Vertices.Word(targets[first+i]))
			if weights != nil {
				r.number(uint64(weights[first+i]))
			}
		}); err != nil {
			break
		}
	}
	return a.end(err)
}

// graphsTopic is the help about graphs' files.
const graphsTopic = `A FILE of a graph is one of
  edges    two ids a line with blanks between them, and columns that mean nothing; lines
           that begin with # or % are passed over. That is how SNAP has its graphs.
           A first line of names is passed over; one of one number says how many vertices
           there are. One of two numbers is an edge, unless --header or a comment before
           it, "# nodes edges", says that it is the numbers of vertices and edges; a line
           of -1 is the end. --no-header says that the first line is an edge
  mtx      Matrix Market, a sparse square matrix, an entry an edge (.mtx; without the
           first line %%MatrixMarket it is read as edges)
  metis    the neighbours of a vertex a line (.graph, .metis)
  dimacs   lines "a FROM TO LENGTH" or "e FROM TO" (.gr, .col, .clq)
  csv      an edge a row, in the columns that --from and --to say, else the first two
           (.csv, .tsv)
  parquet, arrow   the same (.parquet, .pq, .arrow, .arrows, .feather, .ipc)
The ending says which, or the first bytes, else --format; without either it is edges.
All but Parquet may be compressed by gzip, bzip2, xz or zstd (.gz, .bz2, .xz, .zst), and
come from standard input, "-".

Vertices are called as the file calls them, and so are they in answers: by integers of up
to 64 bits or, in edges and tables, by texts, where none of the first ones is a number or
one has a leading zero or a plus sign (007 is not 7), or by what --id-type says. They are
those that edges have and those that the file says there are: METIS and Matrix Market have
vertices without edges.

Edges lead one way in DIMACS's lines "a" and in Matrix Market's general matrices, and both
ways in other files, unless --directed or --undirected says so. Triangles, components,
cores and replay take them both ways always.

A graph is simple: equal edges, and opposite ones if they lead both ways, are one, of which
the last one's weight counts, and edges from a vertex to itself are left out, and counted
as loops. --multi keeps all of them.

Weights are integers from 0 to 4294967295. Matrix Market, METIS and DIMACS say where they
are; of edges and tables --weight names their column.

A line that is wrong is named and ends the command, unless --skip-invalid passes over it
in edges and tables. So does a file that has not as many edges as it says.`
