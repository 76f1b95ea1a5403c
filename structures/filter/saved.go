package filter

import (
	"context"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// A filter is saved as numbers of its keys' type, whose bits are those of the blocks.

const atOnce = 1 << 18 // words that are saved or read at a time

// columns returns the types of a saved filter. The numbers are words as they are.
func (c *core) columns() saved.Columns {
	return saved.Columns{Keys: saved.Column{Type: c.key}, KeysOnly: true}
}

func (c *core) save(ctx context.Context, w io.Writer) (int64, error) {
	if err := c.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer c.LeaveShared()
	h := saved.Header{Structure: saved.Filter, Pairs: int64(c.blocks.Len() >> c.width)}
	return transfer.Save(ctx, w, h, c.columns(), func(yield func(structures.Pairs[uint64, uint64], error) bool) {
		words, numbers := make([]uint32, atOnce), make([]uint64, atOnce)
		for at := 0; at < c.blocks.Len(); at += atOnce {
			part := words[:min(atOnce, c.blocks.Len()-at)]
			err := c.blocks.Download(ctx, at, part)
			if !yield(structures.Pairs[uint64, uint64]{Keys: widen(numbers, part, c.width)}, err) || err != nil {
				return
			}
		}
	})
}

// widen returns words of 32 bits as numbers of a width.
func widen(to []uint64, words []uint32, w structures.Width) []uint64 {
	to = to[:len(words)>>w]
	if w == structures.Bits64 {
		copy(recording.Words(to), words)
		return to
	}
	for i, word := range words {
		to[i] = uint64(word)
	}
	return to
}

// narrow is the inverse of widen.
func narrow(to []uint32, numbers []uint64, w structures.Width) []uint32 {
	to = to[:len(numbers)<<w]
	if w == structures.Bits64 {
		copy(to, recording.Words(numbers))
		return to
	}
	for i, number := range numbers {
		to[i] = uint32(number)
	}
	return to
}

func load(ctx context.Context, d *vk.Device, r io.Reader, key saved.Type, o Options) (*core, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	in, err := saved.NewReader(r)
	if err != nil {
		return nil, saved.Of(saved.Filter, err)
	}
	c := open(d, key, o)
	if err := transfer.Filled(c, func() error { return c.fill(ctx, in) }); err != nil {
		return nil, saved.Of(saved.Filter, err)
	}
	return c, nil
}

// words returns the number of 32-bit words in the blocks of a saved filter.
func (c *core) words(h saved.Header) (int64, error) {
	if h.Structure != saved.Filter {
		return 0, &structures.SavedError{Err: fmt.Errorf("%w: it is a saved %s", structures.ErrNotSaved, h.Structure)}
	}
	if of, _ := saved.Named(h.KeyType); of.Type != c.key { // keys of another type have other bits
		return 0, &structures.SavedError{Err: &structures.TypeError{What: "keys", Saved: of.Type.String(),
			Loaded: c.key.String()}}
	}
	if words := h.Pairs << c.width; h.KeysOnly && h.Pairs > 0 && h.Pairs <= maxBlocks*blockWords &&
		words <= maxBlocks*blockWords && words%blockWords == 0 {
		return words, nil
	}
	return 0, &structures.SavedError{Err: fmt.Errorf("%w: a filter of %d numbers", structures.ErrCorrupt, h.Pairs)}
}

// fill reads a saved filter. The memory grows with what is read, because the number of words may be wrong.
func (c *core) fill(ctx context.Context, in *saved.Reader) error {
	all, err := c.words(in.Header())
	if err != nil {
		return err
	}
	in.AsBits()
	words, numbers, none := make([]uint32, atOnce), make([]uint64, atOnce>>c.width), make([]uint64, atOnce>>c.width)
	for at := 0; int64(at) < all; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n, err := saved.ReadWords(in, numbers, none)
		if err != nil {
			return err
		}
		part := narrow(words, numbers[:n], c.width)
		if end := at + len(part); end > c.blocks.Len() {
			if err := c.resize(ctx, transfer.Believed(int(all), end, blockWords)); err != nil {
				return err
			}
		}
		if err := c.blocks.Upload(ctx, at, part); err != nil {
			return err
		}
		at += len(part)
	}
	return nil
}
