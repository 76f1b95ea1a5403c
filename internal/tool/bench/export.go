package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// export measures the writing of all pairs, in key order where the structure keeps one.
func (s *session) export(ctx context.Context) error {
	return s.eachLevels(ctx, func(m Measurement) error {
		keys, values, err := s.listed(m.N)
		if err != nil {
			return err
		}
		total, err := s.room("total", 1)
		if err != nil {
			return err
		}
		e := structures.DeviceExport{Keys: keys, Values: values, Total: total}
		return s.add(s.measure(ctx, task{
			Measurement: m,
			record:      func() error { return s.dictionary.(exporting).exportOn(s.stream, e) },
			check: func(ctx context.Context) error {
				n, err := downloaded(ctx, total, 1)
				if err == nil && int(n[0]) != m.N {
					err = s.wrong("%d pairs instead of %d", n[0], m.N)
				}
				if err != nil {
					return err
				}
				k, v, err := s.pairsOf(ctx, keys, values, m.N)
				if err != nil {
					return err
				}
				return s.checkAll(k, v)
			},
		}))
	})
}

// checkAll looks whether pairs are all that there are, each once.
func (s *session) checkAll(keys, values []uint32) error {
	if err := s.checkPairs(keys, values, func(i int) uint32 { return keys[i] }); err != nil {
		return err
	}
	if _, is := s.dictionary.(ordered); !is {
		keys = ascending(keys)
	}
	sorted := s.inOrder(len(keys))
	return each(len(keys), func(i int) error {
		if keys[i] != sorted[i] {
			return s.wrong("key %d: %d instead of %d", i, keys[i], sorted[i])
		}
		return nil
	})
}
