package linearizability

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// table is a Map or a Set.
type table interface {
	slabcheck.Table
	structures.ConcurrentOnStream
	Clear(c ctx) error
	Close() error
}

// rig is a table on an open device.
type rig struct {
	*testing.T
	d     *vk.Device
	table table
	set   bool
	width int // of tiles
}

// protocol is one of the ways in which slots are changed.
type protocol struct {
	name    string
	set     bool
	options vk.Options
}

var protocols = []protocol{
	{name: "map64"},
	{name: "map32", options: vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}},
	{name: "set", set: true},
}

// each runs a test under each protocol and with each width of tiles, on an empty table of so many buckets.
func each(t *testing.T, buckets int, test func(r *rig)) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			d := testdevice.Open(t, p.options)
			if p.name == "map64" && !d.Has(vk.Int64Atomics) {
				t.Skipf("%s has no 64-bit atomics", d.Info().Name)
			}
			for _, width := range []int{1, min(8, d.SubgroupSize())} {
				t.Run(fmt.Sprintf("tile%d", width), func(t *testing.T) {
					r := &rig{T: t, d: d, set: p.set, width: width}
					o := slabhash.Options{Buckets: buckets, MaxLoad: -1, Tile: width}
					var err error
					if p.set {
						r.table, err = slabhash.NewSet[uint32](t.Context(), d, o)
					} else {
						r.table, err = slabhash.New[uint32, uint32](t.Context(), d, o)
					}
					require.NoError(t, err)
					defer func() { require.NoError(t, r.table.Close()) }()
					test(r)
				})
			}
		})
	}
}

// rounds calls do again and again: a few times, or for long under VKDS_STRESS=1.
func rounds(do func(seed uint64)) {
	limit, most := 200*time.Millisecond, uint64(1000)
	if os.Getenv("VKDS_STRESS") == "1" {
		limit, most = 20*time.Second, 1<<62
	}
	start := time.Now()
	for seed := uint64(0); seed < most && (seed < 2 || time.Since(start) < limit); seed++ {
		do(seed)
	}
}
