package pipeline

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Columns have the words of structures.KeyCode and structures.ValueCode, for each type and each width, and these are
// decoded to the same numbers, bit by bit.
func TestCodes(t *testing.T) {
	integers := []uint64{0, 1, 77, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32, math.MaxInt64, 1 << 63,
		math.MaxUint64}
	codes[uint32](t, integers)
	codes[int32](t, integers)
	codes[uint64](t, integers)
	codes[time.Duration](t, integers)
	codes[float32](t, append(integers, 0x7fc00001, 0xffc00001, 0x3f800000, 0xbf800000))
	codes[float64](t, append(integers, 0x7ff8000000000001, 0xfff8000000000001, 0x3ff<<52, 0xbff<<52))
}

// codes tests a type by numbers that have these bits.
func codes[T structures.Number](t *testing.T, bits []uint64) {
	numbers := make([]T, len(bits))
	for i, b := range bits {
		numbers[i] = structures.Code[T]{}.Of(b)
	}
	for w := structures.WidthOf[T](); w <= structures.Bits64; w++ {
		t.Run(fmt.Sprintf("%T, %v", *new(T), w), func(t *testing.T) {
			holds(t, numbers, w, structures.KeyCode[T](), Keys(numbers, w), KeyResults[T])
			value := structures.ValueCode[uint32, T]()
			if w == structures.Bits64 {
				value = structures.ValueCode[uint64, T]()
			}
			holds(t, numbers, w, value, Values(numbers, w), ValueResults[T])
		})
	}
}

func holds[T structures.Number](t *testing.T, numbers []T, w structures.Width, code structures.Code[T], in Column,
	results func([]T, structures.Width) Column) {
	words := make([]byte, w.Bytes()*len(numbers))
	encoded(in, words)
	for i, x := range numbers {
		if w == structures.Bits64 {
			require.Equal(t, code.Word(x), words64(words)[i])
		} else {
			require.Equal(t, code.Word(x), uint64(words32(words)[i]))
		}
	}
	got, statuses := make([]T, len(numbers)), make([]byte, len(numbers))
	decoded(results(got, w), words, nil, false)
	require.Equal(t, Bytes(numbers), Bytes(got))

	// If an operation has found nothing, its word on the device is 0.
	clear(words)
	wanted := make([]T, len(numbers))
	for i, x := range numbers {
		switch i % 5 {
		case 0, 1:
			statuses[i], wanted[i] = []byte{1, byte(structures.Found)}[i%5], x
			part := w.Bytes() * i
			encoded(in.Part(i, 1), words[part:part+w.Bytes()])
		case 2:
			statuses[i] = byte(structures.Absent)
		}
	}
	decoded(results(got, w), words, statuses, false)
	require.Equal(t, Bytes(wanted), Bytes(got))
}

// Numbers of pairs are the same for any type, at either width. In a mixed batch, the kind of each operation determines
// how its result is decoded.
func TestCounts(t *testing.T) {
	numbersOfPairs[uint32](t)
	numbersOfPairs[int32](t)
	numbersOfPairs[uint64](t)
	numbersOfPairs[time.Duration](t)
	numbersOfPairs[float32](t)
	numbersOfPairs[float64](t)
}

func numbersOfPairs[V structures.Number](t *testing.T) {
	kinds := []structures.Kind{structures.Find, structures.CountAll, structures.Find, structures.DeleteAll,
		structures.FindFloor, structures.CountRange, structures.Insert, structures.FindRange, structures.CountAll}
	statuses := []structures.Status{structures.Found, structures.Found, structures.Absent, structures.Deleted,
		structures.Absent, structures.Found, structures.Assigned, structures.Found, structures.Absent}
	values, want := []V{77, 0, 9, 0, 9, 0, 78, 0, 0}, []V{77, 3, 0, 1<<24 + 1, 0, 5, 78, 6, 0}
	numbers := []uint64{0, 3, 0, 1<<24 + 1, 0, 5, 0, 6, 0}
	for w := structures.WidthOf[V](); w <= structures.Bits64; w++ {
		t.Run(fmt.Sprintf("%T, %v", *new(V), w), func(t *testing.T) {
			put := func(words []byte, i int, n uint64) {
				if w == structures.Bits64 {
					words64(words)[i] = n
				} else {
					words32(words)[i] = uint32(n)
				}
			}
			words, got := make([]byte, w.Bytes()*len(kinds)), make([]V, len(kinds))
			for i, n := range numbers {
				put(words, i, n)
			}
			decoded(Counts(got, w), words, nil, false)
			for i, n := range numbers {
				require.Equal(t, V(n), got[i])
			}
			exactly := make([]uint32, len(kinds))
			mixed := Mixed(kinds, values, got, w).Counting(exactly)
			encoded(mixed, words)
			for i, k := range kinds {
				if counts := k == structures.CountAll || k == structures.DeleteAll || k.Ranges(); counts ||
					statuses[i] == structures.Absent {
					put(words, i, numbers[i])
				}
			}
			for first := range kinds {
				part := mixed.Part(first, len(kinds)-first)
				decoded(part, words[w.Bytes()*first:], Bytes(statuses[first:]), false)
				require.Equal(t, want[first:], got[first:])
			}
			require.Equal(t, []uint32{0, 3, 0, 1<<24 + 1, 0, 5, 0, 6, 0}, exactly)

			clear(exactly)
			unwanted := Mixed[V](kinds, nil, nil, w).Counting(exactly)
			decoded(unwanted.Part(3, 3), words[3*w.Bytes():], Bytes(statuses[3:]), false)
			require.Equal(t, []uint32{0, 0, 0, 1<<24 + 1, 0, 5, 0, 0, 0}, exactly)
			require.True(t, unwanted.back())
			mixed.PutCount(0, 1<<24)
			require.Equal(t, V(1<<24), got[0])
			unwanted.PutCount(0, 1)

			some := mixed.Pick([]int{5, 2})
			require.Equal(t, []structures.Kind{structures.CountRange, structures.Find}, some.kinds)
			require.Equal(t, Bytes([]V{0, 9}), some.From)
			require.Len(t, some.To, len(some.From))
		})
	}
}

// Keys are ordered by their types, not by their bits.
func TestOrder(t *testing.T) {
	some := Keys([]int32{9, -3, 5, 5, -1}, structures.Bits64)
	require.Equal(t, Order{Sorted: true, First: 1<<31 - 3, Last: 1<<31 + 5}, some.Order(1, 3))
	require.Equal(t, Order{}, some.Order(1, 4))
	require.Equal(t, Order{Sorted: true}, some.Order(2, 0))
	floats := Keys([]float64{math.Inf(-1), -2, -1, 0, 1}, structures.Bits64).Order(0, 5)
	require.True(t, floats.Sorted && floats.Ascending)
	require.False(t, Keys([]float64{-1, -2}, structures.Bits64).Order(0, 2).Sorted)
	require.Equal(t, Order{true, true, 1, 1 << 31}, Keys([]uint32{1, 1 << 31}, structures.Bits32).Order(0, 2))
}

// Ranges of words can go to the device at either width.
func TestRanges(t *testing.T) {
	ranges := []structures.Range[uint64]{{Lo: 1, Hi: 2}, {Lo: 3, Hi: math.MaxUint32}}
	words := make([]uint32, 4)
	encoded(Ranges(ranges, structures.Bits32), Bytes(words))
	require.Equal(t, []uint32{1, 2, 3, math.MaxUint32}, words)
	wide := make([]uint64, 4)
	encoded(Ranges(ranges, structures.Bits64), Bytes(wide))
	require.Equal(t, []uint64{1, 2, 3, math.MaxUint32}, wide)
	require.Equal(t, uint64(3), Words[uint64](Ranges(ranges[1:], structures.Bits32))[0])
}

// Columns that are transferred without a slot, in several parts.
func TestAside(t *testing.T) {
	d := testdevice.Open(t)
	numbers := make([]float32, 1<<18+1000)
	for i := range numbers {
		numbers[i] = float32(i) - 1000
	}
	b := testdevice.Room[uint32](t, d, 2*len(numbers)+2)
	require.NoError(t, Values(numbers, structures.Bits64).Upload(t.Context(), b, 2))
	got := make([]float32, len(numbers))
	require.NoError(t, ValueResults(got, structures.Bits64).Download(t.Context(), b, 2))
	require.Equal(t, numbers, got)
}

// Some operations are picked from a batch, and their results written back to it.
func TestPick(t *testing.T) {
	keys, places := []int32{-3, 5, -7, 9}, []int{3, 0}
	require.Equal(t, Words[uint32](Keys([]int32{9, -3}, structures.Bits32)),
		Words[uint32](Keys(keys, structures.Bits32).Pick(places)))
	all := ValueResults(keys, structures.Bits64)
	some := all.Room(2)
	copy(some.To, Bytes([]int32{90, 30}))
	all.Spread(some, places)
	require.Equal(t, []int32{30, 5, -7, 90}, keys)
	words := []uint64{3 << 32, 5 << 32}
	all.Put(1, Bytes(words))
	require.Equal(t, []int32{30, 3, 5, 90}, keys)
	nothing := ValueResults[int32](nil, structures.Bits64)
	require.Nil(t, nothing.Room(2).To)
	nothing.Spread(nothing.Room(2), places)
}

func encoded(c Column, to []byte) { c.Encode(to) }

func decoded(c Column, from, of []byte, partly bool) { c.decode(from, of, partly) }
