package btree

import (
	"context"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Rule is something that holds of every tree in a read-only phase.
type Rule uint8

// The rules are those of check.comp, in its order, and those that the host checks.
const (
	RootRule          Rule = iota // the root is an inner node for all keys
	LatchRule                     // no node is latched
	RangeRule                     // a node's least key is not above its greatest
	KeyRule                       // a leaf's keys are among those that it is for
	UniqueRule                    // no leaf has a key twice
	FreeSlotRule                  // a free slot is empty, with a version, or erased
	LastLeafRule                  // the last leaf is for the last key alone
	SeparatorRule                 // an inner node's separators ascend from its least key on and are in its range
	ChildRule                     // children are nodes
	ChildLevelRule                // children are one level below
	ChildLowRule                  // a separator is its child's least key
	NeighborRule                  // the right neighbor is a node; the last of a level has none
	NeighborLevelRule             // the right neighbor is of the same level
	NeighborLowRule               // the right neighbor begins where the node ends
	ChainRule                     // a node is one node's right neighbor, unless it is the first of its level
	ParentRule                    // a node is one node's child at most
	StartRule                     // each level up to the root's begins with one node at key 0
	OrphanRule                    // every node has a parent, but for those that a batch is known to have left without
	LostRule                      // something leads to each slab of the tree's own pool that is allocated

	// Those of version_check.comp, while snapshots are open, of leaves,
	StampRule          // a leaf's stamp is of a time that was, and no inner node has one
	VersionOrderRule   // from a leaf on, each version ended when what came behind it began, or before that
	FreedVersionRule   // no leaf leads to a version that is free
	MissingVersionRule // what a leaf held at the time of each open snapshot is kept
	LeadRule           // what a leaf's stamp says of its version is what that says
	// and of versions.
	VersionMeetRule // the leaves that lead to a version follow one another
	VersionPairRule // each of a version's pairs is in the range of one of these leaves, and no key is there twice
	VersionHighRule // a version's greatest key is that of the last of these leaves
	FreeListRule    // a version is free or kept: the list of free ones has each of them once, and no other
	LostVersionRule // something leads to each version that an open snapshot needs
)

var ruleTexts = enum.Names[Rule]{
	"root that is not an inner node for all keys", "latched node", "node whose least key is above its greatest",
	"key in a leaf that is not for it", "key twice in a leaf", "free slot with a value that no free slot has",
	"last leaf that is not for the last key alone", "inner node whose separators are out of order",
	"child that is no node",
	"child of a wrong level", "separator that is not its child's least key", "right neighbor that is no node",
	"right neighbor of another level", "right neighbor that doesn't begin where the node ends",
	"node that is not the right neighbor of one node", "node with several parents",
	"level that doesn't begin with one node", "node without a parent", "slab that nothing leads to",
	"leaf of a time that has not come, or inner node with a stamp", "leaf whose versions are out of order",
	"leaf that leads to a freed version", "leaf of which nothing is kept for an open snapshot",
	"leaf whose stamp is wrong about its version",
	"version that leaves apart lead to", "version with a pair that is none of its leaves', or twice",
	"version that doesn't end with its last leaf", "version that is free and kept, or neither",
	"version that is needed and nothing leads to",
}

// ofVersion says whether what breaks a rule is a version, and no node.
func (r Rule) ofVersion() bool { return r >= VersionMeetRule }

func (r Rule) String() string { return ruleTexts.String(r) }

// Violation says how often a rule is broken.
type Violation struct {
	Rule  Rule
	Count uint32
	// Node is the first node where it is broken, by its slab's reference; from VersionMeetRule on the first version, by
	// its number. Of StartRule, OrphanRule and LostRule no node is known, and this is ~0.
	Node uint32
}

// CorruptError says that a tree is not as a tree in a read-only phase is.
type CorruptError struct{ Violations []Violation }

func (e *CorruptError) Error() string {
	var all []string
	for _, v := range e.Violations {
		text := fmt.Sprintf("%v: %d", v.Rule, v.Count)
		if v.Rule.ofVersion() {
			text += fmt.Sprintf(", the first is %d", v.Node)
		} else if v.Node != noSlab {
			text += fmt.Sprintf(", the first in node %#x", v.Node)
		}
		all = append(all, text)
	}
	return "btree: corrupt: " + strings.Join(all, "; ")
}

// The layout of check.comp's report, in words.
const (
	reportRules   = 16
	reportStarts  = 32
	reportHeight  = 48
	reportOrphans = 49
	reportLost    = 50 // by the host
	reportWords   = 64
)

type checkPush struct {
	Tree          Device
	Listed        listing
	Report, Marks uint64
}

// Check looks for what is wrong with the nodes, and with the versions of leaves.
func (t *tree) Check(ctx context.Context) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	versions, err := t.newVersionCheck(ctx)
	if err != nil {
		return err
	}
	defer versions.free()
	return t.check(ctx, versions)
}

// check is Check within a call, without versions if they are nil.
func (t *tree) check(ctx context.Context, versions *versionCheck) error {
	memory, err := vk.NewBuffer[uint32](t.d, reportWords)
	if err != nil {
		return err
	}
	defer memory.Free()
	l, err := t.reach(ctx, func(l listing, marks uint64) error {
		t.stream.Fill(memory, 0, int(memory.Bytes()), 0)
		t.stream.Fill(memory, 4*reportRules, 4*reportRules, noSlab)
		for pass := range uint32(2) {
			k, err := kernel[checkPush](t, t.stream, t.sized("check"), 1, recording.Constant("MARKS", pass))
			if err != nil {
				return err
			}
			k.Dispatch(t.stream, t.walkers(int(l.InnerMost)), checkPush{t.device(), l, memory.Address(), marks})
		}
		return t.recordVersionCheck(versions, l)
	})
	if err != nil {
		return err
	}
	defer l.free()
	report := make([]uint32, reportWords)
	if err := memory.Download(ctx, 0, report); err != nil {
		return err
	}
	if !t.shared {
		stats, err := t.pool.Stats(ctx)
		if err != nil {
			return err
		}
		report[reportLost] = uint32(max(stats.Allocated-l.inner(), 0))
	}
	var counters [counterWords]uint32
	if err := t.state.Download(ctx, 0, counters[:]); err != nil {
		return err
	}
	found := t.verdict(report, counters[orphansWord])
	ofVersions, err := t.versionVerdict(ctx, versions)
	if err != nil {
		return err
	}
	if found = append(found, ofVersions...); found == nil {
		return nil
	}
	return &CorruptError{found}
}

// verdict is what a report comes to. So many orphans are known.
func (t *tree) verdict(report []uint32, known uint32) (found []Violation) {
	for rule := range Rule(reportRules) {
		if n := report[rule]; n != 0 {
			found = append(found, Violation{rule, n, t.slabReference(int(report[reportRules+rule]))})
		}
	}
	starts := uint32(0)
	for level, n := range report[reportStarts:][:16] {
		want := uint32(0)
		if level <= int(report[reportHeight]) {
			want = 1
		}
		if n != want {
			starts++
		}
	}
	if starts != 0 {
		found = append(found, Violation{StartRule, starts, noSlab})
	}
	if n := report[reportOrphans]; n > known {
		found = append(found, Violation{OrphanRule, n, noSlab})
	}
	if n := report[reportLost]; n != 0 {
		found = append(found, Violation{LostRule, n, noSlab})
	}
	return found
}
