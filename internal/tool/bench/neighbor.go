package bench

import (
	"context"
	"sort"

	"github.com/vkds/vkds/structures"
)

// successor looks for the next keys above those that are there.
func (s *session) successor(ctx context.Context) error {
	if err := s.hold(ctx, s.n); err != nil {
		return err
	}
	t := s.dictionary.(treeTable)
	queries, answers, err := s.asked(ctx, s.query)
	if err != nil {
		return err
	}
	next, err := s.roomFor("next keys", s.n)
	if err != nil {
		return err
	}
	sorted := s.inOrder(s.n)
	after := func(i int) (uint32, bool) {
		key := s.query(i)
		at := sort.Search(len(sorted), func(j int) bool { return sorted[j] > key })
		if at == len(sorted) {
			return 0, false
		}
		return sorted[at], true
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(s.n, s.n), pending: true,
		record: func() error {
			return t.On(s.stream).Neighbor(structures.Successor, structures.DeviceNeighbors{
				Count: s.n, Keys: queries, OutKeys: next, OutValues: answers, Status: s.status, Left: s.left,
			})
		},
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, s.n, func(i int) structures.Status {
				if _, there := after(i); there {
					return structures.Found
				}
				return structures.Absent
			}); err != nil {
				return err
			}
			if err := s.checkValues(ctx, next, func(i int) (uint32, bool) {
				k, _ := after(i)
				return k, true
			}); err != nil {
				return err
			}
			return s.checkValues(ctx, answers, func(i int) (uint32, bool) {
				k, there := after(i)
				return s.space.value(k), there
			})
		},
	}))
}
