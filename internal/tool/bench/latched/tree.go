// Package latched is the B-trees of two papers as they are, an experiment to be measured beside structures/btree, which
// does without latches where it can: Awad et al., Engineering a High-Performance GPU B-Tree (2019), section 3, and
// Duong, Implementation of B-trees on GPU (2021), chapter 4. Every change of a node is made by a whole tile under the
// node's latch; slots are sorted; full nodes are split on the way down, which takes their parent's latch, too.
//
// Pairs of 32 bits can be inserted, and looked up while nobody inserts. The key ~0 is reserved. Nodes are taken one
// behind the other from memory that is laid out once.
package latched

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Wait is what an insertion does that finds a latch taken.
type Wait uint32

const (
	// Restart begins again at the last known parent, of a tree without side links at the root (Awad et al., section
	// 3.5).
	Restart Wait = iota
	// Backoff looks at the node again and tries again after some rounds, twice as many each time.
	Backoff
	// Spin does so in the next round.
	Spin
)

var waitNames = enum.Names[Wait]{"restart", "backoff", "spin"}

func (w Wait) String() string { return waitNames.String(w) }

// Waits are all of them, by their names.
var Waits = enum.Of("way to wait", Restart, Backoff, Spin)

// Kind is which paper's tree it is.
type Kind uint32

const (
	// BPlus is Duong's tree: no side links; who meets a latched node begins again at the root.
	BPlus Kind = iota
	// BLink is Awad's: ways down pass latched nodes and use side links.
	BLink
)

var kindNames = enum.Names[Kind]{"b+tree", "b-link-tree"}

func (k Kind) String() string { return kindNames.String(k) }

// Kinds are both, by their names.
var Kinds = enum.Of("kind of tree", BPlus, BLink)

// Options say what a tree is like.
type Options struct {
	Kind      Kind
	Wait      Wait
	Tile      int // lanes that work on a node: 4, 8, 16 or 32, and at most the subgroup's
	NodeBytes int // 128 or 256
	Pairs     int // room for so many pairs, in whatever order they come
}

func (o Options) check(d *vk.Device) error {
	for _, x := range []struct {
		option, reason string
		is             bool
	}{
		{"Kind", "unknown", int(o.Kind) < len(kindNames)}, {"Wait", "unknown", int(o.Wait) < len(waitNames)},
		{"Pairs", "none", o.Pairs >= 1},
		{"NodeBytes", fmt.Sprintf("%d: 128 or 256", o.NodeBytes), o.NodeBytes == 128 || o.NodeBytes == 256},
		{"Tile", fmt.Sprintf("%d: a power of two from 4 to 32, and at most the subgroup's %d", o.Tile,
			d.SubgroupSize()),
			o.Tile >= 4 && o.Tile <= min(32, d.SubgroupSize()) && o.Tile&(o.Tile-1) == 0},
	} {
		if !x.is {
			return &structures.OptionError{Option: x.option, Reason: x.reason}
		}
	}
	return nil
}

// slots of a node, beside its header.
func (o Options) slots() int { return o.NodeBytes/8 - 2 }

// Tree is a latched tree.
type Tree struct {
	o        Options
	capacity int // nodes
	nodes    *vk.Buffer[uint32]
	used     *vk.Buffer[uint32] // a counter: nodes in use
	insert   *vk.Kernel[insertPush]
	find     *vk.Kernel[findPush]
}

// device is LatchedTree of latched_node.glsl.
type device struct {
	Nodes, Used uint64
	Capacity    uint32
}

type insertPush struct {
	Tree                            device
	Keys, Values, Statuses, Pending uint64
	Count, Visits, Retry            uint32
}

type findPush struct {
	Tree                device
	Keys, Values, Found uint64
	Count               uint32
}

const (
	workgroup = 64
	visits    = 1 << 16 // of nodes by a tile in one dispatch
)

// New makes a tree; Clear makes it one that can be used. Errors: *structures.OptionError, *vk.OutOfMemoryError.
func New(d *vk.Device, o Options) (*Tree, error) {
	if err := o.check(d); err != nil {
		return nil, err
	}
	// Ascending keys leave nodes half full behind them.
	half := o.slots() / 2
	t := &Tree{o: o, capacity: o.Pairs/half + o.Pairs/(half*(half-1)) + 64}
	err := t.open(d)
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tree) open(d *vk.Device) (err error) {
	if t.nodes, err = vk.NewBuffer[uint32](d, t.capacity*t.o.NodeBytes/4); err != nil {
		return err
	}
	if t.used, err = vk.NewBuffer[uint32](d, 1); err != nil {
		return err
	}
	shape := map[string]uint32{"TILE": uint32(t.o.Tile), "NODE_BYTES": uint32(t.o.NodeBytes)}
	if t.find, err = kernel[findPush](d, "bench/latched/find", shape); err != nil {
		return err
	}
	shape["LINKS"], shape["WAIT"] = uint32(t.o.Kind), uint32(t.o.Wait)
	t.insert, err = kernel[insertPush](d, "bench/latched/insert", shape)
	return err
}

func kernel[P any](d *vk.Device, name string, constants map[string]uint32) (*vk.Kernel[P], error) {
	m, err := shaders.Load(name)
	if err != nil {
		return nil, err
	}
	return vk.NewKernel[P](d, m, vk.KernelOptions{Workgroup: workgroup, Constants: constants})
}

// Close gives the memory back. Nothing that uses the tree may be under way.
func (t *Tree) Close() {
	for _, b := range []*vk.Buffer[uint32]{t.nodes, t.used} {
		if b != nil {
			b.Free()
		}
	}
	if t.insert != nil {
		t.insert.Free()
	}
	if t.find != nil {
		t.find.Free()
	}
}

func (t *Tree) device() device {
	return device{t.nodes.Address(), t.used.Address(), uint32(t.capacity)}
}

// Clear records the making of an empty tree: a root, and its leaf behind it.
func (t *Tree) Clear(s *vk.Stream) {
	s.Fill(t.nodes, 0, int(t.nodes.Bytes()), none)
	s.Fill(t.used, 0, 4, 2)
	bytes := t.o.NodeBytes
	for _, w := range []struct {
		at   int
		word uint32
	}{{0, 0}, {4, 1}, {bytes - 16, 1 << 1}, {bytes - 12, 0}, {2*bytes - 16, 0}, {2*bytes - 12, 0}} { // all else is ~0
		s.Fill(t.nodes, w.at, 4, w.word)
	}
}

// Batch is insertions, whose keys differ, in device memory.
type Batch struct {
	Count  int
	First  int // of the batch in its buffers, a multiple of 4
	Keys   *vk.Buffer[uint32]
	Values *vk.Buffer[uint32]
	Status *vk.Buffer[uint8]  // out: a structures.Status each
	Left   *vk.Buffer[uint32] // a word to which the number of operations left pending is added
}

// InsertOn records one dispatch of insertions. With retry they are those that an earlier one left pending, because
// their visits were used up.
func (t *Tree) InsertOn(s *vk.Stream, b Batch, retry bool) {
	p := insertPush{
		Tree: t.device(), Keys: b.Keys.AddressOf(b.First), Values: b.Values.AddressOf(b.First),
		Statuses: b.Status.AddressOf(b.First), Pending: b.Left.Address(), Count: uint32(b.Count), Visits: visits,
	}
	if retry {
		p.Retry = 1
	}
	t.insert.Dispatch(s, (b.Count+workgroup-1)/workgroup, p)
}

// FindOn records the search for keys. Nothing may be inserted meanwhile. values gets a word a key, 0 of one that is
// absent, and found a byte.
func (t *Tree) FindOn(s *vk.Stream, count int, keys, values *vk.Buffer[uint32], found *vk.Buffer[uint8]) {
	t.find.Dispatch(s, (count+workgroup-1)/workgroup, findPush{
		Tree: t.device(), Keys: keys.Address(), Values: values.Address(), Found: found.Address(), Count: uint32(count),
	})
}

// Check reads the tree, which nobody may change meanwhile, and returns how many pairs it has. An error says where it is
// no tree: a node that is latched, out of order, beyond its range, linked wrongly, or not one node's child.
func (t *Tree) Check(ctx context.Context) (pairs int, err error) {
	var used [1]uint32
	if err := t.used.Download(ctx, 0, used[:]); err != nil {
		return 0, err
	}
	words := make([]uint32, min(int(used[0]), t.capacity)*t.o.NodeBytes/4)
	if err := t.nodes.Download(ctx, 0, words); err != nil {
		return 0, err
	}
	return check(words, t.o)
}
