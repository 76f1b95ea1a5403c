package btree

import (
	"context"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Rule is a property that every tree has while nothing changes it.
type Rule uint8

// The rules are those of check.comp, in its order, and then those that the host checks.
const (
	RootRule          Rule = iota // the root is an inner node, and its range is all keys
	LatchRule                     // no node is latched
	RangeRule                     // a node's least key is not above its greatest
	KeyRule                       // a leaf's keys are in its range
	UniqueRule                    // no leaf has a key twice
	FreeSlotRule                  // a free slot has an even value or is erased; at 64 bits its value is 0
	LastLeafRule                  // the range of the last leaf is the last key only
	SeparatorRule                 // the separators of an inner node ascend from its least key and are in its range
	ChildRule                     // children are nodes
	ChildLevelRule                // children are one level below
	ChildLowRule                  // a separator is its child's least key
	NeighborRule                  // the right neighbor is a node; the last of a level has none
	NeighborLevelRule             // the right neighbor is of the same level
	NeighborLowRule               // the right neighbor begins where the node ends
	ChainRule                     // each node is the right neighbor of one node, unless it is the first of its level
	ParentRule                    // a node is the child of one node at most
	StartRule                     // each level from the leaves to the root begins with one node, at key 0
	OrphanRule                    // every node has a parent, except for known orphans (Stats.Orphans)
	LostRule                      // each allocated slab of the tree's own pool can be reached

	// The rules of version_check.comp, for leaves and inner nodes while snapshots are open.
	StampRule          // the time in a leaf's stamp is not in the future; an inner node has no stamp
	VersionOrderRule   // in a leaf's list of versions, each one ended no later than the next newer one began
	FreedVersionRule   // no leaf leads to a version that is free
	MissingVersionRule // for the time of each open snapshot, the pairs of each leaf are kept
	LeadRule           // a leaf's stamp agrees with its version
	// The rules of version_check.comp for versions.
	VersionMeetRule // the leaves that lead to a version are neighbors
	VersionPairRule // each pair of a version is in the range of one of these leaves, and no key is there twice
	VersionHighRule // the greatest key of a version is that of the last of these leaves
	FreeListRule    // a version is either kept or free: free ones are in the free list once, others are not
	LostVersionRule // each version that an open snapshot needs can be reached
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

// ofVersion reports whether it is a version, not a node, that breaks the rule.
func (r Rule) ofVersion() bool { return r >= VersionMeetRule }

func (r Rule) String() string { return ruleTexts.String(r) }

// Violation is a broken rule and how often it is broken.
type Violation struct {
	Rule  Rule
	Count uint32
	// Node is the first node where the rule is broken, as the reference of its slab; from VersionMeetRule on it is the
	// first version, by its number. For StartRule, OrphanRule and LostRule it is ~0: no node is known.
	Node uint32
}

// CorruptError is the result of Check for a tree that breaks rules.
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
	reportLost    = 50 // counted by the host
	reportWords   = 64
)

type checkPush struct {
	Tree          Description
	Listed        listing
	Report, Marks uint64
}

// Check finds what is wrong with the nodes, and with the versions of leaves.
func (t *tree) Check(ctx context.Context) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	versions, err := t.newVersionCheck(ctx)
	if err != nil {
		return err
	}
	defer versions.free()
	return t.check(ctx, versions)
}

// check is Check within a call. If versions is nil, it does not check versions.
func (t *tree) check(ctx context.Context, versions *versionCheck) error {
	memory, err := vk.NewBuffer[uint32](t.Device, reportWords)
	if err != nil {
		return err
	}
	defer memory.Free()
	l, err := t.reach(ctx, func(l listing, marks uint64) error {
		t.Stream.Fill(memory, 0, memory.Len(), 0)
		t.Stream.Fill(memory, reportRules, reportRules, noSlab)
		for pass := range uint32(2) {
			k, err := t.checkKernel(pass).Kernel(t.Kernels, t.Stream)
			if err != nil {
				return err
			}
			k.Dispatch(t.Stream, t.walkers(int(l.InnerMost)), checkPush{t.description(), l, memory.Address(), marks})
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
	if !t.Shares {
		stats, err := t.Pool.Stats(ctx)
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

// verdict returns the violations in a report. known is the number of known orphans.
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

// versionCheck is a check of the versions. Nothing may use them meanwhile.
type versionCheck struct {
	memory *vk.Buffer[uint32] // begins with the report
	marks  int                // where the marks begin in memory, in words
	open   openSnapshots
	now    uint32 // the time that updates would have now
}

const (
	versionRules     = int(LostVersionRule-StampRule) + 1
	versionMarkWords = 4 // for each version
)

type versionCheckPush struct {
	Tree          Description
	Listed        listing
	Versions      vk.Arguments[versionArguments]
	Open          openSnapshots
	Report, Marks uint64
	Slabs         uint32
}

// newVersionCheck waits for work that reads or writes versions, and allocates memory for their check. It returns nil if
// there are no versions. Until the call ends, snapshots may be closed, but no version is freed.
func (t *tree) newVersionCheck(ctx context.Context) (*versionCheck, error) {
	v := &t.versions
	times, _ := v.times()
	if len(times) == 0 || !v.there() {
		return nil, nil
	}
	if err := v.rest(ctx); err != nil {
		return nil, err
	}
	var p recording.Parts
	p.Take(4 * 2 * versionRules)
	open, marks := p.Take(4*len(times)), p.Take(4*versionMarkWords*v.memory.count())
	memory, err := vk.NewBuffer[uint32](t.Device, int(p.Used/4))
	if err != nil {
		return nil, err
	}
	if err := memory.Upload(ctx, int(open/4), times); err != nil {
		memory.Free()
		return nil, err
	}
	return &versionCheck{memory, int(marks / 4),
		openSnapshots{memory.Address() + open, uint32(len(times)), times[0]}, v.next()}, nil
}

func (c *versionCheck) free() {
	if c != nil {
		c.memory.Free()
	}
}

// recordVersionCheck records the check of the versions of listed nodes. Leaves are listed among the inner nodes.
func (t *tree) recordVersionCheck(c *versionCheck, l listing) error {
	if c == nil {
		return nil
	}
	m := &t.versions.memory
	t.Stream.Fill(c.memory, 0, versionRules, 0)
	t.Stream.Fill(c.memory, versionRules, versionRules, noSlab)
	t.Stream.Fill(c.memory, c.marks, versionMarkWords*m.count(), 0)
	versions := vk.NewArguments(t.Stream, t.versions.arguments(c.now))
	for pass := range uint32(2) {
		k, err := t.versionCheckKernel(pass).Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		k.Dispatch(t.Stream, t.walkers(max(int(l.InnerMost), m.count())), versionCheckPush{
			t.description(), l, versions, c.open, c.memory.Address(), c.memory.AddressOf(c.marks), uint32(m.slabs()),
		})
	}
	return nil
}

// versionVerdict returns the violations that the check has found.
func (t *tree) versionVerdict(ctx context.Context, c *versionCheck) (found []Violation, err error) {
	if c == nil {
		return nil, nil
	}
	var report [2 * versionRules]uint32
	if err := c.memory.Download(ctx, 0, report[:]); err != nil {
		return nil, err
	}
	for i, n := range report[:versionRules] {
		rule, first := StampRule+Rule(i), report[versionRules+i]
		if !rule.ofVersion() {
			first = t.slabReference(int(first))
		}
		if n != 0 {
			found = append(found, Violation{rule, n, first})
		}
	}
	return found, nil
}
