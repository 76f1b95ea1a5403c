package saved_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

// written is a saved dictionary of so many keys, the values of which are their squares.
func written(t *testing.T, n int, keysOnly bool) []byte {
	var out bytes.Buffer
	w, err := saved.NewWriter(&out, saved.Header{Structure: "slabhash", Pairs: int64(n), KeysOnly: keysOnly})
	require.NoError(t, err)
	keys, values := make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i], values[i] = uint32(i), uint32(i*i)
	}
	if keysOnly {
		values = nil
	}
	require.NoError(t, w.Write(keys, values))
	require.NoError(t, w.Close())
	require.EqualValues(t, out.Len(), w.Bytes())
	return out.Bytes()
}

// read reads a saved dictionary to its end; values that were not written are expected as 0.
func read(t *testing.T, data io.Reader) (saved.Header, int, error) {
	r, err := saved.NewReader(data)
	if err != nil {
		return saved.Header{}, 0, err
	}
	keys, values := make([]uint32, 1000), make([]uint32, 1000)
	for at := 0; ; {
		n, err := r.Read(keys, values)
		for i := range n {
			want := uint32((at + i) * (at + i))
			if r.Header().KeysOnly {
				want = 0
			}
			require.Equal(t, [2]uint32{uint32(at + i), want}, [2]uint32{keys[i], values[i]})
		}
		at += n
		if err == io.EOF {
			return r.Header(), at, nil
		}
		if err != nil {
			return r.Header(), at, err
		}
	}
}

// Keys alone take half the space, and come back with values of 0.
func TestKeysAlone(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1} {
		pairs, keys := written(t, n, false), written(t, n, true)
		require.Equal(t, 4*n, len(pairs)-len(keys))
		for _, data := range [][]byte{pairs, keys} {
			h, got, err := read(t, iotest.OneByteReader(bytes.NewReader(data)))
			require.NoError(t, err)
			require.Equal(t, n, got)
			require.Equal(t, saved.Header{Structure: "slabhash", Pairs: int64(n),
				KeysOnly: len(data) == len(keys) && n > 0 || data[8] == 3}, h)
		}
	}
}

// Whatever byte of keys alone is changed, and wherever they end: an error, and no pair of the block.
func TestKeysAloneDamaged(t *testing.T) {
	good := written(t, 40, true)
	var damaged *structures.SavedError
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		_, n, err := read(t, bytes.NewReader(bad))
		require.ErrorAs(t, err, &damaged, "byte %d", at)
		require.Zero(t, n)
		_, n, err = read(t, bytes.NewReader(good[:at]))
		require.ErrorAs(t, err, &damaged, "cut to %d", at)
		require.Zero(t, n)
	}
	_, _, err := read(t, bytes.NewReader(nil))
	require.EqualError(t, err, "what was read is no saved dictionary")
}

// A writer that fails, at any of its calls, and a reader: their own errors come back, again and again.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	for fails := range 4 { // the header, two blocks, the last one
		out := &failing{calls: fails, err: broken}
		w, err := saved.NewWriter(out, saved.Header{Pairs: 1 << 17})
		if fails > 0 {
			require.NoError(t, err)
			all := make([]uint32, 1<<17)
			if err = w.Write(all, all); fails == 3 {
				require.NoError(t, err)
				err = w.Close()
			}
			require.Equal(t, broken, w.Close())
			require.Equal(t, out.taken, w.Bytes())
		}
		require.Equal(t, broken, err, "%d calls", fails)
	}
	good := written(t, 10, false)
	_, n, err := read(t, io.MultiReader(bytes.NewReader(good[:len(good)-5]), iotest.ErrReader(broken)))
	require.Equal(t, broken, err)
	require.Zero(t, n)
}

// failing takes so many calls, and of the one behind them a single byte.
type failing struct {
	calls int
	taken int64
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.calls == 0 {
		f.taken++
		return 1, f.err
	}
	f.calls--
	f.taken += int64(len(p))
	return len(p), nil
}

// Fewer pairs, or more, than the header promised.
func TestMiscounted(t *testing.T) {
	for _, n := range []int{0, 2} {
		w, err := saved.NewWriter(io.Discard, saved.Header{Pairs: 1})
		require.NoError(t, err)
		require.NoError(t, w.Write(make([]uint32, n), make([]uint32, n)))
		var miscounted *saved.CountError
		require.ErrorAs(t, w.Close(), &miscounted)
		require.Equal(t, saved.CountError{Have: int64(n), Want: 1}, *miscounted)
	}
}

// What has 64 bits comes back as it was, the narrower one into wider slices too, and the wider one never into narrower.
func TestWidths(t *testing.T) {
	keys, values := []uint64{0, 1, 1 << 32, 1<<63 | 5, ^uint64(0)}, []uint64{^uint64(0), 1 << 40, 3, 0, 7}
	for _, keysOnly := range []bool{false, true} {
		var file bytes.Buffer
		w, err := saved.NewWriter(&file,
			saved.Header{Structure: "x", Pairs: 5, Width: structures.Bits64, KeysOnly: keysOnly})
		require.NoError(t, err)
		brought, want := values, slices.Clone(values)
		if keysOnly {
			brought, want = nil, make([]uint64, 5)
		}
		require.NoError(t, saved.WriteWords(w, keys, brought))
		require.NoError(t, w.Close())
		size := int64(file.Len())

		r, err := saved.NewReader(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		require.Equal(t, structures.Bits64, r.Header().Width)
		require.Equal(t, keysOnly, r.Header().KeysOnly)
		require.NoError(t, r.CheckSize(size))
		_, err = r.Read(make([]uint32, 5), make([]uint32, 5))
		require.ErrorIs(t, err, structures.ErrTooWide)
		gotKeys, gotValues := make([]uint64, 6), make([]uint64, 6)
		n, err := saved.ReadWords(r, gotKeys, gotValues)
		require.NoError(t, err)
		require.Equal(t, keys, gotKeys[:n])
		require.Equal(t, want, gotValues[:n])
	}
	var file bytes.Buffer
	w, err := saved.NewWriter(&file, saved.Header{Structure: "x", Pairs: 1})
	require.NoError(t, err)
	require.NoError(t, w.Write([]uint32{^uint32(0)}, []uint32{9}))
	require.NoError(t, w.Close())
	require.EqualValues(t, 2, file.Bytes()[len(saved.Magic)], "what earlier versions read")
	r, err := saved.NewReader(&file)
	require.NoError(t, err)
	key, value := make([]uint64, 1), make([]uint64, 1)
	_, err = saved.ReadWords(r, key, value)
	require.NoError(t, err)
	require.Equal(t, []uint64{1<<32 - 1}, key)
	require.Equal(t, []uint64{9}, value)
}
