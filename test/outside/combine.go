package main

import (
	"context"
	"sync"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/slabhash"
)

func init() {
	parts = append(parts,
		part{"combine, 32 bits", combined[uint32, uint32]},
		part{"combine, 64 bits", combined[UserID, int64]},
		part{"combine, named types", combined[time.Duration, Celsius]},
	)
}

// modifies are the calls with one key that both types have.
type modifies[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	Add(ctx context.Context, key K, value V) (V, error)
	Min(ctx context.Context, key K, value V) (V, error)
	Max(ctx context.Context, key K, value V) (V, error)
	Swap(ctx context.Context, key K, value V) (V, bool, error)
	CompareAndSet(ctx context.Context, key K, old, value V) (bool, error)
}

func combined[K, V structures.Number]() {
	what := name[K, V]("combine")
	d := must(combine.New(must(slabhash.New[K, V](ctx, device, slabhash.Options{})), combine.Options{}))
	want := updates(what, d)
	batches(what, d, want)
	holds(what, d, want)
	modifications(what, d, want)
	holds(what+", behind modifications", d, want)
	loaded := must(host.LoadMap[K, V](ctx, save(what, d)))
	holds(what+", loaded", loaded, want)
	empties(what, d)

	o := must(combine.NewOrdered(host.NewTree[K, V](), combine.Options{MaxBatch: 50}))
	want = updates(what, o)
	batches(what, o, want)
	holds(what, o, want)
	modifications(what, o, want)
	holds(what+", behind modifications", o, want)
	queries(what, o, want)
	pair, found, err := o.Floor(ctx, structures.Greatest[K]())
	check(err)
	equal(what+": Floor", []any{want[pair.Key], true}, []any{pair.Value, found})
	pair, found, err = o.Ceil(ctx, structures.Least[K]())
	check(err)
	equal(what+": Ceil", []any{want[pair.Key], true}, []any{pair.Value, found})
	deleteRange(what, o, want)
	equal(what+": is anything saved", true, save(what, o).Len() > 0)
	empties(what, o)
}

// modifications has many goroutines change one key, and compares what comes of it with a map.
func modifications[K, V structures.Number](what string, d modifies[K, V], want map[K]V) {
	const callers, times = 20, 10
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range times {
				must(d.Add(ctx, 3, 1))
			}
		})
	}
	all.Wait()
	want[3] += callers * times
	equal(what+": Min", want[3], must(d.Min(ctx, 3, structures.Greatest[V]())))
	want[3]++
	equal(what+": Max", want[3], must(d.Max(ctx, 3, want[3])))
	old, found, err := d.Swap(ctx, 3, 7)
	check(err)
	equal(what+": Swap", []any{want[3], true}, []any{old, found})
	equal(what+": CompareAndSet", []bool{true, false},
		[]bool{must(d.CompareAndSet(ctx, 3, 7, 8)), must(d.CompareAndSet(ctx, 3, 7, 9))})
	want[3] = 8
}

// empties clears a dictionary and closes it.
func empties[K, V structures.Number](what string, d structures.Dictionary[K, V]) {
	check(d.Prepare(ctx))
	check(d.Clear(ctx))
	holds(what+", behind Clear", d, map[K]V{})
	check(d.Close())
}
