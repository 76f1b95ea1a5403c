package btree

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/vk"
)

func (t *tree) Compact(ctx context.Context, fill float64) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if fill == 0 {
		fill = t.o.Fill
	}
	if !(fill > 0 && fill <= 1) {
		return &vk.OptionError{Option: "Fill", Reason: fmt.Sprintf("%g is not above 0 and at most 1", fill)}
	}
	if err := cmp.Or(t.remakes(), t.Uses.Rest(ctx)); err != nil {
		return err
	}
	begin := time.Now()
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	need := t.geometry().nodesFor(int(v.levels[0].Slots), fill)
	if err := t.roomFor(ctx, need); err != nil {
		return err
	}
	e, err := t.exportAll(v)
	if err != nil {
		return err
	}
	defer e.memory.Free()
	old := t.Pool
	if smaller := t.smallerPool(ctx, need); smaller != nil {
		t.Pool = smaller
	}
	b := bulk{Keys: e.memory.AddressOf(e.keysAt), Values: e.memory.AddressOf(e.valuesAt), N: e.pairs, Fill: fill}
	err = t.remake(ctx, b, func(b bulk) error { return t.bulkSorted(t.Stream, b) })
	if err == nil {
		t.Meter.Rebuild()
		t.Device.Log().Info("compacted", "pairs", e.pairs, "nodes", t.known.nodes, "nodes_before", v.nodes(),
			"duration", time.Since(begin))
	}
	if t.Pool == old {
		return err
	}
	if err != nil {
		old, t.Pool = t.Pool, old
	} else {
		t.failures = 0
		t.Replaced()
	}
	return joint.Error(err, old.Close())
}

// spacious is how many times larger than necessary a pool may be before it is replaced.
const spacious = 4

// smallerPool makes a pool for so many nodes, and for Options.Capacity pairs, if that saves much memory. Otherwise, or
// if it can't be made, it returns nil.
func (t *tree) smallerPool(ctx context.Context, nodes int) *slabs.Pool {
	blocks := max(blocksFor(nodes), blocksFor(t.geometry().nodesFor(t.o.Capacity, t.o.Fill)))
	if t.Shares || spacious*blocks >= t.blocks() {
		return nil
	}
	pool, err := slabs.New(ctx, t.Device, t.poolOptions(blocks))
	if err != nil {
		return nil // the pool that there is will do
	}
	return pool
}
