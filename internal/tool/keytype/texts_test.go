package keytype

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

// hostMap is a Map in the host's memory.
type hostMap map[uint64]uint64

func (m hostMap) UpdateInto(_ context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	for i, k := range keys {
		old, there := m[k]
		s := structures.Inserted
		switch {
		case there && kind == structures.InsertUnique:
			s = structures.Found
		case there:
			s = structures.Assigned
		}
		if s != structures.Found {
			m[k] = values[i]
		}
		if s == structures.Assigned && kind == structures.InsertAdd {
			m[k] += old
		}
		if status != nil {
			status[i] = s
		}
	}
	return nil
}

func (m hostMap) Find(_ context.Context, keys []uint64) ([]uint64, []bool, error) {
	values, found := make([]uint64, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		values[i], found[i] = m[k]
	}
	return values, found, nil
}

func (m hostMap) Delete(_ context.Context, keys []uint64) ([]structures.Status, error) {
	for _, k := range keys {
		delete(m, k)
	}
	return make([]structures.Status, len(keys)), nil
}

func (m hostMap) Close() error {
	clear(m)
	return nil
}

func newHostMap(context.Context, int) (Map, error) { return hostMap{}, nil }

// weak are hashes of so few bits each, and behind them those of Random.
func weak(bits ...int) Hashes {
	return func(attempt int) Hash {
		hash := Random(attempt)
		if attempt >= len(bits) {
			return hash
		}
		return func(text []byte) uint64 { return hash(text) >> (64 - bits[attempt]) }
	}
}

// some are texts in an arena with others between them, in reverse.
func some(all ...string) Some {
	s := Some{Arena: &Arena{}, Numbers: make([]uint64, len(all))}
	for i := range all {
		s.Numbers[len(all)-1-i] = s.Add([]byte(all[len(all)-1-i]))
		s.Add([]byte("between"))
	}
	return s
}

// shared are texts in an arena that has each of them once, and others.
func shared(all ...string) Some {
	s, there := Some{Arena: &Arena{}}, map[string]uint64{}
	s.AddString("unused")
	for _, text := range all {
		if _, is := there[text]; !is {
			there[text] = s.AddString(text)
		}
		s.Numbers = append(s.Numbers, there[text])
	}
	return s
}

func TestArena(t *testing.T) {
	var a Arena
	for range 2 {
		var want []string
		for i, n := range []int{0, 1, 127, 128, 60 << 10, 5000, 64 << 10, Longest, 0, 300, 4 << 20, 3} {
			want = append(want, strings.Repeat(string(rune('a'+i)), n))
			require.EqualValues(t, i, a.Add([]byte(want[i])))
		}
		total := 0
		for i, text := range want {
			require.True(t, text == string(a.At(uint64(i))), "%d", i)
			total += len(text)
		}
		assert.Equal(t, []int{len(want), total}, []int{a.Len(), a.Bytes()})
		// What is added to a text that was taken out is added to no other one.
		_ = append(a.At(1), "xyz"...)
		require.Equal(t, want[2], string(a.At(2)))
		blocks := len(a.blocks)
		a.Reset()
		assert.Equal(t, []int{0, 0, blocks}, []int{a.Len(), a.Bytes(), len(a.blocks)})
	}
	assert.Len(t, a.blocks, 6, "the second time they fit where the first ones were")
}

// What is truncated leaves room, and nothing behind.
func TestArenaTruncated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Arena
		var want []string
		bytes := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				length := rapid.SampledFrom([]int{0, 1, 200, 40 << 10, 70 << 10}).Draw(t, "length")
				text := strings.Repeat(rapid.StringN(1, 1, 1).Draw(t, "text"), length)
				require.EqualValues(t, len(want), a.AddString(text))
				want = append(want, text)
			} else {
				n := rapid.IntRange(0, len(want)+1).Draw(t, "left")
				a.Truncate(n)
				want = want[:min(n, len(want))]
			}
			bytes = 0
			for i, text := range want {
				require.True(t, text == string(a.At(uint64(i))))
				bytes += len(text)
			}
			require.Equal(t, []int{len(want), bytes}, []int{a.Len(), a.Bytes()})
		}
	})
}

// Whatever is put, deleted and looked up, and however often texts collide: what a map of Go's says, and rows in the
// order in which texts came.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		bits := rapid.SampledFrom([][]int{nil, {0}, {1, 2}, {3, 4, 5}, {6}, {12}}).Draw(t, "bits")
		x, err := NewIndex(ctx, newHostMap, weak(bits...), 0)
		require.NoError(t, err)
		word := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("x", rapid.IntRange(0, 40).Draw(t, "word"))
		})
		want, next := map[string]uint64{}, uint64(0)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			all := rapid.SliceOfN(word, 0, 30).Draw(t, "texts")
			switch rapid.SampledFrom([]string{"put", "find", "delete"}).Draw(t, "step") {
			case "put":
				rows, status, err := x.Put(ctx, some(all...))
				require.NoError(t, err)
				for i, text := range all {
					row, there := want[text]
					if !there {
						row, want[text] = next, next
						next++
					}
					require.Equal(t, row, rows[i], "%d of %q", i, all)
					require.Equal(t, !there, status[i] == structures.Inserted)
				}
			case "find":
				rows, found, err := x.Find(ctx, some(all...))
				require.NoError(t, err)
				for i, text := range all {
					row, there := want[text]
					require.Equal(t, []any{row, there}, []any{rows[i], found[i]}, "%q", text)
				}
			case "delete":
				status, err := x.Delete(ctx, some(all...))
				require.NoError(t, err)
				for i, text := range all {
					_, there := want[text]
					require.Equal(t, there, status[i] == structures.Deleted)
					require.Equal(t, !there, status[i] == structures.Absent)
					delete(want, text)
				}
			}
			require.Equal(t, len(want), x.Len())
			require.Len(t, x.Map(), len(want))
		}
		got := map[string]uint64{}
		for row := range x.Rows() {
			got[string(x.Texts().At(row))] = row
		}
		require.Equal(t, want, got)
	})
}

// Where hashes are none, that is said; and what is absent isn't taken for what is there under its hash.
func TestIndexWithoutHash(t *testing.T) {
	ctx := context.Background()
	x, err := NewIndex(ctx, newHostMap, weak(0, 0, 0, 0, 0, 0), 0)
	require.NoError(t, err)
	_, _, err = x.Put(ctx, some("one", "one"))
	require.NoError(t, err)
	rows, found, err := x.Find(ctx, some("two", "one"))
	require.NoError(t, err)
	assert.Equal(t, []uint64{0, 0}, rows)
	assert.Equal(t, []bool{false, true}, found)
	status, err := x.Delete(ctx, some("two"))
	require.NoError(t, err)
	assert.Equal(t, []structures.Status{structures.Absent}, status)
	_, found, err = x.Find(ctx, some("one"))
	require.NoError(t, err)
	assert.Equal(t, []bool{true}, found)
	_, _, err = x.Put(ctx, some("two"))
	var collision *CollisionError
	require.ErrorAs(t, err, &collision)
	assert.Equal(t, mostAttempts, collision.Hashes)
}

func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		bits := rapid.SampledFrom([][]int{nil, {0}, {1, 2}, {3, 4, 5}, {12}}).Draw(t, "bits")
		words := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\xff", "a\n", "a\r", " a"}))
		parts := rapid.SliceOfN(words, 0, 3).Draw(t, "parts")
		count, err := NewTally(ctx, newHostMap, weak(bits...), 0)
		require.NoError(t, err)
		defer count.Close()
		arena := rapid.SampledFrom([]func(...string) Some{some, shared}).Draw(t, "arena")
		want, order := map[string]uint64{}, []string{}
		for _, text := range slices.Concat(parts...) {
			if want[text]++; want[text] == 1 {
				order = append(order, text)
			}
		}
		for attempt := 0; ; attempt++ {
			for _, part := range parts {
				require.NoError(t, count.Add(ctx, arena(part...)))
			}
			counts, err := count.Counts(ctx)
			if err == ErrCollision {
				require.Less(t, attempt, len(bits))
				require.NoError(t, count.Again(ctx))
				continue
			}
			require.NoError(t, err)
			require.Len(t, counts, len(order))
			for i, text := range order {
				require.Equal(t, text, string(count.Texts().At(uint64(i))))
				require.Equal(t, want[text], counts[i])
			}
			return
		}
	})
}

func TestTallyWithoutHash(t *testing.T) {
	ctx := context.Background()
	count, err := NewTally(ctx, newHostMap, weak(0, 0, 0, 0, 0), 0)
	require.NoError(t, err)
	for attempt := range mostAttempts {
		require.NoError(t, count.Add(ctx, some("one", "two")))
		_, err := count.Counts(ctx)
		require.ErrorIs(t, err, ErrCollision)
		err = count.Again(ctx)
		var collision *CollisionError
		require.Equal(t, attempt == mostAttempts-1, errorAs(err, &collision), "%v", err)
	}
}

func errorAs(err error, target **CollisionError) (is bool) {
	*target, is = err.(*CollisionError)
	return is
}

// Hashes are those of the texts themselves, whoever computes them, and the two of a text have nothing to do with each
// other.
func TestHashes(t *testing.T) {
	var a Arena
	all := Some{Arena: &a}
	for i := range 100000 {
		all.Numbers = append(all.Numbers, a.Add(fmt.Appendf(nil, "line %d", i/2)))
	}
	first, other := Random(0), second()
	hashes, again := first.of(all), second().of(all)
	for i, h := range hashes {
		require.Equal(t, first(bytes.Clone(all.At(i))), h)
	}
	assert.NotEqual(t, Random(0)(all.At(0)), hashes[0])
	assert.NotEqual(t, again[0], other(all.At(0)))
	slices.Sort(hashes)
	assert.Len(t, slices.Compact(hashes), 50000)
}
