package input

import (
	"errors"
	"time"

	"github.com/vkds/vkds/internal/keytype"
)

// column is one that is being read. Its type becomes a wider one where a value needs that and it may.
type column struct {
	Column
	begun bool // rows of it were handed out by a Read before
}

// Parse returns the word for a text, of the column's type or a wider one.
func (c Column) Parse(text string) (uint64, error) { return (&column{Column: c}).parse(text, nil) }

// ParseRange returns the words for the ends of a range, in one text.
func (c Column) ParseRange(text string) (lo, hi uint64, err error) {
	return (&column{Column: c}).parseRange(text, nil, nil)
}

// parse returns the word for a text. What stands before it, of this Read, is widened where the type becomes another.
func (c *column) parse(text string, before []uint64) (uint64, error) {
	w, err := c.Type.ParseExact(text)
	if c.End {
		w, err = c.Type.ParseEnd(text)
	} else if len(c.Wider) == 0 {
		w, err = c.Type.Parse(text)
	}
	if err == nil || len(c.Wider) == 0 {
		return w, err
	}
	return c.widen(err, before, func(t keytype.Type) (uint64, error) {
		if c.End {
			return t.ParseEnd(text)
		}
		return t.ParseExact(text)
	})
}

// parseBytes is parse for a slice of bytes.
func (c *column) parseBytes(text []byte, before []uint64) (uint64, error) {
	if c.Type != keytype.Time && !c.End {
		if w, err := c.Type.ParseBytes(text); err == nil {
			return w, nil
		}
	}
	return c.parse(string(text), before)
}

// parseRange is parse for both ends of a range in one text.
func (c *column) parseRange(text string, los, his []uint64) (lo, hi uint64, err error) {
	lo, hi, err = c.Type.ParseRange(text)
	if err == nil || len(c.Wider) == 0 {
		return lo, hi, err
	}
	_, err = c.widen(err, los, func(t keytype.Type) (_ uint64, err error) {
		if lo, hi, err = t.ParseRange(text); err == nil && !t.Widen(c.Type, his) {
			err = keytype.ErrRange
		}
		return lo, err
	})
	return lo, hi, err
}

// integer and the others return the words of what columnar and binary files hold, as parse does.
func (c *column) integer(n int64, before []uint64) (uint64, error) {
	w, err := c.Type.FromInt(n)
	if err == nil || len(c.Wider) == 0 {
		return w, err
	}
	return c.widen(err, before, func(t keytype.Type) (uint64, error) { return t.FromInt(n) })
}

func (c *column) unsigned(n uint64, before []uint64) (uint64, error) {
	w, err := c.Type.FromUint(n)
	if err == nil || len(c.Wider) == 0 {
		return w, err
	}
	return c.widen(err, before, func(t keytype.Type) (uint64, error) { return t.FromUint(n) })
}

func (c *column) moment(at time.Time, before []uint64) (uint64, error) {
	if len(c.Wider) == 0 {
		return c.Type.FromTime(at)
	}
	w, err := c.Type.FromTimeExact(at)
	if err == nil {
		return w, nil
	}
	return c.widen(err, before, func(t keytype.Type) (uint64, error) { return t.FromTimeExact(at) })
}

func (c *column) day(days int64, before []uint64) (uint64, error) {
	w, err := c.Type.FromDay(days, c.End)
	if err == nil || len(c.Wider) == 0 {
		return w, err
	}
	return c.widen(err, before, func(t keytype.Type) (uint64, error) { return t.FromDay(days, c.End) })
}

// widen tries the wider types on a value that has no place in the column's. err is why it has none, and is returned
// where a wider one says nothing better.
func (c *column) widen(err error, before []uint64, word func(t keytype.Type) (uint64, error)) (uint64, error) {
	for i, t := range c.Wider {
		w, werr := word(t)
		switch {
		case werr == nil && t.Widen(c.Type, before) && !(c.begun && !t.Widen(c.Type, []uint64{0})):
			c.Type, c.Wider = t, c.Wider[i+1:]
			return w, nil
		case werr != nil && !errors.Is(werr, keytype.ErrSyntax):
			err = werr
		}
	}
	return 0, err
}
