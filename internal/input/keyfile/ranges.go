package keyfile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/input/delimited"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// ErrOddKeys reports a binary file of ranges whose last one has no upper end.
var ErrOddKeys = errors.New("ends in the middle of a range")

// RangeReader reads the ranges of one file: in Text one LO:HI a line (see keytype.Type.ParseRange), in U32LE and U32BE
// two keys each, in CSV two columns. Both ends are inclusive, and come as they are written. It is used from one
// goroutine at a time.
type RangeReader struct {
	file     *infile.File // nil for NewRangeReader
	ranges   rangeSource
	progress func(read, size int64)
}

// rangeSource is what each format implements; see RangeReader.Read.
type rangeSource interface {
	Read(lo, hi []uint32) (int, error)
	Skipped() int64
}

// OpenRanges opens a file of ranges as Open opens one of keys. Of CSV, Options.Column is the column of the lower ends
// and HighColumn that of the upper ones.
func OpenRanges(ctx context.Context, path string, o Options) (*RangeReader, error) {
	file, o, err := open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	r, err := NewRangeReader(file.Name(), file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	r.file = file
	return r, nil
}

// NewRangeReader reads ranges from r, already decompressed. name is the file's in messages; Progress isn't called.
// Errors are those of Open.
func NewRangeReader(name string, r io.Reader, o Options) (*RangeReader, error) {
	k := &RangeReader{progress: o.Progress}
	switch o.Format {
	case U32LE, U32BE:
		raw := o
		raw.Type = keytype.Uint32 // a range is skipped as a whole
		keys, err := NewReader(name, r, raw)
		if err != nil {
			return nil, err
		}
		k.ranges = &packedRanges{name: name, keys: keys, typ: o.Type, skip: o.SkipInvalid}
	case CSV:
		if o.Column == "" {
			o.Column = "1"
		}
		if o.HighColumn == "" {
			o.HighColumn = "2"
		}
		records, err := delimited.NewReader(name, r, delimited.Options{
			Columns:     []delimited.Column{{Name: o.Column, Type: o.Type}, {Name: o.HighColumn, Type: o.Type}},
			Delimiter:   o.Delimiter,
			Header:      o.Header,
			SkipInvalid: o.SkipInvalid,
			Comment:     o.Comment,
		})
		if err != nil {
			return nil, err
		}
		k.ranges = columnRanges{records}
	default:
		lines, err := infile.Text(name, r)
		if err != nil {
			return nil, err
		}
		k.ranges = newTextRanges(name, lines, o)
	}
	return k, nil
}

// Read reads the next ranges into two slices of one length and returns how many. It ends and fails as Reader.Read
// does.
func (r *RangeReader) Read(lo, hi []uint32) (int, error) {
	if len(lo) == 0 {
		return 0, nil
	}
	n, err := r.ranges.Read(lo, hi)
	if r.progress != nil && r.file != nil {
		r.progress(r.file.Position())
	}
	return n, err
}

// Skipped returns how many lines, records or ends of ranges SkipInvalid passed over.
func (r *RangeReader) Skipped() int64 { return r.ranges.Skipped() }

// Close closes the file.
func (r *RangeReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// columnRanges are two columns of delimited text.
type columnRanges struct{ *delimited.Reader }

func (c columnRanges) Read(lo, hi []uint32) (int, error) { return c.Reader.Read(lo, hi) }

// packedRanges are keys in turn lower and upper ends.
type packedRanges struct {
	name    string
	keys    *Reader
	typ     keytype.Type
	both    []uint32
	read    int64 // ranges, also those passed over
	skip    bool
	skipped int64
	err     error
}

func (p *packedRanges) Skipped() int64 { return p.keys.Skipped() + p.skipped }

func (p *packedRanges) Read(lo, hi []uint32) (int, error) {
	n := 0
	for n < len(lo) && p.err == nil {
		n += p.part(lo[n:], hi[n:])
	}
	if n == len(lo) || p.err == io.EOF && n > 0 {
		return n, nil
	}
	return n, p.err
}

// part reads ranges until it has filled two slices, the input ends, or, passing
// over some, it has read as many.
func (p *packedRanges) part(lo, hi []uint32) (n int) {
	if len(p.both) < 2*len(lo) {
		p.both = make([]uint32, 2*len(lo))
	}
	got, err := p.keys.Read(p.both[:2*len(lo)])
	// Reader.Read fills what it is given unless the input ends, so that an odd number is the end.
	if p.err = err; got%2 != 0 && err == nil {
		if p.err = io.EOF; p.skip {
			p.skipped++
		} else {
			p.err = &infile.Error{File: p.name, Err: ErrOddKeys}
		}
	}
	for i := range got / 2 {
		p.read++
		l, lerr := p.typ.FromBits(p.both[2*i])
		h, herr := p.typ.FromBits(p.both[2*i+1])
		switch err := cmp.Or(lerr, herr); {
		case err == nil:
			lo[n], hi[n] = l, h
			n++
		case p.skip:
			p.skipped++
		default:
			p.err = &infile.Error{File: p.name, Err: fmt.Errorf("range %d: %w", p.read, err)}
			return n
		}
	}
	return n
}

// textRanges are lines.
type textRanges struct {
	name    string
	lines   *bufio.Scanner
	typ     keytype.Type
	skip    bool
	comment string
	line    int64
	skipped int64
	err     error
}

func newTextRanges(name string, r io.Reader, o Options) *textRanges {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, textBytes)
	return &textRanges{name: name, lines: lines, typ: o.Type, skip: o.SkipInvalid, comment: o.comment()}
}

func (t *textRanges) Skipped() int64 { return t.skipped }

func (t *textRanges) Read(lo, hi []uint32) (int, error) {
	n := 0
	for n < len(lo) && t.err == nil {
		if !t.lines.Scan() {
			if t.err = t.lines.Err(); t.err == nil {
				t.err = io.EOF
			} else if errors.Is(t.err, bufio.ErrTooLong) {
				t.err = &infile.LineError{File: t.name, Line: t.line + 1, Err: ErrLongLine}
			}
			break
		}
		t.line++
		if isComment(t.lines.Bytes(), t.comment) {
			continue
		}
		l, h, err := t.typ.ParseRange(t.lines.Text())
		switch {
		case err == nil:
			lo[n], hi[n] = l, h
			n++
		case t.skip:
			t.skipped++
		default:
			t.err = &infile.LineError{File: t.name, Line: t.line, Err: err}
		}
	}
	if n == len(lo) || t.err == io.EOF && n > 0 {
		return n, nil
	}
	return n, t.err
}
