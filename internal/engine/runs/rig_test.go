package runs

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rig is an open device with the queries under test, for one width.
type rig struct {
	t       *testing.T
	w       structures.Width
	d       *vk.Device
	s       *vk.Stream
	p       *primitives.Primitives
	q       *Queries
	buffers []interface{ Free() }
}

// eachWidth runs a test at both widths.
func eachWidth(t *testing.T, test func(t *testing.T, r *rig)) {
	for _, w := range []structures.Width{structures.Bits32, structures.Bits64} {
		t.Run(w.String(), func(t *testing.T) { test(t, newRig(t, w)) })
	}
}

func newRig(t *testing.T, w structures.Width) *rig {
	t.Helper()
	r := &rig{t: t, w: w, d: testdevice.Open(t)}
	r.p = primitives.New(r.d, primitives.Options{})
	r.q = New(r.d, r.p, w)
	var err error
	r.s, err = r.d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		r.release()
		require.NoError(t, r.s.Close())
		require.NoError(t, r.q.Close())
		require.NoError(t, r.p.Close())
	})
	return r
}

// release frees the buffers of upload and room.
func (r *rig) release() {
	for _, b := range r.buffers {
		b.Free()
	}
	r.buffers = nil
}

// upload returns a buffer with these elements. release frees it.
func upload[T vk.Element](r *rig, data []T) *vk.Buffer[T] {
	r.t.Helper()
	b, err := vk.NewBuffer[T](r.d, len(data))
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

// most is the greatest key, and the value of tombstones.
func (r *rig) most() uint64 { return ^uint64(0) >> (64 - r.w.Bits()) }

// number makes a key of a generator's number. At 64 bits, the lowest three bits become the highest, so that keys differ
// in either word only. 0 stays the least key, and all ones the greatest.
func (r *rig) number(generated uint64) uint64 {
	if r.w == structures.Bits64 {
		return bits.RotateLeft64(generated, -3)
	}
	return generated & r.most()
}

// words returns numbers as words in device memory, the low word first.
func (r *rig) words(numbers []uint64) (words []uint32) {
	for _, n := range numbers {
		words = append(words, uint32(n))
		if r.w == structures.Bits64 {
			words = append(words, uint32(n>>32))
		}
	}
	return words
}

// size returns how many words n numbers take.
func (r *rig) size(n int) int { return n * r.w.Bytes() / 4 }

// numbers returns a buffer with these keys or values. release frees it.
func (r *rig) numbers(numbers []uint64) *vk.Buffer[uint32] { return upload(r, r.words(numbers)) }

const (
	untouched = 0xbad0feed
	guard     = 64
)

// room returns a buffer of n words, all set to untouched. Guard words follow them, which download checks. release frees
// it.
func room(r *rig, n int) *vk.Buffer[uint32] {
	r.t.Helper()
	b, err := vk.NewBuffer[uint32](r.d, n+guard)
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	r.s.Fill(b, 0, b.Len(), untouched)
	return b
}

// download returns the first n words of a room, and requires its other words to be untouched.
func download(r *rig, b *vk.Buffer[uint32], n int) []uint32 {
	r.t.Helper()
	data := make([]uint32, b.Len())
	require.NoError(r.t, b.Download(r.t.Context(), 0, data))
	for i, w := range data[n:] {
		if w != untouched {
			require.FailNow(r.t, "written beyond the end", "word %d of %d holds %#x", n+i, n, w)
		}
	}
	return data[:n]
}

// downloadBytes returns the first n bytes of a room, and requires the padding to whole words to be 0.
func downloadBytes(r *rig, b *vk.Buffer[uint32], n int) []uint8 {
	r.t.Helper()
	var all []uint8
	for _, w := range download(r, b, (n+3)/4) {
		all = append(all, uint8(w), uint8(w>>8), uint8(w>>16), uint8(w>>24))
	}
	for _, pad := range all[n:] {
		require.Zero(r.t, pad, "padding")
	}
	return all[:n]
}

// scratch returns the address of the given number of bytes, whose words are untouched. release frees them.
func (r *rig) scratch(bytes int) uint64 { return room(r, (bytes+3)/4).Address() }

// run waits for the recorded work, and requires that recording succeeded.
func (r *rig) run(recorded error) {
	r.t.Helper()
	require.NoError(r.t, recorded)
	require.NoError(r.t, r.s.Wait(r.t.Context()))
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// requireNumbers compares the first numbers of a room, whose other words must be untouched.
func (r *rig) requireNumbers(want []uint64, b *vk.Buffer[uint32], format string, arguments ...any) {
	r.t.Helper()
	requireWords(r.t, r.words(want), download(r, b, r.size(len(want))), format, arguments...)
}

// requireWords is require.Equal for many words: it names the first that differs.
func requireWords(t testing.TB, want, got []uint32, format string, arguments ...any) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	require.Equal(t, len(want), len(got), append([]any{format + ": length"}, arguments...)...)
	for i := range want {
		require.Equal(t, want[i], got[i], append([]any{format + ": word %d"}, append(arguments, i)...)...)
	}
}

// pair is an element of a run.
type pair struct {
	key, value uint64
	tombstone  bool // then value is all ones
}

// model is a stack in Go: the contents of the device, and the valid pairs.
type model struct {
	Stack
	rows  [][]pair
	live  map[uint64]uint64
	order []uint64 // the keys of live, ascending
}

// shape describes a stack to make.
type shape struct {
	unit, full, front uint32
	keys              func(*rand.Rand) uint64
	tombstones        float64 // share of the pairs
	plain             bool    // no index
}

// stack makes a stack of random pairs, some with the value ~0, and puts it on the device.
func (r *rig) stack(seed uint64, sh shape) *model {
	r.t.Helper()
	g := random(seed)
	m := &model{Stack: Stack{Full: sh.full, Unit: sh.unit, Front: sh.front}, live: map[uint64]uint64{}}
	rows := make([]uint64, 4*StackRows)
	for i := range rows {
		rows[i] = 0xdead0000dead0000 // for rows without pairs, whose address is never used
	}
	known := map[uint64]bool{}
	for row := range StackRows {
		n := int(sh.front)
		if row > 0 {
			n = int(sh.unit) << (row - 1) & -int(sh.full>>(row-1)&1)
		}
		run := r.sorted(g, n, sh.keys, sh.tombstones)
		m.rows = append(m.rows, run)
		for i := n - 1; i >= 0; i-- {
			if p := run[i]; !known[p.key] {
				known[p.key] = true
				if !p.tombstone {
					m.live[p.key] = p.value
				}
			}
		}
		if n > 0 {
			copy(rows[4*row:], r.row(run, sh.plain))
		}
	}
	for key := range m.live {
		m.order = append(m.order, key)
	}
	slices.Sort(m.order)
	m.Rows = upload(r, rows).Address()
	return m
}

// row uploads a run and returns its addresses.
func (r *rig) row(run []pair, plain bool) []uint64 {
	n := len(run)
	keys, values := make([]uint64, n, Padded(r.w, n)), make([]uint64, n)
	bitmap := make([]uint32, (n+31)/32)
	any := false
	for i, p := range run {
		keys[i], values[i] = p.key, p.value
		if p.tombstone {
			bitmap[i/32] |= 1 << (i % 32)
			any = true
		}
	}
	var tombstones, index uint64
	if any {
		tombstones = upload(r, bitmap).Address()
	}
	k := r.numbers(keys[:Padded(r.w, n)])
	if !plain {
		index = room(r, r.size(IndexKeys(r.w, n))).Address()
		require.NoError(r.t, r.q.BuildIndex(r.s, k.Address(), n, index))
	}
	return []uint64{k.Address(), r.numbers(values).Address(), tombstones, index}
}

// below returns a generator of keys below a bound.
func below(bound uint64) func(*rand.Rand) uint64 {
	return func(g *rand.Rand) uint64 { return g.Uint64N(bound) }
}

func anyKey(g *rand.Rand) uint64 { return g.Uint64() }

// edges returns keys at both ends of the range, and few different ones.
func edges(g *rand.Rand) uint64 {
	if g.Uint32N(2) == 0 {
		return g.Uint64N(40)
	}
	return ^g.Uint64N(40)
}

// halves returns keys and values whose words are all ones, zero or next to these.
func halves(g *rand.Rand) uint64 {
	word := func() uint64 { return uint64([]uint32{0, 1, ^uint32(0) - 1, ^uint32(0)}[g.IntN(4)]) }
	return word()<<32 | word()
}

// shapes are the stacks on which every query is tested.
func shapes() map[string]shape {
	return map[string]shape{
		"nothing":               {unit: 32, keys: anyKey},
		"one pair":              {unit: 32, front: 1, keys: anyKey},
		"a front alone":         {unit: 32, front: 5000, keys: anyKey},
		"a front without index": {unit: 32, front: 5000, keys: anyKey, plain: true},
		"a node":                {unit: 32, front: 32, keys: below(100), tombstones: 0.3},
		"a node and one":        {unit: 32, front: 33, keys: below(100), tombstones: 0.3},
		"three levels of nodes": {unit: 32, front: 32*1024 + 1, keys: anyKey, tombstones: 0.1},
		"few keys, all runs":    {unit: 32, full: 0xff, front: 17, keys: below(1500), tombstones: 0.3},
		"many keys, some runs":  {unit: 64, full: 0xa5, front: 63, keys: anyKey, tombstones: 0.1},
		"ends of the range":     {unit: 32, full: 0x3f, front: 9, keys: edges, tombstones: 0.4},
		"one key":               {unit: 32, full: 0x15, front: 3, keys: func(*rand.Rand) uint64 { return 77 }},
		"the last key": {unit: 32, full: 0x3, front: 40,
			keys: func(*rand.Rand) uint64 { return ^uint64(0) }},
		"words of ones and zeros": {unit: 32, full: 0x7, front: 21, keys: halves, tombstones: 0.3},
		"tombstones alone":        {unit: 32, full: 0x7, keys: below(300), tombstones: 1},
		"runs without index":      {unit: 32, full: 0x1f, front: 5, keys: below(3000), tombstones: 0.2, plain: true},
		"a unit that is no power": {unit: 50, full: 0xb, front: 49, keys: below(900), tombstones: 0.2},
	}
}

// eachShape runs a test on every shape.
func eachShape(r *rig, test func(t *testing.T, m *model)) {
	for name, sh := range shapes() {
		r.t.Run(name, func(t *testing.T) {
			outer := r.t
			r.t = t
			defer func() { r.t = outer }()
			test(t, r.stack(uint64(len(name)), sh))
			r.release()
		})
	}
}

// probes returns n query keys: keys of the stack, their neighbors, the least and greatest keys, and others.
func (r *rig) probes(m *model, g *rand.Rand, n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		row := m.rows[g.IntN(len(m.rows))]
		switch {
		case g.Uint32N(50) == 0:
			all[i] = r.most() * g.Uint64N(2)
		case g.Uint32N(4) == 0 || len(row) == 0:
			all[i] = g.Uint64() & r.most()
		default:
			step := (g.Uint64N(3) - 1) << (32 * g.Uint64N(2) * uint64(r.w))
			all[i] = (row[g.IntN(len(row))].key + step) & r.most()
		}
	}
	return all
}
