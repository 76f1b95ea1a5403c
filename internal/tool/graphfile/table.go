package graphfile

import (
	"fmt"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// table reads an edge from each row.
type table struct {
	*input.Reader
	file     string
	names    []string
	vertices *Vertices
	words    [][]uint64 // of the columns
}

// tableRows is the number of rows read at a time.
const tableRows = 1 << 16

func newTable(file *input.File, o Options, v *Vertices) (*table, error) {
	formats := map[Format]input.Format{CSV: input.CSV, Parquet: input.Parquet, Arrow: input.Arrow}
	t := &table{file: file.Name(), vertices: v}
	options := input.Options{Columns: o.columns(), Format: formats[o.Format], SkipInvalid: o.SkipInvalid,
		SkipNull: true, OneKind: true, Header: o.Header, Comment: o.Comment, Delimiter: o.Delimiter, Note: o.Note}
	for i, c := range options.Columns {
		if i < 2 { // an end
			options.Columns[i].Type, options.Columns[i].Wider, options.Columns[i].Any = v.id.Type, v.id.Wider, v.id.Any
		}
		t.names = append(t.names, c.Name)
		t.words = append(t.words, make([]uint64, tableRows))
	}
	var err error
	t.Reader, err = input.NewReader(file, options)
	return t, err
}

func (t *table) weighted() bool     { return len(t.names) == 3 }
func (t *table) symmetry() symmetry { return asListed }
func (t *table) skipped() int64     { return t.Skipped() + t.SkippedNulls() }

// Close does not close the file, which belongs to graphfile.Reader.
func (t *table) Close() error { return t.Reader.Close() }

func (t *table) read(to *Edges, most int) error {
	part := make([][]uint64, len(t.words))
	for i := range part {
		part[i] = t.words[i][:min(most, tableRows)]
	}
	n, err := t.Read(part...)
	var ends [2][]uint32
	for i := range ends {
		var failed error
		if ends[i], failed = t.numbers(i, part[i][:n]); failed != nil {
			return failed
		}
	}
	to.From, to.To = append(to.From, ends[0]...), append(to.To, ends[1]...)
	if t.weighted() {
		for _, w := range part[2][:n] {
			to.Weights = append(to.Weights, uint32(w))
		}
	}
	return err
}

// numbers returns the vertices of the ids in a column.
func (t *table) numbers(column int, words []uint64) ([]uint32, error) {
	all := make([]uint32, len(words))
	kind := t.Types()[column]
	if err := t.vertices.join(kind, words); err != nil {
		return nil, &input.ColumnError{File: t.file, Column: t.names[column], Reason: fmt.Sprintf("column %s: %v",
			t.names[column], err)}
	}
	for i, word := range words {
		var err error
		if kind == keytype.Text {
			all[i], err = t.vertices.text(t.Texts()[column].At(word))
		} else {
			all[i], err = t.vertices.number(word)
		}
		if err != nil {
			return nil, &input.Error{File: t.file, Err: err}
		}
	}
	return all, nil
}
