package graphfile

import (
	"io"

	"github.com/vkds/vkds/internal/tool/input"
)

// metis reads the neighbors of a vertex from each line. Each edge is listed at both ends (G. Karypis: METIS, A Software
// Package for Partitioning Unstructured Graphs, manual 5.1, section 4.1.1). A blank line is a vertex without edges;
// lines that begin with % are comments.
type metis struct {
	*lines
	vertices    *Vertices
	before      int  // numbers before the neighbors: the vertex's size and weights
	weights     bool // there is a weight after each neighbor
	wanted      bool
	said        int64 // edges
	at          uint32
	rest        []byte // of the line of vertex at-1
	ends, loops int64
}

func newMETIS(l *lines, o Options, v *Vertices) (*metis, error) {
	line, err := l.full('%')
	if err == io.EOF {
		return nil, &input.LineError{File: l.file, Line: max(1, l.number), Err: ErrSizes}
	}
	if err != nil {
		return nil, err
	}
	m := &metis{lines: l, vertices: v}
	all := fields(line)
	var n, edges uint64
	ok := len(all) >= 2 && len(all) <= 4
	if ok {
		var second bool
		n, ok = unsigned(all[0])
		edges, second = unsigned(all[1])
		ok = ok && second
	}
	if !ok {
		return nil, l.fail(ErrSizes)
	}
	if m.said = int64(edges); !m.flags(all[2:]) {
		return nil, l.fail(ErrFormat)
	}
	m.wanted = m.weights && o.Weighted
	if err := v.declare(1, n); err != nil {
		return nil, l.fail(err)
	}
	return m, nil
}

// flags reads the numbers that say what lines have in addition to neighbors. It reports whether they are valid.
func (m *metis) flags(numbers [][]byte) bool {
	if len(numbers) == 0 {
		return true
	}
	flags, ok := unsigned(numbers[0])
	if !ok || flags > 111 || flags%10 > 1 || flags/10%10 > 1 {
		return false
	}
	weights := flags / 10 % 10 // of a vertex
	if len(numbers) == 2 {
		many, ok := unsigned(numbers[1])
		const most = 1 << 20 // more than fit a line
		if !ok || many > most || weights == 0 && many > 0 {
			return false
		}
		weights = many
	}
	m.before, m.weights = int(flags/100+weights), flags%10 == 1
	return true
}

func (m *metis) weighted() bool     { return m.wanted }
func (m *metis) symmetry() symmetry { return twice }
func (m *metis) skipped() int64     { return 0 }

func (m *metis) read(to *Edges, most int) error {
	for n := 0; n < most; {
		field, rest := cut(m.rest)
		if len(field) == 0 {
			if err := m.vertex(); err != nil {
				return err
			}
			continue
		}
		neighbour, err := m.vertices.among(field)
		if err != nil {
			return m.fail(err)
		}
		var w float64
		if m.weights {
			field, rest = cut(rest)
			ok := false
			if w, ok = weight(field); len(field) == 0 {
				return m.fail(ErrFields)
			} else if m.wanted && !ok {
				return m.failWeight(field)
			}
		}
		m.rest = rest
		to.add(m.at-1, neighbour, w, m.wanted)
		if m.ends++; neighbour == m.at-1 {
			m.loops++
		}
		n++
	}
	return nil
}

// vertex begins the line of the next vertex.
func (m *metis) vertex() error {
	for {
		line, err := m.next()
		if err == io.EOF {
			return m.end()
		}
		if err != nil {
			return err
		}
		m.rest = skipBlanks(line)
		if len(m.rest) > 0 && m.rest[0] == '%' {
			continue
		}
		if int(m.at) == m.vertices.Len() {
			if len(m.rest) > 0 {
				return m.fail(ErrMore)
			}
			continue
		}
		break
	}
	m.at++
	for range m.before {
		field, rest := cut(m.rest)
		if _, ok := unsigned(field); !ok {
			return m.fail(ErrFields)
		}
		m.rest = rest
	}
	return nil
}

// end checks the number of edges. Loops may be listed once or twice. Vertices without edges may have no line at the
// end.
func (m *metis) end() error {
	if m.ends != 2*m.said && m.ends+m.loops != 2*m.said {
		return &CountError{m.file, "edges", m.said, (m.ends + m.loops) / 2}
	}
	return io.EOF
}
