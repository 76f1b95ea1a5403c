package goroutines

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/testdevice"
)

// past is a snapshot, and what the batches before it come to.
type past struct {
	at   *btree.Snapshot[uint32, uint32]
	want map[uint32]uint32
}

// Readers ask snapshots of every time whatever they hold, in no order of time, while batches of updates go on: by the
// replay of the batches before each, all of their answers are those of its time.
func TestSnapshotsOfEveryTime(t *testing.T) {
	const keys, rounds = 3000, 24
	tree, err := btree.New[uint32, uint32](t.Context(), testdevice.Open(t), btree.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Close()) }()
	all, failed := make(chan past, rounds), make(chan error, 4)
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for p := range all {
				if err := p.look(t.Context(), rand.New(rand.NewPCG(1, uint64(i))), keys); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	rng, now := rand.New(rand.NewPCG(2, 2)), map[uint32]uint32{}
	for round := range rounds {
		batch, values := make([]uint32, 1+rng.IntN(600)), make([]uint32, 600)
		for i := range batch {
			batch[i], values[i] = uint32(rng.IntN(keys)), rng.Uint32()
		}
		values = values[:len(batch)]
		if round%3 == 2 {
			_, err = tree.Delete(t.Context(), batch)
			maps.DeleteFunc(now, func(key, _ uint32) bool { return slices.Contains(batch, key) })
		} else {
			_, err = tree.Insert(t.Context(), batch, values)
			for i, key := range batch {
				now[key] = values[i]
			}
		}
		require.NoError(t, err)
		at, err := tree.Snapshot(t.Context())
		require.NoError(t, err)
		all <- past{at, maps.Clone(now)}
	}
	close(all)
	readers.Wait()
	close(failed)
	require.NoError(t, <-failed)
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Snapshots)
	require.Zero(t, v.Kept)
	require.NoError(t, tree.Inspect().Check(t.Context()))
}

// look compares a snapshot with what it should hold, and closes it.
func (p past) look(ctx context.Context, rng *rand.Rand, keys int) error {
	defer p.at.Close()
	asked := make([]uint32, 200)
	for i := range asked {
		asked[i] = uint32(rng.IntN(keys))
	}
	values, found, err := p.at.Find(ctx, asked)
	if err != nil {
		return err
	}
	for i, key := range asked {
		if want, there := p.want[key]; there != found[i] || want != values[i] {
			return fmt.Errorf("time %d: key %d: %d, %v, not %d, %v", p.at.Time(), key, values[i], found[i], want, there)
		}
	}
	r, err := p.at.Range(ctx, []structures.Range[uint32]{structures.AllKeys[uint32]()})
	if err != nil {
		return err
	}
	for i, key := range r.Keys {
		if want, there := p.want[key]; !there || want != r.Values[i] {
			return fmt.Errorf("time %d: key %d in a range: %d, not %d, %v", p.at.Time(), key, r.Values[i], want, there)
		}
	}
	if len(r.Keys) != len(p.want) {
		return fmt.Errorf("time %d: %d pairs, not %d", p.at.Time(), len(r.Keys), len(p.want))
	}
	return nil
}
