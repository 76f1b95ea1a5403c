package btree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// history is a tree with two open snapshots. Before and after each, leaves were changed, and some split, so there are
// leaves with two versions.
type history[W structures.Word] struct {
	*dictionary[W]
	leaves                        []Node[W] // with two versions, in key order; no two neighbors were split from one
	inner                         uint32    // an inner node
	stamps, changed, kept, listed []uint32  // the present words
}

func newHistory[W structures.Word](t *testing.T) *history[W] {
	d := openDevice(t)
	keys := widened[W](ramp(1500, 1000, 1000))
	v := &history[W]{dictionary: buildTree(t, d, keys, keys, Options{Fill: 0.9})}
	var snapshots []*viewOf[W]
	for round := range uint64(2) {
		s, err := v.Snapshot(t.Context())
		require.NoError(t, err)
		snapshots = append(snapshots, s)
		changed := slices.Clone(keys[:1000])
		for i := 0; i < 1000; i += 40 { // splits some leaves
			for j := range uint64(8) {
				changed = append(changed, keys[i]+W(1+8*round+j))
			}
		}
		_, err = v.Insert(t.Context(), changed, changed)
		require.NoError(t, err)
	}
	require.NoError(t, v.Check(t.Context()))
	t.Cleanup(func() {
		for _, s := range snapshots {
			require.NoError(t, s.Close())
		}
	})
	m := v.versions.memory
	v.stamps, v.kept = testdevice.Download(t, m.stamps, m.stamps.Len()), testdevice.Download(t, m.kept, m.kept.Len())
	v.changed = testdevice.Download(t, m.changed, m.changed.Len())
	v.listed = testdevice.Download(t, m.free, m.free.Len())
	nodes, err := v.Nodes(t.Context())
	require.NoError(t, err)
	v.inner = nodes[1].Ref
	require.NotZero(t, nodes[1].Level)
	shared := map[uint32]int{}
	for _, n := range nodes {
		if n.Level == 0 {
			shared[v.older(n.Ref)]++
			shared[v.before(v.older(n.Ref))]++
		}
	}
	for _, n := range nodes {
		if n.Level == 0 && v.stamps[stampWords*n.Ref] == 3 && shared[v.older(n.Ref)] == 1 &&
			v.kept[nodeWords*v.older(n.Ref)+versionTimeWord] == 2 && shared[v.before(v.older(n.Ref))] == 1 {
			v.leaves = append(v.leaves, n)
		}
	}
	require.Greater(t, len(v.leaves), 10)
	require.Greater(t, len(shared), len(v.leaves), "others were split")
	return v
}

// older returns the newest version of a leaf. In a pool of one super block the number of a slab is its reference.
func (v *history[W]) older(leaf uint32) uint32 { return v.stamps[stampWords*leaf+1] }

// before returns the version before a version, or 0.
func (v *history[W]) before(version uint32) uint32 {
	if version*nodeWords >= uint32(len(v.kept)) {
		return 0
	}
	return v.kept[nodeWords*version+versionTimeWord+1]
}

// word32 is a changed word in the memory of versions.
type word32 struct {
	in    *vk.Buffer[uint32]
	at    int
	value uint32
}

// For each change in the memory of versions, Check names the broken rule, and the leaf or version.
func TestCheckOfCorruptVersions(t *testing.T) {
	t.Run("32", testCheckOfCorruptVersions[uint32])
	t.Run("64", testCheckOfCorruptVersions[uint64])
}

func testCheckOfCorruptVersions[W structures.Word](t *testing.T) {
	v := newHistory[W](t)
	m := v.versions.memory
	leaf, far := v.leaves[1], v.leaves[len(v.leaves)-1]
	first := v.older(leaf.Ref)
	second := v.before(first)
	stamp := func(slab uint32, part int, value uint32) word32 {
		return word32{m.stamps, stampWords*int(slab) + part, value}
	}
	ofVersion := func(version uint32, word int, value uint32) word32 {
		return word32{m.kept, nodeWords*int(version) + word, value}
	}
	key := func(version uint32, slot int, key W) (all []word32) {
		words := numbers.Words([]W{key})
		for i, w := range words {
			all = append(all, ofVersion(version, 2*slot*len(words)+i, w))
		}
		return all
	}
	high := func(version uint32, key W) (all []word32) {
		words := numbers.Words([]W{key})
		at := nodeWords - 1
		if len(words) == 2 {
			at = nodeWords - 6
		}
		for i, w := range words {
			all = append(all, ofVersion(version, at+i, w))
		}
		return all
	}
	unchanged := v.changed[leaf.Ref/32] &^ (1 << (leaf.Ref % 32))
	free := v.listed[0]
	require.NotZero(t, free)
	count := uint32(m.count())
	for name, c := range map[string]struct {
		words []word32
		rules []Rule // all broken rules; nil: there may be others
		first Rule   // the rule that must be reported
		where uint32 // where it must be broken
	}{
		"leaf of a time to come": {[]word32{stamp(leaf.Ref, 0, 4)}, nil, StampRule, leaf.Ref},
		"changed leaf without its bit": {[]word32{{m.changed, int(leaf.Ref) / 32, unchanged}},
			nil, StampRule, leaf.Ref},
		"inner node with a stamp": {[]word32{stamp(v.inner, 0, 2)}, []Rule{StampRule}, StampRule, v.inner},
		"leaf from before its version's end": {[]word32{stamp(leaf.Ref, 0, 2)},
			nil, VersionOrderRule, leaf.Ref},
		"version without duration": {[]word32{ofVersion(first, versionTimeWord, 3)},
			nil, VersionOrderRule, leaf.Ref},
		"versions that overlap": {[]word32{ofVersion(second, untilWord, 3)},
			nil, VersionOrderRule, leaf.Ref},
		"version that was freed": {[]word32{ofVersion(first, untilWord, 0)},
			nil, FreedVersionRule, leaf.Ref},
		"version behind a version that was freed": {[]word32{ofVersion(second, untilWord, 0)},
			nil, FreedVersionRule, leaf.Ref},
		"leaf with another time of its version": {[]word32{stamp(leaf.Ref, 2, 1)},
			[]Rule{LeadRule}, LeadRule, leaf.Ref},
		"leaf without a version": {[]word32{stamp(leaf.Ref, 1, noSlab)},
			nil, MissingVersionRule, leaf.Ref},
		"leaf with a version that isn't": {[]word32{stamp(leaf.Ref, 1, count)},
			nil, MissingVersionRule, leaf.Ref},
		"version that ends too early": {[]word32{ofVersion(first, versionTimeWord+1, noSlab)},
			nil, MissingVersionRule, leaf.Ref},
		"version that is passed over": {[]word32{stamp(leaf.Ref, 1, second)},
			nil, MissingVersionRule, leaf.Ref},
		"versions in a circle": {[]word32{ofVersion(second, versionTimeWord, 2),
			ofVersion(second, versionTimeWord+1, first)},
			nil, VersionOrderRule, leaf.Ref},
		"version of leaves apart": {[]word32{stamp(far.Ref, 1, first)},
			nil, VersionMeetRule, min(first, second)},
		"pair of another leaf": {key(first, 0, far.Low), []Rule{VersionPairRule}, VersionPairRule, first},
		"pair twice": {slices.Concat(key(first, 0, leaf.Keys[0]), key(first, 1, leaf.Keys[0])),
			[]Rule{VersionPairRule}, VersionPairRule, first},
		"version that ends before its leaf": {high(first, leaf.High-1),
			nil, VersionHighRule, first},
		"version that ends behind its leaf": {high(first, leaf.High+1),
			nil, VersionHighRule, first},
		"list with a version that is kept": {[]word32{{m.free, 1, first}},
			[]Rule{FreeListRule}, FreeListRule, min(first, v.listed[1])},
		"list with one twice": {[]word32{{m.free, 1, v.listed[2]}},
			[]Rule{FreeListRule}, FreeListRule, min(v.listed[1], v.listed[2])},
		"list without one":       {[]word32{{m.free, 0, free - 1}}, []Rule{FreeListRule}, FreeListRule, v.listed[free]},
		"list with what is none": {[]word32{{m.free, 1, count}}, []Rule{FreeListRule}, FreeListRule, 0},
		"list without end":       {[]word32{{m.free, 0, noSlab}}, []Rule{FreeListRule}, FreeListRule, 0},
		"version that nothing leads to": {[]word32{{m.free, 0, free - 1}, ofVersion(v.listed[free], untilWord, 3),
			ofVersion(v.listed[free], versionTimeWord, 2)}, []Rule{LostVersionRule}, LostVersionRule, v.listed[free]},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range c.words {
				require.NoError(t, w.in.Upload(t.Context(), w.at, []uint32{w.value}))
			}
			violations := violationsOf(t, v.dictionary)
			require.NoError(t, m.stamps.Upload(t.Context(), 0, v.stamps))
			require.NoError(t, m.changed.Upload(t.Context(), 0, v.changed))
			require.NoError(t, m.kept.Upload(t.Context(), 0, v.kept))
			require.NoError(t, m.free.Upload(t.Context(), 0, v.listed))
			var rules []Rule
			for _, violation := range violations {
				rules = append(rules, violation.Rule)
				if violation.Rule == c.first {
					require.Equal(t, c.where, violation.Node, "where")
				}
			}
			require.Contains(t, rules, c.first)
			if c.rules != nil {
				require.Equal(t, c.rules, rules)
			}
		})
	}
	require.NoError(t, v.Check(t.Context()), "put right again")
}
