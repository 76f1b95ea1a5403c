package ordered

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/vkds/vkds/structures"
)

// disjoint are ranges without what overlaps: pieces in key order, each of the first of those ranges that have its keys.
func disjoint(ranges []structures.Range) pieces {
	d := sweep{ranges: ranges, all: pieces{}}
	for i, r := range ranges {
		if r.Lo <= r.Hi {
			d.waiting = append(d.waiting, i)
		}
	}
	slices.SortFunc(d.waiting, func(a, b int) int {
		return cmp.Or(cmp.Compare(ranges[a].Lo, ranges[b].Lo), cmp.Compare(a, b))
	})
	for d.begin() {
		first := d.open[0]
		end := d.until(first)
		d.all.add(structures.Range{Lo: uint32(d.at), Hi: uint32(end)}, first, 0)
		d.at = end + 1
	}
	return d.all
}

// sweep goes over the keys from the least one on.
type sweep struct {
	ranges  []structures.Range
	waiting []int  // ranges that begin later, in their order
	open    firsts // those that have begun
	at      uint64 // the next key
	all     pieces
}

// begin goes on to the next key of any range, and opens those that have it. False: there is none.
func (d *sweep) begin() bool {
	d.enter(d.at)
	for len(d.open) != 0 && uint64(d.ranges[d.open[0]].Hi) < d.at {
		heap.Pop(&d.open)
	}
	if len(d.open) != 0 {
		return true
	}
	if len(d.waiting) == 0 {
		return false
	}
	d.at = uint64(d.ranges[d.waiting[0]].Lo)
	d.enter(d.at)
	return true
}

// enter opens the ranges that begin up to a key.
func (d *sweep) enter(key uint64) {
	for len(d.waiting) != 0 && uint64(d.ranges[d.waiting[0]].Lo) <= key {
		heap.Push(&d.open, d.waiting[0])
		d.waiting = d.waiting[1:]
	}
}

// until is the last key of a range before one begins that comes before it in the batch.
func (d *sweep) until(first int) uint64 {
	end := uint64(d.ranges[first].Hi)
	for len(d.waiting) != 0 && uint64(d.ranges[d.waiting[0]].Lo) <= end {
		if next := d.waiting[0]; next < first {
			return uint64(d.ranges[next].Lo) - 1
		}
		d.enter(uint64(d.ranges[d.waiting[0]].Lo))
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
