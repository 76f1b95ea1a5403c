package bench

import (
	"context"
	"fmt"
	"sort"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

var btreeOps = append(operations[*orderedSession]{
	{Op{"build", "bulk build from n pairs in the order of their keys' sequence", true}, (*orderedSession).build},
	{Op{"insert", "n pairs into an empty tree, in batches that are no larger than it", true}, (*orderedSession).insertFromEmpty},
	{Op{"find-exist", "search of n keys, all present", true}, (*orderedSession).findExist},
	{Op{"find-none", "search of n keys, none present", true}, (*orderedSession).findNone},
	{Op{"find-beside", "search of n keys, all present, by the kernel that may run beside updates", true}, (*orderedSession).findBeside},
	{Op{"insert-batch", "a batch of new pairs into a tree of n", true}, (*orderedSession).insertBatch},
	{Op{"assign", "a batch of other values to keys that are there", true}, (*orderedSession).assignBatch},
	{Op{"delete", "deletion of a batch of keys that are there", true}, (*orderedSession).deleteBatch},
	{Op{"count", "how many keys are in each of n ranges", true}, (*orderedSession).count},
	{Op{"range", "the pairs of n ranges, in order", true}, (*orderedSession).list},
	{Op{"range-first", "the first pairs from each of n keys on, as many as a range is long, at places known beforehand", true}, (*orderedSession).listFirst},
	{Op{"successor", "the next key above each of n keys", true}, (*orderedSession).successor},
	{Op{"end-to-end", "Tree.Insert of a batch on the path that it chooses, Tree.Find of n keys; from Go slices to Go slices", false}, (*orderedSession).endToEnd},
	{Op{"compact", "n pairs into as few nodes as there can be, by wall time", false}, (*orderedSession).compact},
}, treeMixOps()...)

// BTree measures the B-link-tree as sections 3.3 and 5 of its papers do. With an error, the report holds what was
// measured before it. Errors as of SlabHash.
func BTree(ctx context.Context, d *vk.Device, o OrderedOptions) (Report, error) {
	return btreeKind().run(ctx, d, o)
}

func btreeKind() orderedKind {
	return orderedKind{
		name: "btree", tree: true, ops: btreeOps,
		open: func(ctx context.Context, d *vk.Device, s *orderedSession) (orderedTable, error) {
			// Room for all that any operation comes to, at the fill that nodes have after they were split: no dispatch
			// may meet a full pool.
			fill := s.fill
			if fill == 0 {
				fill = btree.DefaultFill
			}
			capacity := float64(s.n+max(s.batch, s.n/2)) * max(1.25, btree.Slots*fill/6)
			t, err := btree.New(ctx, d, btree.Options{Capacity: int(capacity), Fill: s.fill, Tile: s.tile})
			return btreeTable{t}, err
		},
	}
}

// btreeTable is a tree whose insertions look like those of other ordered structures.
type btreeTable struct{ *btree.Tree }

func (t btreeTable) InsertOn(ctx context.Context, s *vk.Stream, u structures.DeviceUpdates) error {
	return t.UpdateOn(ctx, s, structures.Insert, u)
}

func (s *orderedSession) asTree(ctx context.Context) (*btree.Tree, error) {
	if s.table == nil {
		if err := s.empty(ctx); err != nil {
			return nil, err
		}
	}
	return s.table.(btreeTable).Tree, nil
}

// holdInTree makes the tree one of the first so many pairs of a sequence, by a bulk build. It is about to be changed.
func (s *orderedSession) holdInTree(ctx context.Context, q sequence, pairs int) error {
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s of %d", q.order, q.n)
	if q.order == Random {
		name = q.order.String() // the first ones are the same however many there are
	}
	keys, err := s.filled(ctx, "keys "+name, q.key)
	if err != nil {
		return err
	}
	values, err := s.filled(ctx, "values "+name, func(i int) uint32 { return s.space.value(q.key(i)) })
	if err != nil {
		return err
	}
	s.there = -1
	if err := t.BuildOn(ctx, s.stream, structures.DeviceUpdates{Count: pairs, Keys: keys, Values: values}); err != nil {
		return err
	}
	return s.stream.Wait(ctx)
}

// sound checks that a tree is one, and has so many pairs.
func (s *orderedSession) sound(ctx context.Context, op string, pairs int) error {
	n, err := s.table.Len(ctx)
	if err == nil && n != uint64(pairs) {
		err = &WrongError{op, fmt.Sprintf("%d pairs there instead of %d", n, pairs)}
	}
	if err != nil {
		return err
	}
	return s.table.(btreeTable).Check(ctx)
}

func (s *orderedSession) build(ctx context.Context) error {
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	keys, values, err := s.all(ctx)
	if err != nil {
		return err
	}
	s.there = -1
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("build", s.n, s.n),
		record: func() error {
			return t.BuildOn(ctx, s.stream, structures.DeviceUpdates{Count: s.n, Keys: keys, Values: values})
		},
		check: func(ctx context.Context) error {
			if err := s.sound(ctx, "build", s.n); err != nil {
				return err
			}
			return s.holdsAll(ctx, "build", s.n)
		},
	}))
}

// change records a batch of updates of one kind on one of the ways there are.
func (s *orderedSession) change(ctx context.Context, path btree.Path, kind structures.Kind, keys, values *vk.Buffer[uint32], first, count int) error {
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	if path == btree.Batched {
		u := structures.DeviceUpdates{Count: count, First: first, Keys: keys, Values: values}
		if s.options.Statuses {
			u.Status = s.status
		}
		return t.UpdateOn(ctx, s.stream, kind, u)
	}
	return t.ApplyOn(s.stream, kind, btree.DeviceBatch{Count: count, Keys: keys, Values: values, Status: s.status, Left: s.left, Alone: true})
}

// eachPath does something once for each way that updates may take.
func (s *orderedSession) eachPath(op string, n, operations int, do func(path btree.Path, m Measurement) error) error {
	for _, path := range s.options.Paths {
		m := s.measurement(op, n, operations)
		if m.Form = path.String(); path == btree.Batched && s.options.Statuses {
			m.Form += " with statuses"
		}
		if err := do(path, m); err != nil {
			return err
		}
	}
	return nil
}

// insertFromEmpty inserts all pairs into an empty tree. A concurrent batch that is larger than the tree has too many
// operations at each leaf, so the batches begin small and double with the tree, as the host's do.
func (s *orderedSession) insertFromEmpty(ctx context.Context) error {
	const smallest = 1 << 10
	keys, values, err := s.all(ctx)
	if err != nil {
		return err
	}
	return s.eachPath("insert", s.n, s.n, func(path btree.Path, m Measurement) error {
		type part struct {
			first, count int
			keys, values *vk.Buffer[uint32]
		}
		var parts []part
		for first := 0; first < s.n; {
			p := part{first: first, count: min(s.n-first, s.batch, max(smallest, first)), keys: keys, values: values}
			if path == btree.Batched {
				p.count = min(s.n-first, s.batch)
			} else { // a concurrent batch begins where its buffers do
				if p.keys, err = s.room(fmt.Sprintf("part %d keys", len(parts)), p.count); err != nil {
					return err
				}
				if p.values, err = s.room(fmt.Sprintf("part %d values", len(parts)), p.count); err != nil {
					return err
				}
				s.stream.Copy(p.keys, 0, keys, 4*first, 4*p.count)
				s.stream.Copy(p.values, 0, values, 4*first, 4*p.count)
			}
			parts = append(parts, p)
			first += p.count
		}
		if err := s.stream.Wait(ctx); err != nil {
			return err
		}
		m.Batch = s.limit // so that all sizes are of one curve
		return s.add(s.measure(ctx, task{
			Measurement: m, pending: path != btree.Batched,
			prepare: s.empty,
			record: func() error {
				for _, p := range parts {
					if err := s.change(ctx, path, structures.Insert, p.keys, p.values, p.first, p.count); err != nil {
						return err
					}
				}
				return nil
			},
			check: func(ctx context.Context) error {
				if err := s.sound(ctx, "insert", s.n); err != nil {
					return err
				}
				return s.holdsAll(ctx, "insert", s.n)
			},
		}))
	})
}

// onTree measures a batch of updates of one kind on a tree of the first n pairs of a sequence. key and value are those
// of each operation; after is the value that the key then has, and whether it is there.
func (s *orderedSession) onTree(ctx context.Context, op string, kind structures.Kind, q sequence, pairs int, status structures.Status,
	key func(i int) uint32, after func(key uint32) (uint32, bool)) error {
	count := s.batch
	keys, err := s.batchOf(ctx, "batch keys", count, key)
	if err != nil {
		return err
	}
	var values *vk.Buffer[uint32]
	if kind != structures.Delete {
		values, err = s.batchOf(ctx, "batch values", count, func(i int) uint32 { value, _ := after(key(i)); return value })
	}
	if err != nil {
		return err
	}
	answers, err := s.buffer("answers")
	if err != nil {
		return err
	}
	return s.eachPath(op, s.n, count, func(path btree.Path, m Measurement) error {
		m.Batch = count
		return s.add(s.measure(ctx, task{
			Measurement: m, pending: path != btree.Batched,
			prepare: func(ctx context.Context) error { return s.holdInTree(ctx, q, s.n) },
			record:  func() error { return s.change(ctx, path, kind, keys, values, 0, count) },
			check: func(ctx context.Context) error {
				if path != btree.Batched || s.options.Statuses {
					if err := s.checkStatus(ctx, op, count, func(int) structures.Status { return status }); err != nil {
						return err
					}
				}
				if err := s.sound(ctx, op, pairs); err != nil {
					return err
				}
				t, err := s.asTree(ctx)
				if err != nil {
					return err
				}
				if err := t.FindOn(s.stream, structures.DeviceLookups{Count: count, Keys: keys, Values: answers, Found: s.status}); err != nil {
					return err
				}
				if err := s.stream.Wait(ctx); err != nil {
					return err
				}
				return s.answered(ctx, op, count, answers, func(i int) (uint32, bool) { return after(key(i)) })
			},
		}))
	})
}

// batchOf is a buffer of a batch's words.
func (s *orderedSession) batchOf(ctx context.Context, name string, count int, of func(i int) uint32) (*vk.Buffer[uint32], error) {
	b, err := s.room(name, count)
	if err != nil {
		return nil, err
	}
	fill(s.scratch[:count], of)
	return b, b.Upload(ctx, 0, s.scratch[:count])
}

// answered checks the answers to some lookups, n at most.
func (s *orderedSession) answered(ctx context.Context, op string, count int, answers *vk.Buffer[uint32], want func(i int) (value uint32, there bool)) error {
	values, found := s.scratch[:count], s.bytes[:count]
	if err := answers.Download(ctx, 0, values); err != nil {
		return err
	}
	if err := s.status.Download(ctx, 0, found); err != nil {
		return err
	}
	return parallel(count, func(first, end int) error {
		for i := first; i < end; i++ {
			value, there := want(i)
			if !there {
				value = 0
			}
			if got := found[i] != 0; got != there || values[i] != value {
				return &WrongError{op, fmt.Sprintf("key %d of the batch is there afterwards: %t, value %d, instead of %t, %d", i, got, values[i], there, value)}
			}
		}
		return nil
	})
}

// insertBatch inserts the pairs that come next in the sequence: of an ascending one keys above all that are there.
func (s *orderedSession) insertBatch(ctx context.Context) error {
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	return s.onTree(ctx, "insert-batch", structures.Insert, q, s.n+s.batch, structures.Inserted,
		func(i int) uint32 { return q.key(s.n + i) },
		func(key uint32) (uint32, bool) { return s.space.value(key), true })
}

// present is a key of the tree: any of them in turn if they are random, else one after the other.
func (s *orderedSession) present(i int) uint32 {
	if s.keys.order == Random {
		i = s.order.at(i)
	}
	return s.keys.key(i)
}

func (s *orderedSession) assignBatch(ctx context.Context) error {
	return s.onTree(ctx, "assign", structures.Insert, s.keys, s.n, structures.Assigned, s.present,
		func(key uint32) (uint32, bool) { return ^s.space.value(key), true })
}

func (s *orderedSession) deleteBatch(ctx context.Context) error {
	return s.onTree(ctx, "delete", structures.Delete, s.keys, s.n-s.batch, structures.Deleted, s.present,
		func(uint32) (uint32, bool) { return 0, false })
}

// askedOfTree is the tree of n pairs, the buffer of their keys in another order, and one for answers.
func (s *orderedSession) askedOfTree(ctx context.Context) (t *btree.Tree, queries, answers *vk.Buffer[uint32], err error) {
	if err = s.hold(ctx, s.n); err != nil {
		return nil, nil, nil, err
	}
	if queries, answers, err = s.asked(ctx, func(i int) uint32 { return s.keys.key(s.order.at(i)) }); err != nil {
		return nil, nil, nil, err
	}
	t, err = s.asTree(ctx)
	return t, queries, answers, err
}

func (s *orderedSession) findBeside(ctx context.Context) error {
	t, queries, answers, err := s.askedOfTree(ctx)
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find-beside", s.n, s.n), pending: true,
		record: func() error {
			return t.ApplyOn(s.stream, structures.Find, btree.DeviceBatch{Count: s.n, Keys: queries, Values: answers, Status: s.status, Left: s.left})
		},
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, "find-beside", s.n, func(int) structures.Status { return structures.Found }); err != nil {
				return err
			}
			return s.checkValues(ctx, "find-beside", answers, func(i int) (uint32, bool) {
				return s.space.value(s.keys.key(s.order.at(i))), true
			})
		},
	}))
}

func (s *orderedSession) successor(ctx context.Context) error {
	t, queries, answers, err := s.askedOfTree(ctx)
	if err != nil {
		return err
	}
	next, err := s.buffer("next keys")
	if err != nil {
		return err
	}
	sorted := s.inOrder(s.n)
	after := func(i int) (uint32, bool) {
		key := s.keys.key(s.order.at(i))
		at := sort.Search(len(sorted), func(j int) bool { return sorted[j] > key })
		if at == len(sorted) {
			return 0, false
		}
		return sorted[at], true
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("successor", s.n, s.n), pending: true,
		record: func() error {
			return t.NeighborOn(s.stream, structures.Successor, structures.DeviceNeighbors{
				Count: s.n, Keys: queries, OutKeys: next, OutValues: answers, Status: s.status, Left: s.left,
			})
		},
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, "successor", s.n, func(i int) structures.Status {
				if _, there := after(i); there {
					return structures.Found
				}
				return structures.Absent
			}); err != nil {
				return err
			}
			if err := s.checkValues(ctx, "successor", next, func(i int) (uint32, bool) { k, _ := after(i); return k, true }); err != nil {
				return err
			}
			return s.checkValues(ctx, "successor", answers, func(i int) (uint32, bool) { k, there := after(i); return s.space.value(k), there })
		},
	}))
}

// listFirst measures what other trees call a range query: a fixed number of pairs of each range, which so go to places
// that need not be counted first.
func (s *orderedSession) listFirst(ctx context.Context) error {
	if err := s.hold(ctx, s.n); err != nil {
		return err
	}
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	sorted := s.inOrder(s.n)
	for _, length := range s.options.Lengths {
		ends, ranges, err := s.ranges(ctx, s.n, length)
		if err != nil {
			return err
		}
		for i := 1; i < len(ends); i += 2 {
			ends[i] = ^uint32(0)
		}
		if err := ranges.Upload(ctx, 0, ends); err != nil {
			return err
		}
		n := len(ends) / 2
		w := btree.DeviceWindow{Count: n, Width: length, Ranges: ranges}
		for _, b := range []struct {
			to    **vk.Buffer[uint32]
			name  string
			words int
		}{{&w.Keys, "listed keys", n * length}, {&w.Values, "listed values", n * length}, {&w.Counts, "counts", n}} {
			if *b.to, err = s.room(b.name, b.words); err != nil {
				return err
			}
		}
		m := s.measurement("range-first", s.n, n)
		m.Length = length
		if err := s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return t.RangesOf(s.stream, w) },
			check: func(ctx context.Context) error {
				counts, keys, values := make([]uint32, n), make([]uint32, n*length), make([]uint32, n*length)
				for _, b := range []struct {
					from *vk.Buffer[uint32]
					to   []uint32
				}{{w.Counts, counts}, {w.Keys, keys}, {w.Values, values}} {
					if err := b.from.Download(ctx, 0, b.to); err != nil {
						return err
					}
				}
				return parallel(n, func(first, end int) error {
					for i := first; i < end; i++ {
						from, _ := within(sorted, ends, i)
						want := sorted[from:min(from+length, len(sorted))]
						if int(counts[i]) != len(want) {
							return &WrongError{"range-first", fmt.Sprintf("range %d: %d pairs instead of %d", i, counts[i], len(want))}
						}
						for j, key := range want {
							if k, v := keys[i*length+j], values[i*length+j]; k != key || v != s.space.value(key) {
								return &WrongError{"range-first", fmt.Sprintf("range %d, pair %d: %d, %d", i, j, k, v)}
							}
						}
					}
					return nil
				})
			},
		})); err != nil {
			return err
		}
	}
	return nil
}

// endToEnd measures insertion and search from Go slices to Go slices. Of the insertions it tells the path that the tree
// chose.
func (s *orderedSession) endToEnd(ctx context.Context) error {
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	keys, values, queries := make([]uint32, s.batch), make([]uint32, s.batch), make([]uint32, s.n)
	fill(keys, func(i int) uint32 { return q.key(s.n + i) })
	fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
	fill(queries, func(i int) uint32 { return q.key(s.order.at(i)) })
	before, err := t.Stats(ctx)
	if err != nil {
		return err
	}
	m := s.measurement("end-to-end-insert", s.n, s.batch)
	m.Batch = s.batch
	var status []structures.Status
	m, err = s.measureWall(ctx, m, func(ctx context.Context) error { return s.holdInTree(ctx, q, s.n) },
		func(ctx context.Context) (err error) { status, err = t.Insert(ctx, keys, values); return err }, nil, "")
	if err != nil {
		return err
	}
	after, err := t.Stats(ctx)
	if err != nil {
		return err
	}
	m.Form = btree.Concurrent.String()
	if after.Batches.Batched > before.Batches.Batched {
		m.Form = btree.Batched.String()
	}
	for i, x := range status {
		if x != structures.Inserted {
			return &WrongError{m.Op, fmt.Sprintf("operation %d: %v", i, x)}
		}
	}
	if err := s.add(m, s.sound(ctx, m.Op, s.n+s.batch)); err != nil {
		return err
	}
	var found []uint32
	m, err = s.measureWall(ctx, s.measurement("end-to-end-find", s.n, s.n), func(context.Context) error { return nil },
		func(ctx context.Context) (err error) { found, _, err = t.Find(ctx, queries); return err }, nil, "")
	if err != nil {
		return err
	}
	for i, value := range found {
		if want := s.space.value(queries[i]); value != want {
			return &WrongError{m.Op, fmt.Sprintf("query %d: value %d instead of %d", i, value, want)}
		}
	}
	return s.add(m, nil)
}

// compact fills the nodes of a tree as far as they go.
func (s *orderedSession) compact(ctx context.Context) error {
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	m, err := s.measureWall(ctx, s.measurement("compact", s.n, s.n),
		func(ctx context.Context) error { return s.holdInTree(ctx, s.keys, s.n) },
		func(ctx context.Context) error { return t.Compact(ctx, 1) }, nil, "")
	if err != nil {
		return err
	}
	if err := s.sound(ctx, "compact", s.n); err != nil {
		return err
	}
	s.there = -1
	return s.add(m, s.holdsAll(ctx, "compact", s.n))
}

// Paths are the ways of updates, by their names.
var Paths = enum.Of("path", btree.Concurrent, btree.Batched)
