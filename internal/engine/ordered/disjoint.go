package ordered

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/vkds/vkds/structures"
)

// disjoint divides ranges into pieces that do not overlap, in key order. A piece belongs to the first range of the
// batch that has its keys.
func disjoint(ranges []structures.Range[uint64], w structures.Width) pieces {
	d := sweep{ranges: ranges, last: LastKey(w)}
	for i, r := range ranges {
		if r.Lo <= r.Hi {
			d.waiting = append(d.waiting, begins{r.Lo, i})
		}
	}
	sortBegins(d.waiting, w)
	for !d.done {
		d.close()
		if d.apart() {
			continue
		}
		if !d.begin() {
			break
		}
		first := d.open[0]
		end := d.until(first)
		d.all.add(structures.Range[uint64]{Lo: d.at, Hi: end}, first, 0)
		d.behind(end)
	}
	return d.all
}

// sweep goes over the keys in ascending order.
type sweep struct {
	ranges  []structures.Range[uint64]
	waiting []begins // ranges that begin later, in order
	open    firsts   // ranges that have begun
	at      uint64   // the next key
	last    uint64   // the greatest key of the width
	done    bool     // there is no next key
	all     pieces
}

// begins is the first key of a range, and the range's index.
type begins struct {
	key uint64
	of  int
}

// sortBegins sorts by first keys, and equal ones by the order of the batch. A 32-bit key and an index are packed into
// one number, because numbers sort several times as fast as these structs.
func sortBegins(all []begins, w structures.Width) {
	if w == structures.Bits64 {
		slices.SortFunc(all, func(a, b begins) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.of, b.of))
		})
		return
	}
	packed := make([]uint64, len(all))
	for i, b := range all {
		packed[i] = b.key<<32 | uint64(b.of)
	}
	slices.Sort(packed)
	for i, p := range packed {
		all[i] = begins{p >> 32, int(uint32(p))}
	}
}

// behind moves on to the key after the given one.
func (d *sweep) behind(key uint64) { d.at, d.done = key+1, key == d.last }

// LastKey returns the greatest key of a width.
func LastKey(w structures.Width) uint64 { return math.MaxUint64 >> (64 - w.Bits()) }

// apart adds the next range as a whole if no other range overlaps it, which is the usual case.
func (d *sweep) apart() bool {
	if len(d.open) != 0 || len(d.waiting) == 0 {
		return false
	}
	next := d.waiting[0].of
	r := d.ranges[next]
	if len(d.waiting) > 1 && d.waiting[1].key <= r.Hi {
		return false
	}
	d.all.add(r, next, 0)
	d.waiting = d.waiting[1:]
	d.behind(r.Hi)
	return true
}

// close removes ranges that have ended.
func (d *sweep) close() {
	for len(d.open) != 0 && d.ranges[d.open[0]].Hi < d.at {
		heap.Pop(&d.open)
	}
}

// begin moves on to the next key of any range, and opens the ranges that have it. It returns false if there is none.
func (d *sweep) begin() bool {
	if len(d.open) == 0 {
		if len(d.waiting) == 0 {
			return false
		}
		d.at = d.waiting[0].key
	}
	d.enter(d.at)
	return true
}

// enter opens the ranges that begin at or before a key.
func (d *sweep) enter(key uint64) {
	for len(d.waiting) != 0 && d.waiting[0].key <= key {
		heap.Push(&d.open, d.waiting[0].of)
		d.waiting = d.waiting[1:]
	}
}

// until returns the end of the next piece: the last key of a range, or the key before the next range that comes earlier
// in the batch.
func (d *sweep) until(first int) uint64 {
	end := d.ranges[first].Hi
	for len(d.waiting) != 0 && d.waiting[0].key <= end {
		next := d.waiting[0]
		if next.of < first {
			return next.key - 1
		}
		d.enter(next.key)
	}
	return end
}

// firsts is a heap of the indices of ranges.
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
