package bench

import (
	"context"

	"github.com/vkds/vkds/internal/tool/bench/latched"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// The insertions into the B-trees of two papers, whose nodes are changed under latches (section 3 of Awad et al. 2019,
// chapter 4 of Duong 2021): they are what btree's figures are measured beside, and nothing else is built on them. What
// an insertion leaves pending is done again, and its time counts.

func (s *session) latchedInsert(ctx context.Context) error {
	return s.insertParts(ctx, s.keys, doubling(s.n, s.batch))
}

func (s *session) latchedInsertAscending(ctx context.Context) error {
	return s.insertParts(ctx, newSequence(s.space, Ascending, s.n), doubling(s.n, s.batch))
}

func (s *session) latchedInsertAtOnce(ctx context.Context) error {
	return s.insertParts(ctx, s.keys, []part{{0, s.n}})
}

func (s *session) latchedInsertBatch(ctx context.Context) error {
	there := s.n &^ 3 // a part's statuses begin with a word
	m := s.measurement(s.n, s.batch)
	m.Batch = s.batch
	return s.insertBehind(ctx, m, s.keys, doubling(there, there), []part{{there, s.batch}})
}

// insertParts measures the insertion of pairs into an empty tree, part by part.
func (s *session) insertParts(ctx context.Context, q sequence, parts []part) error {
	m := s.measurement(s.n, s.n)
	for _, p := range parts {
		m.Batch = max(m.Batch, p.count)
	}
	return s.insertBehind(ctx, m, q, nil, parts)
}

// insertBehind measures the insertion of some parts of the pairs behind others, which are not measured.
func (s *session) insertBehind(ctx context.Context, m Measurement, q sequence, before, parts []part) error {
	if _, err := s.opened(ctx); err != nil {
		return err
	}
	s.there = -1
	last := parts[len(parts)-1]
	total := last.first + last.count
	b := latched.Batch{Left: s.left}
	words := make([]uint32, total)
	for _, column := range []struct {
		to   **vk.Buffer[uint32]
		name string
		of   func(i int) uint32
	}{
		{&b.Keys, "latched keys", q.key}, {&b.Values, "latched values",
			func(i int) uint32 { return s.space.value(q.key(i)) }}} {
		var err error
		if *column.to, err = s.room(column.name, total); err != nil {
			return err
		}
		fill(words, column.of)
		if err := (*column.to).Upload(ctx, 0, words); err != nil {
			return err
		}
	}
	var err error
	if b.Status, err = vk.NewBuffer[uint8](s.d, (total+3)&^3); err != nil {
		return err
	}
	defer b.Status.Free()
	m, err = s.measureWall(ctx, m, func(ctx context.Context) error {
		if err := s.empty(ctx); err != nil {
			return err
		}
		s.there = -1
		if err := s.insertLatched(ctx, b, before); err != nil {
			return err
		}
		return s.heat(ctx)
	}, func(ctx context.Context) error { return s.insertLatched(ctx, b, parts) }, s.stream.Timings, s.op.Name)
	if err != nil {
		return err
	}
	return s.add(m, s.checkLatched(ctx, b, words))
}

// insertLatched inserts parts of the pairs, one after the other, and then what that left pending, again and again.
func (s *session) insertLatched(ctx context.Context, b latched.Batch, parts []part) error {
	const passes = 1000
	for pass := range passes {
		s.stream.Fill(s.left, 0, 4, 0)
		s.stream.Timed(s.op.Name, func() {
			for _, p := range parts {
				b.First, b.Count = p.first, p.count
				s.dictionary.(latchedTable).InsertOn(s.stream, b, pass > 0)
			}
		})
		if err := s.stream.Wait(ctx); err != nil {
			return err
		}
		var left [1]uint32
		if err := s.left.Download(ctx, 0, left[:]); err != nil || left[0] == 0 {
			return err
		}
	}
	return s.wrong("operations are pending after %d dispatches", passes)
}

// checkLatched checks the tree node by node, and that it has the pairs of a batch's buffers, all of them inserted.
func (s *session) checkLatched(ctx context.Context, b latched.Batch, words []uint32) error {
	if err := s.sound(ctx, len(words)); err != nil {
		return err
	}
	status := make([]uint8, len(words))
	if err := b.Status.Download(ctx, 0, status); err != nil {
		return err
	}
	for i, got := range status {
		if structures.Status(got) != structures.Inserted {
			return s.wrong("operation %d: %v", i, structures.Status(got))
		}
	}
	answers, err := s.room("latched answers", len(words))
	if err != nil {
		return err
	}
	lookups := structures.DeviceLookups{Count: len(words), Keys: b.Keys, Values: answers, Found: b.Status}
	if err := s.dictionary.FindOn(s.stream, lookups); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	found, err := downloaded(ctx, answers, len(words))
	if err != nil {
		return err
	}
	if err := b.Values.Download(ctx, 0, words); err != nil {
		return err
	}
	for i, value := range found {
		if value != words[i] {
			return s.wrong("pair %d: value %d instead of %d", i, value, words[i])
		}
	}
	return nil
}
