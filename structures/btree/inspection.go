package btree

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Inspection looks inside of a tree.
type Inspection struct{ tree *tree }

// Inspect returns what looks inside of the tree: statistics, nodes, versions.
func (t *Tree[K, V]) Inspect() Inspection { return Inspection{t.open().core} }

// Metrics returns what the host knows, without asking the device.
func (i Inspection) Metrics() structures.Metrics { return i.tree.Metrics() }

// Stats measures the tree. It waits for the updates that streams have submitted, and for a kernel that reads all nodes.
// While Stats runs, it takes about 11 bytes of device memory for each node, at 64 bits 15. Errors: vk.ErrUnsubmitted if
// a stream has recorded updates and not submitted them, *CorruptError, *vk.OutOfMemoryError, the context's.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.tree.Stats(ctx) }

// Check verifies every node of the tree on the device. It returns *CorruptError if a rule is broken. No other work may
// use the tree at the same time. Check takes 8 bytes of device memory for each slab of the pool.
//
// While snapshots are open, Check also verifies the versions of leaves, after the work that streams have submitted.
// That takes 16 bytes for each version. Check then returns vk.ErrUnsubmitted if a stream has recorded updates, or
// queries at snapshots, and not submitted them.
func (i Inspection) Check(ctx context.Context) error { return i.tree.Check(ctx) }

// Nodes returns all nodes of the tree, level by level from the root, each level in key order. If the tree is corrupt,
// these are the nodes that can be reached. Nodes takes host memory for all nodes, and 8 bytes of device memory for each
// slab of the pool.
func (i Inspection) Nodes(ctx context.Context) ([]Node[uint64], error) { return i.tree.nodes(ctx) }

// Versions returns what the tree keeps for its snapshots. It waits for the streams that use the tree, and frees what no
// snapshot needs any more. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (i Inspection) Versions(ctx context.Context) (Versions, error) { return i.tree.Versions(ctx) }

// History returns what is kept of a leaf, one of Nodes. It is empty if no snapshot is open. It waits for the streams
// that use the tree. Errors: vk.ErrUnsubmitted, vk.ErrClosed, the context's.
func (i Inspection) History(ctx context.Context, leaf Node[uint64]) (History, error) {
	return i.tree.History(ctx, leaf)
}

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

// survey counts the nodes and pairs of the tree, and notes the numbers in t.known. The caller frees its list of the
// nodes.
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

func (t *tree) Stats(ctx context.Context) (Stats, error) {
	if err := t.EnterAfterChanges(ctx); err != nil {
		return Stats{}, err
	}
	defer t.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return Stats{}, err
	}
	defer v.listed.free()
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

// Node is a copy of a node, in words of one width, for drawing and inspection. The tree must not change while it is
// copied.
type Node[W structures.Word] struct {
	Ref       uint32 // the reference of its slab
	Level     int    // 0: a leaf
	Low, High W      // the least and the greatest key of its range, both inclusive, as words (structures.KeyCode)
	Link      uint32 // the right neighbor
	Last      bool   // there is no right neighbor, and Link has no meaning
	Latched   bool   // true only if the tree is corrupt, because no work runs that may hold latches
	// Keys and Values are the words of a leaf's pairs in key order, or the separators of an inner node and the
	// references of its children.
	Keys, Values []W
}

// The layout of a node in words, btree_node.glsl.
const (
	nodeWords = 32
	nodeBytes = 4 * nodeWords
	metaWord  = 28
	lowWord   = 29
	highWord  = 30
	linkWord  = 31

	noSlab = ^uint32(0)
)

type nodesPush struct {
	Pool         slabs.PoolDescription
	Slabs, Words uint64
	Count        uint32
}

// nodesAtOnce is how many nodes are copied from the device at once: 8 MiB.
const nodesAtOnce = 1 << 16

func (t *tree) nodes(ctx context.Context) ([]Node[uint64], error) {
	if err := t.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.Leave()
	l, err := t.reach(ctx, func(listing, uint64) error { return nil })
	if err != nil {
		return nil, err
	}
	defer l.free()
	slabs := make([]uint32, l.inner())
	if err := l.memory.Download(ctx, int(l.Inner-l.memory.Address())/4, slabs); err != nil {
		return nil, err
	}
	b, err := vk.NewBuffer[uint32](t.Device, min(len(slabs), nodesAtOnce)*nodeWords)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	all := make([]Node[uint64], 0, len(slabs))
	words := make([]uint32, b.Len())
	for first := 0; first < len(slabs); first += nodesAtOnce {
		part := slabs[first:min(first+nodesAtOnce, len(slabs))]
		if err := t.copyNodes(b, l.Inner+uint64(4*first), len(part)); err != nil {
			return nil, err
		}
		if err := b.Download(ctx, 0, words); err != nil {
			return nil, err
		}
		for i, slab := range part {
			all = append(all, t.decode(slab, words[i*nodeWords:][:nodeWords]))
		}
	}
	slices.SortFunc(all, func(a, b Node[uint64]) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
	})
	return all, nil
}

// copyNodes copies nodes whose slabs are listed in device memory.
func (t *tree) copyNodes(to *vk.Buffer[uint32], slabs uint64, count int) error {
	return recording.Run(t.Stream, func() error {
		k, err := t.nodesKernel().Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		k.Dispatch(t.Stream, groups(8*count), nodesPush{t.Pool.Description(), slabs, to.Address(), uint32(count)})
		return nil
	})
}

// slabReference is pool_slab of slab_alloc.glsl.
func (t *tree) slabReference(i int) uint32 {
	shift := t.Pool.Form()["POOL_SUPER_SHIFT"] + 10
	return uint32(i)>>shift<<24 | uint32(i)&(1<<shift-1)
}

// slabNumber is pool_number of slab_alloc.glsl.
func (t *tree) slabNumber(ref uint32) int {
	shift := t.Pool.Form()["POOL_SUPER_SHIFT"] + 10
	return int(ref>>24)<<shift + int(ref&0xffffff)
}

// word returns the key or value at an index of words.
func (t *tree) word(words []uint32, at int) uint64 {
	if t.width == structures.Bits64 {
		return uint64(words[at]) | uint64(words[at+1])<<32
	}
	return uint64(words[at])
}

// slot returns the pair in a slot of a node, or of a version.
func (t *tree) slot(words []uint32, i int) structures.Pair[uint64, uint64] {
	return structures.Pair[uint64, uint64]{Key: t.word(words, 2*i*t.words()), Value: t.word(words, (2*i+1)*t.words())}
}

func (t *tree) decode(ref uint32, w []uint32) Node[uint64] {
	g := t.geometry()
	n := Node[uint64]{
		Ref: ref, Level: int(w[g.meta] >> 1 & 15), Low: t.word(w, g.low), High: t.word(w, g.high),
		Link: w[g.link], Last: w[g.link] == noSlab, Latched: w[g.meta]&1 != 0,
	}
	if n.Level == 0 {
		n.Keys, n.Values = t.leafPairs(w, n.High)
		return n
	}
	for i := range g.slots {
		p := t.slot(w, i)
		if last := len(n.Keys) - 1; i == 0 || p.Key != n.Keys[last] || p.Value != n.Values[last] {
			n.Keys, n.Values = append(n.Keys, p.Key), append(n.Values, p.Value)
		}
	}
	return n
}

// leafPairs returns the pairs of a leaf, or of a version of one, in key order. high is the greatest key of the leaf's
// range.
func (t *tree) leafPairs(w []uint32, high uint64) (keys, values []uint64) {
	emptyKey := ordered.LastKey(t.width)
	if high == emptyKey {
		emptyKey = 0
	}
	var pairs []structures.Pair[uint64, uint64]
	for i := range t.geometry().slots {
		if p := t.slot(w, i); p.Key != emptyKey {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(a, b structures.Pair[uint64, uint64]) int { return cmp.Compare(a.Key, b.Key) })
	for _, p := range pairs {
		keys, values = append(keys, p.Key), append(values, p.Value)
	}
	return keys, values
}

// History reads the versions of a leaf, newest first, and the time of its last change.
func (t *tree) History(ctx context.Context, leaf Node[uint64]) (h History, err error) {
	if err := t.Enter(ctx); err != nil {
		return h, err
	}
	defer t.Leave()
	v, m := &t.versions, &t.versions.memory
	times, _ := v.times()
	if len(times) == 0 || !v.there() {
		return h, nil
	}
	if err := v.rest(ctx); err != nil {
		return h, err
	}
	number := t.slabNumber(leaf.Ref)
	if number >= m.slabs() {
		return h, nil
	}
	var stamp [stampWords]uint32
	if err := m.stamps.Download(ctx, stampWords*number, stamp[:]); err != nil {
		return h, err
	}
	h.Since = v.public(stamp[0])
	for stamp[0] > times[0] && int(stamp[1]) < m.count() && len(h.Versions) < m.count() {
		var words [nodeWords]uint32
		if err := m.kept.Download(ctx, nodeWords*int(stamp[1]), words[:]); err != nil {
			return h, err
		}
		keys, values := t.leafPairs(words[:], leaf.High)
		at := Version{Number: stamp[1], Until: v.public(words[untilWord]), Keys: keys, Values: values}
		copy(stamp[:], words[versionTimeWord:])
		at.Since = v.public(stamp[0])
		h.Versions = append(h.Versions, at)
	}
	return h, nil
}

// public returns a time as Snapshot.Time has it, or 0 if it is before all snapshots.
func (v *versions) public(time uint32) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time == 0 {
		return 0
	}
	return v.before + uint64(time)
}
