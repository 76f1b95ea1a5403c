package sorted

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// fixed is a structure of one run that does not change.
type fixed struct {
	core Core
	size int
}

func (f *fixed) Stack() runs.Stack {
	return runs.Stack{Rows: f.core.Rows.Address(), Unit: 1, Front: uint32(f.size)}
}

func (f *fixed) Unique() bool                                    { return false }
func (f *fixed) Reserve(*vk.Stream, Batch) error                 { return nil }
func (f *fixed) Update(context.Context, *vk.Stream, Batch) error { return nil }
func (f *fixed) Settle()                                         {}
func (f *fixed) Held() uint64                                    { return 0 }

// deleted is a run of deleted keys whose index has these pivots, the first keys of its nodes of 32.
func deleted(t *testing.T, keys, pivots []uint32) *fixed {
	d := testdevice.Open(t)
	f := &fixed{size: len(keys)}
	require.NoError(t, f.core.Open("array", d, saved.Pairs[uint32, uint32](), f, nil))
	t.Cleanup(func() { require.NoError(t, f.core.Close(func() {})) })
	var row []uint64
	for _, words := range [][]uint32{keys, nil, nil, pivots} {
		all := make([]uint32, len(keys))
		for i := copy(all, words); i < len(all); i++ {
			all[i] = ^uint32(0)
		}
		b, err := vk.NewBuffer[uint32](d, len(all))
		require.NoError(t, err)
		t.Cleanup(b.Free)
		require.NoError(t, b.Upload(t.Context(), 0, all))
		row = append(row, b.Address())
	}
	require.NoError(t, f.core.Rows.Upload(t.Context(), 0, row))
	return f
}

func ramp(n int, from, step uint32) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = from + uint32(i)*step
	}
	return s
}

// Keys are out of order, as after a stray write. A search for a neighbor passes deleted keys and comes back to where it
// was. It returns an error long before the context ends, and does not return its position as a result.
func TestNeighborsInCircles(t *testing.T) {
	const n = 1024
	sound := ramp(n, 10, 10)
	pivots := make([]uint32, 0, n/32)
	for i := 0; i < n; i += 32 {
		pivots = append(pivots, sound[i])
	}
	for _, c := range []struct {
		name    string
		to      structures.Direction
		from    uint32
		written map[int]uint32 // key i is replaced
	}{
		{"sound, up", structures.Ceil, 0, nil},
		{"sound, down", structures.Floor, ^uint32(0), nil},
		{"up", structures.Ceil, 0, map[int]uint32{992: 0}},
		{"down", structures.Predecessor, ^uint32(0), map[int]uint32{31: 1 << 20, 32: 1 << 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys := slices.Clone(sound)
			for i, key := range c.written {
				keys[i] = key
			}
			f := deleted(t, keys, pivots)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			q := ordered.Queries[uint32, uint32]{Reader: f.core.Reader}
			got, err := q.Neighbor(ctx, c.to, []uint32{c.from, c.from})
			require.Equal(t, u32.Neighbors{Keys: make([]uint32, 2), Values: make([]uint32, 2),
				Found: make([]bool, 2)}, got)
			if c.written == nil {
				require.NoError(t, err)
				return
			}
			var circle *structures.StuckError
			require.ErrorAs(t, err, &circle)
			require.Equal(t, 2, circle.Operations)

			d := f.core.Device
			s := testdevice.Stream(t, d)
			n := structures.DeviceNeighbors{
				Count: 2, Keys: testdevice.Upload(t, d, []uint32{c.from, c.from}),
				OutKeys: testdevice.Room[uint32](t, d, 2), OutValues: testdevice.Room[uint32](t, d, 2),
				Status: testdevice.Room[uint8](t, d, 4), Left: testdevice.Upload(t, d, []uint32{0}),
			}
			require.NoError(t, f.core.On(s).Neighbor(c.to, n))
			err = f.core.On(s).FinishNeighbors(ctx, c.to, n)
			require.ErrorAs(t, err, &circle)
			var pending *structures.PendingError
			require.ErrorAs(t, err, &pending)
			require.Equal(t, 2, pending.Operations)
		})
	}
}
