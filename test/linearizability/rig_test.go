package linearizability

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// table is a Map or a Set.
type table interface {
	slabcheck.Table
	On(*vk.Stream) structures.ConcurrentOnStream
	Clear(c ctx) error
	Close() error
}

// rig is a table on an open device.
type rig struct {
	*testing.T
	d *vk.Device
	form
	table table
	width int      // of tiles
	near  []uint64 // keys of a table whose buckets share slabs, which meet in the same ones
}

// form is what a dictionary has: of a set no values, and keys and values of 64 bits or of 32.
type form struct{ set, wide bool }

// ones is the number all of whose bits are.
func (f form) ones() uint64 {
	if f.wide {
		return math.MaxUint64
	}
	return math.MaxUint32
}

// key is the one that stands for a number.
func (f form) key(n uint32) uint64 {
	if f.wide {
		return numbers.Key[uint64](n)
	}
	return uint64(n)
}

// value is another one for each number, whose words may be all zeros or ones.
func (f form) value(n uint32) uint64 {
	if f.wide {
		return numbers.Value[uint64](n)
	}
	return uint64(n)
}

// protocol is one of the ways in which slots are changed.
type protocol struct {
	name    string
	form    form
	options vk.Options
}

var without = vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}

// protocols are those of maps, and then those of sets.
var protocols = []protocol{
	{name: "map64"},
	{name: "map32", options: without},
	{name: "map64, 64 bits", form: form{wide: true}},
	{name: "map32, 64 bits", form: form{wide: true}, options: without},
	{name: "set", form: form{set: true}},
	{name: "set64, 64 bits", form: form{set: true, wide: true}},
	{name: "set32, 64 bits", form: form{set: true, wide: true}, options: without},
}

// each runs a test under each of some protocols and with each width of tiles.
func each(t *testing.T, protocols []protocol, test func(r *rig)) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			d := testdevice.Open(t, p.options)
			if len(p.options.Without) == 0 && p.name != "set" && !d.Has(vk.Int64Atomics) {
				t.Skipf("%s has no 64-bit atomics", d.Info().Name)
			}
			widths := []int{1, min(8, d.SubgroupSize())}
			if p.form.wide && testing.Short() {
				widths = widths[1:] // SwiftShader compiles the kernels of 64 bits for long
			}
			for _, width := range widths {
				t.Run(fmt.Sprintf("tile%d", width), func(t *testing.T) {
					test(&rig{T: t, d: d, form: p.form, width: width})
				})
			}
		})
	}
}

// eachTable runs a test under each protocol on an empty table with these options.
func eachTable(t *testing.T, o slabhash.Options, test func(r *rig)) {
	each(t, protocols, func(r *rig) {
		o.MaxLoad, o.Tile = -1, r.width
		var err error
		switch r.form {
		case form{}:
			r.table, err = slabhash.New[uint32, uint32](r.Context(), r.d, o)
		case form{wide: true}:
			r.table, err = slabhash.New[uint64, uint64](r.Context(), r.d, o)
		case form{set: true}:
			r.table, err = slabhash.NewSet[uint32](r.Context(), r.d, o)
		default:
			r.table, err = slabhash.NewSet[uint64](r.Context(), r.d, o)
		}
		require.NoError(r, err)
		defer func() { require.NoError(r, r.table.Close()) }()
		if r.table.InShaders().Constants()["SLAB_SHARED"] != 0 {
			r.findNear()
		}
		test(r)
	})
}

// findNear finds keys of three buckets of a group, of which two share a slab and all share the next one.
func (r *rig) findNear() {
	h := r.table.InShaders().Description()
	for n := uint32(0); len(r.near) < someKeys+3; n++ {
		key, bucket := r.key(n), uint32(0)
		if r.wide {
			bucket = slabcheck.Bucket(h, key)
		} else {
			bucket = slabcheck.Bucket(h, uint32(key))
		}
		if bucket == 16 || bucket == 17 || bucket == 20 {
			r.near = append(r.near, key)
		}
	}
}

// rounds calls do again and again: a few times, or for long under VKDS_STRESS.
func (f form) rounds(do func(seed uint64)) {
	limit, most := 200*time.Millisecond, uint64(1000)
	if f.wide { // there are twice as many protocols
		limit /= 2
	}
	if stress.Level > 0 {
		limit, most = time.Duration(stress.Level)*2*time.Second, 1<<62
	}
	start := time.Now()
	for seed := uint64(0); seed < most && (seed < 2 || time.Since(start) < limit); seed++ {
		do(seed)
	}
}
