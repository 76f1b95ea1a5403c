package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// lookups measures n lookups: of gives the key of each query, and whether it is there, among so many pairs.
func (s *session) lookups(ctx context.Context, of func(i, pairs int) (key uint32, there bool)) error {
	return s.eachLevels(ctx, func(m Measurement) error {
		pairs := m.N
		queries, answers, err := s.asked(ctx, func(i int) uint32 { key, _ := of(i, pairs); return key })
		if err != nil {
			return err
		}
		for _, order := range s.options.Lookups {
			m := m
			if m.Operations = s.n; order != structures.AutoOrder {
				m.Form = order.String()
			}
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record:      func() error { return s.find(queries, answers, order) },
				check: func(ctx context.Context) error {
					return s.found(ctx, s.n, answers, func(i int) (uint32, bool) {
						key, there := of(i, pairs)
						return s.space.value(key), there
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachLevels brings an LSM into each arrangement of levels asked for, and others to n pairs. What is measured then has,
// unless do says otherwise, as many operations as there are pairs.
func (s *session) eachLevels(ctx context.Context, do func(Measurement) error) error {
	if !s.inLevels() {
		if err := s.hold(ctx, s.n); err != nil {
			return err
		}
		return do(s.measurement(s.n, s.n))
	}
	for _, l := range s.options.Levels {
		pairs := l.batches(s.n, s.batch) * s.batch
		if err := s.hold(ctx, pairs); err != nil {
			return err
		}
		m := s.measurement(pairs, pairs)
		m.Levels = l.String()
		if err := do(m); err != nil {
			return err
		}
	}
	return nil
}

// findPresent looks up keys that are there, all alike.
func (s *session) findPresent(ctx context.Context) error {
	return s.lookups(ctx, func(i, pairs int) (uint32, bool) { return s.keys.key(s.order.at(i) % pairs), true })
}

// findOldest looks up keys of the first half, which are in the largest level.
func (s *session) findOldest(ctx context.Context) error {
	return s.lookups(ctx, func(i, pairs int) (uint32, bool) {
		return s.keys.key(s.order.at(i) % ((pairs + s.batch) / 2)), true
	})
}

func (s *session) findAbsent(ctx context.Context) error {
	return s.lookups(ctx, func(i, _ int) (uint32, bool) { return s.keys.absent(s.order.at(i)), false })
}

// findSkewed looks up one key again and again, and others once.
func (s *session) findSkewed(ctx context.Context) error {
	k := newSkew(s.space, s.n, s.options.Skew)
	return s.lookups(ctx, func(i, _ int) (uint32, bool) { return k.key(i), true })
}

// findConcurrent looks up keys that are there, by the kernel of the updates.
func (s *session) findConcurrent(ctx context.Context) error {
	if err := s.hold(ctx, s.n); err != nil {
		return err
	}
	queries, answers, err := s.asked(ctx, s.query)
	if err != nil {
		return err
	}
	b := structures.DeviceBatch{Count: s.n, Keys: queries, Values: answers, Status: s.status, Left: s.left}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(s.n, s.n), pending: true,
		record: func() error { return s.dictionary.(concurrent).ApplyOn(s.stream, structures.Find, b) },
		check: func(ctx context.Context) error {
			if err := s.allAre(ctx, s.n, structures.Found); err != nil {
				return err
			}
			return s.checkValues(ctx, answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
		},
	}))
}
