package main

import (
	"sync"

	google "github.com/google/btree"
	tidwall "github.com/tidwall/btree"
	"github.com/vkds/vkds/internal/tool/bench"
)

// trees are the B-trees that Go programs use, with a lock that makes them fit for several goroutines.
func trees() []bench.Peer { return []bench.Peer{tidwallTree(), googleTree()} }

func tidwallTree() bench.Peer {
	var lock sync.RWMutex
	var t tidwall.Map[uint32, uint32]
	return bench.Peer{
		Name:  "tidwall/btree",
		Reset: func(int) { t = tidwall.Map[uint32, uint32]{} },
		Insert: func(keys, values []uint32) {
			for i, k := range keys {
				lock.Lock()
				t.Set(k, values[i])
				lock.Unlock()
			}
		},
		Find: func(keys, values []uint32) {
			for i, k := range keys {
				lock.RLock()
				values[i], _ = t.Get(k)
				lock.RUnlock()
			}
		},
		Range: func(lo, hi uint32, each func(uint32)) {
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

func googleTree() bench.Peer {
	const degree = 32
	type pair struct{ key, value uint32 }
	var lock sync.RWMutex
	var t *google.BTreeG[pair]
	return bench.Peer{
		Name:  "google/btree",
		Reset: func(int) { t = google.NewG(degree, func(a, b pair) bool { return a.key < b.key }) },
		Insert: func(keys, values []uint32) {
			for i, k := range keys {
				lock.Lock()
				t.ReplaceOrInsert(pair{k, values[i]})
				lock.Unlock()
			}
		},
		Find: func(keys, values []uint32) {
			for i, k := range keys {
				lock.RLock()
				p, _ := t.Get(pair{key: k})
				lock.RUnlock()
				values[i] = p.value
			}
		},
		Range: func(lo, hi uint32, each func(uint32)) {
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
