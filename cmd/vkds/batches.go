package main

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// batchLength is how many keys or rows go to the device at a time.
const batchLength = 1 << 20

// batch is a part of an input: keys, and values if the input has them, as words of these types.
type batch struct {
	keys, values []uint64
	types        []keytype.Type
	texts        [2]*keytype.Arena // the texts of keys and of values; the words are numbers of texts
}

// newBatch returns a batch with room for a number of rows.
func newBatch(rows int) batch {
	return batch{keys: make([]uint64, rows), values: make([]uint64, rows), texts: [2]*keytype.Arena{{}, {}}}
}

// ready has room for the next rows.
func (b *batch) ready() {
	if b.keys == nil {
		*b = newBatch(batchLength)
	}
	b.keys, b.values = b.keys[:batchLength], b.values[:batchLength]
}

// readFunc fills a batch as the readers of packages input and dictfile do.
type readFunc = func(*batch) error

// cut shortens a batch to the n rows that were filled, and sets their types.
func (b *batch) cut(n int, types []keytype.Type) {
	b.keys, b.values, b.types = b.keys[:n], b.values[:n], types
}

// batches reads an input part by part and calls use with each part, in order. It reads ahead, so that parsing and the
// device's work overlap; at most that many parts, 4 or more, are in memory. open opens the input; its context ends when
// no more of the input is needed. ready makes room in a batch, which is zero or was used before. A batch is valid until
// the next use returns. After batches has returned, nothing reads the input, so it may be closed.
func batches[B any](ctx context.Context, most int, ready func(*B), open func(context.Context) (func(*B) error, error),
	use func(B) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read, err := open(ctx)
	if err != nil {
		return err
	}
	type part struct {
		of  B
		err error
	}
	empty, full := make(chan B, most), make(chan part, most-3)
	for range cap(empty) {
		empty <- *new(B)
	}
	stopped := make(chan struct{})
	defer func() {
		cancel()
		<-stopped
	}()
	go func() {
		defer close(stopped)
		for {
			var b B
			select {
			case b = <-empty:
			case <-ctx.Done():
				return
			}
			ready(&b)
			err := read(&b)
			select {
			case full <- part{b, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var before *B
	for {
		var p part
		select {
		case p = <-full:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		switch {
		case p.err == io.EOF:
			return nil
		case p.err != nil:
			return p.err
		}
		if err := use(p.of); err != nil {
			return err
		}
		if before != nil {
			empty <- *before // never blocks: the channel has room for all batches
		}
		before = &p.of
	}
}
