package graphfile

import (
	"fmt"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// table reads an edge from each row.
type table struct {
	*input.Reader
	file     string
	names    []string
	vertices *Vertices
	words    [][]uint64 // of the columns
	skip     bool       // rows whose weights are invalid
	passed   int64
}

// tableRows is the number of rows read at a time.
const tableRows = 1 << 16

func newTable(file *input.File, o Options, v *Vertices) (*table, error) {
	formats := map[Format]input.Format{CSV: input.CSV, Parquet: input.Parquet, Arrow: input.Arrow}
	t := &table{file: file.Name(), vertices: v, skip: o.SkipInvalid}
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
func (t *table) skipped() int64     { return t.Skipped() + t.SkippedNulls() + t.passed }

// Close does not close the file, which belongs to graphfile.Reader.
func (t *table) Close() error { return t.Reader.Close() }

func (t *table) read(to *Edges, most int) error {
	part := make([][]uint64, len(t.words))
	for i := range part {
		part[i] = t.words[i][:min(most, tableRows)]
	}
	n, err := t.Read(part...)
	if t.weighted() {
		var wrong error
		if n, wrong = t.checkWeights(part, n); wrong != nil {
			err = wrong
		}
	}
	var ends [2][]uint32
	for i := range ends {
		var failed error
		if ends[i], failed = t.numbers(i, part[i][:n]); failed != nil {
			return failed
		}
	}
	to.From, to.To = append(to.From, ends[0]...), append(to.To, ends[1]...)
	if t.weighted() {
		for _, word := range part[2][:n] {
			to.addWeight(weights.Of(word))
		}
	}
	return err
}

// weights converts the words of the column of weights.
var weights = structures.KeyCode[float64]()

// checkWeights returns the number of rows before the first one whose weight is invalid, and its error. If such rows are
// to be skipped, it removes them instead, and returns the number of the others.
func (t *table) checkWeights(rows [][]uint64, n int) (valid int, err error) {
	for i := range n {
		if w := weights.Of(rows[2][i]); validWeight(w) {
			for _, column := range rows {
				column[valid] = column[i]
			}
			valid++
		} else if t.skip {
			t.passed++
		} else {
			return valid, &input.ColumnError{File: t.file, Column: t.names[2],
				Reason: fmt.Sprintf("column %s: the edge from %s to %s has the weight %g: %v", t.names[2],
					t.id(0, rows[0][i]), t.id(1, rows[1][i]), w, ErrWeight)}
		}
	}
	return valid, nil
}

// id returns an id in a column as text.
func (t *table) id(column int, word uint64) string {
	if kind := t.Types()[column]; kind != keytype.Text {
		return kind.Format(word)
	}
	return string(t.Texts()[column].At(word))
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
