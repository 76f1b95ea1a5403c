package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Divide calls move with each of n elements and the element's place among all if those of a part are together, in their
// order. It returns the begins of the parts, and n. Several goroutines call partOf and move.
func Divide(n, parts int, partOf func(i int) int, move func(i, to int)) (begins []int) {
	of, shares := make([]uint16, n), Shares()
	at := make([][]int, shares) // by share of the elements and by part: counts, then the next place
	InShares(shares, n, func(share, first, end int) {
		counts := make([]int, parts)
		for i := first; i < end; i++ {
			part := partOf(i)
			of[i] = uint16(part)
			counts[part]++
		}
		at[share] = counts
	})
	sum := 0
	for part := range parts {
		begins = append(begins, sum)
		for share := range at {
			at[share][part], sum = sum, sum+at[share][part]
		}
	}
	InShares(shares, n, func(share, first, end int) {
		next := at[share]
		for i := first; i < end; i++ {
			part := of[i]
			move(i, next[part])
			next[part]++
		}
	})
	return append(begins, n)
}

// Shares is how many shares are good for InShares: several for each core, because others may keep some cores busy. The
// next call may return another number.
func Shares() int { return 4 * runtime.GOMAXPROCS(0) }

// InShares divides n elements into that many shares, and calls do for them by all cores. One share has no goroutine of
// its own.
func InShares(shares, n int, do func(share, first, end int)) {
	var next atomic.Int64
	some := func() {
		for share := int(next.Add(1)) - 1; share < shares; share = int(next.Add(1)) - 1 {
			do(share, share*n/shares, (share+1)*n/shares)
		}
	}
	var wait sync.WaitGroup
	defer wait.Wait() // also if do ends the goroutine
	for range min(shares, runtime.GOMAXPROCS(0)) - 1 {
		wait.Go(some)
	}
	some()
}
