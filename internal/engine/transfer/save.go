package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Save writes a saved dictionary of such words, and returns the number of bytes that the user's io.Writer took. The
// caller has entered. Further error: structures.ErrChanged if the number of pairs is not the header's.
func Save(ctx context.Context, to io.Writer, h saved.Header, columns saved.Columns,
	words iter.Seq2[structures.Pairs[uint64, uint64], error]) (int64, error) {
	if to == nil {
		return 0, &vk.OptionError{Option: "io.Writer", Reason: "nil"}
	}
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	w, err := saved.NewWriter(Whole(to), h, columns)
	if err != nil {
		return w.Bytes(), err
	}
	for chunk, err := range words {
		if err := cmp.Or(err, saved.WriteWords(w, chunk.Keys, chunk.Values), context.Cause(ctx)); err != nil {
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

// Whole returns a user's io.Writer as one that returns an error if it writes less than all.
func Whole(to io.Writer) io.Writer { return whole{to} }

type whole struct{ to io.Writer }

func (w whole) Write(p []byte) (n int, err error) {
	n, err = w.to.Write(p)
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// Loader makes structures of saved dictionaries.
type Loader[S io.Closer] struct {
	// Columns is the types of the structure.
	Columns saved.Columns
	// New makes an empty structure by the header, with room for the given number of pairs, which were read already.
	New func(h saved.Header, pairs int) (S, error)
	// Reserve makes room for the given number of pairs in all. It may be nil. An error is ignored unless the context
	// has ended, because the pairs may fit all the same.
	Reserve func(s S, ctx context.Context, pairs int) error
	// Insert inserts pairs. If a key may come only once, a pair whose key was there has the status Assigned.
	Insert func(s S, ctx context.Context, pairs pipeline.Operations) error
}

const (
	// atOnce is the number of pairs that are read and inserted at a time.
	atOnce = 1 << 20
	// trusted limits the room that is made for the pairs that the header names, because the header may be wrong: room
	// for at most this many times the pairs that were read.
	trusted = 4
)

// Load makes a structure of the dictionary that r reads. After an error the structure is closed. Errors:
// *structures.SavedError, those of the io.Reader, of New and of Insert, the context's.
func (l Loader[S]) Load(ctx context.Context, r io.Reader) (S, error) {
	var none S
	if err := context.Cause(ctx); err != nil {
		return none, err
	}
	in, err := saved.NewReader(r)
	if err != nil {
		return none, err
	}
	if err := in.As(l.Columns); err != nil {
		return none, err
	}
	keys, values, err := first(in)
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

// Filled calls fill to fill a new structure. It closes the structure if fill returns an error or panics, as a user's
// io.Reader may.
func Filled(s io.Closer, fill func() error) error {
	var closing error
	err := gate.Unless(func() { closing = s.Close() }, fill)
	return joint.Error(err, closing)
}

// first reads the first pairs, into memory that grows with them, whatever the header says.
func first(in *saved.Reader) (keys, values []uint64, err error) {
	for n := 0; len(keys) < atOnce; {
		have := len(keys)
		more := max(have, saved.BlockPairs)
		keys, values = append(keys, make([]uint64, more)...), append(values, make([]uint64, more)...)
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

// fill inserts the first pairs, for which the structure has room, and then the others.
func fill[S io.Closer](ctx context.Context, l Loader[S], s S, in *saved.Reader, keys, values []uint64) error {
	all, room, width := in.Header().Pairs, len(keys), l.Columns.Width()
	statuses := make([]structures.Status, len(keys))
	done, again := int64(0), 0
	for n := len(keys); n > 0; {
		if err := context.Cause(ctx); err != nil {
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
	return in.Repeated(again)
}

// Parameter is an option of a structure that is saved with its pairs.
type Parameter struct{ Structure, Name, Option string }

// Header returns the header of a structure with a value of the option and a number of pairs.
func (p Parameter) Header(value float64, pairs uint64) saved.Header {
	return saved.Header{Structure: p.Structure, Parameters: map[string]float64{p.Name: value}, Pairs: int64(pairs)}
}

// Believed returns the part of a number of pairs named by a header to make room for, after read pairs were read. It is
// at least least, unless named is less.
func Believed(named, read, least int) int { return min(named, max(least, trusted*read)) }

// Made makes a structure. If its option is 0, the option is taken from a saved structure of the same kind. If that
// value is not valid, the saved dictionary is corrupt.
func Made[S any, N int | float64](h saved.Header, p Parameter, option *N, open func() (S, error)) (S, error) {
	if *option != 0 || h.Structure != p.Structure {
		return open()
	}
	*option = N(h.Parameters[p.Name])
	s, err := open()
	var no *vk.OptionError
	if errors.As(err, &no) && no.Option == p.Option {
		err = &structures.SavedError{Err: fmt.Errorf("%w: %v", structures.ErrCorrupt, err)}
	}
	return s, err
}
