package main

import "slices"

// sorter sorts pairs of words. It keeps its memory for the next call.
type sorter struct{ keys, values []uint64 }

const (
	digitBits = 11
	digits    = (64 + digitBits - 1) / digitBits
)

// sort sorts pairs by their keys; equal keys stay in their order. It is a radix sort from the lowest digit up, which
// skips digits that all keys have in common.
func (s *sorter) sort(keys, values []uint64) {
	n := len(keys)
	if slices.IsSorted(keys) {
		return
	}
	if cap(s.keys) < n {
		s.keys, s.values = make([]uint64, n), make([]uint64, n)
	}
	var counts [digits][1 << digitBits]int
	for _, k := range keys {
		for d := range digits {
			counts[d][k>>(d*digitBits)&(1<<digitBits-1)]++
		}
	}
	fromKeys, fromValues, toKeys, toValues := keys, values, s.keys[:n], s.values[:n]
	for d := range digits {
		at := &counts[d]
		if at[keys[0]>>(d*digitBits)&(1<<digitBits-1)] == n {
			continue
		}
		sum := 0
		for i, count := range at {
			at[i], sum = sum, sum+count
		}
		for i, k := range fromKeys {
			place := &at[k>>(d*digitBits)&(1<<digitBits-1)]
			toKeys[*place], toValues[*place] = k, fromValues[i]
			*place++
		}
		fromKeys, fromValues, toKeys, toValues = toKeys, toValues, fromKeys, fromValues
	}
	if &fromKeys[0] != &keys[0] {
		copy(keys, fromKeys)
		copy(values, fromValues)
	}
}
