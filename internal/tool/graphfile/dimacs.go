package graphfile

import (
	"io"
)

// dimacs reads lines whose kind is given by a letter: c, a comment; p, the name of the problem and the numbers of
// vertices and edges; a, an arc and its length, in graphs for shortest paths (9th DIMACS Implementation Challenge,
// 2006); e, an edge, in graphs for coloring (2nd, 1993).
type dimacs struct {
	*lines
	vertices *Vertices
	wanted   bool
	said     int64
	edges    int64
	letter   byte // of the lines with edges
}

func newDIMACS(l *lines, o Options, v *Vertices) (*dimacs, error) {
	d := &dimacs{lines: l, vertices: v, wanted: o.Weighted}
	line, err := l.full('c')
	switch {
	case err == io.EOF:
		l.number = max(1, l.number)
		return nil, l.fail(ErrSizes)
	case err != nil:
		return nil, err
	}
	letter, rest := cut(line)
	_, rest = cut(rest)
	var sizes [2]uint64
	if string(letter) != "p" || !numbers(rest, sizes[:]) {
		return nil, l.fail(ErrSizes)
	}
	d.said = int64(sizes[1])
	if err := v.declare(1, sizes[0]); err != nil {
		return nil, l.fail(err)
	}
	return d, nil
}

func (d *dimacs) weighted() bool { return d.wanted }
func (d *dimacs) skipped() int64 { return 0 }

func (d *dimacs) symmetry() symmetry {
	if d.letter == 'e' {
		return both
	}
	return arcs
}

func (d *dimacs) read(to *Edges, most int) error {
	for range most {
		line, err := d.full('c')
		switch {
		case err == io.EOF && d.edges != d.said:
			return &CountError{d.file, "edges", d.said, d.edges}
		case err != nil:
			return err
		case d.edges == d.said:
			return d.fail(ErrMore)
		}
		if err := d.edge(line, to); err != nil {
			return err
		}
	}
	return nil
}

// edge adds the edge of a line.
func (d *dimacs) edge(line []byte, to *Edges) (err error) {
	letter, rest := cut(line)
	if string(letter) != "a" && string(letter) != "e" {
		return d.fail(ErrDesignator)
	}
	if d.letter == 0 {
		d.letter = letter[0]
	}
	if d.letter != letter[0] {
		return d.fail(ErrMixed)
	}
	var ends [2]uint32
	var field []byte
	for i := range ends {
		if field, rest = cut(rest); len(field) == 0 {
			return d.fail(ErrFields)
		}
		if ends[i], err = d.vertices.among(field); err != nil {
			return d.fail(err)
		}
	}
	w := 1.0 // for an edge (e), which has no weight
	if field, rest = cut(rest); (len(field) > 0) != (letter[0] == 'a') || len(rest) > 0 {
		return d.fail(ErrFields)
	}
	if letter[0] == 'a' {
		ok := false
		if w, ok = weight(field); d.wanted && !ok {
			return d.failWeight(field)
		}
	}
	to.add(ends[0], ends[1], w, d.wanted)
	d.edges++
	return nil
}
