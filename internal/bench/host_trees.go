package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	google "github.com/google/btree"
	tidwall "github.com/tidwall/btree"
)

// hostTree is an ordered dictionary of a Go program, with a lock that makes it fit for several goroutines.
type hostTree struct {
	name   string
	reset  func()
	insert func(key, value uint32)
	find   func(key uint32) uint32
	scan   func(lo, hi uint32, each func(value uint32))
}

// hostTrees are the B-trees that Go programs use.
func hostTrees() []hostTree {
	var lock sync.RWMutex
	writing := func(do func()) { lock.Lock(); do(); lock.Unlock() }
	reading := func(do func()) { lock.RLock(); do(); lock.RUnlock() }

	var t tidwall.Map[uint32, uint32]
	type pair struct{ key, value uint32 }
	var g *google.BTreeG[pair]
	return []hostTree{{
		name:   "tidwall/btree",
		reset:  func() { t = tidwall.Map[uint32, uint32]{} },
		insert: func(key, value uint32) { writing(func() { t.Set(key, value) }) },
		find:   func(key uint32) (value uint32) { reading(func() { value, _ = t.Get(key) }); return value },
		scan: func(lo, hi uint32, each func(uint32)) {
			reading(func() {
				t.Ascend(lo, func(k, v uint32) bool {
					if k <= hi {
						each(v)
					}
					return k < hi
				})
			})
		},
	}, {
		name:   "google/btree",
		reset:  func() { g = google.NewG(32, func(a, b pair) bool { return a.key < b.key }) },
		insert: func(key, value uint32) { writing(func() { g.ReplaceOrInsert(pair{key, value}) }) },
		find: func(key uint32) (value uint32) {
			reading(func() { p, _ := g.Get(pair{key: key}); value = p.value })
			return value
		},
		scan: func(lo, hi uint32, each func(uint32)) {
			reading(func() {
				g.AscendGreaterOrEqual(pair{key: lo}, func(p pair) bool {
					if p.key <= hi {
						each(p.value)
					}
					return p.key < hi
				})
			})
		},
	}}
}

// compareHostTrees measures what a Go program has without vkds, on the same keys, by as many goroutines as there are
// processors: B-trees with a lock. The ratios in it are of vkds's measurements of this n, at the first setting, to
// these.
func (w *workload) compareHostTrees(ctx context.Context, r *Report) error {
	const length = 8
	keys, queries, values, answers := make([]uint32, w.n), make([]uint32, w.n), make([]uint32, w.n), make([]uint32, w.n)
	fill(keys, w.space.key)
	fill(queries, w.query)
	fill(values, func(i int) uint32 { return w.space.value(keys[i]) })
	reach := uint64(length) << 32 / uint64(w.n)
	for _, t := range hostTrees() {
		for _, x := range []struct {
			op     string
			beside []string // operations of ours
			reset  func()
			do     func(i int)
		}{
			{"insert", []string{"build", "insert"}, t.reset, func(i int) { t.insert(keys[i], values[i]) }},
			{"find-exist", []string{"find-exist", "find-beside"}, func() { clear(answers) }, func(i int) { answers[i] = t.find(queries[i]) }},
			{"range", []string{"range"}, func() {}, func(i int) {
				lo := queries[i]
				t.scan(lo, uint32(min(uint64(lo)+reach-1, 1<<32-1)), func(value uint32) { answers[i] ^= value })
			}},
		} {
			m := Measurement{Structure: t.name, Op: x.op, N: w.n, Operations: w.n}
			if x.op == "range" {
				m.Length = length
			}
			m, err := w.measureWall(ctx, m,
				func(ctx context.Context) error { x.reset(); runtime.GC(); return ctx.Err() },
				func(context.Context) error {
					return parallel(w.n, func(first, end int) error {
						for i := first; i < end; i++ {
							x.do(i)
						}
						return nil
					})
				}, nil, "")
			if err != nil {
				return err
			}
			for _, of := range x.beside {
				for _, ours := range r.Measurements {
					if ours.Structure == "btree" && ours.N == w.n && ours.Op == of && ours.Length == m.Length {
						m.Ratios = append(m.Ratios, Ratio{"time of btree " + of, float64(m.time()) / float64(ours.time())})
						break
					}
				}
			}
			r.Measurements = append(r.Measurements, m)
			if x.op != "find-exist" {
				continue
			}
			if err := parallel(w.n, func(first, end int) error {
				for i := first; i < end; i++ {
					if answers[i] != w.space.value(queries[i]) {
						return &WrongError{t.name, fmt.Sprintf("query %d: %d", i, answers[i])}
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
