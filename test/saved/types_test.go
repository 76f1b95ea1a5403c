package saved

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	format "github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// dictionary is what a structure of users' types is saved and asked by.
type dictionary[K, V structures.Number] interface {
	Save(ctx context.Context, w io.Writer) (int64, error)
	Find(ctx context.Context, keys []K) ([]V, []bool, error)
	Len(ctx context.Context) (uint64, error)
	Close() error
}

// building and loading are those of each structure.
func building[K, V structures.Number](ctx context.Context, d *vk.Device, name string, keys []K,
	values []V) (dictionary[K, V], error) {
	switch name {
	case "map":
		return slabhash.Build(ctx, d, keys, values, slabhash.Options{})
	case "lsm":
		return lsm.Build(ctx, d, keys, values, lsm.Options{})
	case "array":
		return sortedarray.Build(ctx, d, keys, values, sortedarray.Options{})
	}
	return btree.Build(ctx, d, keys, values, btree.Options{})
}

func loading[K, V structures.Number](ctx context.Context, d *vk.Device, name string,
	file []byte) (dictionary[K, V], error) {
	r := bytes.NewReader(file)
	switch name {
	case "map":
		return slabhash.Load[K, V](ctx, d, r, slabhash.Options{})
	case "lsm":
		return lsm.Load[K, V](ctx, d, r, lsm.Options{})
	case "array":
		return sortedarray.Load[K, V](ctx, d, r, sortedarray.Options{})
	}
	return btree.Load[K, V](ctx, d, r, btree.Options{})
}

var names = []string{"map", "tree", "lsm", "array"}

// fileOf is a saved dictionary of a structure's.
func fileOf[K, V structures.Number](t *testing.T, d *vk.Device, name string, keys []K, values []V) []byte {
	x, err := building(t.Context(), d, name, keys, values)
	require.NoError(t, err)
	defer x.Close()
	return saving(t, x)
}

func saving(t *testing.T, x interface {
	Save(ctx context.Context, w io.Writer) (int64, error)
}) []byte {
	var file bytes.Buffer
	_, err := x.Save(t.Context(), &file)
	require.NoError(t, err)
	return file.Bytes()
}

// requireLoads loads a file as other types, which have the numbers, too.
func requireLoads[K, V structures.Number](t *testing.T, d *vk.Device, name string, file []byte, keys []K, values []V) {
	t.Helper()
	x, err := loading[K, V](t.Context(), d, name, file)
	require.NoError(t, err, name)
	defer x.Close()
	n, err := x.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(keys), n)
	got, found, err := x.Find(t.Context(), keys)
	require.NoError(t, err)
	require.NotContains(t, found, false, "%s: %v", name, keys)
	code := structures.ValueCode[K, V]()
	for i, want := range values {
		require.Equal(t, code.Word(want), code.Word(got[i]), "%s: %v, not %v", name, got[i], want)
	}
}

func requireRefused[K, V structures.Number](t *testing.T, d *vk.Device, name string, file []byte,
	want structures.TypeError) {
	t.Helper()
	_, err := loading[K, V](t.Context(), d, name, file)
	var refused *structures.TypeError
	require.ErrorAs(t, err, &refused, name)
	require.Equal(t, want, *refused, name)
	var damaged *structures.SavedError
	require.ErrorAs(t, err, &damaged)
}

type (
	celsius float32
	cents   int64
	id      uint32
)

// Every type of keys and of values loads as itself and as the wider types that have all its numbers, with these
// numbers, and as no other, in every structure.
func TestTypes(t *testing.T) {
	d := testdevice.Open(t)
	fromType(t, d, []uint32{0, 1, 1 << 31, 1<<32 - 1}, "uint32 uint64 int64")
	fromType(t, d, []int32{math.MinInt32, -5, -1, 0, 7, math.MaxInt32}, "int32 int64")
	fromType(t, d, []float32{-1.5, float32(math.Copysign(0, -1)), 0, 1e-45, 2.25, float32(math.Inf(1))},
		"float32 float64")
	fromType(t, d, []uint64{0, 1 << 32, 1<<64 - 1}, "uint64")
	fromType(t, d, []int64{math.MinInt64, -1, 0, 1 << 40}, "int64")
	fromType(t, d, []float64{math.Inf(-1), -1e300, math.Copysign(0, -1), 0.1}, "float64")
	fromType(t, d, []celsius{-40, 0, 36.6}, "float32 float64")
	fromType(t, d, []cents{math.MinInt64, -1, 5}, "int64")
	fromType(t, d, []id{0, 1<<32 - 1}, "uint32 uint64 int64")
	fromType(t, d, []time.Duration{-time.Second, 0, time.Hour}, "int64")
}

func fromType[F structures.Number](t *testing.T, d *vk.Device, numbers []F, loads string) {
	for i, name := range names {
		file, into := fileOf(t, d, name, numbers, numbers), names[(i+1)%len(names)]
		toType[F, uint32](t, d, into, file, numbers, loads)
		toType[F, int32](t, d, into, file, numbers, loads)
		toType[F, float32](t, d, into, file, numbers, loads)
		toType[F, uint64](t, d, into, file, numbers, loads)
		toType[F, int64](t, d, into, file, numbers, loads)
		toType[F, float64](t, d, into, file, numbers, loads)
		requireLoads(t, d, into, file, numbers, numbers)
	}
}

func toType[F, T structures.Number](t *testing.T, d *vk.Device, name string, file []byte, numbers []F, loads string) {
	was, as := format.TypeOf[F]().String(), format.TypeOf[T]().String()
	if !slices.Contains(strings.Fields(loads), as) {
		requireRefused[T, T](t, d, name, file, structures.TypeError{What: "keys", Saved: was, Loaded: as})
		return
	}
	want := make([]T, len(numbers))
	for i, x := range numbers {
		want[i] = T(x)
	}
	requireLoads(t, d, name, file, want, want)
}

// Keys and values have a type each, whatever the width that both are stored in; the values of a set are 0, and a set
// takes no notice of values.
func TestTypesApart(t *testing.T) {
	d := testdevice.Open(t)
	keys, values := []int32{-7, 0, 9}, []float64{0.1, -2, math.Inf(1)}
	for _, name := range names {
		file := fileOf(t, d, name, keys, values)
		for _, into := range names {
			requireLoads(t, d, into, file, keys, values)
			requireLoads(t, d, into, file, []int64{-7, 0, 9}, values)
		}
		requireRefused[int32, float32](t, d, name, file,
			structures.TypeError{What: "values", Saved: "float64", Loaded: "float32"})
		set, err := slabhash.LoadSet[int64](t.Context(), d, bytes.NewReader(file), slabhash.Options{})
		require.NoError(t, err)
		there, err := set.Contains(t.Context(), []int64{-7, 0, 9, 7})
		require.NoError(t, err)
		require.Equal(t, []bool{true, true, true, false}, there)
		file = saving(t, set)
		require.NoError(t, set.Close())
		requireLoads(t, d, name, file, []int64{-7, 0, 9}, []float32{0, 0, 0})
		requireLoads(t, d, name, file, []int64{-7, 0, 9}, []int64{0, 0, 0})
		requireRefused[int32, float32](t, d, name, file,
			structures.TypeError{What: "keys", Saved: "int64", Loaded: "int32"})
		_, err = slabhash.LoadSet[uint64](t.Context(), d, bytes.NewReader(file), slabhash.Options{})
		var refused *structures.TypeError
		require.ErrorAs(t, err, &refused)
	}
	requireLoads(t, d, "map", fileOf(t, d, "tree", []uint64{1 << 40}, []int32{-1}), []uint64{1 << 40}, []int64{-1})
}

// A snapshot is saved as the tree is.
func TestTypesOfSnapshot(t *testing.T) {
	d := testdevice.Open(t)
	x, err := btree.Build(t.Context(), d, []int32{-5, 7}, []float32{-1.5, 2}, btree.Options{})
	require.NoError(t, err)
	defer x.Close()
	s, err := x.Snapshot(t.Context())
	require.NoError(t, err)
	defer s.Close()
	requireLoads(t, d, "map", saving(t, s), []int64{-5, 7}, []float64{-1.5, 2})
}

// A saved graph is one of edges of 64 bits and weights of 32, for whoever loads it as a dictionary; a dictionary is no
// graph.
func TestTypesOfGraph(t *testing.T) {
	d := testdevice.Open(t)
	g, err := graph.New(t.Context(), d, graph.Options{Weighted: true, Directed: true})
	require.NoError(t, err)
	defer g.Close()
	_, err = g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1, 2}, To: []uint32{2, 3},
		Weights: []uint32{1<<32 - 1, 5}})
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = g.Save(t.Context(), &out)
	require.NoError(t, err)
	file := out.Bytes()
	edges := []uint64{1<<32 | 2, 2<<32 | 3}
	requireLoads(t, d, "tree", file, edges, []uint32{1<<32 - 1, 5})
	requireLoads(t, d, "tree", file, edges, []int64{1<<32 - 1, 5})
	requireRefused[int64, uint32](t, d, "map", file,
		structures.TypeError{What: "keys", Saved: "uint64", Loaded: "int64"})
	for _, load := range []func([]byte) error{func(file []byte) error {
		g, err := graph.Load(t.Context(), d, bytes.NewReader(file), graph.Options{})
		if err == nil {
			err = g.Close()
		}
		return err
	}, func(file []byte) error {
		g, err := ordered.Load(t.Context(), d, bytes.NewReader(file), ordered.Options{})
		if err == nil {
			err = g.Close()
		}
		return err
	}} {
		require.NoError(t, load(file))
		require.ErrorIs(t, load(fileOf(t, d, "map", edges, edges)), structures.ErrNotSaved)
		bad := fake(`{"structure":"graph","pairs":0,"key_type":"f64","value_type":"u32"}`, 8)
		var refused *structures.TypeError
		require.ErrorAs(t, load(bad), &refused)
	}
}

// What an earlier version of the library saved named no types: it loads as the types that it was saved with, and as
// others of another width it doesn't.
func TestUnnamedTypes(t *testing.T) {
	d := testdevice.Open(t)
	narrow := earlier(2, []uint64{1<<31 - 5}, []uint64{1<<32 - 50})
	requireLoads(t, d, "tree", narrow, []int32{-5}, []int32{-50})
	requireLoads(t, d, "map", narrow, []uint32{1<<31 - 5}, []uint32{1<<32 - 50})
	floats := earlier(2, []uint64{0x3fffffff}, []uint64{1<<31 | 0x3fc00000})
	requireLoads(t, d, "lsm", floats, []float32{-2}, []float32{1.5})
	requireRefused[int64, int64](t, d, "array", narrow, structures.TypeError{What: "keys", Bits: 32, Loaded: "int64"})
	_, err := loading[int64, int64](t.Context(), d, "map", narrow)
	require.EqualError(t, err, "the input has keys and values of 32 bits whose types an earlier version of vkds "+
		"didn't save: load them as the types that they were saved with, not with keys of type int64")
	mixed := earlier(4, []uint64{1<<31 - 5}, []uint64{^uint64(0)})
	requireLoads(t, d, "tree", mixed, []int32{-5}, []int64{-1})
	_, err = loading[int64, uint32](t.Context(), d, "map", mixed) // 2^64-1 is none of uint32
	require.ErrorIs(t, err, structures.ErrCorrupt)
	requireRefused[int32, int32](t, d, "map", mixed, structures.TypeError{What: "keys", Bits: 64, Loaded: "int32"})
}

// earlier is a saved tree of one of the first versions, of words.
func earlier(version byte, keys, values []uint64) []byte {
	pairs := binary.LittleEndian.AppendUint32(nil, uint32(len(keys)))
	for _, w := range append(keys, values...) {
		if version == 2 {
			pairs = binary.LittleEndian.AppendUint32(pairs, uint32(w))
		} else {
			pairs = binary.LittleEndian.AppendUint64(pairs, w)
		}
	}
	return fake(fmt.Sprintf(`{"structure":"btree","pairs":%d}`, len(keys)), version, pairs)
}
