package slabs

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// references returns the references of n slabs from a number on, as pool_slab of slab_alloc.glsl has them.
func references(p *Pool, first uint32, n int) (all []uint32) {
	shift := p.shift + 10
	for i := first; i < first+uint32(n); i++ {
		all = append(all, i>>shift<<24|i&(1<<shift-1))
	}
	return all
}

// Slabs that are claimed or allocated are marked, each is given out once, and all others but those that are set aside
// are free, through claims of all sizes, frees, growth, and calls that need what is set aside.
func TestClaim(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	for _, aside := range []bool{false, true} {
		p := newPool(t, d, Options{Blocks: 16, SuperShift: smallSupers})
		if aside {
			require.NoError(t, p.SetAside(t.Context()))
			require.Equal(t, 3*bitmapWords, p.aside.words)
		}
		rng := rand.New(rand.NewPCG(7, 8))
		mine := map[uint32]bool{}
		take := func(slabs []uint32) {
			for _, slab := range slabs {
				require.False(t, mine[slab], "slab %#x was given out twice", slab)
				mine[slab] = true
			}
		}
		all := func() {
			marks := marked(t, p)
			for _, slab := range references(p, uint32(32*p.aside.first), 32*p.aside.words) {
				require.True(t, marks[slab], "what is set aside is marked")
				delete(marks, slab)
			}
			require.Equal(t, mine, marks)
			require.Equal(t, len(mine), stats(t, p).Allocated)
		}
		grown := 0
		for _, n := range []int{1, 33, 32, 5000, 700, 31, 1024, 12000, 65} {
			before := p.blocks()
			first, err := p.Claim(t.Context(), n)
			require.NoError(t, err)
			take(references(p, first, n))
			all()
			some := u.allocate(p, 300)
			require.Len(t, some, 300)
			take(some)
			var back []uint32
			for slab := range mine {
				if rng.IntN(3) == 0 {
					back = append(back, slab)
					delete(mine, slab)
				}
			}
			u.free(p, back)
			all()
			if p.blocks() > before {
				grown++
			}
		}
		require.NotZero(t, grown)
		free := stats(t, p).Free
		got := u.allocate(p, free) // not what is set aside
		require.Len(t, got, free-32*p.aside.words)
		take(got)
		all()
		require.NotZero(t, p.aside.words)
		require.NoError(t, p.Relieve(t.Context(), 0, 1, true))
		require.Zero(t, p.aside.words)
		got = append(got[:0], u.allocate(p, free-len(got))...)
		take(got)
		require.Zero(t, stats(t, p).Free)
		all()
		before := p.blocks()
		require.NoError(t, p.Relieve(t.Context(), 0, 1, true))
		require.Greater(t, p.blocks(), before)
	}
}

// A claim in a pool that kernels have used takes no search, and no growth, as long as what was set aside lasts.
func TestSetAside(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	p := newPool(t, d, Options{Blocks: 32})
	require.NoError(t, p.SetAside(t.Context()))
	require.Len(t, u.allocate(p, 20000), 20000)
	require.EqualValues(t, 56, p.Description().Seed&asideBits) // 7 of 32 blocks
	for range 4 {
		_, err := p.Claim(t.Context(), 1792)
		require.NoError(t, err)
	}
	require.Zero(t, p.Description().Seed&asideBits)
	require.Zero(t, p.Growths())
	require.Zero(t, p.aside.words)
	require.NoError(t, p.SetAside(t.Context()))
	require.Zero(t, p.aside.words, "kernels use the pool")
	_, err := p.Claim(t.Context(), 1000)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.Growths())
	require.Equal(t, mostAside(p.blocks()*bitmapWords), p.aside.words)
	require.NotZero(t, p.Description().Seed&asideBits)
	require.NoError(t, p.Grow(t.Context(), 1)) // what is set aside is no longer the end
	require.NotZero(t, p.aside.words)
	require.Zero(t, p.Description().Seed&asideBits)
	require.NoError(t, p.Reset(t.Context()))
	require.Zero(t, p.aside.words)
	require.NoError(t, p.SetAside(t.Context()))
	require.NotZero(t, p.aside.words)
	require.Zero(t, stats(t, p).Allocated)
	first, err := p.Claim(t.Context(), 40000) // more than that, of a pool in which all is free
	require.NoError(t, err)
	require.Zero(t, first)
}

// A pool that can't grow gives back what is set aside, if that is enough.
func TestRoom(t *testing.T) {
	d := testdevice.Open(t)
	p := newPool(t, d, Options{Blocks: 16, MaxBytes: 16*blockBytes + tableBytes})
	require.NoError(t, p.SetAside(t.Context()))
	require.Equal(t, 3*BlockSlabs, p.Aside())
	require.ErrorIs(t, p.Room(t.Context(), 4), vk.ErrNoRoom)
	require.NotZero(t, p.Aside())
	require.NoError(t, p.Room(t.Context(), 3))
	require.Zero(t, p.Aside())
	require.Len(t, newUser(t, d).allocate(p, 16*BlockSlabs), 16*BlockSlabs)
}

// What was claimed before a kernel is told of the pool is not claimed again.
func TestClaimAtFirst(t *testing.T) {
	p := newPool(t, testdevice.Open(t), Options{Blocks: 64})
	var all []uint32
	for range 3 {
		first, err := p.Claim(t.Context(), 15000)
		require.NoError(t, err)
		all = append(all, references(p, first, 15000)...)
	}
	require.Len(t, marked(t, p), len(all)+p.Aside())
	require.Equal(t, len(all), stats(t, p).Allocated)
}
