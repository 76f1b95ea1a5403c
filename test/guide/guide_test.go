// Package guide has the programs of docs/guide.md. Package docs tests that the page shows them as they are here.
package guide

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"time"

	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/keys"
	"github.com/vkds/vkds/structures/relational"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

// on opens a device for an example.
func on(example func(ctx context.Context, d *vk.Device) error) {
	d, err := vk.Open(vk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if err := example(context.Background(), d); err != nil {
		log.Fatal(err)
	}
}

// sumByKey returns the sum of the amounts of each customer.
func sumByKey(ctx context.Context, d *vk.Device, customers []uint32, cents []int64) (map[uint32]int64, error) {
	sums, err := slabhash.New[uint32, int64](ctx, d, slabhash.Options{})
	if err != nil {
		return nil, err
	}
	defer sums.Close()
	if _, err := sums.InsertAdd(ctx, customers, cents); err != nil {
		return nil, err
	}
	all := map[uint32]int64{}
	for pair, err := range sums.All(ctx) {
		if err != nil {
			return nil, err
		}
		all[pair.Key] = pair.Value
	}
	return all, nil
}

func Example_sumByKey() {
	on(func(ctx context.Context, d *vk.Device) error {
		sums, err := sumByKey(ctx, d, []uint32{7, 8, 7, 7}, []int64{250, 100, -50, 300})
		fmt.Println(sums)
		return err
	})
	// Output: map[7:500 8:100]
}

// statistics returns the sum, the greatest and the mean amount of each customer.
func statistics(ctx context.Context, d *vk.Device, customers []uint32, cents []int64) (
	relational.Groups[uint32, int64, int64], error) {
	r, err := relational.New(d, relational.Options{})
	if err != nil {
		return relational.Groups[uint32, int64, int64]{}, err
	}
	defer r.Close()
	return relational.Group[int64](ctx, r, customers, cents, relational.Sums|relational.Maxs|relational.Means)
}

func Example_statistics() {
	on(func(ctx context.Context, d *vk.Device) error {
		g, err := statistics(ctx, d, []uint32{7, 8, 7, 7}, []int64{250, 100, -50, 400})
		fmt.Println(g.Keys, g.Counts, g.Sums, g.Maxs, g.Means)
		return err
	})
	// Output: [7 8] [3 1] [600 100] [400 100] [200 100]
}

// top returns the k customers with the greatest sums.
func top(ctx context.Context, sums *slabhash.Map[uint32, int64], k int) ([]structures.Pair[uint32, int64], error) {
	var best []structures.Pair[uint32, int64]
	descending := func(a, b structures.Pair[uint32, int64]) int { return cmp.Compare(b.Value, a.Value) }
	for chunk, err := range sums.Chunks(ctx) {
		if err != nil {
			return nil, err
		}
		for i, key := range chunk.Keys {
			best = append(best, structures.Pair[uint32, int64]{Key: key, Value: chunk.Values[i]})
		}
		slices.SortFunc(best, descending)
		best = best[:min(k, len(best))]
	}
	return best, nil
}

func Example_top() {
	on(func(ctx context.Context, d *vk.Device) error {
		sums, err := slabhash.Build(ctx, d, []uint32{7, 8, 9}, []int64{500, 100, 800}, slabhash.Options{})
		if err != nil {
			return err
		}
		defer sums.Close()
		best, err := top(ctx, sums, 2)
		fmt.Println(best)
		return err
	})
	// Output: [{9 800} {7 500}]
}

// join returns the rows of two tables that have the same key: row left[i] of the one and row right[i] of the other.
func join(ctx context.Context, d *vk.Device, leftKeys, rightKeys []uint64) (left, right []uint32, err error) {
	rows := make([]uint32, len(rightKeys))
	for i := range rows {
		rows[i] = uint32(i)
	}
	index, err := slabhash.New[uint64, uint32](ctx, d, slabhash.Options{Capacity: len(rightKeys)})
	if err != nil {
		return nil, nil, err
	}
	defer index.Close()
	if _, err := index.InsertDuplicate(ctx, rightKeys, rows); err != nil {
		return nil, nil, err
	}
	offsets, right, err := index.FindAll(ctx, leftKeys)
	if err != nil {
		return nil, nil, err
	}
	for i := range leftKeys {
		for range offsets[i+1] - offsets[i] {
			left = append(left, uint32(i))
		}
	}
	return left, right, nil
}

func Example_join() {
	on(func(ctx context.Context, d *vk.Device) error {
		left, right, err := join(ctx, d, []uint64{30, 10, 40}, []uint64{10, 20, 30, 30})
		fmt.Println(left, right)
		return err
	})
	// Output: [0 0 1] [2 3 0]
}

// leftJoin is join with the left rows that have no match, too.
func leftJoin(ctx context.Context, d *vk.Device, leftKeys, rightKeys []uint64) (left, right []int32, err error) {
	r, err := relational.New(d, relational.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return relational.Join(ctx, r, leftKeys, rightKeys, relational.Left)
}

func Example_leftJoin() {
	on(func(ctx context.Context, d *vk.Device) error {
		left, right, err := leftJoin(ctx, d, []uint64{5, 9, 6}, []uint64{6, 5, 5})
		fmt.Println(left, right)
		return err
	})
	// Output: [0 0 1 2] [1 2 -1 0]
}

// lookUp finds the values of those keys that are in an index. Most keys are not, and the filter, which has all keys of
// the index, tells most of these.
func lookUp(ctx context.Context, index *btree.Tree[uint64, int64], present *filter.Filter[uint64],
	keys []uint64) (map[uint64]int64, error) {
	perhaps, err := present.Contains(ctx, keys)
	if err != nil {
		return nil, err
	}
	var asked []uint64
	for i, key := range keys {
		if perhaps[i] {
			asked = append(asked, key)
		}
	}
	values, found, err := index.Find(ctx, asked)
	if err != nil {
		return nil, err
	}
	all := map[uint64]int64{}
	for i, key := range asked {
		if found[i] {
			all[key] = values[i]
		}
	}
	return all, nil
}

func Example_lookUp() {
	on(func(ctx context.Context, d *vk.Device) error {
		keys := []uint64{10, 20, 30}
		index, err := btree.Build(ctx, d, keys, []int64{1, 2, 3}, btree.Options{})
		if err != nil {
			return err
		}
		defer index.Close()
		present, err := filter.New[uint64](ctx, d, filter.Options{Capacity: len(keys)})
		if err != nil {
			return err
		}
		defer present.Close()
		if err := present.Insert(ctx, keys); err != nil {
			return err
		}
		found, err := lookUp(ctx, index, present, []uint64{30, 11, 10, 99})
		fmt.Println(found)
		return err
	})
	// Output: map[10:1 30:3]
}

// quotes prints the prices of an hour, and the price at a time.
func quotes(ctx context.Context, d *vk.Device, times []int64, prices []float64, from time.Time) error {
	series, err := btree.Build(ctx, d, times, prices, btree.Options{})
	if err != nil {
		return err
	}
	defer series.Close()
	begin, err := keys.OfTime(from)
	if err != nil {
		return err
	}
	hour := structures.Range[int64]{Lo: begin, Hi: begin + int64(time.Hour) - 1}
	in, err := series.Range(ctx, []structures.Range[int64]{hour})
	if err != nil {
		return err
	}
	last, err := series.Neighbor(ctx, structures.Floor, []int64{begin + int64(20*time.Minute)})
	if err != nil {
		return err
	}
	fmt.Println(in.Values, last.Values[0], keys.Time(last.Keys[0]).Format(time.TimeOnly))
	return nil
}

func Example_quotes() {
	on(func(ctx context.Context, d *vk.Device) error {
		open := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		var times []int64
		for _, minutes := range []time.Duration{0, 15, 45, 75} {
			at, err := keys.OfTime(open.Add(minutes * time.Minute))
			if err != nil {
				return err
			}
			times = append(times, at)
		}
		return quotes(ctx, d, times, []float64{10, 10.5, 11, 9}, open)
	})
	// Output: [10 10.5 11] 10.5 09:15:00
}

// follow applies what has changed in a tree since a snapshot to a replica, and returns the snapshot that the replica
// has now.
func follow(ctx context.Context, source, replica *btree.Tree[uint32, int64],
	since *btree.Snapshot[uint32, int64]) (*btree.Snapshot[uint32, int64], error) {
	now, changes, err := source.Changes(ctx, since)
	if err != nil {
		return nil, err
	}
	var changed, gone []uint32
	var values []int64
	for change, err := range changes {
		switch {
		case err != nil:
			return nil, errors.Join(err, now.Close())
		case change.Has:
			changed, values = append(changed, change.Key), append(values, change.New)
		default:
			gone = append(gone, change.Key)
		}
	}
	if _, err := replica.Insert(ctx, changed, values); err != nil {
		return nil, errors.Join(err, now.Close())
	}
	if _, err := replica.Delete(ctx, gone); err != nil {
		return nil, errors.Join(err, now.Close())
	}
	return now, since.Close()
}

func Example_follow() {
	on(func(ctx context.Context, d *vk.Device) error {
		source, err := btree.Build(ctx, d, []uint32{1, 2, 3}, []int64{10, 20, 30}, btree.Options{})
		if err != nil {
			return err
		}
		defer source.Close()
		replica, err := btree.Build(ctx, d, []uint32{1, 2, 3}, []int64{10, 20, 30}, btree.Options{})
		if err != nil {
			return err
		}
		defer replica.Close()
		since, err := source.Snapshot(ctx)
		if err != nil {
			return err
		}
		if _, err := source.Insert(ctx, []uint32{2, 4}, []int64{25, 40}); err != nil {
			return err
		}
		if _, err := source.Delete(ctx, []uint32{1}); err != nil {
			return err
		}
		now, err := follow(ctx, source, replica, since)
		if err != nil {
			return err
		}
		defer now.Close()
		for pair, err := range replica.All(ctx) {
			fmt.Println(pair, err)
		}
		return nil
	})
	// Output:
	// {2 25} <nil>
	// {3 30} <nil>
	// {4 40} <nil>
}

// friends keeps a graph of people and prints, after each batch of edges, the number of groups and of triangles.
func friends(ctx context.Context, d *vk.Device, batches []graph.Edges) error {
	g, err := graph.New(ctx, d, graph.Options{})
	if err != nil {
		return err
	}
	defer g.Close()
	a := analytics.NewLive(g)
	defer a.Close()
	for _, edges := range batches {
		if _, err := g.InsertEdges(ctx, edges); err != nil {
			return err
		}
		groups, err := a.Components(ctx)
		if err != nil {
			return err
		}
		triangles, err := a.Triangles(ctx)
		if err != nil {
			return err
		}
		fmt.Println(groups.Count, triangles.Count)
	}
	return nil
}

func Example_friends() {
	on(func(ctx context.Context, d *vk.Device) error {
		return friends(ctx, d, []graph.Edges{
			{From: []uint32{0, 1, 3}, To: []uint32{1, 2, 4}},
			{From: []uint32{2, 2}, To: []uint32{0, 3}},
		})
	})
	// Output:
	// 2 0
	// 1 1
}

// copyOf saves a map and loads it into a tree with wider keys.
func copyOf(ctx context.Context, d *vk.Device, m *slabhash.Map[uint32, int64]) (*btree.Tree[uint64, int64], error) {
	var file bytes.Buffer // or any io.Writer
	if _, err := m.Save(ctx, &file); err != nil {
		return nil, err
	}
	return btree.Load[uint64, int64](ctx, d, &file, btree.Options{})
}

func Example_copyOf() {
	on(func(ctx context.Context, d *vk.Device) error {
		m, err := slabhash.Build(ctx, d, []uint32{2, 1}, []int64{-20, 10}, slabhash.Options{})
		if err != nil {
			return err
		}
		defer m.Close()
		tree, err := copyOf(ctx, d, m)
		if err != nil {
			return err
		}
		defer tree.Close()
		for least, err := range tree.Ascend(ctx, structures.AllKeys[uint64]()) {
			if err != nil {
				return err
			}
			fmt.Println(least.Key, least.Value)
			break
		}
		return nil
	})
	// Output: 1 10
}

// insertAll inserts pairs. If the device has no room for all, it makes room by closing another dictionary.
func insertAll(ctx context.Context, m, other *slabhash.Map[uint32, int64], keys []uint32, values []int64) error {
	statuses, err := m.Insert(ctx, keys, values)
	var pending *structures.PendingError
	if errors.As(err, &pending) && errors.Is(err, vk.ErrNoRoom) {
		other.Close()
		err = structures.Retry(ctx, m, structures.Insert, keys, values, statuses)
	}
	return err
}

func Example_insertAll() {
	on(func(ctx context.Context, d *vk.Device) error {
		m, err := slabhash.New[uint32, int64](ctx, d, slabhash.Options{})
		if err != nil {
			return err
		}
		defer m.Close()
		other, err := slabhash.New[uint32, int64](ctx, d, slabhash.Options{})
		if err != nil {
			return err
		}
		defer other.Close()
		if err := insertAll(ctx, m, other, []uint32{1, 2}, []int64{10, 20}); err != nil {
			return err
		}
		n, err := m.Len(ctx)
		fmt.Println(n, err)
		return nil
	})
	// Output: 2 <nil>
}

// countPages counts the requests for each page, with a goroutine for each client.
func countPages(ctx context.Context, d *vk.Device, clients [][]uint32) (map[uint32]int64, error) {
	m, err := slabhash.New[uint32, int64](ctx, d, slabhash.Options{})
	if err != nil {
		return nil, err
	}
	counts, err := combine.New(m, combine.Options{})
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	defer counts.Close() // closes m
	var serving errgroup.Group
	for _, pages := range clients {
		serving.Go(func() error {
			for _, page := range pages {
				if _, err := counts.Add(ctx, page, 1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := serving.Wait(); err != nil {
		return nil, err
	}
	all := map[uint32]int64{}
	for pair, err := range counts.All(ctx) {
		if err != nil {
			return nil, err
		}
		all[pair.Key] = pair.Value
	}
	return all, nil
}

func Example_countPages() {
	on(func(ctx context.Context, d *vk.Device) error {
		counts, err := countPages(ctx, d, [][]uint32{{1, 2, 1}, {1, 3}, {2, 1}})
		fmt.Println(counts)
		return err
	})
	// Output: map[1:4 2:2 3:1]
}

// totals sums up the amounts of customers on several devices.
func totals(ctx context.Context, devices []*vk.Device, customers []uint64,
	cents []int64) (*shard.Map[uint64, int64], error) {
	var shards []structures.Dictionary[uint64, int64]
	for _, d := range slices.Concat(devices, devices) { // two on each
		one, err := slabhash.New[uint64, int64](ctx, d, slabhash.Options{})
		if err != nil {
			return nil, err
		}
		shards = append(shards, one)
	}
	sums, err := shard.NewMap(ctx, shards...)
	if err != nil {
		return nil, err
	}
	_, err = sums.InsertAdd(ctx, customers, cents)
	var failed *shard.Error
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w", devices[failed.Shard%len(devices)].Info().Name, err)
	}
	return sums, err
}

func Example_totals() {
	on(func(ctx context.Context, first *vk.Device) error {
		second, err := vk.Open(vk.Options{}) // "0" and "1" are two GPUs of one machine
		if err != nil {
			return err
		}
		defer second.Close()
		sums, err := totals(ctx, []*vk.Device{first, second}, []uint64{7, 9, 7, 8}, []int64{100, 20, -30, 4})
		if err != nil {
			return err
		}
		defer sums.Close()
		sum, found, err := sums.Get(ctx, 7)
		fmt.Println(sum, found)
		return err
	})
	// Output: 70 true
}

// saveSteps saves what the kernels do in an insertion.
func saveSteps(ctx context.Context, keys []uint32, values []int64, to io.Writer) error {
	d, err := vk.Open(vk.Options{Trace: traced.Kernels(1 << 18)}) // room for so many events
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := btree.New[uint32, int64](ctx, d, btree.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := m.Insert(ctx, keys, values); err != nil {
		return err
	}
	steps, err := trace.Take(ctx, d)
	if err != nil {
		return err
	}
	_, err = steps.WriteTo(to)
	return err
}

func Example_saveSteps() {
	var file bytes.Buffer
	if err := saveSteps(context.Background(), []uint32{5, 6}, []int64{50, 60}, &file); err != nil {
		log.Fatal(err)
	}
	steps, err := trace.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(steps.Operations()))
	// Output: 2
}

// countOnDevice counts keys in device memory. The table is too small at first, so a part of them stays pending until
// Finish.
func countOnDevice(ctx context.Context, d *vk.Device, keys []uint32) (map[uint32]uint32, error) {
	counts, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	if err != nil {
		return nil, err
	}
	defer counts.Close()
	batch, err := structures.NewDeviceBatch(d, structures.PairWidth[uint32, uint32](), structures.InsertAdd, len(keys))
	if err != nil {
		return nil, err
	}
	defer batch.Free()
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := batch.Keys.Upload(ctx, 0, keys); err != nil { // or a kernel of yours writes them, on the same stream
		return nil, err
	}
	s.Fill(batch.Values, 0, len(keys), 1) // elements, not bytes
	batch.Clear(s)
	if err := counts.On(s).Update(ctx, structures.InsertAdd, batch); err != nil {
		return nil, err
	}
	// More work can be recorded here. Finish submits it, waits, makes room and does what found none.
	if err := counts.On(s).Finish(ctx, structures.InsertAdd, batch); err != nil {
		return nil, err
	}
	all := map[uint32]uint32{}
	for pair, err := range counts.All(ctx) {
		if err != nil {
			return nil, err
		}
		all[pair.Key] = pair.Value
	}
	return all, nil
}

func Example_countOnDevice() {
	on(func(ctx context.Context, d *vk.Device) error {
		keys := make([]uint32, 100_000)
		for i := range keys {
			keys[i] = uint32(i % 40_000)
		}
		counts, err := countOnDevice(ctx, d, keys)
		fmt.Println(len(counts), counts[19_999], counts[20_000])
		return err
	})
	// Output: 40000 3 2
}
