package combine_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
)

// fake is a dictionary whose calls for batches a test watches, delays, or has fail.
type fake struct {
	*host.Tree[uint32, uint32]
	find   func(ctx context.Context, keys []uint32) error
	update func(ctx context.Context, kind structures.Kind, keys, values []uint32, status []structures.Status) error
	// shuffles: deletions are done in any order, so any of equal keys is Deleted.
	shuffles bool
}

func (f *fake) FindInto(ctx context.Context, keys, values []uint32, found []bool) error {
	if f.find != nil {
		if err := f.find(ctx, keys); err != nil {
			return err
		}
	}
	return f.Tree.FindInto(ctx, keys, values, found)
}

func (f *fake) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	if f.update != nil {
		if err := f.update(ctx, kind, keys, values, status); err != nil {
			return err
		}
	}
	if f.shuffles && kind == structures.Delete {
		order := rand.Perm(len(keys))
		shuffled, done := make([]uint32, len(keys)), make([]structures.Status, len(keys))
		for i, j := range order {
			shuffled[i] = keys[j]
		}
		err := f.Tree.UpdateInto(ctx, kind, shuffled, nil, done)
		for i, j := range order[:len(status)] {
			status[j] = done[i]
		}
		return err
	}
	return f.Tree.UpdateInto(ctx, kind, keys, values, status)
}

func newFake() *fake { return &fake{Tree: host.NewTree[uint32, uint32]()} }

// delayed is a dictionary in the host's memory whose calls take so long that others come meanwhile.
func delayed() *fake {
	f := newFake()
	f.find = func(context.Context, []uint32) error { pause(); return nil }
	f.update = func(context.Context, structures.Kind, []uint32, []uint32, []structures.Status) error {
		pause()
		return nil
	}
	f.shuffles = true
	return f
}

func pause() {
	for range rand.IntN(50) {
		runtime.Gosched()
	}
}

// dictionary is what both types have.
type dictionary[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	Add(ctx context.Context, key K, value V) (V, error)
	Min(ctx context.Context, key K, value V) (V, error)
	Max(ctx context.Context, key K, value V) (V, error)
	Swap(ctx context.Context, key K, value V) (V, bool, error)
	CompareAndSet(ctx context.Context, key K, old, value V) (bool, error)
}

// combined is a dictionary to test. ordered is nil if it has no order.
type combined[K, V structures.Number] struct {
	dictionary[K, V]
	ordered *combine.Ordered[K, V]
}

// each runs a test with every structure, empty.
func each[K, V structures.Number](t *testing.T, o combine.Options,
	test func(t *testing.T, d combined[K, V])) {
	ctx, device := t.Context(), testdevice.Open(t)
	run := func(name string, d structures.Dictionary[K, V], err error) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, err)
			var c combined[K, V]
			if ordered, is := d.(structures.Ordered[K, V]); is {
				c.ordered, err = combine.NewOrdered(ordered, o)
				require.NoError(t, err)
				c.dictionary = c.ordered
			} else {
				c.dictionary, err = combine.New(d, o)
				require.NoError(t, err)
			}
			defer func() { require.NoError(t, c.Close()) }()
			test(t, c)
		})
	}
	run("host map", host.NewMap[K, V](), nil)
	run("host tree", host.NewTree[K, V](), nil)
	table, err := slabhash.New[K, V](ctx, device, slabhash.Options{})
	run("slabhash", table, err)
	tree, err := btree.New[K, V](ctx, device, btree.Options{})
	run("btree", tree, err)
	log, err := lsm.New[K, V](ctx, device, lsm.Options{})
	run("lsm", log, err)
	array, err := sortedarray.New[K, V](ctx, device, sortedarray.Options{})
	run("sortedarray", array, err)
}

// together runs a function n times at the same time.
func together(n int, do func(i int)) (wait func()) {
	done := make(chan struct{})
	for i := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			do(i)
		}()
	}
	return func() {
		for range n {
			<-done
		}
	}
}
