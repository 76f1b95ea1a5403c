package main

import (
	"sync"

	google "github.com/google/btree"
	tidwall "github.com/tidwall/btree"
)

// trees are B-trees that Go programs use, with a lock, so that several goroutines may use one.
func trees() []peer {
	const degree = 32
	type pair struct{ key, value uint32 }
	var t tidwall.Map[uint32, uint32]
	var g *google.BTreeG[pair]
	return []peer{
		locked("tidwall/btree", func() { t = tidwall.Map[uint32, uint32]{} },
			func(k, v uint32) { t.Set(k, v) },
			func(k uint32) uint32 { v, _ := t.Get(k); return v },
			func(lo uint32, each func(k, v uint32) bool) { t.Ascend(lo, each) }),
		locked("google/btree", func() { g = google.NewG(degree, func(a, b pair) bool { return a.key < b.key }) },
			func(k, v uint32) { g.ReplaceOrInsert(pair{k, v}) },
			func(k uint32) uint32 { p, _ := g.Get(pair{key: k}); return p.value },
			func(lo uint32, each func(k, v uint32) bool) {
				g.AscendGreaterOrEqual(pair{key: lo}, func(p pair) bool { return each(p.key, p.value) })
			}),
	}
}

// locked is a tree behind a lock.
func locked(name string, reset func(), set func(k, v uint32), get func(k uint32) uint32,
	ascend func(lo uint32, each func(k, v uint32) bool)) peer {
	var lock sync.RWMutex
	return peer{
		name:  name,
		reset: func(int) { reset() },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				lock.Lock()
				set(k, values[i])
				lock.Unlock()
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				lock.RLock()
				values[i] = get(k)
				lock.RUnlock()
			}
		},
		rangeQuery: func(lo, hi uint32, each func(uint32)) {
			lock.RLock()
			defer lock.RUnlock()
			ascend(lo, func(k, v uint32) bool {
				if k <= hi {
					each(v)
				}
				return k < hi
			})
		},
	}
}
