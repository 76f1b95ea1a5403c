package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
const graphHelp = `"vkds help graphs" explains what a FILE may be and how it is read.`

func newGraphCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph",
		Short: "Analyse a graph, or replay one as it grew",
	}
	for _, construct := range []func(*global) *cobra.Command{newGraphStatsCommand, newGraphTrianglesCommand,
		newGraphBFSCommand, newGraphSSSPCommand, newGraphComponentsCommand,
		newGraphStrongComponentsCommand, newGraphCommunitiesCommand, newGraphPageRankCommand, newGraphCoresCommand,
		newGraphNeighborsCommand, newGraphExportCommand, newGraphReplayCommand} {
		c.AddCommand(construct(g))
	}
	return c
}

// graphSource is the FILE of a command on graphs, and the flags that say how to read it.
type graphSource struct {
	options  graphfile.LoadOptions
	text     delimitedFlags
	live     bool // analyse the dynamic graph, not compressed sparse rows
	oneWay   bool // edges lead one way, whatever the format says
	bothWays bool // edges lead both ways, whatever the format says
}

// graphFlags says which flags a command has, besides those that all have.
type graphFlags struct {
	directed, multi, weight, live bool

	from string // the name of the flag for the column that edges come from; "": from
}

func (s *graphSource) add(flags *pflag.FlagSet, has graphFlags) {
	flags.Var(choice[graphfile.Format]{&s.options.Format, graphfile.Formats.Parse,
		graphfile.Formats.Names(), "format"}, "format",
		"format of the file: "+strings.Join(graphfile.Formats.Names()[1:], ", ")+
			";\nauto: by its name or its first bytes")
	if has.directed {
		flags.BoolVar(&s.oneWay, "directed", false, "edges lead only from the first vertex to the second")
		flags.BoolVar(&s.bothWays, "undirected", false, "edges lead both ways (default: as the format says,\n"+
			"else both ways)")
	} else {
		s.bothWays = true
	}
	if has.live {
		flags.BoolVar(&s.live, "live", false, "analyse the dynamic graph, not compressed sparse\nrows")
	}
	if has.multi {
		flags.BoolVar(&s.options.Multi, "multi", false, "keep loops, and all of several equal edges")
	}
	flags.StringVar(&s.options.From, cmp.Or(has.from, "from"), "", "of edges and tables: the `column` that edges "+
		"come\nfrom: its number or, in tables, its name (default 1)")
	flags.StringVar(&s.options.To, "to", "", "of edges and tables: the `column` that edges lead\nto (default 2)")
	if has.weight {
		flags.StringVar(&s.options.Weight, "weight", "",
			"of edges and tables: the `column` of weights\n(default: no weights)")
	}
	addType(flags, &s.options.ID, "id-type", "of edges and tables: type of the ids: u64, i64, ip,\n"+
		"hex, text, … (default: integers, or text if none of\nthe first is a number)")
	s.text.add(flags)
	flags.BoolVar(&s.options.SkipInvalid, "skip-invalid", false, "of edges and tables: skip lines that hold no edge,\n"+
		"and count them")
}

// complete sets the options that the flags imply. show, if not nil, shows how far the file was read.
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

// loadedGraph is a graph in the device's memory, and its file's vertices and edges on the host.
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
	note += andSkipped(file.Skipped)
	if file.Floats {
		note += "; weights are taken for 32-bit floats, because not all are integers up to 4294967295"
	}
	if s.options.Weighted && file.Weights == nil {
		note += "; no weights (of a table, --weight names their column)"
	}
	g.note("%s", note)
	return file, nil
}

// use reads a graph, builds its rows on the device, and calls the function use with it.
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
	sorted := graphfile.Edges{Floats: e.Floats}
	for _, i := range order {
		sorted.From, sorted.To = append(sorted.From, e.From[i]), append(sorted.To, e.To[i])
		sorted.Weights = append(sorted.Weights, e.Weights[i])
	}
	*e = sorted
}

// ids formats the words of vertices.
func (l *loadedGraph) ids() shown { return shownVertices(l.Graph.Vertices) }

func shownVertices(v *graphfile.Vertices) shown { return shown{v.Type(), v.Texts()} }

// number returns the number of the vertex with an id.
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

// edges returns the number of edges, without --multi.
func (l *loadedGraph) edges() int {
	if l.Symmetric {
		return l.Arcs / 2 // none is a loop
	}
	return l.Arcs
}

// weight appends the weight that has a word.
func (l *loadedGraph) weight(r *row, word uint32) {
	if l.Floats {
		r.fraction(float64(math.Float32frombits(word)), 32)
	} else {
		r.number(uint64(word))
	}
}

func newGraphStatsCommand(g *global) *cobra.Command {
	var s graphSource
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats FILE",
		Short: "Count vertices, edges, loops and the edges of a vertex",
		Long: `Stats counts a graph's vertices and edges, and the loops in the file (edges from
a vertex to itself). It also prints the least, the greatest and the mean number
of edges of a vertex; in a directed graph, only edges that lead from it count.

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
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(flags, graphFlags{directed: true, multi: true})
	return c
}

// graphStats is the answer of graph stats.
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

// degrees returns how many arcs lead from each vertex.
func (l *loadedGraph) degrees(ctx context.Context) ([]uint32, error) {
	offsets := make([]uint32, l.CSR.Vertices+1)
	err := l.Use(ctx, func() error { return l.Offsets.Download(ctx, 0, offsets) })
	for v := range l.CSR.Vertices {
		offsets[v] = offsets[v+1] - offsets[v]
	}
	return offsets[:l.CSR.Vertices], err
}

// counted is degrees with --multi: all of several equal edges count, and undirected loops count at both of their ends.
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
		Long: `Neighbors lists the neighbours of each vertex asked for, in the order of their
ids. In a directed graph, they are the vertices that its edges lead to. With
--weighted it adds the edges' weights, if the file has them.

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
	flags.BoolVar(&s.options.Weighted, "weighted", false, "add the edges' weights")
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
				l.weight(r, weights[first+i])
			}
		}); err != nil {
			break
		}
	}
	return a.end(err)
}

// graphsTopic is the help about files of graphs.
const graphsTopic = `The FILE of a graph has one of these formats:
  edges    an edge a line, as two ids with blanks between them; the format of
           SNAP's graphs
  mtx      Matrix Market: a sparse square matrix, an entry an edge (.mtx; a file
           without the first line %%MatrixMarket is read as edges)
  metis    a vertex a line, as the list of its neighbours (.graph, .metis)
  dimacs   lines "a FROM TO LENGTH" or "e FROM TO" (.gr, .col, .clq)
  csv      an edge a row (.csv, .tsv)
  parquet  an edge a row (.parquet, .pq)
  arrow    an edge a row (.arrow, .arrows, .feather, .ipc)
Without --format, the file's first bytes or ending tell; other files are edges.
All formats but Parquet may be compressed by gzip, bzip2, xz or zstd (.gz, .bz2,
.xz, .zst), and may come from standard input, "-".

In tables (csv, parquet and arrow) and in edges, --from and --to name the
columns of the two ids, by default the first two. Other columns are ignored.

In edges, lines that begin with # or % are skipped, and a line of -1 ends the
list. The first line is skipped if it holds names. If it holds one number, that
is the number of vertices. If it holds two numbers, it is an edge, unless
--header is given or a comment before it says "# nodes edges": then they are the
numbers of vertices and edges. --no-header says that the first line is an edge.

Vertices have the ids that the file gives them, in answers, too. Ids are
integers of up to 64 bits. In edges and tables, --id-type names another type;
without it, ids are texts if none of the first ones is a number, or if one has a
leading zero or a plus sign (007 is not 7). A graph has the vertices of its
edges and those that the file declares: METIS and Matrix Market have vertices
without edges.

Edges lead one way in DIMACS's lines "a" and in Matrix Market's general
matrices, and both ways in other files. --directed and --undirected say
otherwise. For triangles, components, communities, kcore and replay, edges
always lead both ways.

Graphs are simple: equal edges are one edge, and so are opposite edges if edges
lead both ways. Of their weights the last one counts. Edges from a vertex to
itself, loops, are left out and counted. In stats and sssp, --multi keeps all
equal edges and loops.

Weights are numbers from 0 on. If all are integers up to 4294967295, sums are
exact. Otherwise all of them are 32-bit floats, with about 7 digits, and a note
says so. Matrix Market, METIS and DIMACS say where weights are; in edges and
tables, --weight names their column.

A line that is wrong is an error. With --skip-invalid, such lines of edges and
tables are skipped and counted. A file that does not have as many edges as it
says is an error, too.`
