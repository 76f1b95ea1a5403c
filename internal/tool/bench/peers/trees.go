package main

import (
	"sync"

	google "github.com/google/btree"
	tidwall "github.com/tidwall/btree"
)

// trees are B-trees that Go programs use, with a lock, so that several goroutines may use one.
func trees() []peer { return []peer{tidwallTree(), googleTree()} }

func tidwallTree() peer {
	var lock sync.RWMutex
	var t tidwall.Map[uint32, uint32]
	return peer{
		name:  "tidwall/btree",
		reset: func(int) { t = tidwall.Map[uint32, uint32]{} },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				lock.Lock()
				t.Set(k, values[i])
				lock.Unlock()
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				lock.RLock()
				values[i], _ = t.Get(k)
				lock.RUnlock()
			}
		},
		rangeQuery: func(lo, hi uint32, each func(uint32)) {
			lock.RLock()
			defer lock.RUnlock()
			t.Ascend(lo, func(k, v uint32) bool {
				if k <= hi {
					each(v)
				}
				return k < hi
			})
		},
	}
}

func googleTree() peer {
	const degree = 32
	type pair struct{ key, value uint32 }
	var lock sync.RWMutex
	var t *google.BTreeG[pair]
	return peer{
		name:  "google/btree",
		reset: func(int) { t = google.NewG(degree, func(a, b pair) bool { return a.key < b.key }) },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				lock.Lock()
				t.ReplaceOrInsert(pair{k, values[i]})
				lock.Unlock()
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				lock.RLock()
				p, _ := t.Get(pair{key: k})
				lock.RUnlock()
				values[i] = p.value
			}
		},
		rangeQuery: func(lo, hi uint32, each func(uint32)) {
			lock.RLock()
			defer lock.RUnlock()
			t.AscendGreaterOrEqual(pair{key: lo}, func(p pair) bool {
				if p.key <= hi {
					each(p.value)
				}
				return p.key < hi
			})
		},
	}
}
