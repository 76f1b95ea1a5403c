package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/pipeline"
)

// Gate is the part of a structure's gate that Save needs.
type Gate interface {
	// Outside runs a function of the user's while a call is in.
	Outside(f func() error) error
}

// Save writes a saved dictionary, by who has entered, and returns how many bytes the user's io.Writer took. Error also:
// structures.ErrChanged, where there are not as many pairs as the header says.
func Save[W structures.Word](ctx context.Context, g Gate, to io.Writer, h saved.Header, columns saved.Columns,
	chunks iter.Seq2[structures.Pairs[W, W], error]) (int64, error) {
	if to == nil {
		return 0, &structures.OptionError{Option: "io.Writer", Reason: "nil"}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	w, err := saved.NewWriter(outside{g, to}, h, columns)
	if err != nil {
		return w.Bytes(), err
	}
	for chunk, err := range chunks {
		if err := cmp.Or(err, saved.WriteWords(w, chunk.Keys, chunk.Values), ctx.Err()); err != nil {
			return w.Bytes(), err
		}
	}
	err = w.Close()
	var miscounted *saved.CountError
	if errors.As(err, &miscounted) {
		err = structures.ErrChanged
	}
	return w.Bytes(), err
}

// outside is a user's io.Writer.
type outside struct {
	gate Gate
	to   io.Writer
}

func (o outside) Write(p []byte) (n int, err error) {
	err = o.gate.Outside(func() (err error) {
		n, err = o.to.Write(p)
		return err
	})
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// Loader makes structures of saved dictionaries.
type Loader[S io.Closer] struct {
	// Columns are the structure's.
	Columns saved.Columns
	// New makes an empty structure by the header, with room for so many pairs: those that were read so far.
	New func(h saved.Header, pairs int) (S, error)
	// Reserve makes room for so many pairs in all; nil: nobody does. Where it can't, they may fit all the same.
	Reserve func(s S, ctx context.Context, pairs int) error
	// Insert inserts pairs. Those whose key was there are Assigned, where a key may come once only.
	Insert func(s S, ctx context.Context, pairs pipeline.Operations) error
}

const (
	// atOnce is how many pairs are read and inserted at a time.
	atOnce = 1 << 20
	// trusted is how many times as many pairs as were read there is room made for, if the header says so: it might be
	// anybody's.
	trusted = 4
)

// Load makes a structure of what r reads. It is closed after an error: *structures.SavedError, the io.Reader's own,
// those of New and Insert, the context's.
func (l Loader[S]) Load(ctx context.Context, r io.Reader) (S, error) {
	if l.Columns.Width() == structures.Bits64 {
		return load[uint64](ctx, l, r)
	}
	return load[uint32](ctx, l, r)
}

func load[W structures.Word, S io.Closer](ctx context.Context, l Loader[S], r io.Reader) (none S, err error) {
	if err := ctx.Err(); err != nil {
		return none, err
	}
	in, err := saved.NewReader(r)
	if err != nil {
		return none, err
	}
	if err := in.As(l.Columns); err != nil {
		return none, err
	}
	keys, values, err := first[W](in)
	if err != nil {
		return none, err
	}
	s, err := l.New(in.Header(), len(keys))
	if err != nil {
		return none, err
	}
	if err := Filled(s, func() error { return fill(ctx, l, s, in, keys, values) }); err != nil {
		return none, err
	}
	return s, nil
}

// Filled has fill fill a new structure, which is closed if that returns an error, or panics, as a user's io.Reader may.
func Filled(s io.Closer, fill func() error) error {
	var closing error
	err := gate.Unless(func() { closing = s.Close() }, fill)
	return joint.Error(err, closing)
}

// first are the first pairs, in memory that grows as they are read, whatever the header says.
func first[W structures.Word](in *saved.Reader) (keys, values []W, err error) {
	for n := 0; len(keys) < atOnce; {
		have := len(keys)
		more := max(have, saved.BlockPairs)
		keys, values = append(keys, make([]W, more)...), append(values, make([]W, more)...)
		n, err = saved.ReadWords(in, keys[have:], values[have:])
		if keys, values = keys[:have+n], values[:have+n]; err == io.EOF {
			return keys, values, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return keys, values, nil
}

// fill inserts the first pairs, for which a structure has room, and the others that are read.
func fill[W structures.Word, S io.Closer](ctx context.Context, l Loader[S], s S, in *saved.Reader,
	keys, values []W) error {
	all, room, width := in.Header().Pairs, len(keys), l.Columns.Width()
	statuses := make([]structures.Status, len(keys))
	done, again := int64(0), 0
	for n := len(keys); n > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done += int64(n); done > int64(room) && l.Reserve != nil {
			room = int(min(all, trusted*done))
			if err := l.Reserve(s, ctx, room); err != nil && ctx.Err() != nil {
				return err
			}
		}
		err := l.Insert(s, ctx, pipeline.Operations{
			Kind: structures.Insert, N: n, Keys: pipeline.Keys(keys[:n], width),
			Values: pipeline.Values(values[:n], width), Status: statuses[:n],
		})
		if err != nil {
			return pipeline.Cause(err)
		}
		for _, status := range statuses[:n] {
			if status == structures.Assigned {
				again++
			}
		}
		if n, err = saved.ReadWords(in, keys, values); err != nil && err != io.EOF {
			return err
		}
	}
	if again > 0 {
		return &structures.SavedError{Err: fmt.Errorf("%w: %d of %d pairs", structures.ErrSeveralValues, again, all)}
	}
	return nil
}

// Parameter is an option of a structure that is saved with its pairs.
type Parameter struct{ Structure, Name, Option string }

// Header is what a structure says of itself and its pairs, and what it has for the option.
func (p Parameter) Header(value float64, pairs uint64) saved.Header {
	return saved.Header{Structure: p.Structure, Parameters: map[string]float64{p.Name: value}, Pairs: int64(pairs)}
}

// Believed is as much of a number of pairs that a header names as there is reason to make room for after so many pairs
// were read, but at least so many.
func Believed(named, read, least int) int { return min(named, max(least, trusted*read)) }

// Made makes a structure, whose option is, where it is 0, what a saved one of its kind had: that it can't be is what is
// wrong with the dictionary then.
func Made[S any, N int | float64](h saved.Header, p Parameter, option *N, open func() (S, error)) (S, error) {
	if *option != 0 || h.Structure != p.Structure {
		return open()
	}
	*option = N(h.Parameters[p.Name])
	s, err := open()
	var no *structures.OptionError
	if errors.As(err, &no) && no.Option == p.Option {
		err = &structures.SavedError{Err: fmt.Errorf("%w: %v", structures.ErrCorrupt, err)}
	}
	return s, err
}
