package graphfile

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/vkds/vkds/internal/tool/input"
)

// banner is the beginning of a Matrix Market file.
const banner = "%%MatrixMarket"

// matrixMarket reads the entries of a sparse square matrix. Each is an edge from its row to its column, also if it is
// 0. It is the "coordinate" format of R. F. Boisvert, R. Pozo, K. A. Remington: The Matrix Market Exchange Formats,
// NISTIR 5935, 1996.
type matrixMarket struct {
	*lines
	vertices *Vertices
	values   int // numbers of an entry, after its row and column
	wanted   bool
	twofold  bool // an entry stands for both directions
	said     int64
	entries  int64
}

func newMatrixMarket(l *lines, o Options, v *Vertices) (*matrixMarket, error) {
	m := &matrixMarket{lines: l, vertices: v}
	line, err := l.next()
	if err == io.EOF {
		return nil, &input.LineError{File: l.file, Line: 1, Err: ErrBanner}
	}
	if err != nil {
		return nil, err
	}
	if err := m.kind(strings.Fields(strings.ToLower(string(line)))); err != nil {
		return nil, l.fail(err)
	}
	m.wanted = o.Weighted && m.values == 1
	line, err = l.full('%')
	if err == io.EOF {
		return nil, l.fail(ErrSizes)
	}
	if err != nil {
		return nil, err
	}
	var sizes [3]uint64
	if !numbers(line, sizes[:]) {
		return nil, l.fail(ErrSizes)
	}
	if sizes[0] != sizes[1] {
		return nil, l.fail(ErrSquare)
	}
	m.said = int64(sizes[2])
	if err := v.declare(1, sizes[0]); err != nil {
		return nil, l.fail(err)
	}
	weight := -1
	if m.wanted {
		weight = 2
	}
	l.readAhead(&plain{from: 0, to: 1, weight: weight, fields: 2 + m.values, exact: true, first: 1, count: sizes[0],
		comments: "%"}, o)
	return m, nil
}

// kind reads the banner.
func (m *matrixMarket) kind(words []string) error {
	if len(words) != 5 || words[0] != strings.ToLower(banner) || words[1] != "matrix" {
		return ErrBanner
	}
	if words[2] == "array" {
		return ErrDense
	}
	m.values = slices.Index([]string{"pattern", "real", "complex"}, strings.ReplaceAll(words[3], "integer", "real"))
	m.twofold = words[4] != "general"
	if words[2] != "coordinate" || m.values < 0 ||
		!slices.Contains([]string{"general", "symmetric", "skew-symmetric", "hermitian"}, words[4]) {
		return ErrBanner
	}
	return nil
}

// numbers parses as many numbers as to has room for. It reports whether the line has exactly these.
func numbers(line []byte, to []uint64) bool {
	for i := range to {
		field, rest := cut(line)
		n, ok := unsigned(field)
		if !ok {
			return false
		}
		to[i], line = n, rest
	}
	return len(line) == 0
}

func (m *matrixMarket) weighted() bool { return m.wanted }
func (m *matrixMarket) skipped() int64 { return 0 }

func (m *matrixMarket) symmetry() symmetry {
	if m.twofold {
		return both
	}
	return arcs
}

func (m *matrixMarket) read(to *Edges, most int) error {
	for n := 0; n < most; {
		if added := m.takeAhead(to, most-n); added > 0 {
			n += added
			continue
		}
		line, err := m.full('%')
		switch {
		case err == io.EOF && m.entries < m.said:
			return &CountError{m.file, "entries", m.said, m.entries}
		case err != nil:
			return err
		case m.entries == m.said:
			return m.fail(ErrMore)
		}
		if err := m.entry(line, to); err != nil {
			return err
		}
		n++
	}
	return nil
}

// takeAhead adds up to most entries that were parsed ahead, and returns their number.
func (m *matrixMarket) takeAhead(to *Edges, most int) int {
	sources, targets, weights := m.take(min(most, int(m.said-m.entries)))
	for i, id := range sources {
		to.From, to.To = append(to.From, uint32(id-1)), append(to.To, uint32(targets[i]-1))
	}
	to.addIntegers(weights)
	m.entries += int64(len(sources))
	return len(sources)
}

// entry adds the edge of a line.
func (m *matrixMarket) entry(line []byte, to *Edges) (err error) {
	var ends [2]uint32
	for i := range ends {
		field, rest := cut(line)
		if len(field) == 0 {
			return m.fail(ErrFields)
		}
		if ends[i], err = m.vertices.among(field); err != nil {
			return m.fail(err)
		}
		line = rest
	}
	if have := len(fields(line)); have != m.values {
		return m.fail(ErrFields)
	}
	var w float64
	if m.wanted {
		ok := false
		if w, ok = weight(bytes.TrimRight(line, " \t\r")); !ok {
			return m.failWeight(line)
		}
	}
	to.add(ends[0], ends[1], w, m.wanted)
	m.entries++
	return nil
}
