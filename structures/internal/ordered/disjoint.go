package ordered

import (
	"container/heap"
	"slices"

	"github.com/vkds/vkds/structures"
)

// disjoint are ranges without what overlaps: pieces in key order, each of the first of those ranges that have its keys.
func disjoint(ranges []structures.Range) pieces {
	d := sweep{ranges: ranges}
	for i, r := range ranges {
		if r.Lo <= r.Hi {
			d.waiting = append(d.waiting, begins(uint64(r.Lo)<<32|uint64(i)))
		}
	}
	slices.Sort(d.waiting)
	for {
		d.close()
		if d.apart() {
			continue
		}
		if !d.begin() {
			return d.all
		}
		first := d.open[0]
		end := d.until(first)
		d.all.add(structures.Range{Lo: uint32(d.at), Hi: uint32(end)}, first, 0)
		d.at = end + 1
	}
}

// sweep goes over the keys from the least one on.
type sweep struct {
	ranges  []structures.Range
	waiting []begins // ranges that begin later, in their order
	open    firsts   // those that have begun
	at      uint64   // the next key
	all     pieces
}

// begins is where a range begins, and which it is: in the order of first keys, and of the batch.
type begins uint64

func (b begins) key() uint32 { return uint32(b >> 32) }
func (b begins) of() int     { return int(uint32(b)) }

// apart takes the next range as it is, if no other one has any of its keys, which is usual.
func (d *sweep) apart() bool {
	if len(d.open) != 0 || len(d.waiting) == 0 {
		return false
	}
	next := d.waiting[0].of()
	r := d.ranges[next]
	if len(d.waiting) > 1 && d.waiting[1].key() <= r.Hi {
		return false
	}
	d.all.add(r, next, 0)
	d.waiting, d.at = d.waiting[1:], uint64(r.Hi)+1
	return true
}

// close lets go of ranges that have ended.
func (d *sweep) close() {
	for len(d.open) != 0 && uint64(d.ranges[d.open[0]].Hi) < d.at {
		heap.Pop(&d.open)
	}
}

// begin goes on to the next key of any range, and opens those that have it. False: there is none.
func (d *sweep) begin() bool {
	if len(d.open) == 0 {
		if len(d.waiting) == 0 {
			return false
		}
		d.at = uint64(d.waiting[0].key())
	}
	d.enter(d.at)
	return true
}

// enter opens the ranges that begin up to a key.
func (d *sweep) enter(key uint64) {
	for len(d.waiting) != 0 && uint64(d.waiting[0].key()) <= key {
		heap.Push(&d.open, d.waiting[0].of())
		d.waiting = d.waiting[1:]
	}
}

// until is the last key of a range before one begins that comes before it in the batch.
func (d *sweep) until(first int) uint64 {
	end := uint64(d.ranges[first].Hi)
	for len(d.waiting) != 0 && uint64(d.waiting[0].key()) <= end {
		next := d.waiting[0]
		if next.of() < first {
			return uint64(next.key()) - 1
		}
		d.enter(uint64(next.key()))
	}
	return end
}

// firsts is a heap of the numbers of ranges.
type firsts []int

func (f firsts) Len() int           { return len(f) }
func (f firsts) Less(i, j int) bool { return f[i] < f[j] }
func (f firsts) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *firsts) Push(n any)        { *f = append(*f, n.(int)) }
func (f *firsts) Pop() any {
	last := len(*f) - 1
	n := (*f)[last]
	*f = (*f)[:last]
	return n
}
