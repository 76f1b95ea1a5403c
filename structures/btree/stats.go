package btree

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/vk"
)

// Stats are measurements of a tree.
type Stats struct {
	Pairs        uint64
	Nodes        uint64
	Height       int     // the level of the root: a search reads Height+1 nodes
	Levels       []Level // from the leaves, level 0, up to the root
	Fill         float64 // pairs / slots of all leaves
	Erased       uint64  // slots of leaves with the remains of a deleted pair; they are reused when the leaf is cleaned
	NodeBytes    uint64  // memory of all nodes
	Bytes        uint64  // device memory of the pool: nodes and free slabs
	BytesPerPair float64 // NodeBytes / Pairs; 0 if the tree is empty

	// Since the tree was made, modulo 2^32: nodes split by concurrent updates, and how often an operation restarted at
	// the root or met a latch.
	Splits, Restarts uint64
	Orphans          uint64 // nodes without a parent, because a batch ended before it inserted their separators
	Batches          Batches
}

// Level is one level of a tree.
type Level struct {
	Level int
	Nodes uint64
	Slots uint64  // slots in use: pairs or children
	Fill  float64 // Slots / all slots
}

// Batches has the number of batches of updates that each path has done. A call is one batch, from Go slices or on a
// stream. Finish does not count as another batch. A batch on a stream counts when it is submitted.
type Batches struct{ Concurrent, Batched uint64 }

// tally counts batches. It is atomic because streams are submitted outside of the tree's calls.
type tally struct{ concurrent, batched atomic.Uint64 }

// submitted counts the batch that a stream is recording when it is submitted. A batch that is dropped does not count.
func submitted(s *vk.Stream, count *atomic.Uint64) {
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		if submitted {
			count.Add(1)
		}
	})
}

// The layout of the rows of survey.comp, in words.
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
	Tree   Description
	Listed listing
	Rows   uint64
}

// survey is the result of tree.survey.
type survey struct {
	levels [depths]Level
	beyond [depths]uint64
	erased uint64
	listed listed
}

// nodes returns the number of nodes.
func (v survey) nodes() (n uint64) {
	for _, l := range v.levels {
		n += l.Nodes
	}
	return n
}

// survey counts the nodes and pairs of the tree, and notes the numbers in t.known. Its list of the nodes is in the
// scratch memory of the tree's stream.
func (t *tree) survey(ctx context.Context) (survey, error) {
	const words = surveyRows * surveyRowWords
	resting := t.Uses.Rest(ctx) == nil // otherwise recorded work may still add nodes
	l, err := t.listWith(ctx, words, func(l listing, rows uint64) error {
		k, err := t.surveyKernel().Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		if err := t.clear(t.Stream, rows, words); err != nil {
			return err
		}
		k.Dispatch(t.Stream, t.walkers(int(l.InnerMost+l.LeavesMost)), surveyPush{t.description(), l, rows})
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

// Len returns the number of pairs. It reads all nodes, and keeps memory for their list, about 6 bytes for each node.
func (t *tree) Len(ctx context.Context) (uint64, error) {
	if err := t.EnterAfter(ctx); err != nil {
		return 0, err
	}
	defer t.Leave()
	v, err := t.survey(ctx)
	return v.levels[0].Slots, err
}

func (t *tree) Stats(ctx context.Context) (Stats, error) {
	if err := t.EnterAfter(ctx); err != nil {
		return Stats{}, err
	}
	defer t.Leave()
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
		Bytes:  t.Pool.Bytes(),
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
