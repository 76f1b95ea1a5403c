package shard

import (
	"math/bits"
	"sort"
	"unsafe"

	"github.com/vkds/vkds/structures"
)

// placement says which shard a key belongs to: by a hash, or by the ranges between split points.
type placement struct {
	shards  int
	width   structures.Width // of keys
	ordered bool
	// Of ordered placements: words of keys have these bits flipped, by their sign (structures.Code). Shard s has the
	// keys from splits[s-1] on and before splits[s]. Shards after the last split point have none.
	negative, positive uint64
	splits             []uint64
}

// byHash returns the placement of keys by a hash.
func byHash[K structures.Number](shards int) placement {
	return placement{shards: shards, width: structures.WidthOf[K]()}
}

// byRange returns the placement of keys by ranges, of which there are none yet.
func byRange[K structures.Number](shards int) placement {
	p := placement{shards: shards, width: structures.WidthOf[K](), ordered: true}
	p.negative, p.positive = structures.KeyCode[K]().Flips()
	return p
}

// byCount returns the placement of ranks in shards before each of which there are so many pairs.
func byCount(before []uint64) placement {
	return placement{shards: len(before), ordered: true, splits: before[1:]}
}

// of returns the shard of a key: for ordered placements by the word of the key, the last shard that begins at it or
// before, and for others by the key's bits.
func (p *placement) of(key uint64) int {
	if p.ordered {
		return sort.Search(len(p.splits), func(s int) bool { return p.splits[s] > key })
	}
	return int(hashed(key, uint64(p.shards)))
}

// bounds returns the words of the keys that belong to a shard; none if low > high.
func (p *placement) bounds(s int) (low, high uint64) {
	high = ^uint64(0) >> (64 - p.width.Bits())
	if s > 0 && s <= len(p.splits) {
		low = p.splits[s-1]
	}
	switch {
	case s > len(p.splits) || s < len(p.splits) && p.splits[s] == 0:
		return 1, 0
	case s < len(p.splits):
		high = p.splits[s] - 1
	}
	return low, high
}

// hashed returns a number below n, by a hash that is independent of those of structures: two rounds of multiplication
// by odd constants with a shift between them, and the upper bits scaled to n (Lemire, Fast Random Integer Generation in
// an Interval, 2019).
func hashed(x, n uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	high, _ := bits.Mul64(x, n)
	return high
}

// mark writes the shard of each key.
func (p *placement) mark(keys column, of []uint8) {
	switch {
	case p.shards == 1:
		clear(of)
	case p.width == structures.Bits64 && p.ordered:
		markRanges(p, typed[uint64](keys), of)
	case p.width == structures.Bits64:
		markHashes(p, typed[uint64](keys), of)
	case p.ordered:
		markRanges(p, typed[uint32](keys), of)
	default:
		markHashes(p, typed[uint32](keys), of)
	}
}

func markHashes[W structures.Word](p *placement, keys []W, of []uint8) {
	of, n := of[:len(keys)], uint64(p.shards)
	for i, k := range keys {
		of[i] = uint8(hashed(uint64(k), n))
	}
}

// markRanges has no branches that depend on keys, because they would be mispredicted.
func markRanges[W structures.Word](p *placement, keys []W, of []uint8) {
	of, up := of[:len(keys)], p.width.Bits()-1
	clear(of)
	positive, both := p.positive, p.positive^p.negative
	for _, split := range p.splits {
		if both == 0 { // words of integers
			for i, k := range keys {
				_, less := bits.Sub64(uint64(k)^positive, split, 0)
				of[i] += uint8(1 - less)
			}
			continue
		}
		for i, k := range keys {
			negative := -(uint64(k) >> (up & 63)) // all ones, or 0
			_, less := bits.Sub64(uint64(k)^positive^both&negative, split, 0)
			of[i] += uint8(1 - less)
		}
	}
}

// shardOf returns the shard of a key.
func shardOf[K structures.Number](p *placement, key K) int {
	if p.ordered {
		return p.of(structures.KeyCode[K]().Word(key))
	}
	if p.width == structures.Bits64 {
		return p.of(*(*uint64)(unsafe.Pointer(&key)))
	}
	return p.of(uint64(*(*uint32)(unsafe.Pointer(&key))))
}
