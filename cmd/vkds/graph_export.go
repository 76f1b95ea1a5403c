package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
)

func newGraphExportCommand(g *global) *cobra.Command {
	var s graphSource
	x := graphExport{source: &s}
	c := &cobra.Command{
		Use:   "export FILE [-o FILE]",
		Short: "Print a graph's edges, or write them to a file of another kind",
		Long: `Export prints the edges of a graph, each once, in the order of the ids of both of its
vertices, or with -o writes them to a file. The file's ending says what it becomes, unless
--output-format does: csv (.csv, and standard output), edges (.txt, .edges), mtx (.mtx),
metis (.graph, .metis) or dimacs (.gr). Matrix Market, METIS and DIMACS number vertices
from 1 on: they are in the order of their ids. DIMACS has an arc each way for an edge that
leads both ways. Csv and edges have no room for vertices without edges; a note says how
many there are.

With --weighted it adds the edges' weights, where the file has them.

` + graphHelp,
		Example: `  vkds graph export karate.mtx | head
  vkds graph export roads.csv --from a --to b --weight km -o roads.gr`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return x.run(c.Context(), g, arguments[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&x.output, "output", "o", input.Stdin, "`file` to write; \"-\" is standard output")
	flags.Var(choice[graphfile.Format]{&x.format, parseExportFormat, exportFormats(), "format"}, "output-format",
		"what is written: "+strings.Join(exportFormats()[1:], ", ")+";\nauto: by the file's ending")
	flags.BoolVar(&s.options.Weighted, "weighted", false, "weights, too")
	x.rows.addJSON(flags, "from", "to", "weight")
	s.add(flags, graphFlags{directed: true, weight: true})
	return c
}

// graphExport is what the command's flags say.
type graphExport struct {
	source *graphSource
	output string
	format graphfile.Format
	rows   rowFlags
}

// exported are the formats that graphs are written in, in the help's order.
var exported = []graphfile.Format{graphfile.Auto, graphfile.CSV, graphfile.EdgeList, graphfile.MatrixMarket,
	graphfile.METIS, graphfile.DIMACS}

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

// check completes the format, and refuses outputs that will not do.
func (x *graphExport) check(file string) (err error) {
	if x.output != input.Stdin {
		err = outfile.Check(x.output)
	}
	if err := cmp.Or(err, checkInputs(x.output, file)); err != nil {
		return err
	}
	endings := map[string]graphfile.Format{"": graphfile.CSV, ".csv": graphfile.CSV, ".txt": graphfile.EdgeList,
		".edges": graphfile.EdgeList, ".mtx": graphfile.MatrixMarket, ".graph": graphfile.METIS,
		".metis": graphfile.METIS, ".gr": graphfile.DIMACS}
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
	if err == nil && x.format == graphfile.METIS && x.source.oneWay {
		err = errOneWay
	}
	return err
}

func (x *graphExport) run(ctx context.Context, g *global, path string) error {
	if err := x.check(path); err != nil { // now rather than after the work
		return err
	}
	return x.source.use(ctx, g, path, func(l *loadedGraph) error {
		if x.output == input.Stdin {
			return x.write(ctx, g, l, g.out)
		}
		f, err := outfile.Create(ctx, x.output)
		if err != nil {
			return err
		}
		defer f.Abort() // unless it is committed
		if err := x.write(ctx, g, l, f); err != nil {
			return err
		}
		return f.Commit()
	})
}

var errOneWay = errors.New("METIS knows no directed graphs: mtx, dimacs, edges and csv do " +
	"(--undirected has edges lead both ways)")

// graphRows is a graph on the host.
type graphRows struct {
	*loadedGraph
	offsets, targets, weights []uint32
}

func (x *graphExport) write(ctx context.Context, g *global, l *loadedGraph, to io.Writer) (err error) {
	if x.format == graphfile.METIS && l.Directed {
		return errOneWay
	}
	started := time.Now()
	r := graphRows{loadedGraph: l}
	if r.offsets, r.targets, r.weights, err = l.Slices(ctx); err != nil {
		return err
	}
	if x.format == graphfile.CSV {
		err = r.writeTable(to, x.rows)
	} else if err = l.writable(x.format); err == nil {
		out := bufio.NewWriterSize(to, outputBytes)
		r.writeText(out, x.format)
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	if x.output != input.Stdin {
		g.note("wrote %s", rate(l.edges(), "edges", time.Since(started)))
	}
	if edgesAlone := x.format == graphfile.CSV || x.format == graphfile.EdgeList; edgesAlone && g.notes() {
		if n := r.isolated(); n > 0 {
			g.note("%s of %s vertices have no edges, and are not in it: mtx, metis and dimacs have all vertices",
				grouped(n), grouped(l.CSR.Vertices))
		}
	}
	return nil
}

// isolated is how many vertices have no edges.
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

// each calls a function with each edge once, until it returns an error.
func (r *graphRows) each(edge func(from, to uint32, arc int) error) error {
	for from := range uint32(r.CSR.Vertices) {
		for arc := int(r.offsets[from]); arc < int(r.offsets[from+1]); arc++ {
			if to := r.targets[arc]; !r.Symmetric || from <= to {
				if err := edge(from, to, arc); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *graphRows) writeTable(to io.Writer, rows rowFlags) error {
	columns := []string{"from", "to"}
	if r.weights != nil {
		columns = append(columns, "weight")
	}
	a, ids := newAnswer(to, rows, columns...), r.ids()
	type edge struct {
		from, to uint32
		arc      int
	}
	part := make([]edge, 0, partLength)
	flush := func() error {
		edges := part
		part = part[:0]
		return a.rows(len(edges), func(line *row, i int) {
			line.word(ids, r.Graph.Vertices.Word(edges[i].from))
			line.word(ids, r.Graph.Vertices.Word(edges[i].to))
			if r.weights != nil {
				line.number(uint64(r.weights[edges[i].arc]))
			}
		})
	}
	err := r.each(func(from, to uint32, arc int) error {
		if part = append(part, edge{from, to, arc}); len(part) < partLength {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return a.end(err)
}

// writeText writes one of the formats that are lines of numbers; the writer keeps its error.
func (r *graphRows) writeText(out *bufio.Writer, f graphfile.Format) {
	kind, symmetry, n := "pattern", "general", r.CSR.Vertices
	if r.weights != nil {
		kind = "integer"
	}
	if r.Symmetric {
		symmetry = "symmetric"
	}
	switch f {
	case graphfile.METIS:
		r.writeMETIS(out)
		return
	case graphfile.MatrixMarket:
		fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", kind, symmetry, n, n, r.edges())
	case graphfile.DIMACS:
		fmt.Fprintf(out, "p sp %d %d\n", n, r.Arcs)
	}
	var line []byte
	_ = r.each(func(from, to uint32, arc int) error {
		switch f {
		case graphfile.EdgeList:
			line = r.appendPair(line[:0], from, to, arc)
		case graphfile.MatrixMarket: // the lower triangle of a symmetric one
			line = r.appendNumbers(line[:0], to, from, arc)
			if !r.Symmetric {
				line = r.appendNumbers(line[:0], from, to, arc)
			}
		case graphfile.DIMACS:
			line = r.appendArc(line[:0], from, to, arc)
			if r.Symmetric {
				line = r.appendArc(line, to, from, arc)
			}
		}
		_, _ = out.Write(line)
		return nil
	})
}

// appendPair appends a line of ids.
func (r *graphRows) appendPair(line []byte, from, to uint32, arc int) []byte {
	line = append(r.appendID(line, from), ' ')
	return r.appendWeight(r.appendID(line, to), arc)
}

func (r *graphRows) appendID(line []byte, v uint32) []byte {
	ids, word := r.ids(), r.Graph.Vertices.Word(v)
	if ids.Type == keytype.Text {
		return append(line, ids.texts.At(word)...)
	}
	return ids.Append(line, word)
}

// writable tells of ids that a list of edges has no room for.
func (l *loadedGraph) writable(f graphfile.Format) error {
	ids := l.ids()
	for v := range uint32(l.CSR.Vertices) {
		if f != graphfile.EdgeList || ids.Type != keytype.Text {
			break
		}
		word := l.Graph.Vertices.Word(v)
		if text := ids.texts.At(word); len(text) == 0 || bytes.ContainsAny(text, " \t\r\n\v\f") ||
			text[0] == '#' || text[0] == '%' {
			return fmt.Errorf("vertex %s can't stand in a list of edges: --output-format csv has room for it",
				ids.Format(word))
		}
	}
	return nil
}

// appendNumbers appends a line of vertices' numbers, from 1 on.
func (r *graphRows) appendNumbers(line []byte, from, to uint32, arc int) []byte {
	line = strconv.AppendUint(line, uint64(from)+1, 10)
	line = strconv.AppendUint(append(line, ' '), uint64(to)+1, 10)
	return r.appendWeight(line, arc)
}

// appendArc appends a line of DIMACS, which has a weight always.
func (r *graphRows) appendArc(line []byte, from, to uint32, arc int) []byte {
	line = r.appendNumbers(append(line, "a "...), from, to, arc)
	if r.weights == nil {
		line = append(line[:len(line)-1], " 1\n"...)
	}
	return line
}

func (r *graphRows) appendWeight(line []byte, arc int) []byte {
	if r.weights != nil {
		line = strconv.AppendUint(append(line, ' '), uint64(r.weights[arc]), 10)
	}
	return append(line, '\n')
}

func (r *graphRows) writeMETIS(out *bufio.Writer) {
	fmt.Fprintf(out, "%d %d", r.CSR.Vertices, r.edges())
	if r.weights != nil {
		fmt.Fprint(out, " 001")
	}
	fmt.Fprintln(out)
	var line []byte
	for v := range r.CSR.Vertices {
		line = line[:0]
		for arc := r.offsets[v]; arc < r.offsets[v+1]; arc++ {
			if len(line) > 0 {
				line = append(line, ' ')
			}
			if line = strconv.AppendUint(line, uint64(r.targets[arc])+1, 10); r.weights != nil {
				line = strconv.AppendUint(append(line, ' '), uint64(r.weights[arc]), 10)
			}
		}
		_, _ = out.Write(append(line, '\n'))
	}
}
