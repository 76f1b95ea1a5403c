package host

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// save writes all pairs. The caller has entered the gate.
func (c *core) save(ctx context.Context, to io.Writer, structure string) (int64, error) {
	if to == nil {
		return 0, &vk.OptionError{Option: "io.Writer", Reason: "nil"}
	}
	w, err := saved.NewWriter(to, saved.Header{Structure: structure, Pairs: int64(c.size())}, c.columns)
	if err != nil {
		return 0, err
	}
	at := &cursor{c: c, high: math.MaxUint64, begun: true, changes: c.changes}
	if c.ordered == nil {
		at.keys = c.hashed.keys()
	}
	for {
		at.part()
		if len(at.words) == 0 {
			err := w.Close()
			return w.Bytes(), err
		}
		if err := saved.WriteWords(w, at.words, at.results); err != nil {
			return w.Bytes(), err
		}
		if ctx.Err() != nil {
			return w.Bytes(), context.Cause(ctx)
		}
	}
}

// load inserts all pairs of a saved dictionary.
func (c *core) load(ctx context.Context, r io.Reader) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	in, err := saved.NewReader(r)
	if err != nil {
		return err
	}
	if err := in.As(c.columns); err != nil {
		return err
	}
	keys, values := make([]uint64, saved.BlockPairs), make([]uint64, saved.BlockPairs)
	again := 0
	for err == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := 0
		n, err = saved.ReadWords(in, keys, values)
		for i, key := range keys[:n] {
			if status, _ := c.do(structures.Insert, key, values[i]); status == structures.Assigned {
				again++
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return in.Repeated(again)
}
