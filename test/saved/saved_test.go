// Package saved tests what all structures save and load, each what another has saved, too.
package saved

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// savable is what all structures have in common here.
type savable[W structures.Word] interface {
	Save(ctx context.Context, w io.Writer) (int64, error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[W, W], error]
	Len(ctx context.Context) (uint64, error)
	Clear(ctx context.Context) error
	Close() error
}

// kind is a structure with options that are not the usual ones.
type kind[W structures.Word] struct {
	name   string
	build  func(ctx context.Context, d *vk.Device, keys, values []W) (savable[W], error)
	load   func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error)
	set    bool // of keys
	unique bool // keys have one value each
}

// setOf is a set whose pairs have values of the keys' width, or none.
type setOf[W structures.Word] struct{ *slabhash.Set[W] }

func (s setOf[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[W, W], error] {
	return func(yield func(structures.Pairs[W, W], error) bool) {
		for chunk, err := range s.Set.Chunks(ctx) {
			if !yield(structures.Pairs[W, W]{Keys: chunk.Keys, Values: numbers.Each(chunk.Values, func(v uint32) W {
				return W(v)
			})}, err) {
				return
			}
		}
	}
}

func as[W structures.Word, T savable[W]](s T, err error) (savable[W], error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func kinds[W structures.Word]() []kind[W] {
	return []kind[W]{
		{name: "map", build: func(ctx context.Context, d *vk.Device, keys, values []W) (savable[W], error) {
			return as[W](slabhash.Build(ctx, d, keys, values, slabhash.Options{Load: 1.5}))
		}, load: func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error) {
			return as[W](slabhash.Load[W, W](ctx, d, r, slabhash.Options{}))
		}},
		{name: "set", set: true, build: func(ctx context.Context, d *vk.Device, keys, _ []W) (savable[W], error) {
			s, err := slabhash.BuildSet(ctx, d, keys, slabhash.Options{})
			return as[W](setOf[W]{s}, err)
		}, load: func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error) {
			s, err := slabhash.LoadSet[W](ctx, d, r, slabhash.Options{})
			return as[W](setOf[W]{s}, err)
		}},
		{name: "tree", unique: true, build: func(
			ctx context.Context, d *vk.Device, keys, values []W) (savable[W], error) {
			return as[W](btree.Build(ctx, d, keys, values, btree.Options{Fill: 0.9}))
		}, load: func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error) {
			return as[W](btree.Load[W, W](ctx, d, r, btree.Options{}))
		}},
		{name: "lsm", unique: true, build: func(
			ctx context.Context, d *vk.Device, keys, values []W) (savable[W], error) {
			return as[W](lsm.Build(ctx, d, keys, values, lsm.Options{Batch: 1 << 12}))
		}, load: func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error) {
			return as[W](lsm.Load[W, W](ctx, d, r, lsm.Options{}))
		}},
		{name: "array", unique: true, build: func(
			ctx context.Context, d *vk.Device, keys, values []W) (savable[W], error) {
			return as[W](sortedarray.Build(ctx, d, keys, values, sortedarray.Options{}))
		}, load: func(ctx context.Context, d *vk.Device, r io.Reader) (savable[W], error) {
			return as[W](sortedarray.Load[W, W](ctx, d, r, sortedarray.Options{}))
		}},
	}
}

func build[W structures.Word](t *testing.T, k kind[W], d *vk.Device, keys, values []W) savable[W] {
	s, err := k.build(t.Context(), d, keys, values)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func save[W structures.Word](t *testing.T, s savable[W]) []byte {
	var out bytes.Buffer
	n, err := s.Save(t.Context(), &out)
	require.NoError(t, err)
	require.EqualValues(t, out.Len(), n)
	return out.Bytes()
}

// requirePairs compares what a structure holds; values is nil where they are to be 0, or there are none.
func requirePairs[W structures.Word](t *testing.T, s savable[W], keys, values []W) {
	n, err := s.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(keys), n)
	got := make(map[W]W, len(keys))
	for chunk, err := range s.Chunks(t.Context()) {
		require.NoError(t, err)
		for i, k := range chunk.Keys {
			if len(chunk.Values) == 0 {
				got[k] = 0
			} else {
				got[k] = chunk.Values[i]
			}
		}
	}
	require.Len(t, got, len(keys))
	for i, k := range keys {
		value, there := got[k]
		if !there || values != nil && value != values[i] || values == nil && value != 0 {
			t.Fatalf("key %#x has %#x (%v)", k, value, there)
		}
	}
}

// some are so many different keys, the least and the greatest of all among them, and values that are not 0.
func some[W structures.Word](n int) (keys, values []W) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range n {
		keys, values = append(keys, numbers.Key[W](uint32(i)*0x9e3779b1)),
			append(values, numbers.Key[W](rng.Uint32()|1))
	}
	if n > 1 {
		keys[1] = ^W(0) // not a small multiple of the other
	}
	return keys, values
}

// Whatever one structure has saved each loads, by any reader's pieces; a set's values are 0, and of none there are
// none.
func TestRoundTrip(t *testing.T) {
	t.Run("32", testRoundTrip[uint32])
	t.Run("64", testRoundTrip[uint64])
}

func testRoundTrip[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{0, 1, 1000, 70_000} {
		keys, values := some[W](n)
		for _, from := range kinds[W]() {
			data := save[W](t, build(t, from, d, keys, values))
			for _, to := range kinds[W]() {
				t.Run(fmt.Sprintf("%s to %s, %d", from.name, to.name, n), func(t *testing.T) {
					s, err := to.load(t.Context(), d, iotest.HalfReader(bytes.NewReader(data)))
					require.NoError(t, err)
					defer s.Close()
					want := values
					if from.set || to.set {
						want = nil
					}
					requirePairs[W](t, s, keys, want)
					again := save[W](t, s)
					require.Equal(t, len(data)-lengthOf(data)-from.size()*n, len(again)-lengthOf(again)-to.size()*n)
				})
			}
		}
	}
}

// What earlier versions saved every structure loads (package dictfile's tests have it as text): those of the tool as
// the types that they name, or wider ones.
func TestEarlierVersions(t *testing.T) {
	d := testdevice.Open(t)
	file := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "..", "internal", "engine", "saved", "testdata", name))
		require.NoError(t, err)
		return data
	}
	addresses, numbers := []uint32{0, 1, 0x08080808, 1<<31 - 1, 1 << 31, 1<<32 - 1},
		[]int32{math.MinInt32, 7, -1, 0, math.MaxInt32, 5}
	wide := []int64{math.MinInt64, -1, 0, 1 << 32, math.MaxInt64}
	for _, name := range names {
		requireLoads(t, d, name, file("v2.vkds"), addresses, numbers)
		requireLoads(t, d, name, file("v2.vkds"), numbers64(addresses), numbers64(numbers))
		requireRefused[uint32, uint32](t, d, name, file("v2.vkds"),
			structures.TypeError{What: "values", Saved: "int32", Loaded: "uint32"})
		requireLoads(t, d, name, file("v3.vkds"), []uint32{0, 1, 79, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1},
			make([]uint32, 7))
		requireLoads(t, d, name, file("v4.vkds"), wide, []uint64{0, 1<<64 - 1, 1, 1 << 32, 1<<32 - 1})
		requireLoads(t, d, name, file("v5.vkds"),
			[]uint64{0, 1, 1<<32 - 1, 1 << 32, 1 << 63, 1<<64 - 1<<32, 1<<64 - 1}, make([]float64, 7))
		for _, text := range []string{"v6.vkds", "v7.vkds"} {
			_, err := loading[uint64, uint64](t.Context(), d, name, file(text))
			require.ErrorIs(t, err, structures.ErrText)
		}
		requireLoads(t, d, name, file("v8.vkds"), []int32{math.MinInt32, -5, 0, math.MaxInt32},
			[]float64{math.Inf(-1), 0.1, -2, 1e300})
	}
}

func numbers64[T uint32 | int32](all []T) (wide []int64) {
	for _, x := range all {
		wide = append(wide, int64(x))
	}
	return wide
}

// size is how many bytes a pair takes.
func (k kind[W]) size() int {
	if k.set {
		return structures.WidthOf[W]().Bytes()
	}
	return 2 * structures.WidthOf[W]().Bytes()
}

// lengthOf is that of the description of what was saved.
func lengthOf(data []byte) int { return int(binary.LittleEndian.Uint32(data[12:])) }

// fake is a description with what belongs to it, and some blocks.
func fake(description string, version byte, blocks ...[]byte) []byte {
	b := append([]byte("VKDS\r\n\x1a\n"), version, 0, 0, 0, byte(len(description)), 0, 0, 0)
	b = append(b, description...)
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	sum.Write(b)
	b = binary.LittleEndian.AppendUint32(b, sum.Sum32())
	for _, block := range append(blocks, make([]byte, 4)) {
		sum.Write(block)
		b = binary.LittleEndian.AppendUint32(append(b, block...), sum.Sum32())
	}
	return b
}

// What was saved of a large one, and the options that are kept: those of the loader count before them, and those of
// another structure don't.
func TestLargeAndItsOptions(t *testing.T) {
	pass.Unvalidated(t, "other tests make its calls")
	d := testdevice.Open(t)
	keys, values := some[uint32](1<<20 + 5)
	m, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{Load: 1.5})
	require.NoError(t, err)
	defer m.Close()
	data := save[uint32](t, m)
	load := func(o slabhash.Options) float64 {
		got, err := slabhash.Load[uint32, uint32](t.Context(), d, bytes.NewReader(data), o)
		require.NoError(t, err)
		defer got.Close()
		requirePairs[uint32](t, got, keys, values)
		s, err := got.Inspect().Stats(t.Context())
		require.NoError(t, err)
		return s.Load
	}
	require.InDelta(t, 1.5, load(slabhash.Options{}), 0.1)
	require.InDelta(t, 0.4, load(slabhash.Options{Load: 0.4}), 0.05)

	tree, err := btree.Load[uint32, uint32](t.Context(), d, bytes.NewReader(data), btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	require.NoError(t, tree.Inspect().Check(t.Context()))
	requirePairs[uint32](t, tree, keys, values)
	full, err := btree.Build(t.Context(), d, keys[:1000], values[:1000], btree.Options{Fill: 1})
	require.NoError(t, err)
	defer full.Close()
	data = save[uint32](t, full)
	again, err := btree.Load[uint32, uint32](t.Context(), d, bytes.NewReader(data), btree.Options{})
	require.NoError(t, err)
	defer again.Close()
	require.NoError(t, again.Compact(t.Context(), 0)) // to Options.Fill
	s, err := again.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Greater(t, s.Fill, 0.95)
}

// A key with several values goes from map to map; where keys have one value each, that is said, and from a multiset to
// a set, too.
func TestSeveralValues(t *testing.T) {
	t.Run("32", testSeveralValues[uint32])
	t.Run("64", testSeveralValues[uint64])
}

func testSeveralValues[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.InsertDuplicate(t.Context(), []W{1, 1, 2, 1}, []W{10, 11, 20, 12})
	require.NoError(t, err)
	data := save[W](t, m)
	for _, k := range kinds[W]() {
		s, err := k.load(t.Context(), d, bytes.NewReader(data))
		if k.unique {
			var damaged *structures.SavedError
			require.ErrorAs(t, err, &damaged, k.name)
			require.ErrorIs(t, err, structures.ErrSeveralValues, k.name)
			require.EqualError(t, err, "the input has keys with several values: 2 of 4 pairs")
			continue
		}
		require.NoError(t, err, k.name)
		n, err := s.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 4, n, k.name)
		if m, ok := s.(*slabhash.Map[W, W]); ok {
			offsets, values, err := m.FindAll(t.Context(), []W{1, 2})
			require.NoError(t, err)
			require.Equal(t, []int{0, 3, 4}, offsets)
			require.ElementsMatch(t, []W{10, 11, 12}, values[:3])
		}
		require.NoError(t, s.Close())
	}
}

// What ends at a block's boundary, or a byte before or behind it, is refused by each, and leaves nothing behind.
func TestTruncated(t *testing.T) {
	t.Run("32", testTruncated[uint32])
	t.Run("64", testTruncated[uint64])
}

func testTruncated[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	keys, values := some[W](150_000)
	for _, k := range kinds[W]() {
		data := save[W](t, build(t, k, d, keys, values))
		cuts := []int{0, 7, 16, 16 + lengthOf(data), 16 + lengthOf(data) + 4}
		for block := 8 + k.size()<<16; cuts[len(cuts)-1]+block < len(data); {
			cuts = append(cuts, cuts[len(cuts)-1]+block)
		}
		cuts = append(cuts, len(data)-8)
		require.Len(t, cuts, 8, "two whole blocks, and a part of one")
		held, _ := d.Memory()
		for _, at := range cuts {
			for _, cut := range []int{at - 1, at, at + 1} {
				if cut < 0 {
					continue
				}
				_, err := k.load(t.Context(), d, bytes.NewReader(data[:cut]))
				var damaged *structures.SavedError
				require.ErrorAs(t, err, &damaged, "%s cut to %d", k.name, cut)
			}
		}
		bad := bytes.Clone(data)
		bad[len(bad)-1] ^= 1
		_, err := k.load(t.Context(), d, bytes.NewReader(bad))
		require.ErrorIs(t, err, structures.ErrCorrupt, k.name)
		_, err = k.load(t.Context(), d, io.MultiReader(bytes.NewReader(data), bytes.NewReader([]byte{0})))
		require.ErrorIs(t, err, structures.ErrCorrupt, k.name)
		after, _ := d.Memory()
		require.LessOrEqual(t, after, held+8<<20, "%s: but for the blocks that small buffers share", k.name)
	}
}

// A header may say anything: no more is allocated for it than a multiple of what was read.
func TestLyingHeader(t *testing.T) {
	t.Run("32", testLyingHeader[uint32])
	t.Run("64", testLyingHeader[uint64])
}

func testLyingHeader[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	keys, values := some[W](100)
	for _, k := range kinds[W]() {
		data := save[W](t, build(t, k, d, keys, values))
		as := [...]string{`,"key_type":"u32"`, `,"key_type":"u64"`}[structures.WidthOf[W]()]
		if !k.set {
			as += strings.ReplaceAll(as, "key", "value")
		}
		lie := fake(fmt.Sprintf(`{"structure":"slabhash","pairs":4000000000%s}`, as), data[8])
		_, err := k.load(t.Context(), d, bytes.NewReader(lie))
		require.ErrorIs(t, err, structures.ErrCorrupt, k.name)
	}
	for text, load := range map[string]kind[W]{
		`{"structure":"slabhash","parameters":{"load":-1}`: kinds[W]()[0],
		`{"structure":"btree","parameters":{"fill":7}`:     kinds[W]()[2],
		`{"structure":"lsm","parameters":{"batch":33}`:     kinds[W]()[3],
	} {
		text += `,"pairs":0,"key_type":"u32","value_type":"u32"}`
		_, err := load.load(t.Context(), d, bytes.NewReader(fake(text, 8)))
		require.ErrorIs(t, err, structures.ErrCorrupt, text)
	}
}

// Who fails in the middle has its own error told, and the structure is as it was; and so with a context.
func TestFailing(t *testing.T) {
	t.Run("32", testFailing[uint32])
	t.Run("64", testFailing[uint64])
}

func testFailing[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	broken := errors.New("broken")
	keys, values := some[W](150_000)
	for _, k := range kinds[W]() {
		s := build(t, k, d, keys, values)
		data := save[W](t, s)
		for _, room := range []int{0, 100, 600_000} {
			n, err := s.Save(t.Context(), &failing{left: room, err: broken})
			require.Equal(t, broken, err, k.name)
			require.EqualValues(t, room, n, k.name)
			_, err = k.load(t.Context(), d, io.MultiReader(bytes.NewReader(data[:min(room, len(data)-9)]),
				iotest.ErrReader(broken)))
			require.ErrorIs(t, err, broken, k.name)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Save(ctx, writer(func(p []byte) (int, error) { cancel(); return len(p), nil }))
		require.ErrorIs(t, err, context.Canceled, k.name)
		_, err = s.Save(ctx, io.Discard)
		require.ErrorIs(t, err, context.Canceled, k.name)
		ctx, cancel = context.WithCancel(t.Context())
		_, err = k.load(ctx, d, io.MultiReader(bytes.NewReader(data[:200_000]),
			reader(func(p []byte) (int, error) { cancel(); return 0, io.EOF })))
		require.Error(t, err, k.name)
		_, err = k.load(ctx, d, bytes.NewReader(data))
		require.ErrorIs(t, err, context.Canceled, k.name)
		require.Equal(t, len(data), len(save[W](t, s)), k.name)
	}
}

// A writer must not change what is being saved: the call waits for the save until its context ends. The save goes on,
// and nothing stays locked.
func TestWriterUsesWhatIsSaved(t *testing.T) {
	d := testdevice.Open(t)
	for _, k := range kinds[uint32]() {
		s := build(t, k, d, []uint32{1}, []uint32{2})
		calls := 0
		n, err := s.Save(t.Context(), writer(func(p []byte) (int, error) {
			soon, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, s.Clear(soon), context.DeadlineExceeded, k.name)
			calls++
			return len(p), nil
		}))
		require.NoError(t, err)
		require.EqualValues(t, len(save[uint32](t, s)), n)
		require.Equal(t, 3, calls)
		require.NoError(t, s.Close())
		_, err = s.Save(t.Context(), io.Discard)
		require.ErrorIs(t, err, vk.ErrClosed, k.name)
	}
}

// Saved while others insert and delete: what comes out is what there was at one moment, though the number of pairs
// stays the same all the time.
func TestOneMoment(t *testing.T) {
	d := testdevice.Open(t)
	m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer m.Close()
	const n = 40_000
	version := func(v uint32) (keys, values []uint32) {
		for i := range uint32(n) {
			keys, values = append(keys, i), append(values, v)
		}
		return keys, values
	}
	keys, values := version(0)
	_, err = m.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for v := uint32(1); ; v++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			keys, values := version(v)
			if _, err := m.Insert(context.Background(), keys, values); err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 5 {
		got, err := sortedarray.Load[uint32, uint32](t.Context(), d, bytes.NewReader(save[uint32](t, m)),
			sortedarray.Options{})
		require.NoError(t, err)
		_, first, _, err := numbers.Least(t.Context(), got)
		require.NoError(t, err)
		keys, values := version(first)
		requirePairs[uint32](t, got, keys, values)
		require.NoError(t, got.Close())
	}
	close(stop)
	require.NoError(t, <-stopped)
}

// failing takes so many bytes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, f.err
	}
	f.left -= len(p)
	return len(p), nil
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
