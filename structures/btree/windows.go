package btree

import "github.com/vkds/vkds/structures"

// windows are where the operations of a batch that ask for order put their pairs on the device: those that have any,
// one window after the other, each with room for so many pairs.
type windows struct {
	any     bool // there are such operations, though counts need no window
	lists   bool // there are ranges among them
	width   int
	numbers []uint32 // of each operation, its own window's or the next one's
	all     uint32   // windows
}

// windowsOf lays out the windows of a batch, whose ranges list so many pairs.
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

// number is that of the first window from an operation on.
func (w windows) number(i int) uint32 {
	if i < len(w.numbers) {
		return w.numbers[i]
	}
	return w.all
}

// fit is the end of the operations from first on, up to end, whose windows have room for no more than so many pairs
// together; one of them at least.
func (w windows) fit(first, end, pairs int) int {
	most := uint64(w.number(first)) + uint64(max(1, pairs/w.width))
	for end > first+1 && uint64(w.number(end)) > most {
		end--
	}
	return end
}

// part are the windows of some of the operations, numbered from 0 on.
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
