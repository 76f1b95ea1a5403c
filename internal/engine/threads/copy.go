// Package threads does with several threads what takes long in large memory: copying and encoding, because one thread
// can be slower than the link to a device, and dividing.
package threads

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	share      = 256 << 10 // the least bytes for which another thread pays off
	mostCopies = 16        // on the host of an H200, 9 GB/s with one thread and 50 with 16; its link has 48
)

// Copy copies src to dst like the built-in copy, with as many threads as pay off.
func Copy[T any](dst, src []T) {
	n := min(len(dst), len(src))
	Each(n, n*int(unsafe.Sizeof(*new(T))), func(first, end int) { copy(dst[first:end], src[first:end]) })
}

// Grown returns a slice with room for n more elements. It grows less often than append lets it, and all cores copy what
// it has: else this is most of the time that many elements take.
func Grown[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	larger := make([]T, len(s), max(len(s)+n, 2*len(s)))
	Copy(larger, s)
	return larger
}

// One reports whether one thread is best for so many bytes.
func One(bytes int) bool { return bytes < 2*share }

// Each calls part for consecutive ranges that together are n elements, with as many threads as pay off. bytes is the
// size of all elements. It returns when all calls have returned.
func Each(n, bytes int, part func(first, end int)) {
	each(min(mostCopies, runtime.GOMAXPROCS(0), bytes/share), n, part)
}

// each is Each with a given number of threads. Each range except the last starts and ends at multiples of 64 elements.
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
