package btree

import (
	"context"
)

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
