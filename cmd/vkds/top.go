package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

func newTopCommand(g *global) *cobra.Command {
	var s source
	rows := rowFlags{left: 10}
	var least bool
	c := &cobra.Command{
		Use:   "top DICT-or-TABLE",
		Short: "Print the pairs with the greatest values",
		Long: `Top prints the pairs with the greatest values, the greatest first; with --least,
those with the least values, the least first. It prints 10 pairs, or as many as
--limit says. Of pairs with equal values, those with lesser keys come first.

` + orderedHelp + sourceHelp,
		Example: `  vkds top taxi.csv --key-type time --value-type f32
  vkds top stock.vkds --least --limit 100 --json`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx := c.Context()
			return g.answerPairs(ctx, &s, arguments[0], rows, func(d *vk.Device, dict *dictionary, a *answer) error {
				keys, values, err := topPairs(ctx, d, dict, rows.left, least)
				if err != nil {
					return err
				}
				return a.pairs(dict, keys, values)
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&least, "least", false, "print the least values instead")
	rows.add(flags, pairColumns...)
	s.add(c, "top")
	return c
}

// topPairs returns the pairs with the greatest or the least values. It finds them on the device, if the dictionary is
// there.
func topPairs(ctx context.Context, d *vk.Device, dict *dictionary, most uint64, least bool) (keys, values []uint64,
	err error) {
	n, k := int(dict.pairs), int(min(most, dict.pairs))
	switch {
	case k == 0:
		return nil, nil, nil
	case dict.index != nil:
		keys, values = dict.topRows(k, least)
		return keys, values, nil
	case d == nil:
		return dict.topOnHost(ctx, k, least)
	}
	p := primitives.New(d, primitives.Options{})
	defer p.Close()
	s, err := d.NewStream()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	width := dict.width()
	widths := primitives.Widths{Key: width, Value: width}
	all, err := structures.NewDeviceExport(d, width, n)
	if err != nil {
		return nil, nil, err
	}
	defer all.Free()
	top, err := structures.NewDeviceExport(d, width, k)
	if err != nil {
		return nil, nil, err
	}
	defer top.Free()
	args := primitives.TopKArgs{
		Keys: all.Values.Address(), Values: all.Keys.Address(), OutKeys: top.Values.Address(),
		OutValues: top.Keys.Address(), K: k, Least: least, Length: primitives.Length{N: n, At: all.Total.Address()},
		Widths: widths,
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	if err != nil {
		return nil, nil, err
	}
	defer scratch.Free()
	if err := dict.on(s).Export(all); err != nil {
		return nil, nil, err
	}
	args.Scratch = scratch.Address()
	err = p.TopK(s, args)
	if err == nil {
		err = s.Wait(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	keys, err = downloaded(ctx, top.Keys, k, width)
	if err != nil {
		return nil, nil, err
	}
	values, err = downloaded(ctx, top.Values, k, width)
	return keys, values, err
}

// topOnHost is topPairs for a dictionary in the host's memory.
func (d *dictionary) topOnHost(ctx context.Context, k int, least bool) (keys, values []uint64, err error) {
	var all weighted
	for chunk, err := range d.Chunks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		all.keys, all.weights = append(all.keys, chunk.Keys...), append(all.weights, chunk.Values...)
	}
	keys, values = all.top(k, least)
	return keys, values, nil
}

// topRows is topPairs for keys that are text, whose values the host has. Of equal values, those come first whose keys
// first came.
func (d *dictionary) topRows(k int, least bool) (keys, values []uint64) {
	var all weighted
	for row := range d.index.Rows() {
		all.keys, all.weights = append(all.keys, row), append(all.weights, d.textual.rows[row])
	}
	return all.top(k, least)
}

// weighted are keys and numbers by which they are ordered.
type weighted struct{ keys, weights []uint64 }

// top returns the k pairs with the greatest or the least weights.
func (w weighted) top(k int, least bool) (keys, weights []uint64) {
	if least {
		w.flip()
	}
	best := w.best(k, 0)
	if least {
		best.flip()
	}
	return best.keys, best.weights
}

func (w weighted) flip() {
	for i, weight := range w.weights {
		w.weights[i] = ^weight
	}
}

// best returns the keys with the greatest weights, of those whose weight is least or more. Of equal weights the least
// keys come first. If few of many are wanted, it sorts a few at a time.
func (w weighted) best(top int, least uint64) (best weighted) {
	if top = min(top, len(w.keys)); top == len(w.keys) && least == 0 {
		return w.sorted(top)
	}
	few := max(2*top, 1024)
	for i, weight := range w.weights {
		if weight < least {
			continue
		}
		best.keys, best.weights = append(best.keys, w.keys[i]), append(best.weights, weight)
		if len(best.keys) == few {
			if best = best.sorted(top); top > 0 {
				least = best.weights[top-1] // so that few of the others are sorted
			}
		}
	}
	return best.sorted(top)
}

// sorted sorts the keys, and returns the first ones.
func (w weighted) sorted(top int) weighted {
	var s sorter
	s.sort(w.keys, w.weights)
	w.flip()
	s.sort(w.weights, w.keys)
	w.flip()
	top = min(top, len(w.keys))
	return weighted{w.keys[:top], w.weights[:top]}
}

// downloaded returns n numbers of a width from a buffer of 32-bit words.
func downloaded(ctx context.Context, b *vk.Buffer[uint32], n int, width structures.Width) ([]uint64, error) {
	words, numbers := make([]uint32, n<<width), make([]uint64, n)
	if err := b.Download(ctx, 0, words); err != nil {
		return nil, err
	}
	for i := range numbers {
		if numbers[i] = uint64(words[i<<width]); width == structures.Bits64 {
			numbers[i] |= uint64(words[2*i+1]) << 32
		}
	}
	return numbers, nil
}
