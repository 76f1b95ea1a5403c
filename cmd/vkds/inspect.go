package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/drawing"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
	"github.com/vkds/vkds/internal/outfile"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

func newInspectCommand(g *global) *cobra.Command {
	var s source
	var picture, near string
	c := &cobra.Command{
		Use:   "inspect DICT-or-TABLE --svg FILE",
		Short: "Draw what a dictionary looks like in the device's memory",
		Long: `Inspect loads a saved dictionary or a table and draws what it became on the
device. Of a tree it draws all levels with their nodes and how full they are, and
the way from the root to one leaf with all that hangs from the nodes on it: slots,
ranges and links. Of a hash table it draws how many buckets have how many pairs,
beside what random hash values would give, all buckets in their order, and some
of them slab by slab. In a viewer that shows notes, pointing at a node or a bucket
tells its keys.

` + sourceHelp,
		Example: `  vkds inspect geoip.csv --structure btree --svg geoip.svg --near 134744072
  vkds inspect airports.vkds --svg airports.svg`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return inspect(c.Context(), g, &s, arguments[0], picture, near)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&picture, "svg", "", "`file` to draw to; \"-\" is standard output")
	_ = c.MarkFlagRequired("svg") // it exists
	flags.StringVar(&near, "near", "", "of a tree: the `key` whose leaf is drawn (default: one in the middle)")
	s.add(c, "")
	return c
}

// svg is what is drawn, and what is to be known to draw it.
type svg struct {
	title string
	near  *keytype.Value // a key to draw the surroundings of; nil: any
}

func inspect(ctx context.Context, g *global, s *source, path, picture, near string) error {
	if picture != infile.Stdin {
		if err := outfile.CheckReplace(picture); err != nil { // now rather than after the work
			return err
		}
	}
	if err := distinct(picture, path); err != nil {
		return err
	}
	x := svg{title: filepath.Base(path)}
	s.ready = func(key keytype.Type) error {
		if near == "" {
			return nil
		}
		if key == keytype.Text {
			return errors.New("--near is for keys that have an order, and these are text")
		}
		value, err := asking(key).Parse(near)
		if err != nil {
			return fmt.Errorf("--near: %w", err)
		}
		x.near = &value
		return nil
	}
	return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error {
		if dict.structure.draw == nil {
			return fmt.Errorf("%s can't be drawn (--structure: %s)", dict.structure.name,
				strings.Join(drawable(), ", "))
		}
		if near != "" && !dict.structure.ordered {
			return fmt.Errorf("--near is for trees, not for %s", dict.structure.name)
		}
		var b bytes.Buffer
		if err := s.ready(dict.key); err != nil { // of the type that the keys turned out to have
			return err
		}
		if err := dict.structure.draw(ctx, dict, x, &b); err != nil {
			return err
		}
		if picture == infile.Stdin {
			return g.answerText(b.Bytes())
		}
		if err := outfile.Replace(picture, b.Bytes()); err != nil {
			return err
		}
		g.note("drew %s, %s bytes", picture, grouped(b.Len()))
		return nil
	})
}

// drawable are the names of the structures that there are pictures of.
func drawable() (names []string) {
	for _, x := range known {
		if x.draw != nil {
			names = append(names, x.name)
		}
	}
	return names
}

// drawTree draws a tree.
func drawTree(ctx context.Context, dict *dictionary, x svg, to *bytes.Buffer) error {
	t := dict.itself()
	s, err := statsOf[btree.Stats](ctx, t)
	if err != nil {
		return err
	}
	nodes, err := t.(interface {
		Nodes(context.Context) ([]btree.Node[uint64], error)
	}).Nodes(ctx)
	if err != nil {
		return err
	}
	p := drawing.Tree{
		Title: fmt.Sprintf("%s: a B-link-tree of %s pairs, %d levels", x.title, grouped(s.Pairs), s.Height+1),
		Notes: []string{fmt.Sprintf("%s nodes of %d slots, %s bytes, %.2f a pair; leaves are %.3f full",
			grouped(s.Nodes), btree.SlotsAt(dict.width()),
			grouped(s.NodeBytes), s.BytesPerPair, s.Fill)},
		Slots: btree.SlotsAt(dict.width()),
		Key:   drawnKey(dict),
	}
	for i, n := range nodes {
		if i == 0 || n.Level != nodes[i-1].Level {
			p.Levels = append(p.Levels, nil)
		}
		drawn := drawing.Node{Ref: n.Ref, Low: n.Low, High: n.High, Link: n.Link, Latched: n.Latched,
			Keys: n.Keys}
		for _, child := range n.Values {
			if n.Level > 0 {
				drawn.Children = append(drawn.Children, uint32(child))
			}
		}
		last := &p.Levels[len(p.Levels)-1]
		*last = append(*last, drawn)
	}
	leaves := p.Levels[len(p.Levels)-1]
	p.Near = leaves[len(leaves)/2].Low
	if x.near != nil {
		near, err := dict.place(numbers{shown{Type: x.near.Type}, []uint64{x.near.Word}})
		if err != nil {
			return err
		}
		p.Near = near.words[0]
	}
	return p.WriteSVG(to)
}

// drawnKey is how a picture shows keys: those that are text by their hashes, which are what the device has.
func drawnKey(dict *dictionary) func(w uint64) string {
	if dict.index != nil {
		return keytype.Hex64.Format
	}
	return dict.key.Format
}

func drawSlabHash(ctx context.Context, dict *dictionary, x svg, to *bytes.Buffer) error {
	m, slots := dict.itself(), slabhash.SlotsAt(dict.width(), false)
	s, err := statsOf[slabhash.Stats](ctx, m)
	if err != nil {
		return err
	}
	t := drawing.Table{
		Title: fmt.Sprintf("%s: a slab hash of %s pairs in %s buckets", x.title, grouped(s.Pairs), grouped(s.Buckets)),
		Notes: []string{fmt.Sprintf("%s slabs of %d slots, %s of them behind the first of a bucket; load %.3f, "+
			"memory utilisation %.3f; the longest bucket has %d slabs",
			grouped(s.Slabs), slots, grouped(s.ChainSlabs), s.Load, s.Utilization, s.LongestBucket)},
		Slots: slots,
	}
	for l, err := range m.(interface {
		Loads(context.Context) iter.Seq2[slabhash.BucketLoad, error]
	}).Loads(ctx) {
		if err != nil {
			return err
		}
		t.Buckets = append(t.Buckets, drawing.Bucket{Slabs: uint32(l.Slabs), Pairs: uint32(l.Pairs),
			Tombstones: uint32(l.Tombstones)})
	}
	return t.WriteSVG(to)
}
