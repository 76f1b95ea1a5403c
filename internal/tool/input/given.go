package input

import (
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// written parses texts with one value each, or with a range LO:HI.
type written struct {
	columns []*column
	row     []keytype.Value // of the columns
	ranges  bool
	ends    Column // the first type tried for ends: an omitted end is the least or the greatest of its values
}

func (o Options) written() written {
	last := len(o.columns) - 1
	return written{o.columns, make([]keytype.Value, len(o.columns)), o.columns[last].End, o.columns[0].Column}
}

// value parses a text into row n.
func (t *written) value(text []byte, columns [][]uint64, n int) (err error) {
	if t.ranges {
		t.row[0], t.row[1], err = t.ends.parseRange(string(text))
	} else {
		t.row[0], err = t.columns[0].parseBytes(text)
	}
	if err == nil {
		_, err = put(t.columns, columns, n, t.row)
	}
	return err
}

// given are the arguments of a command line.
type given struct {
	written
	arguments []string
	next      int
}

// Given reads the arguments of a command line, which are values, or for two columns ranges.
func Given(arguments []string, columns ...Column) *Reader {
	o := Options{columns: chosen(columns, nil)}
	return &Reader{rows: -1, columns: o.columns, source: &given{written: o.written(), arguments: arguments}}
}

func (g *given) read(columns [][]uint64, n int) (int, error) {
	for ; n < len(columns[0]) && !full(g.columns); n++ {
		if g.next == len(g.arguments) {
			return n, io.EOF
		}
		text := g.arguments[g.next]
		g.next++
		if err := g.value([]byte(text), columns, n); err != nil {
			what := "key"
			if g.ranges {
				what = "range"
			}
			return n, fmt.Errorf("%s %d of the command line: %w", what, g.next, err)
		}
	}
	return n, nil
}
