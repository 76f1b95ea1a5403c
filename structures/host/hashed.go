package host

import (
	"context"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
)

// parts is the number of Go maps of a hash table: enough that all cores have work, and that the pairs of one stay in a
// core's cache while a batch is worked through part by part.
const parts = 256

// hashed is a hash table: Go maps, each of a part of the keys. Goroutines may change different parts at a time.
type hashed struct {
	maps [parts]map[uint64]uint64
	most [parts]int // pairs that the map had before a removal
}

// part returns the part of a key, by other bits of a hash than Go's maps use.
func part(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> 56) }

func (h *hashed) get(key uint64) (value uint64, there bool) {
	value, there = h.maps[part(key)][key]
	return value, there
}

func (h *hashed) set(key, value uint64) {
	p := part(key)
	if h.maps[p] == nil {
		h.maps[p] = map[uint64]uint64{}
	}
	h.maps[p][key] = value
}

// few is the number of pairs whose memory doesn't matter.
const few = 64

// remove removes a key. A Go map never shrinks, so the pairs of one that has lost most of them move to a new one.
func (h *hashed) remove(key uint64) {
	p := part(key)
	m := h.maps[p]
	h.most[p] = max(h.most[p], len(m))
	delete(m, key)
	if len(m)+few < h.most[p]/4 {
		smaller := make(map[uint64]uint64, len(m))
		maps.Copy(smaller, m)
		h.maps[p], h.most[p] = smaller, len(m)
	}
}

func (h *hashed) len() (n int) {
	for _, m := range h.maps {
		n += len(m)
	}
	return n
}

// keys returns all keys, in no particular order.
func (h *hashed) keys() []uint64 {
	all := make([]uint64, 0, h.len())
	for _, m := range h.maps {
		for key := range m {
			all = append(all, key)
		}
	}
	return all
}

// byAllCores calls do with the numbers from 0 to n-1, on as many goroutines as there are cores.
func byAllCores(n int, do func(i int)) {
	var next atomic.Int64
	if n == 1 {
		do(0)
		return
	}
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	all.Wait()
}

// piece is how many operations are put in the order of their parts at a time.
const piece = 1 << 20

// updateParts is update of a hash table by all cores: each works through the operations of one part at a time, so
// operations on one key keep their order.
func (c *core) updateParts(ctx context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	var o operations
	for begin := 0; begin < len(keys); begin += piece {
		end := min(begin+piece, len(keys))
		begins := o.divide(kind.Inserts(), keys, values, begin, end)
		var left atomic.Int64
		byAllCores(parts, func(p int) {
			first, last := begins[p], begins[p+1]
			for n, key := range o.keys[first:last] {
				if n%often == 0 && ctx.Err() != nil {
					left.Add(int64(last - first - n))
					return
				}
				done, _ := c.do(kind, key, o.values[first+n])
				if status != nil {
					status[begin+int(o.order[first+n])] = done
				}
			}
		})
		if n := int(left.Load()) + len(keys) - end; ctx.Err() != nil && n > 0 {
			return &structures.PendingError{Operations: n, Err: context.Cause(ctx)}
		}
	}
	return nil
}

// operations are updates in the order of their parts. They are copied, because those of a part are far apart.
type operations struct {
	keys, values []uint64
	order        []uint32 // where they were
}

// divide takes the operations from begin to end, and returns where each part begins, and where the last one ends.
func (o *operations) divide(inserts bool, keys, values []uint64, begin, end int) (begins []int) {
	n := end - begin
	if len(o.keys) < n {
		*o = operations{make([]uint64, n), make([]uint64, n), make([]uint32, n)}
	}
	return threads.Divide(n, parts, func(i int) int { return part(keys[begin+i]) }, func(i, to int) {
		o.keys[to], o.order[to] = keys[begin+i], uint32(i)
		if inserts {
			o.values[to] = values[begin+i]
		}
	})
}
