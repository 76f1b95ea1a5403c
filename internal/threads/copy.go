// Package threads copies and encodes memory by several threads, where one doesn't keep up with a device's link.
package threads

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	share      = 256 << 10 // bytes for which another thread pays
	mostCopies = 16        // 9 GB/s with one, 50 with 16 on the machine of an H200, whose link takes 48
)

// Copy copies src to dst, as copy does, by as many threads as pay.
func Copy[T any](dst, src []T) {
	n := min(len(dst), len(src))
	Each(n, n*int(unsafe.Sizeof(*new(T))), func(first, end int) { copy(dst[first:end], src[first:end]) })
}

// Each does n elements, which have so many bytes together, part by part, by as many threads as pay.
func Each(n, bytes int, part func(first, end int)) {
	each(min(mostCopies, runtime.GOMAXPROCS(0), bytes/share), n, part)
}

// each is Each by so many threads, of which each has 64 elements at least.
func each(threads, n int, part func(first, end int)) {
	if threads < 2 {
		part(0, n)
		return
	}
	share := (n/threads + 63) &^ 63
	var wait sync.WaitGroup
	for at := share; at < n; at += share {
		wait.Go(func() { part(at, min(at+share, n)) })
	}
	part(0, min(share, n))
	wait.Wait()
}
