package graph

import (
	"context"
	"log/slog"
	"time"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Why vertices get new buckets (plan.comp).
const (
	growing = 0 // the vertex is too full, or insertions wait for it
	fitting = 1 // the number of buckets does not fit the degree
	ofHubs  = 2 // no new buckets: only count the buckets of hubs
)

type planPush struct {
	Graph  Description
	Needs  uint64
	Extent uint32
	Mode   uint32
	Slots  uint32
	Each   float32
	Most   uint32
}

type movePush struct {
	Graph  Description
	Places uint64
	Needs  uint64
	Failed uint64
	Extent uint32
	Base   uint32
	First  uint32
	Count  uint32
}

type installPush struct {
	Graph  Description
	Places uint64
	Needs  uint64
	Extent uint32
	Base   uint32
}

// Hubs of buckets.glsl.
type hubsPush struct {
	Offsets  uint64
	Vertices uint32
	Buckets  uint32
}

type releasePush struct {
	Graph  Description
	Hubs   hubsPush
	Needs  uint64
	Extent uint32
	Base   uint32
	First  uint32
	Count  uint32
}

// hubs has the positions of the buckets of hubs (vertices with several buckets), for kernels over all buckets.
type hubs struct {
	offsets *vk.Buffer[uint32] // nil: there are no hubs
	buckets int
}

func (h hubs) free() { h.offsets.Free() }

func (h hubs) bytes() uint64 {
	if h.offsets == nil {
		return 0
	}
	return h.offsets.Bytes()
}

func (h hubs) push() hubsPush {
	return hubsPush{h.offsets.Address(), uint32(h.offsets.Len()), uint32(h.buckets)}
}

// timed records a stage, and measures it if Options.Timed is set.
func (g *Graph) timed(label string, record func()) {
	if g.o.Timed {
		g.h.Stream.Timed(label, record)
	} else {
		record()
	}
}

// tilesADispatch returns the number of tiles for which a dispatch over whole buckets takes about 10 ms.
func (g *Graph) tilesADispatch() int {
	if g.h.Device.Info().Type == vk.CPU {
		return 1 << 16
	}
	return 1 << 24
}

// ranges calls record for ranges of n tiles, one for each dispatch.
func (g *Graph) ranges(n int, record func(first, count int)) {
	for first := 0; first < n; first += g.tilesADispatch() {
		record(first, min(g.tilesADispatch(), n-first))
	}
}

// walkGroups returns how many workgroups have that many tiles.
func (g *Graph) walkGroups(n int) int { return groupsOf(n * g.tiles.walk) }

// regrowth is a change of buckets: the number of buckets that each vertex needs, and the position of its base slabs
// among all new ones.
type regrowth struct {
	extent        int
	needs, places uint64
	scan, total   uint64
	slabs         int    // all base slabs
	base          uint32 // the first one
}

// plan computes the buckets that vertices need, and how many base slabs these are.
func (g *Graph) plan(ctx context.Context, extent int, mode uint32) (regrowth, error) {
	r := regrowth{extent: extent}
	if extent == 0 {
		return r, nil
	}
	lay := func(base uint64) int {
		p := recording.Parts{Base: base}
		r.needs, r.places = p.Take(4*extent), p.Take(4*extent)
		r.scan, r.total = p.Take(g.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: extent}})), p.Take(4)
		return int(p.Used)
	}
	err := recording.Run(g.h.Stream, func() error {
		scratch, err := g.scratch.Take(g.h.Stream, lay(0))
		if err != nil {
			return err
		}
		lay(scratch)
		k, err := planKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		g.timed("plan", func() {
			k.Dispatch(g.h.Stream, groupsOf(extent), planPush{
				Graph: g.description(), Needs: r.needs, Extent: uint32(extent), Mode: mode, Slots: uint32(g.slots),
				Each: g.each(), Most: maxBuckets,
			})
			err = g.bulk.Scan(g.h.Stream, primitives.ScanArgs{In: r.needs, Out: r.places,
				Length: primitives.Length{N: extent}, Total: r.total, Scratch: r.scan})
		})
		if err != nil {
			return err
		}
		memory := g.scratch.Of(g.h.Stream)
		g.h.Stream.Copy(g.host, 0, memory, int(r.total-memory.Address())/4, 1)
		return nil
	})
	if err != nil {
		return r, err
	}
	r.slabs = int(g.host.Slice()[0])
	return r, context.Cause(ctx)
}

// regrow gives new buckets to the vertices that need them. After an error the graph is unchanged.
func (g *Graph) regrow(ctx context.Context, counts [counterWords]uint32, mode uint32) (grown bool, err error) {
	if err := g.h.Uses.Rest(ctx); err != nil {
		return false, err
	}
	begin := time.Now()
	// Insertions may wait for vertices beyond the extent, which have no edge yet.
	extent := g.capacity()
	if mode == fitting {
		extent = int(counts[countExtent])
	}
	r, err := g.plan(ctx, extent, mode)
	if err != nil {
		return false, err
	}
	if mode == growing {
		if err := g.setCounter(ctx, countFull, 0); err != nil {
			return false, err
		}
	}
	if r.slabs == 0 {
		return false, nil
	}
	if r.base, err = g.h.Pool.Claim(ctx, r.slabs); err != nil {
		return false, err
	}
	next := hubs{}
	if err = g.move(ctx, r); err == nil {
		next, err = g.hubsBehind(r)
	}
	if err != nil {
		return false, joint.Error(err, g.drop(r))
	}
	if err := g.install(r); err != nil {
		next.free()
		return false, err
	}
	g.hubs.free()
	g.hubs = next
	g.hold()
	g.h.Meter.Rebuild()
	g.h.Device.Log().LogAttrs(ctx, slog.LevelDebug, "buckets remade", slog.Int("base_slabs", r.slabs),
		slog.Duration("duration", time.Since(begin)))
	return true, g.findHubs(ctx)
}

// hubsBehind makes room for the offsets of hubs after a regrowth.
func (g *Graph) hubsBehind(r regrowth) (hubs, error) {
	offsets, err := vk.NewBuffer[uint32](g.memory, max(r.extent, g.hubs.offsets.Len()))
	return hubs{offsets: offsets}, err
}

// move fills the new base slabs. Error also: *structures.StuckError, with the number of buckets whose list does not
// end.
func (g *Graph) move(ctx context.Context, r regrowth) error {
	for {
		failed := g.host.Slice()[:2] // the number of buckets without a slab, and of those whose list does not end
		clear(failed)
		err := recording.Run(g.h.Stream, func() error {
			k, err := g.moveKernel().Kernel(g.h.Kernels, g.h.Stream)
			if err != nil {
				return err
			}
			g.timed("move", func() {
				g.ranges(r.slabs, func(first, count int) {
					k.Dispatch(g.h.Stream, g.walkGroups(count), movePush{
						Graph: g.description(), Places: r.places, Needs: r.needs, Failed: g.host.Address(),
						Extent: uint32(r.extent), Base: r.base, First: uint32(first), Count: uint32(count),
					})
				})
			})
			return nil
		})
		switch {
		case err != nil:
			return err
		case failed[1] != 0: // growing the pool does not help
			return &structures.StuckError{Operations: int(failed[1])}
		case failed[0] == 0:
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := g.h.Pool.Relieve(ctx, 0, 1, true); err != nil {
			return err
		}
	}
}

// drop frees the base slabs of an abandoned regrowth, and the slabs after them.
func (g *Graph) drop(r regrowth) error {
	return recording.Run(g.h.Stream, func() error {
		k, err := g.releaseKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		g.ranges(r.slabs, func(first, count int) {
			k.Dispatch(g.h.Stream, g.walkGroups(count), releasePush{Graph: g.description(), Base: r.base,
				First: uint32(first), Count: uint32(count)})
		})
		return nil
	})
}

// install frees the old slabs of vertices and gives them the new ones, completely or not at all.
func (g *Graph) install(r regrowth) error {
	return recording.Run(g.h.Stream, func() error {
		release, err := g.releaseKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		install, err := installKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		g.timed("release", func() {
			g.ranges(r.extent+g.hubs.buckets, func(first, count int) {
				release.Dispatch(g.h.Stream, g.walkGroups(count), releasePush{Graph: g.description(),
					Hubs: g.hubs.push(), Needs: r.needs, Extent: uint32(r.extent), First: uint32(first),
					Count: uint32(count)})
			})
		})
		install.Dispatch(g.h.Stream, groupsOf(r.extent),
			installPush{g.description(), r.places, r.needs, uint32(r.extent), r.base})
		return nil
	})
}

// findHubs computes the positions of the buckets of hubs. There is room for them.
func (g *Graph) findHubs(ctx context.Context) error {
	extent := g.hubs.offsets.Len()
	r, err := g.plan(context.WithoutCancel(ctx), extent, ofHubs)
	if err != nil {
		return err
	}
	memory := g.scratch.Of(g.h.Stream)
	g.h.Stream.Copy(g.hubs.offsets, 0, memory, int(r.places-memory.Address())/4, extent)
	g.hubs.buckets = r.slabs
	return g.h.Stream.Wait(context.WithoutCancel(ctx))
}

// releaseAll returns all slabs to the pool.
func (g *Graph) releaseAll() error {
	extent := g.capacity()
	return recording.Run(g.h.Stream, func() error {
		k, err := g.releaseKernel().Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		g.ranges(extent+g.hubs.buckets, func(first, count int) {
			k.Dispatch(g.h.Stream, g.walkGroups(count), releasePush{Graph: g.description(), Hubs: g.hubs.push(),
				Extent: uint32(extent), First: uint32(first), Count: uint32(count)})
		})
		return nil
	})
}
