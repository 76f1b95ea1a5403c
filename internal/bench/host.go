package bench

import (
	"context"
	"fmt"
	"runtime"

	"github.com/puzpuzpuz/xsync/v4"
)

// compareHost measures what a Go program has without vkds, on the same keys: a Go map by one goroutine, and
// xsync.Map by as many as there are processors. The ratios in it are of vkds's measurements of this n, at the first
// setting, to these.
func (w *workload) compareHost(ctx context.Context, r *Report) error {
	keys, queries, values, answers := make([]uint32, w.n), make([]uint32, w.n), make([]uint32, w.n), make([]uint32, w.n)
	fill(keys, w.space.key)
	fill(queries, w.query)
	fill(values, func(i int) uint32 { return w.space.value(keys[i]) })
	check := func(op string) error {
		return parallel(w.n, func(first, end int) error {
			for i := first; i < end; i++ {
				if answers[i] != w.space.value(queries[i]) {
					return &WrongError{op, fmt.Sprintf("query %d: %d", i, answers[i])}
				}
			}
			return nil
		})
	}
	measure := func(structure string, reset func(), build, find func() error) error {
		for _, x := range []struct {
			op, beside string
			reset      func()
			call       func() error
		}{{"build", "end-to-end-insert", reset, build}, {"find-all", "end-to-end-find", func() { clear(answers) }, find}} {
			m := Measurement{Structure: structure, Op: x.op, N: w.n, Operations: w.n}
			m, err := w.measureWall(ctx, m,
				func(ctx context.Context) error { x.reset(); return ctx.Err() },
				func(context.Context) error { return x.call() }, nil, "")
			if err != nil {
				return err
			}
			for _, of := range []string{x.op, x.beside} {
				for _, ours := range r.Measurements {
					if ours.Structure == "slabhash" && ours.N == w.n && ours.Op == of {
						m.Ratios = append(m.Ratios, Ratio{"time of slabhash " + of, float64(m.time()) / float64(ours.time())})
						break
					}
				}
			}
			r.Measurements = append(r.Measurements, m)
		}
		return check(structure)
	}

	var plain map[uint32]uint32
	err := measure("Go map", func() { plain = make(map[uint32]uint32, w.n); runtime.GC() },
		func() error {
			for i, k := range keys {
				plain[k] = values[i]
			}
			return nil
		},
		func() error {
			for i, k := range queries {
				answers[i] = plain[k]
			}
			return nil
		})
	if err != nil {
		return err
	}
	plain = nil
	var shared *xsync.Map[uint32, uint32]
	return measure("xsync.Map", func() { shared = xsync.NewMap[uint32, uint32](xsync.WithPresize(w.n)); runtime.GC() },
		func() error {
			return parallel(w.n, func(first, end int) error {
				for i := first; i < end; i++ {
					shared.Store(keys[i], values[i])
				}
				return nil
			})
		},
		func() error {
			return parallel(w.n, func(first, end int) error {
				for i := first; i < end; i++ {
					answers[i], _ = shared.Load(queries[i])
				}
				return nil
			})
		})
}
