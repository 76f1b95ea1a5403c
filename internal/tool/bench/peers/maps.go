package main

import (
	"github.com/puzpuzpuz/xsync/v4"
	"github.com/vkds/vkds/internal/tool/bench"
)

// maps are the hash tables that Go programs use.
func maps() []bench.Peer {
	var plain map[uint32]uint32
	var shared *xsync.Map[uint32, uint32]
	return []bench.Peer{{
		Name: "Go map", Alone: true,
		Reset: func(n int) { plain = make(map[uint32]uint32, n) },
		Insert: func(keys, values []uint32) {
			for i, k := range keys {
				plain[k] = values[i]
			}
		},
		Find: func(keys, values []uint32) {
			for i, k := range keys {
				values[i] = plain[k]
			}
		},
	}, {
		Name:  "xsync.Map",
		Reset: func(n int) { plain, shared = nil, xsync.NewMap[uint32, uint32](xsync.WithPresize(n)) },
		Insert: func(keys, values []uint32) {
			for i, k := range keys {
				shared.Store(k, values[i])
			}
		},
		Find: func(keys, values []uint32) {
			for i, k := range keys {
				values[i], _ = shared.Load(k)
			}
		},
	}}
}
