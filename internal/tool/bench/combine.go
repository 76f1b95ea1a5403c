package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/slabhash"
	"golang.org/x/sync/errgroup"
)

// shared is a dictionary of n pairs for many callers.
type shared = structures.Dictionary[uint32, uint32]

// ofCallers returns the measurement of a cell whose callers share a dictionary: alone, and combined.
func ofCallers(measure func(s *session, bare, combined shared)) func(*session) {
	return func(s *session) {
		keys := slicesOf[uint32](s.n, s.keys.key)
		bare := must(slabhash.Build(s.ctx, s.d, keys, valuesOf(s, keys), slabhash.Options{}))
		combined := must(combine.New(bare, combine.Options{}))
		defer func() { ok(combined.Close()) }()
		measure(s, bare, combined)
	}
}

// getAlone measures gets of one caller, in turns with gets of the dictionary itself. A run's time is its median.
func (s *session) getAlone(bare, combined shared) {
	const gets = 1000
	m := s.measurement(s.n, 1)
	var times [2][]time.Duration
	for run := range s.o.Repeat + 1 {
		var of [2][]time.Duration
		for range gets {
			for i, d := range []shared{bare, combined} {
				begin := time.Now()
				ok(s.get(s.ctx, d, s.keys.key(rand.IntN(s.n))))
				of[i] = append(of[i], time.Since(begin))
			}
		}
		if run > 0 { // the first one warms up
			m.Wall = append(m.Wall, Median(of[1]))
			times[0], times[1] = append(times[0], of[0]...), append(times[1], of[1]...)
		}
	}
	of := func(i, percent int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])*percent/100].Nanoseconds()) / 1000
	}
	m.Properties = []Property{{"p50-µs", of(1, 50)}, {"p99-µs", of(1, 99)}, {"bare-p50-µs", of(0, 50)},
		{"bare-p99-µs", of(0, 99)}, {"p50-over-bare-µs", of(1, 50) - of(0, 50)}}
	s.add(m)
}

// get looks one key up, and checks its value.
func (s *session) get(ctx context.Context, d shared, key uint32) error {
	value, found, err := d.Get(ctx, key)
	if err == nil && (!found || value != s.space.value(key)) {
		err = &WrongError{s.op.Name, fmt.Sprintf("key %d: %d, %t", key, value, found)}
	}
	return err
}

// gets measures what callers do at the same time: with the dictionary itself, and combined.
func (s *session) gets(bare, combined shared) {
	var rates [2]float64
	for i, d := range []shared{bare, combined} {
		run := func(calls int) {
			var all errgroup.Group
			for range s.at.Callers {
				all.Go(func() error {
					ctx, end := context.WithCancel(s.ctx) // its own, as a server's request has
					defer end()
					for range calls {
						if err := s.get(ctx, d, s.keys.key(rand.IntN(s.n))); err != nil {
							return err
						}
					}
					return nil
				})
			}
			ok(all.Wait())
		}
		calls, took := 1, time.Duration(0)
		for begin := time.Now(); took < 100*time.Millisecond; begin = time.Now() {
			calls *= 2
			run(calls)
			took = time.Since(begin)
		}
		m := s.measurement(s.n, s.at.Callers*calls)
		if m.Callers = s.at.Callers; i == 0 {
			m.Op += "-bare"
		}
		m = s.calls(m, func() {}, func() { run(calls) }, nil, "")
		if rates[i] = m.Throughput(); i == 1 {
			m.Properties = []Property{{"times-bare", rates[1] / rates[0]}}
		}
		s.add(m)
	}
}
