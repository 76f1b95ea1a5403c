package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/vk"
)

// work is what is traced: operations on a structure that has some pairs at first.
type work struct {
	title        string
	structure    string
	capacity     int
	buckets      int // of a hash table; 0: by the capacity
	parameter    float64
	width        structures.Width
	keys, values []uint64
	steps        []step
	key, value   func(uint64) string
}

// trace does the work on a device with instrumented kernels.
func (w *work) trace(ctx context.Context, g *global, events int) (*draw.Page, error) {
	do := map[string][2]func(context.Context, *vk.Device, *work, *draw.Page) error{
		"slabhash": {traceTable[uint32], traceTable[uint64]},
		"btree":    {traceTree[uint32], traceTree[uint64]},
		"mvbtree":  {traceTree[uint32], traceTree[uint64]},
		"lsm":      {traceLSM[uint32], traceLSM[uint64]},
	}[w.structure][w.width]
	if do == nil {
		return nil, fmt.Errorf("%s has no traced kernels (--structure: slabhash, btree, lsm)", w.structure)
	}
	return g.traced(events, w.title, func(d *vk.Device, p *draw.Page) error {
		p.Key, p.Value, p.Width = w.key, w.value, w.width
		return do(ctx, d, w, p)
	})
}

// traced opens a device with instrumented kernels.
func (g *global) traced(events int, title string, do func(d *vk.Device, p *draw.Page) error) (*draw.Page, error) {
	d, err := g.openTraced(events)
	if err != nil {
		return nil, err
	}
	p := &draw.Page{Title: title, Trace: &trace.Trace{}}
	return p, errors.Join(do(d, p), d.Close())
}

// take adds the events since the last call to a page.
func take(ctx context.Context, d *vk.Device, p *draw.Page) error {
	t, err := trace.Take(ctx, d)
	if err != nil {
		return err
	}
	p.Trace.Device, p.Trace.Kernels = t.Device, t.Kernels
	p.Trace.Events, p.Trace.Dropped = append(p.Trace.Events, t.Events...), p.Trace.Dropped+t.Dropped
	return nil
}

// mark says what happens before the next event.
func mark(p *draw.Page, format string, arguments ...any) {
	m := draw.Mark{At: len(p.Trace.Events), Text: fmt.Sprintf(format, arguments...)}
	if n := len(p.Marks); n > 0 && p.Marks[n-1].At == m.At {
		p.Marks[n-1].Text += ", " + m.Text
		return
	}
	p.Marks = append(p.Marks, m)
}

// during marks what is done, does it, and adds its events to a page.
func during(ctx context.Context, d *vk.Device, p *draw.Page, what string, do func() error) error {
	mark(p, "%s", what)
	if err := do(); err != nil {
		return err
	}
	return take(ctx, d, p)
}

// applies does batches on a structure, and what is between them.
func applies[W structures.Word](ctx context.Context, d *vk.Device, p *draw.Page, steps []step,
	apply func(context.Context, structures.Batch[W, W]) (structures.Results[W, W], error),
	between func(context.Context) error) error {
	batches := 0
	for _, s := range steps {
		if s.between != "" {
			if err := between(ctx); err != nil {
				return err
			}
			continue
		}
		batches++
		batch := batchOf[W](s)
		what := fmt.Sprintf("batch %d", batches)
		if err := during(ctx, d, p, what, func() error { _, err := apply(ctx, batch); return err }); err != nil {
			return err
		}
	}
	return nil
}

func traceTree[W structures.Word](ctx context.Context, d *vk.Device, w *work, p *draw.Page) error {
	p.Slots = btree.SlotsAt(w.width)
	t, err := btree.Build(ctx, d, narrow[W](w.keys), narrow[W](w.values),
		btree.Options{Fill: w.parameter, Path: btree.Concurrent})
	if err != nil {
		return err
	}
	defer t.Close()
	if p.Nodes, err = t.Inspect().Nodes(ctx); err != nil {
		return err
	}
	open := &closers{}
	defer open.close()
	return applies(ctx, d, p, w.steps, t.Apply, func(ctx context.Context) error {
		s, err := t.Snapshot(ctx)
		if err != nil {
			return err
		}
		mark(p, "a snapshot of time %d is open", s.Time())
		open.add(s)
		return nil
	})
}

func traceTable[W structures.Word](ctx context.Context, d *vk.Device, w *work, p *draw.Page) error {
	p.List, p.Slots = "bucket", slabhash.SlotsAt(w.width, false)
	m, err := slabhash.New[W, W](ctx, d, slabhash.Options{Capacity: w.capacity, Buckets: w.buckets, Load: w.parameter})
	if err != nil {
		return err
	}
	defer m.Close()
	if len(w.keys) != 0 {
		// Which pair is in which slab is known by how it came there.
		if _, err := m.InsertUnique(ctx, narrow[W](w.keys), narrow[W](w.values)); err != nil {
			return err
		}
		if err := take(ctx, d, p); err != nil {
			return err
		}
		p.Begin = len(p.Trace.Events)
		if p.Trace.Dropped != 0 {
			return fmt.Errorf("the table's %d pairs take %d events, and there is room for %d (--events)", len(w.keys),
				uint64(p.Begin)+p.Trace.Dropped, p.Begin)
		}
	}
	return applies(ctx, d, p, w.steps, m.Apply, nil) // it has no snapshots
}

func traceLSM[W structures.Word](ctx context.Context, d *vk.Device, w *work, p *draw.Page) error {
	batch := cmp.Or(int(w.parameter), lsm.DefaultBatch)
	l, err := lsm.New[W, W](ctx, d, lsm.Options{Batch: batch})
	if err != nil {
		return err
	}
	defer l.Close()
	p.List, p.Slots = draw.Runs, batch
	if len(w.keys) != 0 {
		insert := func() error { _, err := l.Insert(ctx, narrow[W](w.keys), narrow[W](w.values)); return err }
		if err := during(ctx, d, p, "the dictionary's pairs", insert); err != nil {
			return err
		}
	}
	return applies(ctx, d, p, w.steps, l.Apply, func(ctx context.Context) error {
		return during(ctx, d, p, "a cleanup", func() error { return l.Cleanup(ctx) })
	})
}

// asGraph has a page show a graph's lists.
func asGraph(p *draw.Page, weighted bool) {
	p.List, p.Slots = "vertex", slabhash.SlotsAt(structures.Bits32, !weighted)
	decimal := keytype.Uint32.Format
	p.Key = func(arc uint64) string { return decimal(arc>>32) + "→" + decimal(arc&0xffffffff) }
	p.Value, p.Owner = decimal, func(arc uint64) string { return decimal(arc >> 32) }
}

func traceGraph(ctx context.Context, d *vk.Device, p *draw.Page, batches []graph.Edges) error {
	asGraph(p, false)
	g, err := graph.New(ctx, d, graph.Options{})
	if err != nil {
		return err
	}
	defer g.Close()
	for i, b := range batches {
		insert := func() error { _, err := g.InsertEdges(ctx, b); return err }
		if err := during(ctx, d, p, fmt.Sprintf("batch %d", i+1), insert); err != nil {
			return err
		}
	}
	return nil
}
