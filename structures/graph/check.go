package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/vk"
)

// Faults counts what Check has found wrong in a graph.
type Faults struct {
	Foreign   int // references to free slabs, or to no slab of the pool
	Shared    int // slabs in several lists
	Misplaced int // keys in a wrong bucket, or that are not vertices
	Holes     int // free slots before keys
	Double    int // keys that are in an adjacency twice
	OneSided  int // arcs of an undirected graph without an opposite arc of the same weight
	Degrees   int // vertices whose degree differs from the length of their adjacency
	Waiting   int // vertices marked as waited for without pending insertions, and deleted ones with neighbors
	Leaked    int // slabs of the graph's own pool that are in no list
	Loops     int // difference between the self loops and their count
}

// CheckError reports that a graph's memory is damaged: by a stray write, or by a bug in vkds.
type CheckError struct{ Faults Faults }

func (e *CheckError) Error() string {
	var what []string
	for _, f := range []struct {
		n    int
		name string
	}{
		{e.Faults.Foreign, "references to free slabs or to no slab"}, {e.Faults.Shared, "slabs in several lists"},
		{e.Faults.Misplaced, "keys in a wrong bucket"}, {e.Faults.Holes, "free slots before keys"},
		{e.Faults.Double, "edges that are there twice"}, {e.Faults.OneSided, "edges in one direction only"},
		{e.Faults.Degrees, "wrong degrees"}, {e.Faults.Waiting, "vertices wrongly marked as waited for"},
		{e.Faults.Leaked, "lost slabs"}, {e.Faults.Loops, "miscounted self loops"},
	} {
		if f.n != 0 {
			what = append(what, fmt.Sprintf("%d %s", f.n, f.name))
		}
	}
	return "graph: the memory of the graph is damaged: " + strings.Join(what, ", ")
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

// checkAll is Inspection.Check.
func (g *Graph) checkAll(ctx context.Context) error {
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil {
		return err
	}
	stats, err := g.h.Pool.Stats(ctx)
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
	if !g.h.Shares {
		found.Leaked = stats.Allocated - int(words[slabsMet])
	}
	found.Loops = int(words[loopsMet]) - int(int32(counts[countLoops]))
	if found != (Faults{}) {
		return &CheckError{found}
	}
	return nil
}

// faults runs the phases of check.comp. If a list does not end, it looks up no edges.
func (g *Graph) faults(ctx context.Context, extent int) (words [faultWords]uint32, err error) {
	slabs := int(g.h.Pool.Description().Blocks) * slabs.BlockSlabs / 32
	room, err := vk.NewBuffer[uint32](g.h.Device, faultWords+slabs+max(extent, 1))
	if err != nil {
		return words, err
	}
	defer room.Free()
	push := checkPush{Hubs: g.hubs.push(), Faults: room.Address(), Slabs: room.AddressOf(faultWords),
		Counts: room.AddressOf(faultWords + slabs), Extent: uint32(extent)}
	g.h.Stream.Fill(room, 0, room.Len(), 0)
	for phase := range uint32(checkPhases) {
		if err := context.Cause(ctx); err != nil {
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
	return recording.Run(g.h.Stream, func() error {
		k, err := g.checkKernel(phase).Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		if phase == 2 {
			push.Graph, push.Last = g.description(), uint32(extent)
			k.Dispatch(g.h.Stream, groupsOf(extent), push)
			return nil
		}
		g.ranges(extent+g.hubs.buckets, func(first, count int) {
			push.Graph, push.First, push.Last = g.description(), uint32(first), uint32(first+count)
			k.Dispatch(g.h.Stream, g.walkGroups(count), push)
		})
		return nil
	})
}
