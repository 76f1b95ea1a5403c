package main

import (
	"github.com/puzpuzpuz/xsync/v4"
)

// maps are hash tables that Go programs use.
func maps() []peer {
	var plain map[uint32]uint32
	var shared *xsync.Map[uint32, uint32]
	return []peer{{
		name: "Go map", alone: true,
		reset: func(n int) { plain = make(map[uint32]uint32, n) },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				plain[k] = values[i]
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				values[i] = plain[k]
			}
		},
	}, {
		name:  "xsync.Map",
		reset: func(n int) { plain, shared = nil, xsync.NewMap[uint32, uint32](xsync.WithPresize(n)) },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				shared.Store(k, values[i])
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				values[i], _ = shared.Load(k)
			}
		},
	}}
}
