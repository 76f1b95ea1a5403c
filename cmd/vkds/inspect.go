package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

func newInspectCommand(g *global) *cobra.Command {
	s := source{looks: true}
	var picture, near string
	var updates []string
	c := &cobra.Command{
		Use:   "inspect DICT-or-TABLE --svg FILE",
		Short: "Draw a dictionary as it is in the device's memory",
		Long: `Inspect loads a saved dictionary or a table on the device, and draws it as it is
in memory:
  tree         all levels with their nodes and how full they are, and the path
               from the root to one leaf, with the slots, ranges and links of
               the nodes on it
  hash table   how many buckets have how many pairs, beside what random hash
               values would give; all buckets in their order; and some of them
               slab by slab
If the viewer shows tooltips, point at a node or a bucket to see its keys.

For a B-link-tree, each --update names a table whose pairs are inserted after a
snapshot. The picture then shows, below the leaves, the older versions that are
kept of them, each with the times between which it was valid.

` + sourceHelp,
		Example: `  vkds inspect geoip.csv --structure btree --svg geoip.svg --near 134744072
  vkds inspect airports.vkds --svg airports.svg
  vkds inspect monday.csv --structure btree --update tuesday.csv --svg days.svg`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return inspect(c.Context(), g, &s, arguments[0], svg{file: picture, updates: updates}, near)
		},
	}
	flags := c.Flags()
	flags.StringVar(&picture, "svg", "", "`file` to draw to; \"-\" is standard output")
	_ = c.MarkFlagRequired("svg") // it exists
	flags.StringVar(&near, "near", "", "of a tree: the `key` whose leaf is drawn\n(default: one in the middle)")
	flags.StringArrayVar(&updates, "update", nil, "of btree: a `TABLE` to insert after a snapshot")
	s.add(c, "")
	return c
}

// svg says what to draw, and where to.
type svg struct {
	title string
	near  *keytype.Value // a key to draw the surroundings of; nil: any

	file    string   // the file to draw to
	updates []string // tables to insert, each after a snapshot
}

func inspect(ctx context.Context, g *global, s *source, path string, x svg, near string) error {
	if err := checkOutput(x.file, append(x.updates, path)...); err != nil {
		return err
	}
	x.title = filepath.Base(path)
	s.ready = func(key input.Column) error {
		if near == "" {
			return nil
		}
		if key.Type == keytype.Text {
			return errors.New("--near is for keys that have an order, and these are text")
		}
		key.Ordered = true
		value, err := key.Parse(near)
		if err != nil {
			return fmt.Errorf("--near: %w", err)
		}
		x.near = &value
		return nil
	}
	return s.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		if d == nil {
			return errors.New("--device none: pictures are of structures on a device")
		}
		if dict.structure.draw == nil {
			return fmt.Errorf("%s can't be drawn (--structure: %s)", dict.structure.name,
				strings.Join(drawable(), ", "))
		}
		if near != "" && !dict.structure.ordered {
			return fmt.Errorf("--near is for trees, not for %s", dict.structure.name)
		}
		var b bytes.Buffer
		if err := s.ready(asking(dict.key)); err != nil { // their type may have become wider
			return err
		}
		var snapshots closers
		defer snapshots.close()
		if err := s.updateAfterSnapshots(ctx, g, d, dict, path, x.updates, &snapshots); err != nil {
			return err
		}
		if err := dict.structure.draw(ctx, dict, x, &b); err != nil {
			return err
		}
		if x.file == input.Stdin {
			return g.answerText(b.Bytes())
		}
		if err := outfile.Replace(ctx, x.file, b.Bytes()); err != nil {
			return err
		}
		g.note("drew %s, %s bytes", x.file, grouped(b.Len()))
		return nil
	})
}

// closers are what is closed at the end.
type closers struct{ all []io.Closer }

func (c *closers) add(x io.Closer) { c.all = append(c.all, x) }

func (c *closers) close() {
	for _, x := range c.all {
		_ = x.Close()
	}
}

// updateAfterSnapshots inserts tables into a tree, each after a snapshot, which it adds to open.
func (s *source) updateAfterSnapshots(ctx context.Context, g *global, d *vk.Device, dict *dictionary, path string,
	updates []string, open *closers) error {
	tree := dict.itself()
	for _, table := range updates {
		snapshot, err := snapshotOf(ctx, tree)
		if err != nil {
			return err
		}
		open.add(snapshot)
		own := *s
		own.options.Columns = slices.Clone(s.options.Columns)
		_, err = own.insertInto(ctx, g, d, dict, path, table, structures.Insert)
		if err == nil && dict.itself() != tree {
			err = fmt.Errorf("%s has keys or values that take 64 bits, and those of %s take 32 "+
				"(--key-type, --value-type)",
				called(table), called(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func snapshotOf(ctx context.Context, tree any) (io.Closer, error) {
	switch t := tree.(type) {
	case *btree.Tree[uint32, uint32]:
		return t.Snapshot(ctx)
	case *btree.Tree[uint64, uint64]:
		return t.Snapshot(ctx)
	}
	return nil, errors.New("--update is for --structure btree")
}

// drawVersions draws a tree with the versions of its leaves.
func drawVersions(ctx context.Context, t btree.Inspection, p *draw.Tree, to io.Writer) error {
	all, err := t.Versions(ctx)
	if err != nil {
		return err
	}
	if all.Snapshots != 0 {
		p.Notes = append(p.Notes, fmt.Sprintf(
			"snapshots of times %d to %d are open; %s versions of leaves are kept for them",
			all.Oldest, all.Newest, grouped(all.Kept)))
	}
	p.Versions = func(leaf draw.Node) []btree.Version {
		h, failed := t.History(ctx, leaf)
		err = cmp.Or(err, failed)
		return h.Versions
	}
	failed := p.WriteSVG(to) // calls p.Versions
	return cmp.Or(failed, err)
}

// drawable returns the names of the structures that can be drawn.
func drawable() (names []string) {
	for _, x := range known {
		if x.draw != nil {
			names = append(names, x.name)
		}
	}
	return names
}

func aboutTree(s btree.Stats) string {
	return fmt.Sprintf("a B-link-tree of %s pairs, %d levels", grouped(s.Pairs), s.Height+1)
}

func aboutTable(s slabhash.Stats) string {
	return fmt.Sprintf("a slab hash of %s pairs in %s buckets", grouped(s.Pairs), grouped(s.Buckets))
}

func drawTree(ctx context.Context, dict *dictionary, x svg, to *bytes.Buffer) error {
	inside := dict.itself().(interface{ Inspect() btree.Inspection }).Inspect()
	s, err := inside.Stats(ctx)
	if err != nil {
		return err
	}
	nodes, err := inside.Nodes(ctx)
	if err != nil {
		return err
	}
	p := draw.Tree{
		Title: x.title + ": " + aboutTree(s),
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
		last := &p.Levels[len(p.Levels)-1]
		*last = append(*last, n)
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
	return drawVersions(ctx, inside, &p, to)
}

// drawnKey returns how a picture shows keys. Keys that are text are shown by their hashes, which the device has.
func drawnKey(dict *dictionary) func(w uint64) string {
	if dict.index != nil {
		return keytype.Hex64.Format
	}
	return dict.key.Format
}

func drawSlabHash(ctx context.Context, dict *dictionary, x svg, to *bytes.Buffer) error {
	m, slots := dict.itself(), slabhash.SlotsAt(dict.width(), false)
	s, err := statsOf[slabhash.Inspection](ctx, m)
	if err != nil {
		return err
	}
	t := draw.Table{
		Title: x.title + ": " + aboutTable(s),
		Notes: []string{fmt.Sprintf("%s slabs of %d slots, %s of them behind the first of a bucket; load %.3f, "+
			"memory utilisation %.3f; the longest bucket has %d slabs",
			grouped(s.Slabs), slots, grouped(s.ChainSlabs), s.Load, s.Utilization, s.LongestBucket)},
		Slots: slots,
	}
	if base := s.Slabs - s.ChainSlabs; base != uint64(s.Buckets) {
		t.Notes = append(t.Notes, "buckets share slabs: 16 of them are drawn as one bucket")
		t.Base = int(base) * 16 / s.Buckets
	}
	for l, err := range m.(interface {
		Inspect() slabhash.Inspection
	}).Inspect().Loads(ctx) {
		if err != nil {
			return err
		}
		t.Buckets = append(t.Buckets, l)
	}
	return t.WriteSVG(to)
}
