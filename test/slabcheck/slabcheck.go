// Package slabcheck reads slab hashes back from the device as they lie in memory, and checks what must hold of them
// between dispatches. It knows the layout from the papers and the headers' comments, not from the code it checks.
package slabcheck

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

const (
	slabWords = 32
	slabBytes = 4 * slabWords
	auxWord   = 30
	nextWord  = 31
	null      = ^uint32(0) // no slab
	empty     = ^uint32(0) // states of a slot
	tombstone = 0

	supersAt    = 64 // byte offset in a pool's table of the first super block's addresses
	blockSlabs  = 1024
	bitmapWords = blockSlabs / 32
)

// Table is a *slabhash.Map or a *slabhash.Set.
type Table interface {
	Device() slabhash.Device
	Constants() map[string]uint32
}

// Pair is a pair of a table; of a set, the value is 0.
type Pair struct{ Key, Value uint32 }

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
	m, err := shaders.Load("test/words")
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

func (r *reader) pool(table Table) *pool {
	device := table.Device().Pool
	p := &pool{shift: int(table.Constants()["POOL_SUPER_SHIFT"])}
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
func Bucket(d slabhash.Device, key uint32) uint32 {
	x := key ^ d.Seed
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0xd35a2d97
	x ^= x >> 15
	return uint32(uint64(x) * uint64(d.Buckets) >> 32)
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
	p := r.pool(tables[0])
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

// check follows the lists of one table.
func (r *reader) check(table Table, p *pool, reachable map[uint32]bool, expect Expect) ([]Pair, error) {
	device := table.Device()
	set := false
	if _, ok := table.(*slabhash.Set); ok {
		set = true
	}
	settles := !set && !r.d.Has(vk.Int64Atomics)
	slots, width := 15, 2
	if set {
		slots, width = 30, 1
	}
	base := r.words(device.Base, int(device.Buckets)*slabWords)
	var pairs []Pair
	for bucket := range device.Buckets {
		fail := func(format string, args ...any) ([]Pair, error) {
			return nil, fmt.Errorf("bucket %d of %d: %s", bucket, device.Buckets, fmt.Sprintf(format, args...))
		}
		keys := map[uint32]bool{}
		slab := base[bucket*slabWords : (bucket+1)*slabWords]
		ended := false // a free slot was met
		for n := 0; ; n++ {
			used := 0
			for slot := range slots {
				key, value := slab[slot*width], uint32(0)
				if !set {
					value = slab[slot*2+1]
				}
				free := key == empty
				if free && !set && value != empty {
					return fail("slab %d: free slot %d has the value %#x", n, slot, value)
				}
				if free != (slab[auxWord]>>slot&1 != 0) && settles {
					return fail("slab %d: auxiliary word %#x, but slot %d is free: %v", n, slab[auxWord], slot, free)
				}
				if free {
					ended = true
					continue
				}
				if ended {
					return fail("slab %d: slot %d is in use, behind a free one", n, slot)
				}
				used++
				if key == tombstone {
					if expect.Compact {
						return fail("slab %d: slot %d has a tombstone", n, slot)
					}
					continue
				}
				if bucket == device.SpecialOnes || bucket == device.SpecialZero {
					key ^= device.Mask
				}
				if h := Bucket(device, key); h != bucket {
					return fail("slab %d, slot %d: key %#x belongs to bucket %d", n, slot, key, h)
				}
				if keys[key] && !expect.Duplicates {
					return fail("slab %d, slot %d: key %#x is there twice", n, slot, key)
				}
				keys[key] = true
				pairs = append(pairs, Pair{key, value})
			}
			if n > 0 && used == 0 && expect.Compact {
				return fail("slab %d has nothing in it", n)
			}
			next := slab[nextWord]
			if next == null {
				break
			}
			if used < slots && expect.Compact {
				return fail("slab %d has %d slots in use, and another slab behind it", n, used)
			}
			if slab = p.slab(next); slab == nil {
				return fail("slab %d refers to %#x, which is no slab", n, next)
			}
			if !p.allocated(next) {
				return fail("slab %d refers to %#x, which is free", n, next)
			}
			if reachable[next] {
				return fail("slab %d refers to %#x, which is in another list too, or in a circle", n, next)
			}
			reachable[next] = true
		}
	}
	return pairs, nil
}

// Slabs returns how many slabs of a pool are allocated, by its bitmaps.
func Slabs(t testing.TB, d *vk.Device, table Table) int {
	t.Helper()
	r := newReader(t, d)
	defer r.close()
	n := 0
	for _, bitmaps := range r.pool(table).bitmaps {
		for _, w := range bitmaps {
			n += bits.OnesCount32(w)
		}
	}
	return n
}
