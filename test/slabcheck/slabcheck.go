// Package slabcheck reads slab hashes and slab lists back from the device as they lie in memory, and checks what must
// hold of them between dispatches. It knows the layout from the papers and the headers' comments, not from the code it
// checks.
package slabcheck

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/vk"
)

const (
	slabWords = 32
	slabBytes = 4 * slabWords
	auxWord   = 30
	nextWord  = 31
	null      = ^uint32(0) // no slab
	tombstone = 0          // of a slot; an empty one's key is all ones

	supersAt    = 64 // byte offset in a pool's table of the first super block's addresses
	blockSlabs  = 1024
	bitmapWords = blockSlabs / 32
)

// Table is a *slabhash.Map or a *slabhash.Set, of 32-bit words or of 64-bit ones.
type Table interface {
	InShaders() structures.InShaders[slabhash.Description]
}

// Pair is a pair of a table; of a set, the value is 0.
type Pair struct{ Key, Value uint64 }

// Expect says what is known of a table beside what holds of all.
type Expect struct {
	Duplicates bool // a key may be there more than once
	Compact    bool // the table was just flushed or rehashed: no tombstone, no slab that is not needed
}

type words struct {
	From  uint64
	To    uint64
	Count uint32
}

// reader copies device memory to the host.
type reader struct {
	t testing.TB
	d *vk.Device
	s *vk.Stream
	k *vk.Kernel[words]
}

func newReader(t testing.TB, d *vk.Device) *reader {
	t.Helper()
	m, err := kernels.Load("test/words")
	require.NoError(t, err)
	k, err := vk.NewKernel[words](d, m, vk.KernelOptions{})
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	return &reader{t, d, s, k}
}

func (r *reader) close() {
	r.k.Free()
	require.NoError(r.t, r.s.Close())
}

func (r *reader) words(address uint64, n int) []uint32 {
	r.t.Helper()
	b, err := vk.NewHostBuffer[uint32](r.d, n)
	require.NoError(r.t, err)
	defer b.Free()
	r.k.Dispatch(r.s, (n+r.k.Workgroup()-1)/r.k.Workgroup(), words{address, b.Address(), uint32(n)})
	require.NoError(r.t, r.s.Wait(r.t.Context()))
	return append([]uint32(nil), b.Slice()...)
}

// pool is a slab pool as it lies in memory.
type pool struct {
	shift   int
	slabs   [][]uint32 // the words of each super block's slabs
	bitmaps [][]uint32
}

func (r *reader) pool(device alloc.PoolDescription, constants map[string]uint32) *pool {
	p := &pool{shift: int(constants["POOL_SUPER_SHIFT"])}
	blocks := int(device.Blocks)
	for super := 0; blocks > 0; super++ {
		here := min(blocks, 1<<p.shift)
		at := r.words(device.Table+supersAt+16*uint64(super), 4)
		p.slabs = append(p.slabs, r.words(uint64(at[1])<<32|uint64(at[0]), here*blockSlabs*slabWords))
		p.bitmaps = append(p.bitmaps, r.words(uint64(at[3])<<32|uint64(at[2]), here*bitmapWords))
		blocks -= here
	}
	return p
}

// slab returns the words of a slab, nil if there is none of that reference.
func (p *pool) slab(ref uint32) []uint32 {
	super, at := int(ref>>24), int(ref&0xffffff)*slabWords
	if super >= len(p.slabs) || at >= len(p.slabs[super]) {
		return nil
	}
	return p.slabs[super][at : at+slabWords]
}

func (p *pool) allocated(ref uint32) bool {
	return p.bitmaps[ref>>24][ref&0xffffff>>5]>>(ref&31)&1 != 0
}

// Bucket is the bucket that a key belongs to.
func Bucket[W structures.Word](d slabhash.Description, key W) uint32 {
	x := mix(uint32(key) ^ d.Seed)
	if structures.WidthOf[W]() == structures.Bits64 {
		x = mix(x ^ uint32(uint64(key)>>32) ^ d.Seed)
	}
	return uint32(uint64(x) * uint64(d.Buckets) >> 32)
}

func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0xd35a2d97
	x ^= x >> 15
	return x
}

// Check reads tables, all users of one pool, and fails the test where they break a rule. It returns the pairs of each,
// bucket by bucket, in list order. Nothing may be running on the tables.
//
// The rules: slots are filled in list order, and behind a free one nothing is; a key stands in its bucket, once where
// it is unique; lists have no slab in common and only slabs that the allocator knows to be taken; the allocator has no
// others taken; and free slabs, as free slots, are all ones.
func Check(t testing.TB, d *vk.Device, expect Expect, tables ...Table) [][]Pair {
	t.Helper()
	r := newReader(t, d)
	defer r.close()
	p := r.pool(tables[0].InShaders().Description().Pool, tables[0].InShaders().Constants())
	seen := map[uint32]bool{}
	var all [][]Pair
	for _, table := range tables {
		pairs, err := r.check(table, p, seen, expect)
		require.NoError(t, err)
		all = append(all, pairs)
	}
	require.NoError(t, p.checkFree(seen))
	return all
}

// checkFree checks that all slabs but the reachable ones are free and fresh.
func (p *pool) checkFree(reachable map[uint32]bool) error {
	for super, bitmaps := range p.bitmaps {
		for w, word := range bitmaps {
			for bit := range 32 {
				ref := uint32(super)<<24 | uint32(w*32+bit)
				taken := word>>bit&1 != 0
				if taken != reachable[ref] {
					return fmt.Errorf("slab %#x: allocated %v, but reachable %v", ref, taken, reachable[ref])
				}
				if taken {
					continue
				}
				for i, v := range p.slab(ref) {
					if v != null {
						return fmt.Errorf("slab %#x is free, but its word %d is %#x", ref, i, v)
					}
				}
			}
		}
	}
	return nil
}

// layout is how slabs hold what they hold.
type layout struct {
	wide    bool // keys and values are two words each, the low one first
	keys    bool // there are no values
	atomics bool // of 64 bits
}

// number is a key or a value of a slab, of those the one at an index.
func (l layout) number(slab []uint32, i int) uint64 {
	if l.wide {
		return uint64(slab[2*i]) | uint64(slab[2*i+1])<<32
	}
	return uint64(slab[i])
}

// ones is the number all of whose bits are.
func (l layout) ones() uint64 {
	if l.wide {
		return ^uint64(0)
	}
	return math.MaxUint32
}

func (l layout) slots() int {
	n := 30
	if l.wide {
		n /= 2
	}
	if !l.keys {
		n /= 2
	}
	return n
}

// slot is what stands in a slot: the value of a slab of keys is that of a free slot.
func (l layout) slot(slab []uint32, slot int) (key, value uint64) {
	if l.keys {
		return l.number(slab, slot), l.ones()
	}
	return l.number(slab, 2*slot), l.number(slab, 2*slot+1)
}

// checkAux checks what the auxiliary word says of a slot: of pairs without 64-bit atomics, whether it has its value; of
// wide pairs with them, that it has, where the value is a free slot's; of what is wide without them, that nobody has
// latched the slab.
func (l layout) checkAux(slab []uint32, slot int) error {
	aux := slab[auxWord]
	set := aux>>slot&1 != 0
	key, value := l.slot(slab, slot)
	free := key == l.ones()
	right := true
	switch {
	case l.wide && !l.atomics:
		right = aux>>31 == 1
	case l.keys:
	case l.wide:
		right = set == free || key == tombstone || !free && value != l.ones()
	case !l.atomics:
		right = set == free
	}
	if !right {
		return fmt.Errorf("auxiliary word %#x, but slot %d has the key %#x and the value %#x", aux, slot, key, value)
	}
	return nil
}

// check follows the lists of one table.
func (r *reader) check(table Table, p *pool, reachable map[uint32]bool, expect Expect) (pairs []Pair, err error) {
	device := table.InShaders().Description()
	l := layout{atomics: r.d.Has(vk.Int64Atomics)}
	switch table.(type) {
	case *slabhash.Map[uint32, uint32]:
	case *slabhash.Map[uint64, uint64]:
		l.wide = true
	case *slabhash.Set[uint32]:
		l.keys = true
	case *slabhash.Set[uint64]:
		l.wide, l.keys = true, true
	default:
		return nil, fmt.Errorf("nothing is known of the layout of %T", table)
	}
	mask, hash := uint64(device.Mask), func(key uint64) uint32 { return Bucket(device, uint32(key)) }
	if l.wide {
		mask, hash = mask|mask<<32, func(key uint64) uint32 { return Bucket(device, key) }
	}
	if table.InShaders().Constants()["SLAB_SHARED"] != 0 {
		return r.checkGroups(device, l, mask, hash, p, reachable, expect)
	}
	base := r.words(device.Base, int(device.Buckets)*(slabWords+1))
	tails := base[device.Buckets*slabWords:]
	for bucket := range device.Buckets {
		decode := func(stored uint64) (key uint64, err error) {
			key = stored
			if bucket == device.SpecialOnes || bucket == device.SpecialZero {
				key ^= mask
			}
			if h := hash(key); h != bucket {
				err = fmt.Errorf("key %#x belongs to bucket %d", key, h)
			}
			return key, err
		}
		here, err := p.follow(base[bucket*slabWords:(bucket+1)*slabWords], tails[bucket], l, reachable, expect, decode)
		if err != nil {
			return nil, fmt.Errorf("bucket %d of %d: %w", bucket, device.Buckets, err)
		}
		pairs = append(pairs, here...)
	}
	return pairs, nil
}

// enter returns the words of a slab that a list refers to.
func (p *pool) enter(ref uint32, reachable map[uint32]bool) ([]uint32, error) {
	slab := p.slab(ref)
	switch {
	case slab == nil:
		return nil, fmt.Errorf("reference to %#x, which is no slab", ref)
	case !p.allocated(ref):
		return nil, fmt.Errorf("reference to %#x, which is free", ref)
	case reachable[ref]:
		return nil, fmt.Errorf("reference to %#x, which is in another list too, or in a circle", ref)
	}
	reachable[ref] = true
	return slab, nil
}

// read reads a slab's slots and returns how many are in use. each gets the keys that are there, as they are stored.
func (l layout) read(slab []uint32, expect Expect, each func(slot int, key, value uint64) error) (used int, err error) {
	for slot := range l.slots() {
		if err := l.checkAux(slab, slot); err != nil {
			return 0, err
		}
		key, value := l.slot(slab, slot)
		free := key == l.ones()
		switch {
		case free && value != l.ones():
			return 0, fmt.Errorf("free slot %d has the value %#x", slot, value)
		case free:
			continue
		case used < slot:
			return 0, fmt.Errorf("slot %d is in use, behind a free one", slot)
		}
		used++
		if key == tombstone {
			if expect.Compact {
				return 0, fmt.Errorf("slot %d has a tombstone", slot)
			}
			continue
		}
		if l.keys {
			value = 0
		}
		if err := each(slot, key, value); err != nil {
			return 0, err
		}
	}
	return used, nil
}

// gather reads slabs one after the other, and collects their pairs.
type gather struct {
	l      layout
	expect Expect
	keys   map[uint64]bool
	pairs  []Pair
}

// slab reads one, with what decodes its keys.
func (g *gather) slab(slab []uint32, decode func(stored uint64) (key uint64, err error)) (used int, err error) {
	return g.l.read(slab, g.expect, func(slot int, key, value uint64) error {
		key, err := decode(key)
		if err != nil {
			return fmt.Errorf("slot %d: %w", slot, err)
		}
		if g.keys[key] && !g.expect.Duplicates {
			return fmt.Errorf("slot %d: key %#x is there twice", slot, key)
		}
		g.keys[key] = true
		g.pairs = append(g.pairs, Pair{key, value})
		return nil
	})
}

// follow reads one list, from its first slab on. tail is its tail word.
func (p *pool) follow(slab []uint32, tail uint32, l layout, reachable map[uint32]bool, expect Expect,
	decode func(stored uint64) (key uint64, err error)) (pairs []Pair, err error) {
	g := gather{l: l, expect: expect, keys: map[uint64]bool{}}
	err = p.followInto(&g, slab, tail, reachable, decode)
	return g.pairs, err
}

func (p *pool) followInto(g *gather, slab []uint32, tail uint32, reachable map[uint32]bool,
	decode func(stored uint64) (key uint64, err error)) error {
	full := true          // all slabs so far
	known := tail == null // whether the slab that the tail refers to was met
	for n := 0; ; n++ {
		used, err := g.slab(slab, decode)
		switch {
		case err != nil:
			return fmt.Errorf("slab %d: %w", n, err)
		case used != 0 && !full:
			return fmt.Errorf("slab %d has a slot in use, behind a free one", n)
		case n > 0 && used == 0 && g.expect.Compact:
			return fmt.Errorf("slab %d has nothing in it", n)
		}
		next := slab[nextWord]
		if next == null {
			if !known {
				return fmt.Errorf("the tail refers to %#x, which is not in the list", tail)
			}
			return nil
		}
		full = full && used == g.l.slots()
		if !full && g.expect.Compact {
			return fmt.Errorf("slab %d has %d slots in use, and another slab behind it", n, used)
		}
		if next == tail {
			if known = true; !full {
				return fmt.Errorf("the tail refers to slab %d, but one before it has a free slot", n+1)
			}
		}
		if slab, err = p.enter(next, reachable); err != nil {
			return fmt.Errorf("slab %d: %w", n, err)
		}
	}
}

// listMask is what keys are xored with in the first of a list's two chains (slab_list.glsl).
const listMask = 0x9d2c5680

// Lists reads lists of slab_list.glsl, the only users of a pool, two words each, and fails the test where they break a
// rule: those of Check, of chains instead of buckets. wide: keys and values have 64 bits; keys: there are no values. It
// returns the pairs of each, those of the first chain first.
func Lists(t testing.TB, d *vk.Device, expect Expect, of *alloc.SlabPool, lists []uint32, wide, keys bool) [][]Pair {
	t.Helper()
	r := newReader(t, d)
	defer r.close()
	p, l := r.pool(of.Description(), of.Constants()), layout{wide, keys, d.Has(vk.Int64Atomics)}
	mask := uint64(listMask)
	if wide {
		mask |= mask << 32
	}
	seen := map[uint32]bool{}
	all := make([][]Pair, len(lists)/2)
	for i, first := range lists {
		if first == null {
			continue
		}
		decode := func(stored uint64) (key uint64, err error) {
			if key = stored; i%2 == 0 {
				return key ^ mask, nil
			}
			if key != mask && key != mask^l.ones() {
				err = fmt.Errorf("key %#x belongs to the first chain", key)
			}
			return key, err
		}
		slab, err := p.enter(first, seen)
		require.NoError(t, err, "chain %d of list %d", i%2, i/2)
		pairs, err := p.follow(slab, null, l, seen, expect, decode)
		require.NoError(t, err, "chain %d of list %d", i%2, i/2)
		all[i/2] = append(all[i/2], pairs...)
	}
	require.NoError(t, p.checkFree(seen))
	return all
}

// Slabs returns how many slabs of a pool are allocated, by its bitmaps.
func Slabs(t testing.TB, d *vk.Device, table Table) int {
	t.Helper()
	r := newReader(t, d)
	defer r.close()
	n := 0
	for _, bitmaps := range r.pool(table.InShaders().Description().Pool, table.InShaders().Constants()).bitmaps {
		for _, w := range bitmaps {
			n += bits.OnesCount32(w)
		}
	}
	return n
}
