package slabcheck

import (
	"fmt"

	"github.com/vkds/vkds/structures/slabhash"
)

// Of a group of buckets that share slabs (slab_shared.glsl): 16 slabs of a bucket each, 4 of four buckets, and one of
// all of them, behind which the chain is.
const (
	groupBuckets = 16
	ofFour       = groupBuckets
	ofAll        = ofFour + groupBuckets/4
	groupSlabs   = ofAll + 1
)

// path returns the places of the slabs that a bucket's list begins with.
func path(bucket uint32) [3]uint32 {
	own := bucket % groupBuckets
	return [3]uint32{own, ofFour + own/4, ofAll}
}

// filterBit is the bit of a key in the link of its bucket's slab that is the i-th of its path.
func (l layout) filterBit(i int, stored uint64) uint32 {
	x := uint32(stored) * 0x9e3779b1
	if l.wide {
		x += uint32(stored>>32) * 0x85ebca6b
	}
	return 1 << min(x>>(27-5*i)&31, 30)
}

// checkGroups is check for a table whose buckets share slabs.
func (r *reader) checkGroups(device slabhash.Description, l layout, mask uint64, hash func(key uint64) uint32, p *pool,
	reachable map[uint32]bool, expect Expect) (pairs []Pair, err error) {
	groups := device.Buckets / groupBuckets
	if groups*groupBuckets != device.Buckets {
		return nil, fmt.Errorf("%d buckets are no whole groups", device.Buckets)
	}
	base := r.words(device.Base, int(groups)*(groupSlabs*slabWords+1))
	tails := base[groups*groupSlabs*slabWords:]
	for group := range groups {
		slabs := base[group*groupSlabs*slabWords : (group+1)*groupSlabs*slabWords]
		here, err := p.checkGroup(group, slabs, tails[group], device, l, mask, hash, reachable, expect)
		if err != nil {
			return nil, fmt.Errorf("group %d of %d: %w", group, groups, err)
		}
		pairs = append(pairs, here...)
	}
	return pairs, nil
}

// checkGroup checks that slabs fill in order, that a key is in the list of its bucket, and that the slabs before it are
// full and have the key's bit clear; after a compaction, no other bits.
func (p *pool) checkGroup(group uint32, slabs []uint32, tail uint32, device slabhash.Description, l layout,
	mask uint64, hash func(key uint64) uint32, reachable map[uint32]bool, expect Expect) ([]Pair, error) {
	slab := func(place uint32) []uint32 { return slabs[place*slabWords : (place+1)*slabWords] }
	var clear, used [groupSlabs]uint32 // by place: the bits that keys need clear, and the slots in use
	at := func(place uint32) func(stored uint64) (uint64, error) {
		return func(stored uint64) (uint64, error) {
			key := stored
			if group == device.SpecialOnes || group == device.SpecialZero {
				key ^= mask
			}
			bucket := hash(key)
			if bucket/groupBuckets != group {
				return 0, fmt.Errorf("key %#x belongs to bucket %d", key, bucket)
			}
			for i, of := range path(bucket) {
				if of == place {
					return key, nil
				}
				if i < 2 {
					clear[of] |= l.filterBit(i, stored)
				}
			}
			return 0, fmt.Errorf("key %#x belongs to bucket %d, whose list does not come here", key, bucket)
		}
	}
	g := gather{l: l, expect: expect, keys: map[uint64]bool{}}
	for place := range uint32(ofAll) {
		n, err := g.slab(slab(place), at(place))
		if err != nil {
			return nil, fmt.Errorf("place %d: %w", place, err)
		}
		used[place] = uint32(n)
	}
	inChain := at(ofAll)
	if err := p.followInto(&g, slab(ofAll), tail, reachable, inChain); err != nil {
		return nil, fmt.Errorf("from place %d on: %w", ofAll, err)
	}
	for place := range uint32(ofAll) {
		link := slab(place)[nextWord]
		switch {
		case link != null && int(used[place]) < l.slots():
			return nil, fmt.Errorf("place %d has %d slots in use, and the link %#x", place, used[place], link)
		case link&clear[place] != 0:
			return nil, fmt.Errorf("place %d has the link %#x, but keys behind it need %#x clear", place, link,
				clear[place])
		case expect.Compact && ^link != clear[place]:
			return nil, fmt.Errorf("place %d has the link %#x, but keys behind it need only %#x clear", place, link,
				clear[place])
		}
	}
	return g.pairs, nil
}
