package graphfile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Format is a file format of graphs. The zero value is Auto.
type Format uint8

const (
	// Auto detects Matrix Market, Parquet and Arrow by their first bytes, and then all formats by the extension,
	// without that of a compression: .graph and .metis; .gr, .col and .clq (DIMACS); .csv and .tsv; .parquet, .pq,
	// .arrow, .arrows, .feather and .ipc. Other files are EdgeList, also those named .mtx without a banner.
	Auto         Format = iota
	EdgeList            // lines of two ids, and columns that are ignored
	MatrixMarket        // a sparse matrix: NIST's "coordinate" format
	METIS               // lines of the neighbors of a vertex
	DIMACS              // lines "a FROM TO WEIGHT" (shortest paths) or "e FROM TO" (coloring)
	CSV                 // edge tables, in input's formats of these names
	Parquet
	Arrow
)

var formatNames = enum.Names[Format]{Auto: "auto", EdgeList: "edges", MatrixMarket: "mtx", METIS: "metis",
	DIMACS: "dimacs", CSV: "csv", Parquet: "parquet", Arrow: "arrow"}

func (f Format) String() string { return formatNames.String(f) }

// Formats are all formats, by name.
var Formats = enum.Of("format", Auto, EdgeList, MatrixMarket, METIS, DIMACS, CSV, Parquet, Arrow)

// table reports whether the format is one of tables, whose columns package input reads.
func (f Format) table() bool { return f >= CSV }

// endings are the extensions of file names.
var endings = map[string]Format{".graph": METIS, ".metis": METIS, ".gr": DIMACS, ".col": DIMACS, ".clq": DIMACS,
	".csv": CSV, ".tsv": CSV, ".parquet": Parquet, ".pq": Parquet, ".arrow": Arrow, ".arrows": Arrow, ".feather": Arrow,
	".ipc": Arrow}

// beginnings are the first bytes of files.
var beginnings = []struct {
	bytes  string
	format Format
}{{banner, MatrixMarket}, {"PAR1\x15", Parquet}, {"ARROW1\x00", Arrow}, {"\xff\xff\xff\xff", Arrow}}

// detect returns the format for Auto.
func (o Options) detect(file *input.File) (Format, error) {
	if o.Format != Auto {
		return o.Format, nil
	}
	head, err := file.Peek(len(banner))
	if err != nil {
		return Auto, err
	}
	for _, b := range beginnings {
		if n := min(len(head), len(b.bytes)); n == len(b.bytes) && strings.EqualFold(string(head[:n]), b.bytes) {
			return b.format, nil
		}
	}
	ending := strings.ToLower(filepath.Ext(input.TrimCompression(file.Name())))
	if f, known := endings[ending]; known {
		return f, nil
	}
	if ending == ".mtx" && !bytes.HasPrefix(head, []byte("%%")) {
		o.Note(fmt.Sprintf("%s: has no line %s, so it is read as a list of edges", file.Name(), banner))
	}
	return EdgeList, nil
}

// typed reports whether the options say what ids are.
func (o Options) typed() bool { return !o.ID.Any && (o.ID.Type != keytype.Uint32 || o.ID.Wider != nil) }

// check returns an error for options that have no meaning in the format.
func (o Options) check() error {
	rows := o.Format == EdgeList || o.Format.table()
	for _, x := range []struct {
		what string
		bad  bool
	}{
		{"columns to choose", !rows && o.From+o.To+o.Weight != ""},
		{"types of ids to choose", !rows && o.typed()},
		{"line of names", o.Format != EdgeList && o.Format != CSV && o.Header != input.Detect},
		{"rows to pass over", !rows && o.SkipInvalid},
		{"delimiter", o.Format != CSV && o.Delimiter != 0},
		{"comments of another kind", o.Format != EdgeList && o.Format != CSV && o.Comment != 0},
	} {
		if x.bad {
			return &input.OptionError{Reason: fmt.Sprintf("files of format %s have no %s", o.Format, x.what)}
		}
	}
	return nil
}
