package latched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rig is a tree, the stream that works on it, and what it ought to hold.
type rig struct {
	*Tree
	d      *vk.Device
	stream *vk.Stream
	left   *vk.Buffer[uint32]
	want   map[uint32]uint32
}

func newRig(t *testing.T, d *vk.Device, o Options) *rig {
	tree, err := New(d, o)
	require.NoError(t, err)
	t.Cleanup(tree.Close)
	r := &rig{tree, d, testdevice.Stream(t, d), testdevice.Room[uint32](t, d, 1), map[uint32]uint32{}}
	r.clear(t)
	return r
}

func (r *rig) clear(t *testing.T) {
	r.Clear(r.stream)
	require.NoError(t, r.stream.Wait(t.Context()))
	clear(r.want)
}

// insert inserts pairs in one dispatch, and what that leaves in further ones, and compares the statuses.
func (r *rig) insert(t *testing.T, keys []uint32, value func(key uint32) uint32) {
	values := make([]uint32, len(keys))
	for i, k := range keys {
		values[i] = value(k)
	}
	b := Batch{
		Count: len(keys), Keys: testdevice.Upload(t, r.d, keys), Values: testdevice.Upload(t, r.d, values),
		Status: testdevice.Room[uint8](t, r.d, (len(keys)+3)&^3), Left: r.left,
	}
	for pass := 0; ; pass++ {
		require.Less(t, pass, 100, "operations stay pending")
		r.stream.Fill(r.left, 0, 4, 0)
		r.InsertOn(r.stream, b, pass > 0)
		require.NoError(t, r.stream.Wait(t.Context()))
		if testdevice.Download(t, r.left, 1)[0] == 0 {
			break
		}
	}
	for i, got := range testdevice.Download(t, b.Status, len(keys)) {
		status := structures.Inserted
		if _, there := r.want[keys[i]]; there {
			status = structures.Assigned
		}
		if structures.Status(got) != status {
			require.Equal(t, status, structures.Status(got), "operation %d, key %d", i, keys[i])
		}
		r.want[keys[i]] = values[i]
	}
}

// holds checks the tree's nodes, and looks up what is there and some keys that aren't.
func (r *rig) holds(t *testing.T) {
	pairs, err := r.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(r.want), pairs)
	var queries []uint32
	for k := range r.want {
		queries = append(queries, k, k+1)
	}
	values, found := testdevice.Room[uint32](t, r.d, len(queries)), testdevice.Room[uint8](t, r.d, (len(queries)+3)&^3)
	r.FindOn(r.stream, len(queries), testdevice.Upload(t, r.d, queries), values, found)
	require.NoError(t, r.stream.Wait(t.Context()))
	v, f := testdevice.Download(t, values, len(queries)), testdevice.Download(t, found, len(queries))
	for i, k := range queries {
		if want, there := r.want[k]; v[i] != want || (f[i] != 0) != there {
			require.Fail(t, "wrong answer", "key %d: %t, %d instead of %t, %d", k, f[i] != 0, v[i], there, want)
		}
	}
}

// distinct are some keys in random order, all multiples of a step.
func distinct(rng *rand.Rand, n int, step uint32) []uint32 {
	keys := make([]uint32, n)
	for i, place := range rng.Perm(n) {
		keys[i] = uint32(place) * step
	}
	return keys
}

// all are the variants that a device can run: each kind of tree with each way to wait, and each shape.
func all(d *vk.Device, pairs int) (variants []Options) {
	for _, kind := range []Kind{BPlus, BLink} {
		for _, wait := range []Wait{Restart, Backoff, Spin} {
			variants = append(variants, Options{kind, wait, 4, 128, pairs})
		}
	}
	for tile := 4; tile <= min(32, d.SubgroupSize()); tile *= 2 {
		for _, bytes := range []int{128, 256} {
			if tile != 4 || bytes != 128 {
				variants = append(variants, Options{Kind(tile / 4 % 2), Restart, tile, bytes, pairs})
			}
		}
	}
	return variants
}

func (o Options) name() string {
	return fmt.Sprintf("%v, %v, tile %d, %d bytes", o.Kind, o.Wait, o.Tile, o.NodeBytes)
}

// One test of all, since some drivers take seconds to compile each variant.
func TestEachVariantAgreesWithAMap(t *testing.T) {
	d := testdevice.Open(t)
	const n = 3000
	for _, o := range all(d, n) {
		t.Run(o.name(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			r := newRig(t, d, o)
			r.holds(t)
			keys := distinct(rng, n, 1431655) // up to nearly 2^32
			r.insert(t, keys[:1], func(k uint32) uint32 { return ^k })
			r.holds(t)
			r.insert(t, keys[1:2000], func(k uint32) uint32 { return k ^ 5 }) // nearly all of it in one dispatch
			r.holds(t)
			r.insert(t, keys[1000:], func(k uint32) uint32 { return k + 7 }) // assignments among the new ones
			r.holds(t)

			r.clear(t) // keys that ascend meet at one leaf
			slices.Sort(keys)
			for first := 0; first < 1000; first += 250 {
				r.insert(t, keys[first:first+250], func(k uint32) uint32 { return k })
			}
			r.holds(t)

			for range 15 { // races show by repetition
				r.clear(t)
				r.insert(t, distinct(rng, 400, 3), func(k uint32) uint32 { return k })
				pairs, err := r.Check(t.Context())
				require.NoError(t, err)
				require.Equal(t, 400, pairs)
			}
			r.holds(t)
		})
	}
}

// A tree whose nodes are used up leaves operations pending, and is a tree all the same.
func TestUsedUpNodes(t *testing.T) {
	d := testdevice.Open(t)
	r := newRig(t, d, Options{BLink, Restart, 4, 128, 1})
	keys := distinct(rand.New(rand.NewPCG(5, 6)), 3000, 1000)
	b := Batch{
		Count: len(keys), Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, keys),
		Status: testdevice.Room[uint8](t, d, len(keys)), Left: r.left,
	}
	r.stream.Fill(r.left, 0, 4, 0)
	r.InsertOn(r.stream, b, false)
	require.NoError(t, r.stream.Wait(t.Context()))
	left := testdevice.Download(t, r.left, 1)[0]
	require.Positive(t, left)
	for i, status := range testdevice.Download(t, b.Status, len(keys)) {
		if structures.Status(status) == structures.Pending {
			left--
		} else {
			r.want[keys[i]] = keys[i]
		}
	}
	require.Zero(t, left)
	r.holds(t)
}

func TestOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	good := Options{BLink, Restart, 4, 128, 100}
	for _, change := range []func(o *Options){
		func(o *Options) { o.Kind = 2 }, func(o *Options) {
			o.Wait = 3
		}, func(o *Options) { o.Tile = 2 }, func(o *Options) { o.Tile = 64 },
		func(o *Options) { o.Tile = 12 }, func(o *Options) { o.NodeBytes = 64 }, func(o *Options) { o.Pairs = 0 },
	} {
		o := good
		change(&o)
		_, err := New(d, o)
		var option *structures.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
}

func TestNames(t *testing.T) {
	for i, name := range Waits.Names() {
		w, err := Waits.Parse(name)
		require.NoError(t, err)
		require.Equal(t, Wait(i), w)
	}
	for i, name := range Kinds.Names() {
		k, err := Kinds.Parse(name)
		require.NoError(t, err)
		require.Equal(t, Kind(i), k)
	}
	_, err := Waits.Parse("sleep")
	require.Error(t, err)
	_, err = Kinds.Parse("b-tree")
	require.Error(t, err)
}
