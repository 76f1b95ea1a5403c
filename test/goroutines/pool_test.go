package goroutines

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// sharer is a structure over a pool that others share.
type sharer struct {
	insert func(ctx context.Context) error
	look   func() // at what needs no turn of its own
	close  func() error
}

var sharers = map[string]func(t *testing.T, d *vk.Device, p *alloc.SlabPool, told structures.Progress) sharer{
	"map": func(t *testing.T, d *vk.Device, p *alloc.SlabPool, told structures.Progress) sharer {
		m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Pool: p, Progress: told})
		require.NoError(t, err)
		return sharer{func(ctx context.Context) error {
			_, err := m.Insert(ctx, keysOf[uint32](0, 0), keysOf[uint32](0, 0))
			return err
		}, func() { m.InShaders().Description() }, m.Close}
	},
	"tree": func(t *testing.T, d *vk.Device, p *alloc.SlabPool, told structures.Progress) sharer {
		tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{Pool: p, Progress: told})
		require.NoError(t, err)
		return sharer{func(ctx context.Context) error {
			_, err := tree.Insert(ctx, keysOf[uint32](0, 0), keysOf[uint32](0, 0))
			return err
		}, func() { tree.InShaders().Description() }, tree.Close}
	},
	"graph": func(t *testing.T, d *vk.Device, p *alloc.SlabPool, told structures.Progress) sharer {
		g, err := graph.New(t.Context(), d, graph.Options{Pool: p, Progress: told})
		require.NoError(t, err)
		return sharer{func(ctx context.Context) error {
			_, err := g.InsertEdges(ctx, graph.Edges{From: []uint32{1, 2, 3}, To: []uint32{2, 3, 4}})
			return err
		}, func() { g.InShaders().Description() }, g.Close}
	},
}

// Progress of one structure that calls another one over the same pool waits for its turn, also where a call of another
// goroutine waits at the other one already, and the call that is reported on does not wait for it before it has left.
func TestProgressCallsAnotherOfItsPool(t *testing.T) {
	d := testdevice.Open(t)
	for oneName, one := range sharers {
		for otherName, other := range sharers {
			t.Run(oneName+"-"+otherName, func(t *testing.T) {
				p, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{})
				require.NoError(t, err)
				b := other(t, d, p, nil)
				var once sync.Once
				var from, closing error
				waiting := make(chan error, 1)
				a := one(t, d, p, func(int, int) {
					once.Do(func() {
						go func() { waiting <- b.insert(t.Context()) }()
						time.Sleep(5 * time.Millisecond) // it waits, most likely
						soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
						defer cancel()
						if from = b.insert(soon); from == nil {
							b.look()
							from = <-waiting
							closing = b.close()
						}
					})
				})
				require.NoError(t, a.insert(t.Context()))
				require.NoError(t, from)
				require.NoError(t, closing)
				require.NoError(t, a.insert(t.Context()))
				require.NoError(t, a.close())
				require.ErrorIs(t, b.insert(t.Context()), vk.ErrClosed)
				stats, err := p.Stats(t.Context())
				require.NoError(t, err)
				require.Zero(t, stats.Allocated)
				require.NoError(t, p.Close())
			})
		}
	}
}
