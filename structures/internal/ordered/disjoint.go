package ordered

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/vkds/vkds/structures"
)

// disjoint are ranges without what overlaps: pieces in key order, each of the first of those ranges that have its keys.
func disjoint[W structures.Word](ranges []structures.Range[W]) pieces[W] {
	d := sweep[W]{ranges: ranges}
	for i, r := range ranges {
		if r.Lo <= r.Hi {
			d.waiting = append(d.waiting, begins[W]{r.Lo, i})
		}
	}
	sortBegins(d.waiting)
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
		d.all.add(structures.Range[W]{Lo: d.at, Hi: end}, first, 0)
		d.behind(end)
	}
	return d.all
}

// sweep goes over the keys from the least one on.
type sweep[W structures.Word] struct {
	ranges  []structures.Range[W]
	waiting []begins[W] // ranges that begin later, in their order
	open    firsts      // those that have begun
	at      W           // the next key
	done    bool        // there is none
	all     pieces[W]
}

// begins is where a range begins, and which it is.
type begins[W structures.Word] struct {
	key W
	of  int
}

// sortBegins sorts by first keys, and of equal ones by the order of the batch. Numbers of which a key is a half are
// sorted several times as fast as these structs.
func sortBegins[W structures.Word](all []begins[W]) {
	if structures.WidthOf[W]() == structures.Bits64 {
		slices.SortFunc(all, func(a, b begins[W]) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.of, b.of))
		})
		return
	}
	packed := make([]uint64, len(all))
	for i, b := range all {
		packed[i] = uint64(b.key)<<32 | uint64(b.of)
	}
	slices.Sort(packed)
	for i, p := range packed {
		all[i] = begins[W]{W(p >> 32), int(uint32(p))}
	}
}

// behind goes on behind a key.
func (d *sweep[W]) behind(key W) { d.at, d.done = key+1, key == ^W(0) }

// apart takes the next range as it is, if no other one has any of its keys, which is usual.
func (d *sweep[W]) apart() bool {
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

// close lets go of ranges that have ended.
func (d *sweep[W]) close() {
	for len(d.open) != 0 && d.ranges[d.open[0]].Hi < d.at {
		heap.Pop(&d.open)
	}
}

// begin goes on to the next key of any range, and opens those that have it. False: there is none.
func (d *sweep[W]) begin() bool {
	if len(d.open) == 0 {
		if len(d.waiting) == 0 {
			return false
		}
		d.at = d.waiting[0].key
	}
	d.enter(d.at)
	return true
}

// enter opens the ranges that begin up to a key.
func (d *sweep[W]) enter(key W) {
	for len(d.waiting) != 0 && d.waiting[0].key <= key {
		heap.Push(&d.open, d.waiting[0].of)
		d.waiting = d.waiting[1:]
	}
}

// until is the last key of a range before one begins that comes before it in the batch.
func (d *sweep[W]) until(first int) W {
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
