package slabs

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// smallSupers makes super blocks of four memory blocks.
const smallSupers = 2

// super is an element of Stats.SuperBlocks.
type super = struct{ Slabs, Allocated int }

func newPool(t *testing.T, d *vk.Device, o Options) *Pool {
	t.Helper()
	p, err := New(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func stats(t *testing.T, p *Pool) Stats {
	t.Helper()
	s, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.Slabs, s.Allocated+s.Free)
	return s
}

// user allocates from a pool with the test kernel of slab_alloc.glsl.
type user struct {
	t      *testing.T
	d      *vk.Device
	stream *vk.Stream
}

func newUser(t *testing.T, d *vk.Device) *user {
	stream, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { stream.Close() })
	return &user{t, d, stream}
}

// The operations of the kernel.
const (
	functionAllocate = iota
	functionFree
)

type userPush struct {
	Pool    PoolDescription
	Wants   uint64
	Slabs   uint64
	Answers uint64
	Count   uint32
	Rounds  uint32
}

// run makes each invocation allocate a slab, or free its own.
func (u *user) run(p *Pool, function uint32, slabs []uint32) {
	u.t.Helper()
	m, err := kernels.Load("test/slab_alloc")
	require.NoError(u.t, err)
	constants := p.Constants()
	constants["FUNCTION"] = function
	k, err := vk.NewKernel[userPush](u.d, m, vk.KernelOptions{Constants: constants})
	require.NoError(u.t, err)
	defer k.Free()
	wants, err := vk.NewBuffer[uint32](u.d, len(slabs))
	require.NoError(u.t, err)
	defer wants.Free()
	u.stream.Fill(wants, 0, len(slabs), 1)
	b, err := vk.NewBuffer[uint32](u.d, len(slabs))
	require.NoError(u.t, err)
	defer b.Free()
	require.NoError(u.t, b.Upload(u.t.Context(), 0, slabs))
	push := userPush{Pool: p.Description(), Wants: wants.Address(), Slabs: b.Address(), Count: uint32(len(slabs)),
		Rounds: 1}
	k.Dispatch(u.stream, (len(slabs)+k.Workgroup()-1)/k.Workgroup(), push)
	require.NoError(u.t, u.stream.Wait(u.t.Context()))
	require.NoError(u.t, b.Download(u.t.Context(), 0, slabs))
}

// allocate asks for n slabs, one for each invocation, and returns those that it got.
func (u *user) allocate(p *Pool, n int) []uint32 {
	u.t.Helper()
	asked := make([]uint32, n)
	u.run(p, functionAllocate, asked)
	got := make([]uint32, 0, n)
	seen := map[uint32]bool{}
	for _, slab := range asked {
		if slab == ^uint32(0) {
			continue
		}
		require.False(u.t, seen[slab], "slab %#x was given out twice", slab)
		seen[slab] = true
		super, block := int(slab>>24), int(slab>>10&0x3fff)
		require.Less(u.t, super, len(p.supers), "slab %#x", slab)
		require.Less(u.t, block, p.supers[super].blocks, "slab %#x", slab)
		got = append(got, slab)
	}
	return got
}

func (u *user) free(p *Pool, slabs []uint32) {
	u.t.Helper()
	u.run(p, functionFree, append([]uint32(nil), slabs...))
}

// marked returns the references of all slabs that the bitmaps mark as in use.
func marked(t *testing.T, p *Pool) map[uint32]bool {
	t.Helper()
	all := map[uint32]bool{}
	for super, s := range p.supers {
		words := make([]uint32, s.bitmaps.Len())
		require.NoError(t, s.bitmaps.Download(t.Context(), 0, words))
		for i, word := range words {
			for ; word != 0; word &= word - 1 {
				all[uint32(super<<24|i<<5|bits.TrailingZeros32(word))] = true
			}
		}
	}
	return all
}

func contents(t *testing.T, s *superBlock) []uint32 {
	t.Helper()
	words := make([]uint32, s.units.Len())
	require.NoError(t, s.units.Download(t.Context(), 0, words))
	return words
}

func requireFresh(t *testing.T, words []uint32) {
	t.Helper()
	for i, word := range words {
		if word != ^uint32(0) {
			require.Failf(t, "not fresh", "word %d is %#x", i, word)
		}
	}
}

func TestNewPool(t *testing.T) {
	d := testdevice.Open(t)
	for name, c := range map[string]struct {
		options Options
		supers  []int // memory blocks of each
	}{
		"zero":          {Options{}, []int{1}},
		"three":         {Options{Blocks: 3}, []int{3}},
		"full super":    {Options{Blocks: 4, SuperShift: smallSupers}, []int{4}},
		"super and one": {Options{Blocks: 5, SuperShift: smallSupers}, []int{4, 4}},
		"three supers":  {Options{Blocks: 12, SuperShift: smallSupers}, []int{4, 4, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, d, c.options)
			var want Stats
			for _, blocks := range c.supers {
				want.SuperBlocks = append(want.SuperBlocks, super{Slabs: blocks * 1024})
				want.Slabs += blocks * 1024
			}
			want.Free = want.Slabs
			want.Bytes = p.Bytes()
			require.Equal(t, want, stats(t, p))
			require.Equal(t, len(c.supers) == 1, p.Light())
			require.GreaterOrEqual(t, p.Bytes(), uint64(want.Slabs)*(SlabBytes*8+1)/8)
			device := p.Description()
			require.EqualValues(t, want.Slabs/1024, device.Blocks)
			require.NotEqual(t, device.Seed, p.Description().Seed, "two dispatches begin at the same places")
			for _, s := range p.supers {
				requireFresh(t, contents(t, s))
			}
			require.Empty(t, marked(t, p))
		})
	}
}

func TestNewPoolRefuses(t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 20})
	for name, o := range map[string]Options{
		"negative":      {Blocks: -1},
		"shift 1":       {SuperShift: 1},
		"shift 14":      {SuperShift: 14},
		"references":    {Blocks: MaxSuperBlocks<<smallSupers + 1, SuperShift: smallSupers},
		"own limit":     {Blocks: 3, MaxBytes: 390_000},
		"tiny limit":    {MaxBytes: 1},
		"device memory": {Blocks: 16},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(t.Context(), d, o)
			require.Error(t, err)
			require.Nil(t, p)
			var full *vk.LimitError
			var memory *vk.OutOfMemoryError
			switch name {
			case "references", "own limit", "tiny limit":
				require.ErrorAs(t, err, &full)
				require.GreaterOrEqual(t, full.Want, uint64(tableBytes+max(o.Blocks, 1)*blockBytes))
				require.Greater(t, full.Want, full.Most)
				require.Equal(t, o.MaxBytes != 0, full.Option == "MaxBytes")
			case "device memory":
				require.ErrorAs(t, err, &memory)
			}
		})
	}
	used, _ := d.Memory()
	require.Zero(t, used, "a pool that was refused holds memory")
}

// A pool grows from one memory block to several super blocks, and moves on the way. Allocated slabs stay allocated and
// keep their contents, and new slabs are free and cleared.
func TestGrow(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	p := newPool(t, d, Options{SuperShift: smallSupers})
	held := map[uint32]bool{}
	for step, want := range []struct{ grow, blocks int }{
		{1, 2}, {0, 2}, {-1, 2}, {1, 4}, {1, 8}, {9, 20}, {1, 40},
	} {
		for _, slab := range u.allocate(p, 700) {
			require.False(t, held[slab], "slab %#x was given out again", slab)
			held[slab] = true
			at := int(slab & 0xffffff * SlabBytes / 4)
			require.NoError(t, p.supers[slab>>24].units.Upload(t.Context(), at, []uint32{slab}))
		}
		require.Equal(t, held, marked(t, p))
		require.NoError(t, p.Grow(t.Context(), want.grow), "step %d", step)
		require.EqualValues(t, want.blocks, p.Description().Blocks, "step %d", step)
		require.Equal(t, want.blocks <= 4, p.Light(), "step %d", step)
		forms := []map[string]uint32{p.Constants()}
		if p.Light() {
			forms = append(forms, p.form(false))
		}
		require.Equal(t, forms, p.Forms(), "step %d", step)
		s := stats(t, p)
		require.Equal(t, want.blocks*1024, s.Slabs)
		require.Equal(t, len(held), s.Allocated)
		require.Equal(t, held, marked(t, p), "step %d", step)
	}
	for super, s := range p.supers {
		for i, word := range contents(t, s) {
			slab := uint32(super<<24 | i/32)
			want := ^uint32(0)
			if held[slab] && i%32 == 0 {
				want = slab
			}
			if word != want {
				require.Failf(t, "contents", "word %d of super block %d is %#x, want %#x", i, super, word, want)
			}
		}
	}
	all := make([]uint32, 0, len(held))
	for slab := range held {
		all = append(all, slab)
	}
	u.free(p, all)
	require.Empty(t, marked(t, p))
	require.Len(t, p.supers, 10)
}

// Grow does not double if a limit or the memory allows less. It then adds only what was asked for.
func TestGrowWithinLimits(t *testing.T) {
	t.Run("own limit", func(t *testing.T) {
		d := testdevice.Open(t)
		p := newPool(t, d, Options{Blocks: 2, MaxBytes: tableBytes + 3*blockBytes})
		require.NoError(t, p.Grow(t.Context(), 1))
		require.EqualValues(t, 3, p.Description().Blocks)
		require.LessOrEqual(t, p.Bytes(), uint64(tableBytes+3*blockBytes))
		before := stats(t, p)
		var full *vk.LimitError
		require.ErrorAs(t, p.Grow(t.Context(), 1), &full)
		require.Equal(t, &vk.LimitError{What: "bytes of a slab pool", Want: tableBytes + 4*blockBytes,
			Most: tableBytes + 3*blockBytes, Option: "MaxBytes"}, full)
		require.Equal(t, before, stats(t, p))
	})
	t.Run("limit within super blocks", func(t *testing.T) {
		d := testdevice.Open(t)
		p := newPool(t, d, Options{Blocks: 8, SuperShift: smallSupers, MaxBytes: tableBytes + 15*blockBytes})
		require.NoError(t, p.Grow(t.Context(), 1))
		require.EqualValues(t, 12, p.Description().Blocks)
		var full *vk.LimitError
		require.ErrorAs(t, p.Grow(t.Context(), 1), &full)
		require.EqualValues(t, tableBytes+16*blockBytes, full.Want, "the next whole super block")
	})
	t.Run("references", func(t *testing.T) {
		d := testdevice.Open(t)
		p := newPool(t, d, Options{Blocks: 200 << smallSupers, SuperShift: smallSupers})
		require.NoError(t, p.Grow(t.Context(), 1))
		require.EqualValues(t, MaxSuperBlocks<<smallSupers, p.Description().Blocks)
		var full *vk.LimitError
		require.ErrorAs(t, p.Grow(t.Context(), 1), &full)
		require.Empty(t, full.Option)
		require.Equal(t, MaxSuperBlocks<<smallSupers*1024, stats(t, p).Slabs)
		// Slabs of the last super block can be used.
		u := newUser(t, d)
		require.Len(t, u.allocate(p, 1<<17), 1<<17)
		require.NotZero(t, stats(t, p).SuperBlocks[MaxSuperBlocks-1].Allocated)
	})
	t.Run("memory for what is asked only", func(t *testing.T) {
		d := testdevice.Open(t, vk.Options{MemoryLimit: 24 * blockBytes})
		p := newPool(t, d, Options{Blocks: 10})
		require.NoError(t, p.Grow(t.Context(), 2))
		require.EqualValues(t, 12, p.Description().Blocks)
	})
}

// If there is too little memory to grow, the pool is as it was, and the memory that Grow took meanwhile is freed.
func TestGrowOutOfMemory(t *testing.T) {
	for name, o := range map[string]Options{
		"moving": {Blocks: 8},
		"adding": {Blocks: 8, SuperShift: smallSupers},
	} {
		t.Run(name, func(t *testing.T) {
			d := testdevice.Open(t, vk.Options{MemoryLimit: 18 * blockBytes})
			u := newUser(t, d)
			p := newPool(t, d, o)
			first := u.allocate(p, 5000)
			require.Len(t, first, 5000)
			before, device := stats(t, p), p.Description()
			used, _ := d.Memory()
			var memory *vk.OutOfMemoryError
			require.ErrorAs(t, p.Grow(t.Context(), 20), &memory)
			after, _ := d.Memory()
			require.Equal(t, used, after)
			require.Equal(t, before, stats(t, p))
			now := p.Description()
			require.Equal(t, [3]uint64{device.Table, device.Units, uint64(device.Blocks)},
				[3]uint64{now.Table, now.Units, uint64(now.Blocks)})
			second := u.allocate(p, 8192-5000)
			require.Equal(t, 8192, len(first)+len(second), "the pool is of use after the failure")
			require.Len(t, marked(t, p), 8192)
		})
	}
}

func TestReset(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	p := newPool(t, d, Options{Blocks: 8, SuperShift: smallSupers})
	require.Len(t, u.allocate(p, 9000), 8192)
	require.NoError(t, p.supers[1].units.Upload(t.Context(), 77, []uint32{1, 2, 3}))
	s := stats(t, p)
	require.EqualValues(t, 9000-8192, s.Failures)
	require.NotZero(t, s.ResidentChanges)
	require.NoError(t, p.Reset(t.Context()))
	s = stats(t, p)
	require.Equal(t, Stats{Slabs: 8192, Free: 8192, Bytes: p.Bytes(),
		SuperBlocks: []super{{Slabs: 4096}, {Slabs: 4096}}}, s)
	for _, super := range p.supers {
		requireFresh(t, contents(t, super))
	}
	require.Len(t, u.allocate(p, 8192), 8192)
}

func TestStatsPerSuperBlock(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	p := newPool(t, d, Options{Blocks: 12, SuperShift: smallSupers})
	slabs := u.allocate(p, 6000)
	require.Len(t, slabs, 6000)
	var want [3]int
	for _, slab := range slabs {
		want[slab>>24]++
	}
	s := stats(t, p)
	require.Len(t, s.SuperBlocks, 3)
	for i, one := range s.SuperBlocks {
		require.Equal(t, super{Slabs: 4096, Allocated: want[i]}, one)
		require.NotZero(t, one.Allocated, "super block %d was never chosen", i)
	}
}
