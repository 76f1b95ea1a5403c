package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/vkds/vkds/internal/tool/bench"
)

// peer is a dictionary for Go programs, to be measured with the keys of a measurement of ours (vkds).
type peer struct {
	name   string
	alone  bool                        // for one goroutine at a time
	reset  func(n int)                 // makes it empty, with room for n pairs
	insert func(keys, values []uint32) // of pairs with new keys
	find   func(keys, values []uint32) // writes the values of keys that are there
	// rangeQuery calls each for the keys from lo to hi; nil: it is not ordered.
	rangeQuery func(lo, hi uint32, each func(value uint32))
}

// peerOps are the operations of peers, with the operations of ours that do the same.
var peerOps = []struct {
	name string
	ours []string
}{
	{"insert", []string{"build", "insert", "end-to-end-insert-kept-slices"}},
	{"find", []string{"find-all", "find-exist", "find-beside", "end-to-end-find-kept-slices"}},
	{"range", []string{"range"}},
}

// measureBeside measures peers on the same random keys as the report's dictionary, with as many goroutines as
// processors. It appends the measurements, with the ratio of each time to that of ours at its first setting. It
// measures each operation in runs runs, after one that is not measured. Errors: *bench.WrongError, the context's.
func measureBeside(ctx context.Context, r *bench.Report, peers []peer, runs int) error {
	var sizes []int
	for _, m := range r.Measurements {
		if comparable(m, m.N) && !slices.Contains(sizes, m.N) {
			sizes = append(sizes, m.N)
		}
	}
	for _, n := range sizes {
		w := newPeerWork(r, n)
		for _, p := range peers {
			if err := w.measure(ctx, p, runs); err != nil {
				return fmt.Errorf("%s, n = %d: %w", p.name, n, err)
			}
		}
	}
	return nil
}

// comparable reports whether a measurement is of n operations on n random keys.
func comparable(m bench.Measurement, n int) bool {
	return m.N == n && m.Operations == n && m.Order == ""
}

// peerWork is the input of the peers, and their answers.
type peerWork struct {
	report                         *bench.Report
	n                              int
	keys, values, queries, answers []uint32
	valueOf                        map[uint32]uint32
	length                         int    // average number of pairs in a range; 0: the report has no ranges
	reach                          uint64 // number of keys in a range
}

func newPeerWork(r *bench.Report, n int) *peerWork {
	w := &peerWork{report: r, n: n, answers: make([]uint32, n), valueOf: make(map[uint32]uint32, n)}
	w.keys, w.values, w.queries = bench.Pairs(r.Environment.Seed, n)
	for i, key := range w.keys {
		w.valueOf[key] = w.values[i]
	}
	if i := w.ours("range"); i >= 0 {
		w.length = r.Measurements[i].Length
		w.reach = uint64(w.length) << 32 / uint64(n)
	}
	return w
}

// ours returns the index of the first measurement of an operation of ours, or -1.
func (w *peerWork) ours(op string) int {
	return slices.IndexFunc(w.report.Measurements,
		func(m bench.Measurement) bool { return m.Op == op && comparable(m, w.n) })
}

func (w *peerWork) measure(ctx context.Context, p peer, runs int) error {
	for _, op := range peerOps {
		m := bench.Measurement{Structure: p.name, Op: op.name, N: w.n, Operations: w.n}
		if op.name == "range" {
			if p.rangeQuery == nil || w.length == 0 {
				continue
			}
			m.Length = w.length
		}
		for run := range runs + 1 {
			took := w.once(p, op.name)
			if err := ctx.Err(); err != nil {
				return err
			}
			if run > 0 {
				m.Wall = append(m.Wall, took)
			}
		}
		if err := w.check(op.name); err != nil {
			return err
		}
		for _, name := range op.ours {
			if i := w.ours(name); i >= 0 {
				ours := w.report.Measurements[i]
				m.Beside(ours.Structure+" "+name, ours.Time())
			}
		}
		w.report.Measurements = append(w.report.Measurements, m)
	}
	return nil
}

// once does an operation with a peer, for all keys.
func (w *peerWork) once(p peer, op string) time.Duration {
	part := func(first, end int) { p.insert(w.keys[first:end], w.values[first:end]) }
	switch op {
	case "insert":
		p.reset(w.n)
	case "find":
		part = func(first, end int) { p.find(w.queries[first:end], w.answers[first:end]) }
	case "range":
		part = func(first, end int) {
			for i := first; i < end; i++ {
				p.rangeQuery(w.queries[i], w.high(i), func(value uint32) { w.answers[i] ^= value })
			}
		}
	}
	clear(w.answers)
	parts := runtime.GOMAXPROCS(0)
	if p.alone {
		parts = 1
	}
	runtime.GC()
	var wait sync.WaitGroup
	start := time.Now()
	for i := range parts {
		wait.Go(func() { part(i*w.n/parts, (i+1)*w.n/parts) })
	}
	wait.Wait()
	return time.Since(start)
}

// high returns the end of range i.
func (w *peerWork) high(i int) uint32 {
	return uint32(min(uint64(w.queries[i])+w.reach-1, 1<<32-1))
}

// check checks the answers of the last operation. The answer for a range is the exclusive or of its values.
func (w *peerWork) check(op string) error {
	if op == "insert" {
		return nil // the searches check it
	}
	sorted := slices.Sorted(slices.Values(w.keys))
	upTo := make([]uint32, w.n+1)
	for i, key := range sorted {
		upTo[i+1] = upTo[i] ^ w.valueOf[key]
	}
	for i, query := range w.queries {
		want := w.valueOf[query]
		if op == "range" {
			from, _ := slices.BinarySearch(sorted, query)
			to, there := slices.BinarySearch(sorted, w.high(i))
			if there {
				to++
			}
			want = upTo[from] ^ upTo[to]
		}
		if w.answers[i] != want {
			return &bench.WrongError{Op: op, Reason: fmt.Sprintf("query %d: %d instead of %d", i, w.answers[i], want)}
		}
	}
	return nil
}
