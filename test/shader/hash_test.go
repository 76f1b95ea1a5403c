package shader

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type hashPush struct {
	Inputs, Ratios, Outputs, Mixes uint64
	Count                          uint32
}

// inverse undoes one multiplication modulo 2^32 by an odd number: Newton's iteration doubles the right bits.
func inverse(odd uint32) uint32 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// unmix is the inverse of hash_mix: where it brings back what was mixed, the mix is one to one.
func unmix(h uint32) uint32 {
	h ^= h>>15 ^ h>>30
	h *= inverse(0xd35a2d97)
	h ^= h>>15 ^ h>>30
	h *= inverse(0x21f0aaad)
	return h ^ h>>16
}

func TestHash(t *testing.T) {
	r := newRig(t)
	k := kernel[hashPush](t, r, "test/hash", nil)
	const n = 1 << 16
	rnd := random(3)
	in := make([]uint32, 4*n)
	for i := range n {
		in[4*i] = uint32(i) * 65537
		in[4*i+1], in[4*i+2] = rnd.Uint32(), rnd.Uint32()>>rnd.Uint32N(32)
	}
	edges := []uint32{0, 1, 2, math.MaxUint32 - 1, math.MaxUint32, 1 << 31}
	for i, h := range edges {
		for j, buckets := range edges {
			in[4*(i*len(edges)+j)+1], in[4*(i*len(edges)+j)+2] = h, buckets
		}
	}
	in[0], in[4], in[8], in[12] = 0, 1, 0xdeadbeef, math.MaxUint32

	outputs, mixes := room[uint32](r, 4*n), room[uint32](r, n)
	inputs := put(r, in).Address()
	run(r, k, n, hashPush{inputs, inputs, outputs.Address(), mixes.Address(), n})
	out, both := get(r, outputs), get(r, mixes)
	for i := range n {
		require.Equal(t, in[4*i], unmix(out[4*i]), "the mix of %#x", in[4*i])
		require.Equal(t, out[4*i]^in[4*i+1], unmix(both[i]), "the mix of %#x and %#x", in[4*i], in[4*i+1])
		want := uint32(uint64(in[4*i+1]) * uint64(in[4*i+2]) >> 32)
		require.Equal(t, want, out[4*i+1], "%#x reduced to %d", in[4*i+1], in[4*i+2])
	}
	// Tables on disk and on the device stand by these values.
	require.Equal(t, []uint32{0x0, 0x6d3fa73, 0x8a2b8af2, 0xd9b56683}, []uint32{out[0], out[4], out[8], out[12]})
}

// Of two tables of any sizes: every hash that comes to a bucket of one comes to one of the buckets of the other that
// are said to share hashes with it, and these are at most one more at either end than it takes.
func TestHashBucketsOfAnotherTable(t *testing.T) {
	r := newRig(t)
	k := kernel[hashPush](t, r, "test/hash", nil)
	const n = 1 << 14
	rnd := random(9)
	in, ratios := make([]uint32, 4*n), make([]uint32, 4*n)
	to := make([]uint64, n)
	for i := range n {
		from := max(4, rnd.Uint32()>>rnd.Uint32N(32))
		to[i] = uint64(max(4, rnd.Uint32()>>rnd.Uint32N(32)))
		if i%4 == 0 {
			to[i] = uint64(from) << rnd.Uint32N(3) & math.MaxUint32 // whole ratios
			to[i] = max(4, to[i])
		}
		in[4*i+2], in[4*i+3] = from, [...]uint32{0, from - 1, rnd.Uint32N(from)}[rnd.IntN(3)]
		down := to[i] << 32 / uint64(from)
		up := down
		if down*uint64(from) != to[i]<<32 {
			up++
		}
		copy(ratios[4*i:], []uint32{uint32(down), uint32(down >> 32), uint32(up), uint32(up >> 32)})
	}
	outputs := room[uint32](r, 4*n)
	run(r, k, n, hashPush{put(r, in).Address(), put(r, ratios).Address(), outputs.Address(),
		room[uint32](r, n).Address(), n})
	out := get(r, outputs)
	for i := range n {
		from, bucket := uint64(in[4*i+2]), uint64(in[4*i+3])
		least := (bucket<<32 + from - 1) / from // the hashes of the bucket
		most := ((bucket+1)<<32 - 1) / from
		first, last := uint64(out[4*i+2]), min(uint64(out[4*i+3]), to[i]-1)
		wantFirst, wantLast := least*to[i]>>32, most*to[i]>>32
		if first > wantFirst || first+1 < wantFirst || last < wantLast || last > wantLast+1 {
			t.Fatalf("bucket %d of %d: buckets %d to %d of %d, want %d to %d", bucket, from, first, last, to[i],
				wantFirst, wantLast)
		}
	}
}

// A larger hash never comes into a smaller bucket, and every bucket has hashes.
func TestHashReduceKeepsOrder(t *testing.T) {
	r := newRig(t)
	k := kernel[hashPush](t, r, "test/hash", nil)
	const n = 1 << 14
	rnd := random(5)
	for _, buckets := range []uint32{1, 2, 3, 4, 1000, 1<<16 + 1, math.MaxUint32} {
		hashes := []uint32{0, math.MaxUint32}
		for len(hashes) < n {
			hashes = append(hashes, rnd.Uint32())
		}
		slices.Sort(hashes)
		in := make([]uint32, 4*n)
		for i, h := range hashes {
			in[4*i+1], in[4*i+2] = h, buckets
		}
		outputs, inputs := room[uint32](r, 4*n), put(r, in).Address()
		run(r, k, n, hashPush{inputs, inputs, outputs.Address(), room[uint32](r, n).Address(), n})
		out := get(r, outputs)
		require.Zero(t, out[1], "the least hash")
		require.Equal(t, buckets-1, out[4*n-3], "the largest hash")
		for i := 1; i < n; i++ {
			require.LessOrEqual(t, out[4*i-3], out[4*i+1])
		}
		r.release()
	}
}
