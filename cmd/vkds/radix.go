package main

import (
	"math"
	"math/bits"
	"runtime"
	"slices"

	"github.com/vkds/vkds/internal/engine/threads"
)

// sorter sorts pairs of words. It keeps its memory for the next call.
type sorter struct{ keys, values []uint64 }

const (
	digitBits = 11
	digits    = (64 + digitBits - 1) / digitBits
)

// aloneBelow is how many pairs one goroutine sorts faster than several.
const aloneBelow = 1 << 16

// sort sorts pairs by their keys; equal keys stay in their order. It first divides many pairs into ranges of keys, one
// for each core, by a sample (Frazer and McKellar, Samplesort, 1970).
func (s *sorter) sort(keys, values []uint64) {
	n, parts := len(keys), runtime.GOMAXPROCS(0)
	if slices.IsSorted(keys) {
		return
	}
	if cap(s.keys) < n {
		s.keys, s.values = make([]uint64, n), make([]uint64, n)
	}
	if n < aloneBelow || parts == 1 {
		radixSort(keys, values, s.keys[:n], s.values[:n])
		return
	}
	eachPart(s.divide(keys, values, splitters(keys, parts)), func(_, first, end int) {
		radixSort(s.keys[first:end], s.values[first:end], keys[first:end], values[first:end])
		copy(keys[first:end], s.keys[first:end])
		copy(values[first:end], s.values[first:end])
	})
}

// splitters returns the least keys of all parts but the first, ascending.
func splitters(keys []uint64, parts int) []uint64 {
	const each = 64
	sample := make([]uint64, each*parts)
	for i := range sample {
		sample[i] = keys[i*len(keys)/len(sample)]
	}
	slices.Sort(sample)
	all := make([]uint64, parts-1)
	for i := range all {
		all[i] = sample[each*(i+1)]
	}
	return all
}

// divide moves the pairs to the sorter's memory, part by part and in their order, and returns what Divide does.
func (s *sorter) divide(keys, values []uint64, splitters []uint64) (begins []int) {
	parts := len(splitters) + 1
	full := make([]uint64, 1<<bits.Len(uint(parts))) // the search has as many steps for each key
	for i := range full {
		full[i] = math.MaxUint64
	}
	copy(full, splitters)
	return threads.Divide(len(keys), parts, func(i int) (part int) {
		key := keys[i]
		for step := len(full) / 2; step > 0; step /= 2 {
			if full[part+step-1] <= key {
				part += step
			}
		}
		return min(part, parts-1)
	}, func(i, to int) { s.keys[to], s.values[to] = keys[i], values[i] })
}

// radixSort sorts pairs by their keys from the lowest digit up, and skips digits that all keys have in common. Equal
// keys stay in their order. other is memory for as many pairs.
func radixSort(keys, values, otherKeys, otherValues []uint64) {
	n := len(keys)
	if slices.IsSorted(keys) {
		return
	}
	var counts [digits][1 << digitBits]int
	for _, k := range keys {
		for d := range digits {
			counts[d][k>>(d*digitBits)&(1<<digitBits-1)]++
		}
	}
	fromKeys, fromValues, toKeys, toValues := keys, values, otherKeys, otherValues
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
