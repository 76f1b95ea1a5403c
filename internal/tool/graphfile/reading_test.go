package graphfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// id is a vertex as people write it.
func id(v *Vertices, number uint32) string {
	if v.Type() == keytype.Text {
		return string(v.Texts().At(v.Word(number)))
	}
	return v.Type().Format(v.Word(number))
}

// listed are the edges of a graph by their ids, in their order, behind all vertices.
func listed(g *Graph) string {
	var out []string
	for number := range g.Vertices.Len() {
		out = append(out, id(g.Vertices, uint32(number)))
	}
	text := strings.Join(out, " ") + ":"
	for i, from := range g.From {
		text += " " + id(g.Vertices, from) + "-" + id(g.Vertices, g.To[i])
		if g.Weights != nil {
			if text += "="; g.Floats {
				text += fmt.Sprintf("%gf", math.Float32frombits(g.Weights[i]))
			} else {
				text += fmt.Sprint(g.Weights[i])
			}
		}
	}
	return text
}

// Each format gives the vertices and the edges that it stands for.
func TestForms(t *testing.T) {
	weighted := LoadOptions{Options: Options{Weighted: true}}
	for name, c := range map[string]struct {
		file, text, want string
		o                LoadOptions
	}{
		"pairs":         {"a.txt", "7 3\n3\t9\r\n\n  9   7\n", "3 7 9: 7-3 3-9 9-7", LoadOptions{}},
		"no line end":   {"a", "1 2\n2 3", "1 2 3: 1-2 2-3", LoadOptions{}},
		"comments":      {"a.el", "# Nodes: 9\n% x\n#\n1 2 3 {} x\n", "1 2: 1-2", LoadOptions{}},
		"own comments":  {"a", "// x\n1 2\n", "1 2: 1-2", LoadOptions{Options: Options{Comment: '/'}}},
		"names":         {"a", "src dst time\n1 2 5\n", "1 2: 1-2", LoadOptions{}},
		"loops":         {"a", "1 1\n1 2\n3 3\n", "1 2 3: 1-2", LoadOptions{}},
		"loops kept":    {"a", "1 1\n1 2\n1 1\n2 1\n", "1 2: 1-1 1-2 1-1 2-1", LoadOptions{Multi: true}},
		"V and E":       {"a", "# nodes edges\n#\n5 2\n1 2\n2 4\n", "1 2 3 4 5: 1-2 2-4", LoadOptions{}},
		"V and E, 0":    {"a", "% |V| |E|\n5 2\n1 0\n2 4\n", "0 1 2 3 4: 1-0 2-4", LoadOptions{}},
		"no V and E":    {"a", "3 2\n1 2\n2 3\n", "1 2 3: 3-2 1-2 2-3", LoadOptions{}},
		"V and E above": {"a", "# Nodes: 3 Edges: 3\n3 2\n1 2\n2 3\n", "1 2 3: 3-2 1-2 2-3", LoadOptions{}},
		"leading zeros": {"a", "007 7\n7 08\n", "007 7 08: 007-7 7-08", LoadOptions{}},
		"edges alone": {"a", "5 2\n1 2\n2 4\n", "1 2 4 5: 5-2 1-2 2-4",
			LoadOptions{Options: Options{Header: input.Absent}}},
		"said to be": {"a", "5 2\n1 2\n2 4\n", "1 2 3 4 5: 1-2 2-4",
			LoadOptions{Options: Options{Header: input.Present}}},
		"V and an end": {"a", "4\n0 2 1\n2 0 1\n-1", "0 1 2 3: 0-2 2-0", LoadOptions{}},
		"negative":     {"a", "7 -3\n-3 9\n", "-3 7 9: 7--3 -3-9", LoadOptions{}},
		"wide": {"a", "18446744073709551615 1\n1 70000\n", "1 70000 18446744073709551615: " +
			"18446744073709551615-1 1-70000", LoadOptions{}},
		"leading zeros, late": {"a", strings.Repeat("5 0x10\n", 20000) + "007 7\n",
			"5 0x10 007 7:" + strings.Repeat(" 5-0x10", 20000) + " 007-7", LoadOptions{}},
		"leading zeros of a table, late": {"a.csv", strings.Repeat("7,8\n", 20000) + "8,007\n",
			"7 8 007:" + strings.Repeat(" 7-8", 20000) + " 8-007", LoadOptions{}},
		"leading zeros of integers": {"a", "007 7\n7 8\n", "7 8: 7-8",
			LoadOptions{Options: Options{ID: input.Column{Type: keytype.Uint64}}}},
		"texts": {"a", "bob al\nal eve\n", "bob al eve: bob-al al-eve", LoadOptions{}},
		"texts that are numbers": {"a", "01 1\n1 2\n", "01 1 2: 01-1 1-2",
			LoadOptions{Options: Options{ID: input.Column{Type: keytype.Text}}}},
		"addresses": {"a", "10.0.0.2 10.0.0.1\n", "10.0.0.1 10.0.0.2: 10.0.0.2-10.0.0.1",
			LoadOptions{Options: Options{ID: input.Column{Type: keytype.IPv4}}}},
		"columns": {"a", "t 1 9 2\nt 2 8 3\n", "1 2 3: 2-1=9 3-2=8",
			LoadOptions{Options: Options{From: "4", To: "2", Weight: "3"}}},
		"skipped": {"a", "1 2\nx\n2 y\n3 4\n", "1 2 3 4: 1-2 3-4",
			LoadOptions{Options: Options{SkipInvalid: true}}},
		"mtx": {"a.mtx", banner + " matrix coordinate pattern general\n% c\n3 3 2\n1 2\n\n3 3\n", "1 2 3: 1-2",
			LoadOptions{}},
		"mtx in both directions": {"a", "%%matrixmarket MATRIX Coordinate Real Symmetric\n3 3 2\n2 1 0.0\n3 2 -1e3\n",
			"1 2 3: 2-1 1-2 3-2 2-3", LoadOptions{Direction: Directed}},
		"mtx, skew": {"a.mtx", banner + " matrix coordinate integer skew-symmetric\n3 3 1\n2 1 7\n",
			"1 2 3: 2-1=7 1-2=7",
			LoadOptions{Direction: Directed, Options: Options{Weighted: true}}},
		"mtx, weights": {"a.mtx", banner + " matrix coordinate real general\n3 3 2\n2 1 7.00\n1 2 5e0 \n",
			"1 2 3: 2-1=7 1-2=5", weighted},
		"mtx without a banner": {"a.mtx", "2 1\n4 2\n", "1 2 4: 2-1 4-2", LoadOptions{}},
		"metis": {"a.graph", "% c\n4 2\n2\n1 3\n2\n\n",
			"1 2 3 4: 1-2 2-1 2-3 3-2", LoadOptions{}},
		"metis, cut after the last edge": {"a.metis", "4 2\n2\n% c\n1 3\n2", "1 2 3 4: 1-2 2-1 2-3 3-2", LoadOptions{}},
		"metis, once":                    {"a.graph", "3 2\n2\n1 3\n2\n", "1 2 3: 1-2 2-3", LoadOptions{Multi: true}},
		"mtx, fractions": {"a.mtx", banner + " matrix coordinate real general\n3 3 3\n2 1 7\n1 2 5e-1\n3 1 16777217\n",
			"1 2 3: 2-1=7f 1-2=0.5f 3-1=1.6777216e+07f", weighted},
		"metis, fractions":  {"a.graph", "2 1 1\n2 .25\n1 0.25\n", "1 2: 1-2=0.25f 2-1=0.25f", weighted},
		"dimacs, fractions": {"a.gr", "p sp 2 2\na 1 2 1e-45\na 2 1 -0\n", "1 2: 1-2=1e-45f 2-1=0f", weighted},
		"list, fractions": {"a", "1 2 3\n2 3 4294967295\n3 4 1.5\n4 5 4\n",
			"1 2 3 4 5: 1-2=3f 2-3=4.2949673e+09f 3-4=1.5f 4-5=4f", LoadOptions{Options: Options{Weight: "3"}}},
		"list, large": {"a", "1 2 4294967296\n", "1 2: 1-2=4.2949673e+09f", LoadOptions{Options: Options{Weight: "3"}}},
		"list, whole": {"a", "1 2 4294967295.0\n", "1 2: 1-2=4294967295", LoadOptions{Options: Options{Weight: "3"}}},
		"csv, fractions": {"a.csv", "a,b,w\n1,2,3\n2,3,0.1\n3,4,-0\n4,5,\n",
			"1 2 3 4: 1-2=3f 2-3=0.1f 3-4=0f", LoadOptions{Options: Options{Weight: "w"}}},
		"csv, whole": {"a.csv", "a,b,w\nx,y,3.00\ny,z,4294967295\n", "x y z: x-y=3 y-z=4294967295",
			LoadOptions{Options: Options{Weight: "w"}}},
		"csv, wrong weights": {"a.csv", "a,b,w\n1,2,-3\n2,3,1e39\n3,4,5\n4,5,x\n5,6,Inf\n", "3 4: 3-4=5",
			LoadOptions{Options: Options{Weight: "w", SkipInvalid: true}}},
		"metis, all weights": {"a.graph", "2 1 111 2\n9 8 7 2 5\n1 1 1 1 5\n\n",
			"1 2: 1-2=5 2-1=5", weighted},
		"metis, weights of vertices": {"a.graph", "2 1 010\n9 2\n1 1\n", "1 2: 1-2 2-1", weighted},
		"metis, weights of edges":    {"a.graph", "2 1 1\n2 4\n1 4\n", "1 2: 1-2=4 2-1=4", weighted},
		"dimacs": {"a.gr", "c x\np sp 3 2\na 1 2 10\nc\na 3 1 4294967295\n",
			"1 2 3: 1-2=10 3-1=4294967295", weighted},
		"dimacs, colouring": {"a.col", "c x\np edge 3 2\ne 1 2\ne 3 1\n", "1 2 3: 1-2 3-1", LoadOptions{}},
		"csv":               {"a.csv", "a,b,w\n5,6,1\n6,7,2\n", "5 6 7: 5-6 6-7", LoadOptions{}},
		"csv by names": {"a.csv", "a,b,w\n5,6,1\n6,7,2\n", "5 6 7: 6-5=1 7-6=2",
			LoadOptions{Options: Options{From: "b", To: "a", Weight: "w"}}},
		"csv of texts":              {"a.csv", "\"a b\",c\nc,d\n", "a b c d: a b-c c-d", LoadOptions{}},
		"csv, negative on one side": {"a.csv", "5,-6\n6,7\n", "-6 5 6 7: 5--6 6-7", LoadOptions{}},
		"csv in a pipe's format":    {"a", "1;2\n2;3\n", "1 2 3: 1-2 2-3", LoadOptions{Options: Options{Format: CSV}}},
		"nothing":                   {"a", "", ":", LoadOptions{}},
		"comments alone":            {"a", "# x", ":", LoadOptions{}},
		"no edges":                  {"a.graph", "2 0\n\n\n", "1 2:", LoadOptions{}},
	} {
		g, err := Load(ctx, write(t, c.file, c.text), c.o)
		if assert.NoError(t, err, name) {
			assert.Equal(t, c.want, listed(g), name)
			for number := range g.Vertices.Len() {
				at, found, err := g.Vertices.Find(id(g.Vertices, uint32(number)))
				assert.NoError(t, err, name)
				assert.True(t, found, name)
				assert.EqualValues(t, number, at, name)
			}
		}
	}
}

// Edges lead one way or both as their format says, unless the caller does.
func TestDirections(t *testing.T) {
	mtx := func(symmetry string) string {
		return banner + " matrix coordinate pattern " + symmetry + "\n2 2 1\n2 1\n"
	}
	for _, c := range []struct {
		file, text string
		directed   bool
		edges      string // if it is directed
	}{
		{"a.gr", "p sp 2 1\na 2 1 5\n", true, "2-1"},
		{"a.col", "p edge 2 1\ne 2 1\n", false, "2-1 1-2"},
		{"a.mtx", mtx("general"), true, "2-1"},
		{"a.mtx", mtx("symmetric"), false, "2-1 1-2"},
		{"a.graph", "2 1\n2\n1\n", false, "1-2 2-1"},
		{"a.txt", "2 1\n", false, "2-1"},
		{"a.csv", "2,1\n", false, "2-1"},
	} {
		path := write(t, c.file, c.text)
		for direction, want := range map[Direction]bool{AsFormat: c.directed, Directed: true, Undirected: false} {
			g, err := Load(ctx, path, LoadOptions{Direction: direction})
			require.NoError(t, err)
			assert.Equal(t, want, g.Directed, "%s %d", c.text, direction)
			if want {
				assert.Equal(t, "1 2: "+c.edges, listed(g), "%s %d", c.text, direction)
			}
		}
	}
}

// A first line that may be numbers of vertices and edges is an edge, and a note says so.
func TestFirstEdge(t *testing.T) {
	for text, told := range map[string]bool{"3 2\n1 2\n2 3\n": true, "3 4\n1 2\n2 3\n": false,
		"# Nodes Edges\n3 2\n1 2\n2 3\n": false} {
		notes := ""
		path := write(t, "a", text)
		_, err := Load(ctx, path, LoadOptions{Options: Options{Note: func(text string) { notes += text }}})
		require.NoError(t, err)
		want := path + ": the first line is taken for an edge, though it may say how many vertices, 3, and edges, 2, " +
			"there are (--header says that it does)"
		assert.Equal(t, told, notes == want, notes)
	}
}

// A leading zero that comes late through a pipe is an error that names the flag.
func TestLateZeroThroughPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, exec.Command("mkfifo", path).Run())
	go func() { _ = os.WriteFile(path, []byte(strings.Repeat("7 8\n", 20000)+"8 007\n"), 0) }()
	id := input.Column{Any: true, Flag: "--id-type"}
	_, err := Load(ctx, path, LoadOptions{Options: Options{ID: id, SkipInvalid: true}})
	assert.EqualError(t, err, path+":20001: 007 has a leading zero, as text has it, where values before it are "+
		"numbers (--id-type text reads it)")
}

// What is wrong is told by its file and line.
func TestRefuses(t *testing.T) {
	mtx := banner + " matrix coordinate pattern general\n"
	for _, c := range []struct{ file, text, want string }{
		{"a", "1 2\nx 3\n", `a:2: "x" is not an integer`},
		{"a", "1 2\n\n3\n", `a:3: has not as many fields as an edge`},
		{"a", "1 2\n# c\n-1 3\n18446744073709551615 1\n", `a:4: 18446744073709551615 is out of range`},
		{"a", "1 2\n18446744073709551616 1\n", `a:2: 18446744073709551616 is out of range (0 to 18446744073709551615)`},
		{"a", "# n m\n3 3\n1 2\n2 3\n", `a: says that it has 3 edges, but has 2: it is damaged or cut off`},
		{"a.gr", "p sp 2 2\na 1 2 3\ne 1 2\n", `a.gr:3: arcs (a) and edges (e) are in one file`},
		{"a", "1,2\n", `a:1: is one field, if blanks stand between them: --format csv reads other tables`},
		{"a", "3\n0 1\n1 7\n", `a:1: says that there are 3 vertices, but there are others than 0 to 2`},
		{"a", "\x1f\x8b\x08\x00\x00", `a:1: looks like gzip data, though the file's name doesn't say so`},
		{"a.gz", "\x1f\x8b\x08\x00\x00", `a.gz: ends too early: the file is truncated`},
		{"a", "PAR1\x15", `a: not a Parquet file, or a damaged one`},
		{"a.mtx", "%%MatrixMarket matrix coordinate\n", `a.mtx:1: should be "%%MatrixMarket matrix coordinate", then`},
		{"a.mtx", "%%MatrixMarket matrix coordinate blue general\n", `a.mtx:1: should be`},
		{"a.mtx", "%%MatrixMarket matrix array real general\n2 2\n", `a.mtx:1: an array lists all elements`},
		{"a.mtx", mtx, `a.mtx:1: should say how many vertices and edges there are`},
		{"a.mtx", mtx + "3 3\n", `a.mtx:2: should say how many`},
		{"a.mtx", mtx + "3 4 1\n", `a.mtx:2: the matrix has not as many columns as rows`},
		{"a.mtx", mtx + "3 3 1\n1 4\n", `a.mtx:3: vertex 4 is none of those that the file has (1 to 3)`},
		{"a.mtx", mtx + "3 3 1\n0 1\n", `a.mtx:3: vertex 0 is none of those`},
		{"a.mtx", mtx + "3 3 1\n1 2 1\n", `a.mtx:3: has not as many fields as an edge`},
		{"a.mtx", mtx + "3 3 1\n1 z\n", `a.mtx:3: "z" is not an integer`},
		{"a.mtx", mtx + "3 3 2\n1 2\n", `a.mtx: says that it has 2 entries, but has 1: it is damaged or cut off`},
		{"a.mtx", mtx + "3 3 1\n1 2\n2 3\n", `a.mtx:4: the file goes on behind the last edge that it says it has`},
		{"a.mtx", banner + " matrix coordinate real general\n2 2 1\n1 2 -.5\n", `a.mtx:3: weight "-.5": a weight has`},
		{"a.graph", "", `a.graph:1: should say how many`},
		{"a.graph", "3\n", `a.graph:1: should say how many`},
		{"a.graph", "3 2 002\n", `a.graph:1: the third number says`},
		{"a.graph", "2 1\n2\n3\n", `a.graph:3: vertex 3 is none of those that the file has (1 to 2)`},
		{"a.graph", "2 1\n2\n1\n\n2\n", `a.graph:5: the file goes on`},
		{"a.graph", "3 2\n2\n1 3\n", `a.graph: says that it has 2 edges, but has 1`},
		{"a.graph", "2 1 1\n2\n1 1\n", `a.graph:2: has not as many fields`},
		{"a.graph", "2 1 10\n\n1 1\n", `a.graph:2: has not as many fields`},
		{"a.gr", "a 1 2 3\n", `a.gr:1: should say how many`},
		{"a.gr", "p sp 2 1\nb 1 2 3\n", `a.gr:2: should begin with c, p, a or e`},
		{"a.gr", "p sp 2 1\na 1 2\n", `a.gr:2: has not as many fields`},
		{"a.gr", "p sp 2 1\na 1 2 -3\n", `a.gr:2: weight "-3": a weight has to be`},
		{"a.gr", "p sp 2 2\na 1 2 3\n", `a.gr: says that it has 2 edges, but has 1`},
		{"a.gr", "p sp 2 1\na 1 2 3\na 1 2 3\n", `a.gr:3: the file goes on`},
		{"a.csv", "1,2\n1,x\n", `a.csv:2: column 2: "x" is not an integer`},
		{"a.csv", "1,a\n2,b\n", `a.csv:1: column 2:`},
	} {
		path := write(t, c.file, c.text)
		_, err := Load(ctx, path, LoadOptions{Options: Options{Weighted: true}})
		if assert.Error(t, err, "%q", c.text) {
			assert.Contains(t, strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""), c.want, "%q", c.text)
		}
	}
}

// A fraction late in a file makes floats of the weights before it, and of those after it.
func TestLateFraction(t *testing.T) {
	const many = 200_000
	for _, file := range []string{"a", "a.csv"} {
		between := map[string]string{"a": " ", "a.csv": ","}[file]
		var text strings.Builder
		want := make([]uint32, many)
		for i := range want {
			w := strconv.Itoa(i)
			if want[i] = math.Float32bits(float32(i)); i == many*2/3 {
				w, want[i] = "0.5", math.Float32bits(0.5)
			}
			text.WriteString(strings.Join([]string{strconv.Itoa(i), strconv.Itoa(i + 1), w}, between) + "\n")
		}
		g, err := Load(t.Context(), write(t, file, text.String()), LoadOptions{Options: Options{Weight: "3"}})
		require.NoError(t, err)
		require.True(t, g.Floats)
		require.Equal(t, want, g.Weights)
	}
}

// Weights of columnar tables, of any type of numbers.
func TestColumnarWeights(t *testing.T) {
	for _, c := range []struct {
		of   arrow.DataType
		text string // of an array in JSON
		want string
	}{
		{arrow.PrimitiveTypes.Uint8, "[3, 200]", "1 2 3: 1-2=3 2-3=200"},
		{arrow.PrimitiveTypes.Int64, "[3, 4294967295]", "1 2 3: 1-2=3 2-3=4294967295"},
		{arrow.PrimitiveTypes.Float32, "[0.1, 2]", "1 2 3: 1-2=0.1f 2-3=2f"},
		{arrow.PrimitiveTypes.Float64, "[0.1, 2]", "1 2 3: 1-2=0.1f 2-3=2f"},
		{arrow.PrimitiveTypes.Float64, "[7, null]", "1 2: 1-2=7"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `["0.25", "2.00"]`, "1 2 3: 1-2=0.25f 2-3=2f"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Uint32},
			{Name: "b", Type: arrow.PrimitiveTypes.Uint32}, {Name: "w", Type: c.of, Nullable: true}}, nil)
		var columns []arrow.Array
		for i, text := range []string{"[1, 2]", "[2, 3]", c.text} {
			column, _, err := array.FromJSON(memory.DefaultAllocator, schema.Field(i).Type, strings.NewReader(text))
			require.NoError(t, err)
			columns = append(columns, column)
		}
		var stream bytes.Buffer
		w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
		require.NoError(t, w.Write(array.NewRecordBatch(schema, columns, 2)))
		require.NoError(t, w.Close())
		g, err := Load(t.Context(), write(t, "a.arrows", stream.String()), LoadOptions{Options: Options{Weight: "w"}})
		require.NoError(t, err, "%v", c.of)
		require.Equal(t, c.want, listed(g), "%v", c.of)
	}
}

// Weights of a table that are wrong are errors with their edges.
func TestWrongWeightsOfTables(t *testing.T) {
	for text, want := range map[string]string{
		"a,b,w\n1,2,0.5\n2,3,-0.5\n": "a.csv: column w: the edge from 2 to 3 has the weight -0.5: a weight has to be",
		"a,b,w\nx,y,1e39\n":          "a.csv: column w: the edge from x to y has the weight 1e+39: a weight has to be",
		"a,b,w\n1,2,0.5\n2,3,much\n": `a.csv:3: column "w": "much" is not a number`,
	} {
		path := write(t, "a.csv", text)
		_, err := Load(t.Context(), path, LoadOptions{Options: Options{Weight: "w"}})
		require.ErrorContains(t, err, want[len("a.csv"):], text)
		require.ErrorContains(t, err, "a.csv")
	}
}

// Options that a format has no use for are refused, and so are columns that there are none of.
func TestRefusesOptions(t *testing.T) {
	for _, c := range []struct {
		file string
		o    Options
		want string
	}{
		{"a.mtx", Options{From: "2"}, "files of format mtx have no columns to choose"},
		{"a.graph", Options{ID: input.Column{Type: keytype.Text}},
			"files of format metis have no types of ids to choose"},
		{"a.gr", Options{SkipInvalid: true}, "files of format dimacs have no rows to pass over"},
		{"a", Options{Delimiter: ';'}, "files of format edges have no delimiter"},
		{"a", Options{From: "src"}, `column "src" is asked for, but columns of a list of edges have numbers from 1`},
		{"a.csv", Options{From: "src"}, `no column "src"`},
	} {
		text := "1 2\n"
		if c.file == "a.mtx" {
			text = banner
		}
		_, err := Load(ctx, write(t, c.file, text), LoadOptions{Options: c.o})
		assert.ErrorContains(t, err, c.want)
	}
}

// Shipped graphs give the numbers that their README has, also compressed and in parts of any size.
func TestShipped(t *testing.T) {
	for path, want := range map[string]measured{
		"karate.mtx":                  known["karate/karate.mtx"],
		"jagmesh7.mtx.gz":             known["jagmesh7/jagmesh7.mtx.gz"],
		"power.graph.gz":              known["power/power.graph.gz"],
		"celegans_metabolic.graph.gz": known["celegans_metabolic/celegans_metabolic.graph"],
	} {
		path = filepath.Join("..", "..", "..", "testdata", path)
		g, err := Load(ctx, path, LoadOptions{})
		require.NoError(t, err)
		assert.Equal(t, want, measure(g), path)
		for _, most := range []int{1, 7, 1 << 20} {
			r, err := Open(ctx, path, Options{})
			require.NoError(t, err)
			var all, part Edges
			for err = r.Read(&part, most); err == nil; err = r.Read(&part, most) {
				require.LessOrEqual(t, part.Len(), most)
				all.From, all.To = append(all.From, part.From...), append(all.To, part.To...)
			}
			require.Equal(t, io.EOF, err)
			require.Equal(t, io.EOF, r.Read(&part, most), "again")
			require.NoError(t, r.Close())
			all.From, all.To = withoutLoops(all)
			assert.Equal(t, g.From, all.From, path)
			assert.Equal(t, g.To, all.To, path)
		}
	}
}

func withoutLoops(e Edges) (from, to []uint32) {
	for i, v := range e.From {
		if v != e.To[i] {
			from, to = append(from, v), append(to, e.To[i])
		}
	}
	return from, to
}

// Ids that are numbered in any way, as a table of small ones and a map have them, are found again, and all in order.
func TestManyIDs(t *testing.T) {
	var text bytes.Buffer
	want := map[uint64]bool{}
	x := uint64(1)
	for range 20000 {
		x = x*6364136223846793005 + 1442695040888963407
		a, b := x>>(x>>58), x>>40
		fmt.Fprintf(&text, "%d %d\n", a, b)
		want[a], want[b] = true, true
	}
	g, err := Load(ctx, write(t, "a", text.String()), LoadOptions{})
	require.NoError(t, err)
	require.Equal(t, len(want), g.Vertices.Len())
	last := uint64(0)
	for number := range uint32(g.Vertices.Len()) {
		word := g.Vertices.Word(number)
		require.True(t, want[word])
		require.True(t, number == 0 || word > last)
		last = word
	}
	lines := slices.Collect(strings.Lines(text.String()))
	i := 0
	for _, line := range lines {
		var a, b uint64
		_, err := fmt.Sscan(line, &a, &b)
		require.NoError(t, err)
		if a != b {
			require.Equal(t, a, g.Vertices.Word(g.From[i]))
			require.Equal(t, b, g.Vertices.Word(g.To[i]))
			i++
		}
	}
}

// A line may be longer than any buffer.
func TestLongLine(t *testing.T) {
	const n = 200000
	var text bytes.Buffer
	z := gzip.NewWriter(&text)
	fmt.Fprintf(z, "%d %d\n", n, n-1)
	for v := 2; v <= n; v++ {
		fmt.Fprintf(z, "%d ", v)
	}
	fmt.Fprint(z, strings.Repeat("\n1", n-1))
	require.NoError(t, z.Close())
	g, err := Load(ctx, write(t, "star.graph.gz", text.String()), LoadOptions{})
	require.NoError(t, err)
	assert.Equal(t, measured{n, n - 1, 0, 0, 1, n - 1}, measure(g))
}
