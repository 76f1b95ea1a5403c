package keyfile

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// ErrLongLine reports a line that is longer than any key.
var ErrLongLine = errors.New("the line is too long to be a key")

// textBytes is the size of the buffer, and one more than the longest line.
const textBytes = 256 << 10

// text reads one key a line. Lines are parsed in place: the buffer is filled,
// and the part up to its last line end is worked through.
type text struct {
	name    string
	r       io.Reader
	typ     keytype.Type
	skip    bool
	comment string // what a comment line begins with; "": there are none
	buffer  []byte
	at, end int  // unread bytes
	whole   int  // end of the last whole line among them
	last    bool // r is at its end
	long    bool // amid a long line that is being passed over
	line    int64
	skipped int64
	err     error
}

func newText(name string, r io.Reader, o Options) (*text, error) {
	plain, err := infile.Text(name, r)
	if err != nil {
		return nil, err
	}
	return &text{name: name, r: plain, typ: o.Type, skip: o.SkipInvalid, comment: o.comment(), buffer: make([]byte, textBytes)}, nil
}

// comment is what a comment line begins with, or "".
func (o Options) comment() string {
	if o.Comment == 0 {
		return ""
	}
	return string(o.Comment)
}

// isComment tells whether a line is one that begins so.
func isComment(line []byte, comment string) bool {
	return comment != "" && bytes.HasPrefix(line, []byte(comment))
}

func (t *text) Skipped() int64 { return t.skipped }

func (t *text) Read(keys []uint32) (int, error) {
	n := 0
	for n < len(keys) {
		if t.at == t.whole {
			if t.err == nil {
				t.err = t.fill()
			}
			switch {
			case t.err == io.EOF && n > 0:
				return n, nil
			case t.err != nil:
				return n, t.err
			}
		}
		var err error
		n, err = t.parse(keys, n)
		if err != nil {
			t.err, t.whole = err, t.at // no key after this one
		}
	}
	return n, nil
}

// parse reads whole lines of the buffer into keys[n:] and returns the new n.
func (t *text) parse(keys []uint32, n int) (int, error) {
	b := t.buffer[t.at:t.whole]
	i := 0
	decimal := t.typ == keytype.Uint32
	for n < len(keys) && i < len(b) {
		t.line++
		if decimal {
			// The common line, some decimal digits and a line feed, without
			// looking for the line's end first. Ten digits fit 64 bits.
			v, j := uint64(0), i
			for j-i < 10 && b[j]-'0' < 10 {
				v = v*10 + uint64(b[j]-'0')
				j++
			}
			if b[j] == '\n' && j > i && v <= math.MaxUint32 {
				keys[n] = uint32(v)
				n++
				i = j + 1
				continue
			}
		}
		length := bytes.IndexByte(b[i:], '\n')
		if isComment(b[i:i+length], t.comment) {
			i += length + 1
			continue
		}
		w, err := t.typ.ParseBytes(b[i : i+length])
		i += length + 1
		switch {
		case err == nil:
			keys[n] = w
			n++
		case t.skip:
			t.skipped++
		default:
			t.at += i
			return n, &infile.LineError{File: t.name, Line: t.line, Err: err}
		}
	}
	t.at += i
	return n, nil
}

// fill reads on until the buffer holds a whole line.
func (t *text) fill() error {
	t.end = copy(t.buffer, t.buffer[t.at:t.end])
	t.at, t.whole = 0, 0
	for {
		if t.last {
			return t.finish()
		}
		if t.end == len(t.buffer) {
			if err := t.passLong(); err != nil {
				return err
			}
		}
		n, err := t.r.Read(t.buffer[t.end:])
		fresh := t.end
		t.end += n
		if err == io.EOF {
			t.last = true
		} else if err != nil {
			return err
		}
		newline := bytes.LastIndexByte(t.buffer[fresh:t.end], '\n')
		if newline < 0 {
			continue
		}
		t.whole = fresh + newline + 1
		if t.long {
			// The rest of a long line, which counted already.
			t.at = bytes.IndexByte(t.buffer[:t.whole], '\n') + 1
			t.long = false
			if t.at == t.whole {
				t.end = copy(t.buffer, t.buffer[t.at:t.end])
				t.at, t.whole = 0, 0
				continue
			}
		}
		return nil
	}
}

// finish makes the last line a whole one where no line feed ends it.
func (t *text) finish() error {
	if t.end == 0 || t.long {
		return io.EOF
	}
	if t.end == len(t.buffer) {
		if err := t.passLong(); err != nil {
			return err
		}
		return io.EOF
	}
	t.buffer[t.end] = '\n'
	t.end++
	t.whole = t.end
	return nil
}

// passLong drops a line that fills the buffer and has no end yet.
func (t *text) passLong() error {
	if !t.long {
		if t.line++; !t.skip {
			return &infile.LineError{File: t.name, Line: t.line, Err: ErrLongLine}
		}
		t.skipped++
		t.long = true
	}
	t.end = 0
	return nil
}
