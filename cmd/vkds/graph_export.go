package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func newGraphExportCommand(g *global) *cobra.Command {
	var s graphSource
	x := graphExport{source: &s}
	c := &cobra.Command{
		Use:   "export FILE [-o FILE]",
		Short: "Print a graph's edges, or write them to a file of another format",
		Long: `Export prints the edges of a graph, or with -o writes them to a file. Each edge
comes once, in the order of the ids of its vertices. --output-format names the
format, else the file's ending:
  csv     a line of names, then an edge a line (.csv, no ending, and standard
          output)
  edges   two ids a line (.txt, .edges)
  mtx     Matrix Market (.mtx); vertices are numbered from 1, in the order of
          their ids

csv and edges leave out vertices without edges; a note says how many there are.
With --weighted, export adds the edges' weights, if the file has them.

` + graphHelp,
		Example: `  vkds graph export karate.mtx | head
  vkds graph export roads.csv --from a --to b --weight km -o roads.mtx`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return x.run(c.Context(), g, arguments[0]) },
	}
	flags := c.Flags()
	flags.StringVarP(&x.output, "output", "o", input.Stdin, "`file` to write; \"-\" is standard output")
	flags.Var(choice[graphfile.Format]{&x.format, parseExportFormat, exportFormats(), "format"}, "output-format",
		"format of the output: "+strings.Join(exportFormats()[1:], ", ")+";\nauto: by the file's ending")
	flags.BoolVar(&s.options.Weighted, "weighted", false, "add the edges' weights")
	x.rows.addJSON(flags, "from", "to", "weight")
	s.add(flags, graphFlags{directed: true, weight: true})
	return c
}

// graphExport holds the command's flags.
type graphExport struct {
	source *graphSource
	output string
	format graphfile.Format
	rows   rowFlags
}

// exported are the formats that export writes, in the order of the help.
var exported = []graphfile.Format{graphfile.Auto, graphfile.CSV, graphfile.EdgeList, graphfile.MatrixMarket}

func exportFormats() (names []string) {
	for _, f := range exported {
		names = append(names, f.String())
	}
	return names
}

func parseExportFormat(name string) (graphfile.Format, error) {
	if at := slices.Index(exportFormats(), name); at >= 0 {
		return exported[at], nil
	}
	return 0, fmt.Errorf("unknown format %q (known: %s)", name, strings.Join(exportFormats(), ", "))
}

// check sets the format if the user left it open, and returns an error if the output can't be written in it.
func (x *graphExport) check(file string) (err error) {
	if err := checkOutput(x.output, file); err != nil {
		return err
	}
	endings := map[string]graphfile.Format{"": graphfile.CSV, ".csv": graphfile.CSV, ".txt": graphfile.EdgeList,
		".edges": graphfile.EdgeList, ".mtx": graphfile.MatrixMarket}
	ending := strings.ToLower(filepath.Ext(x.output))
	switch f, known := endings[ending]; {
	case x.rows.json && x.format != graphfile.Auto && x.format != graphfile.CSV:
		err = fmt.Errorf("--json prints rows, not %s", x.format)
	case x.format != graphfile.Auto:
	case x.output == input.Stdin || x.rows.json:
		x.format = graphfile.CSV
	case !known:
		err = fmt.Errorf("%s: no format has the ending %s: --output-format says which it is to be (%s)", x.output,
			ending, strings.Join(exportFormats()[1:], ", "))
	default:
		x.format = f
	}
	return err
}

func (x *graphExport) run(ctx context.Context, g *global, path string) error {
	if err := x.check(path); err != nil { // now rather than after the work
		return err
	}
	return x.source.use(ctx, g, path, func(l *loadedGraph) error {
		return g.writeTo(ctx, x.output, func(to io.Writer) error { return x.write(ctx, g, l, to) })
	})
}

// graphRows is a graph whose rows are on the host, too.
type graphRows struct {
	*loadedGraph
	offsets, targets, weights []uint32
}

func (x *graphExport) write(ctx context.Context, g *global, l *loadedGraph, to io.Writer) (err error) {
	started := time.Now()
	r := graphRows{loadedGraph: l}
	if r.offsets, r.targets, r.weights, err = l.Slices(ctx); err != nil {
		return err
	}
	switch x.format {
	case graphfile.CSV:
		err = r.writeTable(to, x.rows)
	case graphfile.EdgeList:
		err = r.writeList(to)
	default:
		err = r.writeMatrix(to)
	}
	if err != nil {
		return err
	}
	if x.output != input.Stdin {
		g.note("wrote %s", rate(l.edges(), "edges", time.Since(started)))
	}
	if x.format != graphfile.MatrixMarket && g.notes() {
		if n := r.isolated(); n > 0 {
			g.note("%s of %s vertices have no edges, and are not in it: mtx has all vertices", grouped(n),
				grouped(l.CSR.Vertices))
		}
	}
	return nil
}

// isolated returns the number of vertices without edges.
func (r *graphRows) isolated() (n int) {
	reached := make([]bool, r.CSR.Vertices)
	if !r.Symmetric { // else each arc has an opposite one
		for _, to := range r.targets {
			reached[to] = true
		}
	}
	for v, is := range reached {
		if !is && r.offsets[v] == r.offsets[v+1] {
			n++
		}
	}
	return n
}

// exportedEdge is an edge. arc is its index in targets and weights.
type exportedEdge struct {
	from, to uint32
	arc      int
}

// all yields each edge once.
func (r *graphRows) all(yield func(exportedEdge) bool) {
	for from := range uint32(r.CSR.Vertices) {
		for arc := int(r.offsets[from]); arc < int(r.offsets[from+1]); arc++ {
			to := r.targets[arc]
			if (!r.Symmetric || from <= to) && !yield(exportedEdge{from, to, arc}) {
				return
			}
		}
	}
}

func (r *graphRows) writeTable(to io.Writer, rows rowFlags) error {
	columns := []string{"from", "to"}
	if r.weights != nil {
		columns = append(columns, "weight")
	}
	a, ids := newAnswer(to, rows, columns...), r.ids()
	part := make([]exportedEdge, 0, partLength)
	flush := func() error {
		err := a.rows(len(part), func(line *row, i int) {
			line.word(ids, r.Graph.Vertices.Word(part[i].from))
			line.word(ids, r.Graph.Vertices.Word(part[i].to))
			if r.weights != nil {
				r.weight(line, r.weights[part[i].arc])
			}
		})
		part = part[:0]
		return err
	}
	for e := range r.all {
		if part = append(part, e); len(part) == partLength {
			if err := flush(); err != nil {
				return a.end(err)
			}
		}
	}
	return a.end(flush())
}

// writeList writes a list of edges, two ids a line.
func (r *graphRows) writeList(to io.Writer) error {
	if err := r.listable(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, outputBytes)
	for e := range r.all {
		line := append(r.appendID(out.AvailableBuffer(), e.from), ' ')
		_, _ = out.Write(r.appendWeight(r.appendID(line, e.to), e.arc)) // Flush returns its error
	}
	return out.Flush()
}

func (r *graphRows) appendID(line []byte, v uint32) []byte {
	ids, word := r.ids(), r.Graph.Vertices.Word(v)
	if ids.Type == keytype.Text {
		return append(line, ids.texts.At(word)...)
	}
	return ids.Append(line, word)
}

// listable returns an error if an id can't be written in a list of edges: it is empty, holds blanks, or begins like a
// comment.
func (r *graphRows) listable() error {
	ids := r.ids()
	if ids.Type != keytype.Text {
		return nil
	}
	for v := range uint32(r.CSR.Vertices) {
		word := r.Graph.Vertices.Word(v)
		if text := ids.texts.At(word); len(text) == 0 || bytes.ContainsAny(text, " \t\r\n\v\f") ||
			text[0] == '#' || text[0] == '%' {
			return fmt.Errorf("vertex %s can't stand in a list of edges: --output-format csv has room for it",
				ids.Format(word))
		}
	}
	return nil
}

// writeMatrix writes Matrix Market's coordinate format. If edges lead both ways, it writes the lower triangle.
func (r *graphRows) writeMatrix(to io.Writer) error {
	kind, symmetry, n := "pattern", "general", r.CSR.Vertices
	if r.weights != nil {
		kind = "integer"
		if r.Floats {
			kind = "real"
		}
	}
	if r.Symmetric {
		symmetry = "symmetric"
	}
	out := bufio.NewWriterSize(to, outputBytes)
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", kind, symmetry, n, n, r.edges())
	for e := range r.all {
		row, column := e.from, e.to
		if r.Symmetric {
			row, column = column, row
		}
		line := append(strconv.AppendUint(out.AvailableBuffer(), uint64(row)+1, 10), ' ')
		line = strconv.AppendUint(line, uint64(column)+1, 10)
		_, _ = out.Write(r.appendWeight(line, e.arc)) // Flush returns its error
	}
	return out.Flush()
}

// appendWeight completes an edge's line by the weight, if there are weights.
func (r *graphRows) appendWeight(line []byte, arc int) []byte {
	switch {
	case r.weights == nil:
	case r.Floats:
		line = keytype.AppendFloat(append(line, ' '), float64(math.Float32frombits(r.weights[arc])), 32)
	default:
		line = strconv.AppendUint(append(line, ' '), uint64(r.weights[arc]), 10)
	}
	return append(line, '\n')
}
