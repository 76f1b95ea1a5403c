package saved_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
)

// written returns a saved dictionary of n keys, whose values are their squares.
func written(t *testing.T, n int, keysOnly bool) []byte {
	var out bytes.Buffer
	columns := saved.Pairs[uint32, uint32]()
	columns.KeysOnly = keysOnly
	w, err := saved.NewWriter(&out, saved.Header{Structure: "slabhash", Pairs: int64(n)}, columns)
	require.NoError(t, err)
	keys, values := make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i], values[i] = uint32(i), uint32(i*i)
	}
	if keysOnly {
		values = nil
	}
	require.NoError(t, saved.WriteWords(w, keys, values))
	require.NoError(t, w.Close())
	require.EqualValues(t, out.Len(), w.Bytes())
	return out.Bytes()
}

// read reads a saved dictionary to its end. It expects 0 for values that were not written.
func read(t *testing.T, data io.Reader) (saved.Header, int, error) {
	r, err := saved.NewReader(data)
	if err != nil {
		return saved.Header{}, 0, err
	}
	keys, values := make([]uint32, 1000), make([]uint32, 1000)
	for at := 0; ; {
		n, err := saved.ReadWords(r, keys, values)
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

// Keys without values take half the space, and are read with values of 0.
func TestKeysAlone(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1} {
		pairs, keys := written(t, n, false), written(t, n, true)
		require.Equal(t, 4*n+len(`,"value_type":"u32"`), len(pairs)-len(keys))
		for keysOnly, data := range map[bool][]byte{false: pairs, true: keys} {
			h, got, err := read(t, iotest.OneByteReader(bytes.NewReader(data)))
			require.NoError(t, err)
			require.Equal(t, n, got)
			want := saved.Header{Structure: "slabhash", Pairs: int64(n), KeyType: "u32", KeysOnly: keysOnly}
			if !keysOnly {
				want.ValueType = "u32"
			}
			require.Equal(t, want, h)
		}
	}
}

// If any byte of a set is changed, or if it is truncated anywhere, reading returns an error and no pair of the block.
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
	require.EqualError(t, err, "the input is not a saved dictionary")
}

// If an io.Writer fails in any of its calls, or an io.Reader fails, each later call returns their error again.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	for fails := range 4 { // the header, two blocks, the block of none
		out := &failing{calls: fails, err: broken}
		w, err := saved.NewWriter(out, saved.Header{Pairs: 1 << 17}, saved.Pairs[uint32, uint32]())
		if fails > 0 {
			require.NoError(t, err)
			all := make([]uint32, 1<<17)
			if err = saved.WriteWords(w, all, all); fails == 3 {
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

// failing accepts a number of calls. In the next call it writes one byte and fails.
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

// Fewer or more pairs than in the header.
func TestMiscounted(t *testing.T) {
	for _, n := range []int{0, 2} {
		w, err := saved.NewWriter(io.Discard, saved.Header{Pairs: 1}, saved.Pairs[uint32, uint32]())
		require.NoError(t, err)
		require.NoError(t, saved.WriteWords(w, make([]uint32, n), make([]uint32, n)))
		var miscounted *saved.CountError
		require.ErrorAs(t, w.Close(), &miscounted)
		require.Equal(t, saved.CountError{Have: int64(n), Want: 1}, *miscounted)
	}
}

// Numbers of each of the six types are loaded as each of the others. That works for the same type and for wider ones
// that have all its numbers, and for no others. The keys and values include numbers that only their type has.
func TestTypes(t *testing.T) {
	from(t, []uint32{0, 1, 1 << 31, 1<<32 - 1}, "uint32 uint64 int64")
	from(t, []int32{math.MinInt32, -5, -1, 0, 7, math.MaxInt32}, "int32 int64")
	nan := math.Float32frombits
	from(t, []float32{nan(0xff800001), -1.5, nan(1 << 31), 0, 1e-45, 2.25, float32(math.Inf(1)), nan(0x7fc00005)},
		"float32 float64")
	from(t, []uint64{0, 1 << 32, 1<<64 - 1}, "uint64")
	from(t, []int64{math.MinInt64, -1, 0, 1 << 40}, "int64")
	from(t, []float64{math.Inf(-1), -1e300, math.Copysign(0, -1), 0.1, math.NaN()}, "float64")
}

func from[F structures.Number](t *testing.T, numbers []F, loads string) {
	to[F, uint32](t, numbers, loads)
	to[F, int32](t, numbers, loads)
	to[F, float32](t, numbers, loads)
	to[F, uint64](t, numbers, loads)
	to[F, int64](t, numbers, loads)
	to[F, float64](t, numbers, loads)
}

// to saves numbers as keys and as values, with the other column of another width, and loads them as another type.
func to[F, T structures.Number](t *testing.T, numbers []F, loads string) {
	want := saved.TypeOf[T]().String()
	others := make([]uint64, len(numbers))
	keyWords, valueWords := slices.Clone(others), slices.Clone(others)
	for i, x := range numbers {
		keyWords[i], valueWords[i] = structures.KeyCode[F]().Word(x), structures.ValueCode[uint64, F]().Word(x)
	}
	for _, what := range []string{"keys", "values"} {
		columns, asked := saved.Pairs[F, uint64](), saved.Pairs[T, uint64]()
		keys, values := keyWords, others
		if what == "values" {
			columns, asked = saved.Pairs[uint64, F](), saved.Pairs[uint64, T]()
			keys, values = others, valueWords
		}
		var file bytes.Buffer
		w, err := saved.NewWriter(&file, saved.Header{Structure: "x", Pairs: int64(len(numbers))}, columns)
		require.NoError(t, err)
		require.NoError(t, saved.WriteWords(w, keys, values))
		require.NoError(t, w.Close())
		r, err := saved.NewReader(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		require.NoError(t, r.CheckSize(int64(file.Len())))
		err = r.As(asked)
		if !slices.Contains(strings.Fields(loads), want) {
			var refused *structures.TypeError
			require.ErrorAs(t, err, &refused, want)
			require.Equal(t, structures.TypeError{What: what, Saved: saved.TypeOf[F]().String(), Loaded: want},
				*refused)
			continue
		}
		require.NoError(t, err)
		keys, values = make([]uint64, len(numbers)), make([]uint64, len(numbers))
		n, err := saved.ReadWords(r, keys, values)
		require.NoError(t, err)
		require.Equal(t, len(numbers), n)
		got, of := keys, structures.KeyCode[T]().Of
		if what == "values" {
			got, of = values, structures.ValueCode[uint64, T]().Of
		}
		for i, x := range numbers {
			same(t, x, of(got[i]))
		}
	}
}

// same compares numbers exactly: -0 differs from 0, and NaNs must have the same payload.
func same(t *testing.T, want, got any) {
	switch x := want.(type) {
	case float32:
		if wide, is := got.(float64); is {
			if bits := uint64(math.Float32bits(x)); x != x {
				require.Equal(t, bits>>31<<63|0x7ff<<52|bits&(1<<23-1)<<29, math.Float64bits(wide))
			} else {
				require.Equal(t, math.Float64bits(float64(x)), math.Float64bits(wide))
			}
			return
		}
		require.Equal(t, math.Float32bits(x), math.Float32bits(got.(float32)))
	case float64:
		require.Equal(t, math.Float64bits(x), math.Float64bits(got.(float64)))
	default:
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
	}
}
