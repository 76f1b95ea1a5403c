package btree

import "github.com/vkds/vkds/structures"

// windows are where the ordered queries of a batch write their pairs on the device: one window after the other, each
// with room for width pairs.
type windows struct {
	any     bool // there are ordered queries; counts need no window
	lists   bool // some of them list ranges
	width   int
	numbers []uint32 // for each operation, the number of its window, or of the next one
	all     uint32   // the number of windows
}

// windowsOf lays out the windows of a batch whose ranges list up to width pairs.
func windowsOf(kinds []structures.Kind, width int) windows {
	w := windows{width: 1}
	for _, k := range kinds {
		w.any = w.any || k.Ordered()
		w.lists = w.lists || k == structures.FindRange
	}
	if w.lists {
		w.width = width
	}
	if !w.any {
		return w
	}
	w.numbers = make([]uint32, len(kinds))
	for i, k := range kinds {
		w.numbers[i] = w.all
		if k.Ordered() && k != structures.CountRange {
			w.all++
		}
	}
	return w
}

func (w windows) count() int { return int(w.all) }

// number returns the number of the first window at or after an operation.
func (w windows) number(i int) uint32 {
	if i < len(w.numbers) {
		return w.numbers[i]
	}
	return w.all
}

// fit returns the end of the operations from first, at most end, whose windows have room for at most pairs pairs
// together. There is at least one operation.
func (w windows) fit(first, end, pairs int) int {
	most := uint64(w.number(first)) + uint64(max(1, pairs/w.width))
	for end > first+1 && uint64(w.number(end)) > most {
		end--
	}
	return end
}

// part returns the windows of some of the operations, numbered from 0.
func (w windows) part(first, end int) windows {
	if !w.any {
		return w
	}
	begin := w.number(first)
	p := w
	p.all, p.numbers = w.number(end)-begin, make([]uint32, end-first)
	for i := range p.numbers {
		p.numbers[i] = w.numbers[first+i] - begin
	}
	return p
}
