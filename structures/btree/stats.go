package btree

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/vk"
)

// Stats are a tree's measures.
type Stats struct {
	Pairs        uint64
	Nodes        uint64
	Height       int     // the root's level: a search reads Height+1 nodes
	Levels       []Level // from the leaves, level 0, to the root
	Fill         float64 // pairs / slots of the leaves
	Erased       uint64  // slots of the leaves that hold a deleted pair's remains, until their leaf is cleaned
	NodeBytes    uint64  // of the nodes
	Bytes        uint64  // device memory that the pool takes, nodes and room for more
	BytesPerPair float64 // NodeBytes / Pairs; 0 of an empty tree

	// Since the tree was made, modulo 2^32: nodes split by concurrent updates, and ways through the tree that began
	// again at the root or met a latch.
	Splits, Restarts uint64
	Orphans          uint64 // nodes that no parent has, because what stopped a batch came before that
	Batches          Batches
}

// Level is one level of a tree.
type Level struct {
	Level int
	Nodes uint64
	Slots uint64  // in use: pairs or children
	Fill  float64 // of all slots
}

// Batches are how many batches of updates took which path. A call is one batch, from Go slices and on a stream alike;
// what Finish does belongs to the batch that it finishes. One on a stream counts once it is submitted.
type Batches struct{ Concurrent, Batched uint64 }

// tally counts batches, also where streams are submitted, which is outside of the tree's calls.
type tally struct{ concurrent, batched atomic.Uint64 }

// submitted counts a batch that a stream is recording, unless it is dropped.
func submitted(s *vk.Stream, count *atomic.Uint64) {
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		if submitted {
			count.Add(1)
		}
	})
}

// The layout of survey.comp's rows, in words.
const (
	surveyRows     = 64
	surveyRowWords = 64
	surveyErased   = 32
	surveyBeyond   = 40
)

// The tree's counters, in words of its state: btree_node.glsl.
const (
	splitsWord   = 0
	restartsWord = 1
	orphansWord  = 2
	counterWords = 3
)

type surveyPush struct {
	Tree   Device
	Listed listing
	Rows   uint64
}

// survey is what a tree has.
type survey struct {
	levels [depths]Level
	beyond [depths]uint64
	erased uint64
	listed listed
}

// nodes is how many nodes there are.
func (v survey) nodes() (n uint64) {
	for _, l := range v.levels {
		n += l.Nodes
	}
	return n
}

// survey counts what the tree holds, which is known from then on. What it has listed stands in the scratch of the
// tree's stream.
func (t *tree) survey(ctx context.Context) (survey, error) {
	const words = surveyRows * surveyRowWords
	resting := t.uses.Rest(ctx) == nil // else more is to come than there is
	l, err := t.listWith(ctx, words, func(l listing, rows uint64) error {
		k, err := kernel[surveyPush](t, t.stream, t.sized("survey"), 1)
		if err != nil {
			return err
		}
		if err := t.clear(t.stream, rows, words); err != nil {
			return err
		}
		k.Dispatch(t.stream, t.walkers(int(l.InnerMost+l.LeavesMost)), surveyPush{t.device(), l, rows})
		return nil
	})
	if err != nil {
		return survey{}, err
	}
	v := survey{listed: l}
	for rows := l.report; len(rows) != 0; rows = rows[surveyRowWords:] {
		row := rows[:surveyRowWords]
		for i := range v.levels {
			v.levels[i].Nodes += uint64(row[2*i])
			v.levels[i].Slots += uint64(row[2*i+1])
			v.beyond[i] += uint64(row[surveyBeyond+i])
		}
		v.erased += uint64(row[surveyErased])
	}
	if resting {
		t.known = counted{width: t.width, nodes: v.nodes(), beyond: v.beyond, height: t.known.height}
	}
	return v, nil
}

// Len returns the number of pairs. It goes over all nodes, and keeps memory for their list, some 6 bytes a node.
func (t *tree) Len(ctx context.Context) (uint64, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return 0, err
	}
	defer t.gate.Leave()
	v, err := t.survey(ctx)
	return v.levels[0].Slots, err
}

func (t *tree) Stats(ctx context.Context) (Stats, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return Stats{}, err
	}
	defer t.gate.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return Stats{}, err
	}
	var counters [counterWords]uint32
	if err := t.state.Download(ctx, 0, counters[:]); err != nil {
		return Stats{}, err
	}
	s := Stats{
		Pairs: v.levels[0].Slots, Nodes: v.nodes(), Erased: v.erased, NodeBytes: v.nodes() * nodeBytes,
		Bytes:  t.pool.Bytes(),
		Splits: uint64(counters[splitsWord]), Restarts: uint64(counters[restartsWord]),
		Orphans: uint64(counters[orphansWord]),
		Batches: Batches{t.batches.concurrent.Load(), t.batches.batched.Load()},
	}
	for i, l := range v.levels {
		if l.Nodes == 0 {
			break
		}
		l.Level, l.Fill = i, float64(l.Slots)/(float64(l.Nodes)*float64(t.geometry().slots))
		s.Levels = append(s.Levels, l)
		s.Height = i
	}
	s.Fill = s.Levels[0].Fill
	if s.Pairs != 0 {
		s.BytesPerPair = float64(s.NodeBytes) / float64(s.Pairs)
	}
	return s, nil
}
