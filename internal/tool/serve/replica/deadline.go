package replica

import "github.com/tidwall/btree"

// deadlines has the times after which keys are deleted.
type deadlines struct {
	of  *btree.Map[uint64, int64] // by key
	due *btree.BTreeG[due]        // the same in the order of their times
}

type due struct {
	at  int64
	key uint64
}

func newDeadlines() deadlines {
	return deadlines{new(btree.Map[uint64, int64]), btree.NewBTreeGOptions(func(a, b due) bool {
		return a.at < b.at || a.at == b.at && a.key < b.key
	}, btree.Options{NoLocks: true})}
}

// set sets the deadline of a key; 0: it has none.
func (d deadlines) set(key uint64, at int64) {
	if before, had := d.of.Delete(key); had {
		d.due.Delete(due{before, key})
	}
	if at != 0 {
		d.of.Set(key, at)
		d.due.Set(due{at, key})
	}
}

// get returns the deadline of a key, or 0.
func (d deadlines) get(key uint64) int64 {
	at, _ := d.of.Get(key)
	return at
}

// first returns the earliest deadline, or 0.
func (d deadlines) first() int64 {
	first, _ := d.due.Min()
	return first.at
}

// passed calls f with keys whose deadlines have passed, the earliest first and at most so many.
func (d deadlines) passed(now int64, most int, f func(key uint64)) {
	d.due.Scan(func(x due) bool {
		if x.at > now || most == 0 {
			return false
		}
		f(x.key)
		most--
		return true
	})
}
