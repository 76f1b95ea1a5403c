package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/vk"
)

// Faults are what Check has found wrong in a graph's memory: numbers of slabs, keys, arcs or vertices.
type Faults struct {
	Foreign   int // references to what is no slab of the pool, or a free one
	Shared    int // slabs that several lists lead to
	Misplaced int // keys in a bucket that is not theirs, or that are no vertices
	Holes     int // free slots with keys behind them
	Double    int // keys that are twice in an adjacency
	OneSided  int // arcs of an undirected graph whose opposite is missing, or has another weight
	Degrees   int // vertices whose degree is not that of their adjacency
	Waiting   int // vertices that insertions wait for though none is pending, and deleted ones with neighbours
	Leaked    int // slabs of the graph's own pool that no list leads to
	Loops     int // self loops more, or less, than were counted
}

// CheckError says that a graph's memory is not as it has to be: a stray write hit it, or vkds has a bug.
type CheckError struct{ Faults Faults }

func (e *CheckError) Error() string {
	var what []string
	for _, f := range []struct {
		n    int
		name string
	}{
		{e.Faults.Foreign, "references to no slab"}, {e.Faults.Shared, "slabs in several lists"},
		{e.Faults.Misplaced, "keys in a wrong bucket"}, {e.Faults.Holes, "slots free before others"},
		{e.Faults.Double, "edges twice"}, {e.Faults.OneSided, "edges in one direction alone"},
		{e.Faults.Degrees, "wrong degrees"}, {e.Faults.Waiting, "vertices waited for"},
		{e.Faults.Leaked, "slabs lost"}, {e.Faults.Loops, "self loops miscounted"},
	} {
		if f.n != 0 {
			what = append(what, fmt.Sprintf("%d %s", f.n, f.name))
		}
	}
	return "graph: its memory is damaged: " + strings.Join(what, ", ")
}

type checkPush struct {
	Graph  Description
	Hubs   hubsPush
	Slabs  uint64
	Counts uint64
	Faults uint64
	Extent uint32
	First  uint32
	Last   uint32
}

// The layout of check.comp's counters, in words.
const (
	faultWords  = 10
	checkPhases = 3
	slabsMet    = 8
	loopsMet    = 9
)

// Check goes over all of the graph's memory: each slab is in one list and allocated, each key in its bucket and once in
// an adjacency, degrees are exact, the edges of an undirected graph are in both adjacencies, and no slab of the graph's
// own pool is lost. It looks up each arc, twice, and waits for the streams that work on the graph. Errors: *CheckError;
// *vk.OutOfMemoryError, the context's.
func (g *Graph) Check(ctx context.Context) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	counts, err := g.counts(ctx, g.stream)
	if err != nil {
		return err
	}
	stats, err := g.pool.Stats(ctx)
	if err != nil {
		return err
	}
	words, err := g.faults(ctx, int(counts[countExtent]))
	if err != nil {
		return err
	}
	found := Faults{
		Foreign: int(words[0]), Shared: int(words[1]), Misplaced: int(words[2]), Holes: int(words[3]),
		Double: int(words[4]), OneSided: int(words[5]), Degrees: int(words[6]), Waiting: int(words[7]),
	}
	if g.ownPool {
		found.Leaked = stats.Allocated - int(words[slabsMet])
	}
	found.Loops = int(words[loopsMet]) - int(int32(counts[countLoops]))
	if found != (Faults{}) {
		return &CheckError{found}
	}
	return nil
}

// faults runs the phases of check.comp. Edges are looked up only where all lists were found to end.
func (g *Graph) faults(ctx context.Context, extent int) (words [faultWords]uint32, err error) {
	slabs := int(g.pool.Description().Blocks) * slabs.BlockSlabs / 32
	room, err := vk.NewBuffer[uint32](g.d, faultWords+slabs+max(extent, 1))
	if err != nil {
		return words, err
	}
	defer room.Free()
	push := checkPush{Hubs: g.hubs.push(), Faults: room.Address(), Slabs: room.AddressOf(faultWords),
		Counts: room.AddressOf(faultWords + slabs), Extent: uint32(extent)}
	g.stream.Fill(room, 0, int(room.Bytes()), 0)
	for phase := range uint32(checkPhases) {
		if err := ctx.Err(); err != nil {
			return words, err
		}
		if err := g.checkPhase(phase, push, extent); err != nil {
			return words, err
		}
		if err := room.Download(ctx, 0, words[:]); err != nil {
			return words, err
		}
		if phase == 0 && words[0]+words[1] != 0 {
			return words, nil
		}
	}
	return words, nil
}

func (g *Graph) checkPhase(phase uint32, push checkPush, extent int) error {
	return recording.Run(g.stream, func() error {
		k, err := g.checkKernel(phase).Kernel(g.kernels, g.stream)
		if err != nil {
			return err
		}
		if phase == 2 {
			push.Graph, push.Last = g.description(), uint32(extent)
			k.Dispatch(g.stream, groupsOf(extent), push)
			return nil
		}
		g.ranges(extent+g.hubs.buckets, func(first, count int) {
			push.Graph, push.First, push.Last = g.description(), uint32(first), uint32(first+count)
			k.Dispatch(g.stream, g.walkGroups(count), push)
		})
		return nil
	})
}
