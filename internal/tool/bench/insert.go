package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// insertion measures one batch of all n pairs into an empty hash table.
func insertion(kind structures.Kind) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		if err := s.hold(ctx, s.n); err != nil { // for the utilisation
			return err
		}
		keys, values, err := s.all(ctx, s.keys)
		if err != nil {
			return err
		}
		b := structures.DeviceBatch{Count: s.n, Keys: keys, Values: values, Status: s.status, Left: s.left}
		defer func() { s.there = -1 }()
		return s.add(s.measure(ctx, task{
			Measurement: s.measurement(s.n, s.n), pending: true,
			prepare: s.empty,
			record:  func() error { return s.dictionary.(concurrent).ApplyOn(s.stream, kind, b) },
			check: func(ctx context.Context) error {
				if err := s.allAre(ctx, s.n, structures.Inserted); err != nil {
					return err
				}
				return s.holdsAll(ctx, s.n)
			},
		}))
	}
}

// bulkBuild measures the making of a tree of all pairs.
func (s *session) bulkBuild(ctx context.Context) error {
	t, err := s.tree(ctx)
	if err != nil {
		return err
	}
	keys, values, err := s.all(ctx, s.keys)
	if err != nil {
		return err
	}
	s.there = -1
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(s.n, s.n),
		record: func() error {
			return t.On(s.stream).Build(ctx, structures.DeviceBatch{Count: s.n, Keys: keys, Values: values})
		},
		check: func(ctx context.Context) error { return s.holdsAll(ctx, s.n) },
	}))
}

func (s *session) tree(ctx context.Context) (tree, error) {
	if _, err := s.opened(ctx); err != nil {
		return nil, err
	}
	return s.dictionary.(treeTable).tree, nil
}

// part is so many pairs from one on.
type part struct{ first, count int }

// doubling cuts n pairs into batches that begin small and double with the tree, up to a largest one.
func doubling(n, largest int) (parts []part) {
	const smallest = 1 << 10
	for first := 0; first < n; {
		p := part{first, min(n-first, largest, max(smallest, first))}
		parts = append(parts, p)
		first += p.count
	}
	return parts
}

// chunks cuts n pairs into batches of one size.
func chunks(n, size int) (parts []part) {
	for first := 0; first < n; first += size {
		parts = append(parts, part{first, min(n-first, size)})
	}
	return parts
}

// insertFromEmpty inserts all pairs into an empty tree. A concurrent batch that is larger than the tree has too many
// operations at each leaf, so the batches begin small and double with the tree, as the host's do.
func (s *session) insertFromEmpty(ctx context.Context) error {
	keys, values, err := s.all(ctx, s.keys)
	if err != nil {
		return err
	}
	return s.eachPath(s.n, func(path btree.Path, m Measurement) error {
		m.Batch = s.at.batch // so that all sizes are of one curve
		parts, err := s.treeBatches(ctx, path, keys, values)
		if err != nil {
			return err
		}
		defer func() { s.there = -1 }()
		return s.add(s.measure(ctx, task{
			Measurement: m, pending: path != btree.Batched,
			prepare: s.empty,
			record: func() error {
				for _, b := range parts {
					if err := s.update(ctx, path, structures.Insert, b); err != nil {
						return err
					}
				}
				return nil
			},
			check: func(ctx context.Context) error { return s.holdsAll(ctx, s.n) },
		}))
	})
}

// treeBatches are the batches of insertFromEmpty. A concurrent one begins where its buffers do.
func (s *session) treeBatches(ctx context.Context, path btree.Path, keys,
	values *vk.Buffer[uint32]) (all []structures.DeviceBatch, err error) {
	if path == btree.Batched {
		for _, p := range chunks(s.n, s.batch) {
			all = append(all, structures.DeviceBatch{Count: p.count, First: p.first, Keys: keys, Values: values})
		}
		return all, nil
	}
	for i, p := range doubling(s.n, s.batch) {
		b := structures.DeviceBatch{Count: p.count}
		if b.Keys, err = s.roomFor(fmt.Sprintf("part %d keys", i), p.count); err != nil {
			return nil, err
		}
		if b.Values, err = s.roomFor(fmt.Sprintf("part %d values", i), p.count); err != nil {
			return nil, err
		}
		s.copyElements(b.Keys, keys, p)
		s.copyElements(b.Values, values, p)
		all = append(all, b)
	}
	return all, s.stream.Wait(ctx)
}

// series measures the insertion of all n pairs, batch by batch, into an empty structure: section V-B of the GPU LSM's
// paper. An insertion into a sorted array waits for the device in the middle, so that only the host can time it.
func (s *session) series(ctx context.Context) error {
	m := s.measurement(s.n, s.n)
	m.Batch = s.batch
	var steps [][]time.Duration
	once := func(timed bool) error {
		if err := s.empty(ctx); err != nil {
			return err
		}
		var onDevice, byWall []time.Duration
		var device, wall time.Duration
		err := s.insert(ctx, s.keys, 0, s.n, func(w, d time.Duration) {
			onDevice, byWall = append(onDevice, d), append(byWall, w)
			device, wall = device+d, wall+w
		})
		if err != nil || !timed {
			return err
		}
		m.Wall = append(m.Wall, wall)
		if s.waits() {
			steps = append(steps, byWall)
			return nil
		}
		m.Device, steps = append(m.Device, device), append(steps, onDevice)
		return nil
	}
	for start, first := time.Now(), true; first || time.Since(start) < s.o.WarmUp; first = false {
		if err := once(false); err != nil {
			return err
		}
		if first {
			if err := s.holdsAll(ctx, s.n); err != nil {
				return err
			}
		}
	}
	for range s.o.Repeat {
		if err := once(true); err != nil {
			return err
		}
	}
	for i := range steps[0] {
		var runs []time.Duration
		for _, run := range steps {
			runs = append(runs, run[i])
		}
		m.Steps = append(m.Steps, Median(runs))
	}
	s.there = s.n
	return s.add(m, s.holdsAll(ctx, s.n))
}

// waits says whether an insertion waits for the device in the middle.
func (s *session) waits() bool { _, is := s.dictionary.(arrayTable); return is }

// insert inserts pairs of a sequence into a structure of sorted runs, from one up to another, in batches. each, if not
// nil, is told of each batch's times: from the call to the end of waiting, and by the device's clock.
func (s *session) insert(ctx context.Context, q sequence, from, upTo int, each func(wall, device time.Duration)) error {
	keys, values, err := s.all(ctx, q)
	if err != nil {
		return err
	}
	u := structures.DeviceBatch{}
	if u.Keys, u.Values, err = s.batchBuffers(); err != nil {
		return err
	}
	for _, p := range chunks(upTo-from, s.batch) {
		u.Count, p.first = p.count, from+p.first
		s.copyElements(u.Keys, keys, p)
		s.copyElements(u.Values, values, p)
		if each == nil {
			if err = s.dictionary.(leveled).UpdateOn(ctx, s.stream, structures.Insert, u); err == nil {
				_, err = s.stream.Submit()
			}
		} else {
			err = s.insertTimed(ctx, u, each)
		}
		if err != nil {
			return err
		}
	}
	return s.stream.Wait(ctx)
}

func (s *session) insertTimed(ctx context.Context, u structures.DeviceBatch,
	each func(wall, device time.Duration)) error {
	err := s.stream.Wait(ctx) // what was copied for the batch is no part of it
	if err != nil {
		return err
	}
	s.stream.Timings()
	start := time.Now()
	record := func() { err = s.dictionary.(leveled).UpdateOn(ctx, s.stream, structures.Insert, u) }
	if s.waits() {
		record()
	} else {
		s.stream.Timed(s.op.Name, record)
	}
	if err == nil {
		err = s.stream.Wait(ctx)
	}
	if err != nil {
		return err
	}
	wall, device := time.Since(start), time.Duration(0)
	for _, t := range s.stream.Timings() {
		if t.Label == s.op.Name {
			device = t.Duration
		}
	}
	each(wall, device)
	return nil
}

func (s *session) batchBuffers() (keys, values *vk.Buffer[uint32], err error) {
	if keys, err = s.roomFor("batch keys", s.batch); err == nil {
		values, err = s.roomFor("batch values", s.batch)
	}
	return keys, values, err
}
