package threads

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopy(t *testing.T) {
	for _, n := range []int{0, 1, 100, share / 4, share, share + 5, 3*share + 17} {
		src, dst := make([]uint32, n), make([]uint32, n+1)
		for i := range src {
			src[i] = uint32(i + 1)
		}
		for threads := 1; threads < 4 && n >= 64*threads; threads++ { // on every machine
			clear(dst)
			each(threads, n, func(first, end int) { copy(dst[first:end], src[first:end]) })
			require.Equal(t, src, dst[:n])
			require.Zero(t, dst[n])
		}
		clear(dst)
		Copy(dst, src)
		require.Equal(t, src, dst[:n])
		require.Zero(t, dst[n])
		if n > 1 {
			clear(dst)
			Copy(dst[:n-1], src)
			require.Equal(t, src[:n-1], dst[:n-1], "as much as the shorter one takes")
			require.Zero(t, dst[n-1])
		}
	}
}

// BenchmarkCopy is for choosing mostCopies and share. It copies chunks of a large slice to a small ring.
func BenchmarkCopy(b *testing.B) {
	src, ring := make([]byte, 256<<20), make([]byte, 64<<20)
	for i := range src {
		src[i] = byte(i)
	}
	for _, chunk := range []int{1 << 20, 4 << 20, 16 << 20} {
		for _, threads := range []int{1, 2, 4, 6, 8, 12, 16} {
			b.Run(fmt.Sprintf("%d MiB/%d threads", chunk>>20, threads), func(b *testing.B) {
				b.SetBytes(int64(chunk))
				at := 0
				for b.Loop() {
					to, from := ring[at%len(ring):][:chunk], src[at:][:chunk]
					each(threads, chunk, func(first, end int) { copy(to[first:end], from[first:end]) })
					at = (at + chunk) % len(src)
				}
			})
		}
	}
}
