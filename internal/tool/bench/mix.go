package bench

import "github.com/vkds/vkds/structures"

// Mix is a distribution of operations over one batch, as Γ = (a, b, c, d) of section VI-C of Ashkiani et al.,
// "A Dynamic Hash Table for the GPU": the shares of insertions of new keys, deletions of keys that are there,
// searches for keys that are there, and searches for keys that are not.
type Mix struct{ Insert, Delete, Find, FindAbsent float64 }

// The mixes of that section.
var (
	Gamma0 = Mix{0.5, 0.5, 0, 0}
	Gamma1 = Mix{0.2, 0.2, 0.3, 0.3}
	Gamma2 = Mix{0.1, 0.1, 0.4, 0.4}
)

// mixer deals out operations of a mix, n at most, over a table of the keys of indices 0 … n-1. No key comes twice, so
// that the result of each operation is known whatever the order.
type mixer struct {
	keys                  keySpace
	n                     int   // keys in the table
	inserts, deletes, hit int   // operations of each sort; the rest are searches for absent keys
	deal                  order // which sort of operation stands at a place of the batch
	pick                  order // which of the table's keys the deletions and searches take
}

func newMixer(keys keySpace, n, operations int, m Mix) mixer {
	x := mixer{keys: keys, n: n, deal: newOrder(operations, 0x6d69786572), pick: newOrder(n, 0x7069636b)}
	// Rounded so that the shares of all sorts up to each add up right.
	upTo := func(share float64) int { return min(operations, int(share*float64(operations)+0.5)) }
	x.inserts = upTo(m.Insert)
	x.deletes = upTo(m.Insert+m.Delete) - x.inserts
	x.hit = upTo(m.Insert+m.Delete+m.Find) - x.inserts - x.deletes
	return x
}

// operation is one operation of a batch and what must come of it.
type operation struct {
	kind   structures.Kind
	key    uint32
	status structures.Status
}

func (x mixer) at(i int) operation {
	j := x.deal.at(i)
	switch {
	case j < x.inserts:
		return operation{structures.Insert, x.keys.key(x.n + j), structures.Inserted}
	case j < x.inserts+x.deletes:
		return operation{structures.Delete, x.keys.key(x.pick.at(j - x.inserts)), structures.Deleted}
	case j < x.inserts+x.deletes+x.hit:
		return operation{structures.Find, x.keys.key(x.pick.at(j - x.inserts)), structures.Found}
	}
	return operation{structures.Find, x.keys.key(x.n + j), structures.Absent}
}
