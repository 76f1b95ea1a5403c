package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"time"
)

// Peer is a dictionary of Go programs, to be measured on the keys that a dictionary of ours was measured on.
type Peer struct {
	Name   string
	Alone  bool                                         // it is for one goroutine at a time
	Reset  func(n int)                                  // makes it an empty one, for n pairs
	Insert func(keys, values []uint32)                  // of pairs whose keys it doesn't have
	Find   func(keys, values []uint32)                  // values of keys that it has, out
	Range  func(lo, hi uint32, each func(value uint32)) // calls each for the keys from lo to hi; nil: it has no order
}

// peerOps are the operations of peers, and those of ours that do the same.
var peerOps = []struct {
	name string
	ours []string
}{
	{"insert", []string{"build", "insert", "end-to-end-insert"}},
	{"find", []string{"find-all", "find-exist", "find-beside", "end-to-end-find"}},
	{"range", []string{"range"}},
}

// MeasureBeside measures peers on the same random keys as the report's dictionary, by as many goroutines as there are
// processors, and appends what came out: with the time of each operation / that of ours, at the first setting that ours
// was measured at. runs of each are measured, behind one that isn't. Errors: *WrongError, the context's.
func (r *Report) MeasureBeside(ctx context.Context, peers []Peer, runs int) error {
	var sizes []int
	for _, m := range r.Measurements {
		if m.comparable(m.N) && !slices.Contains(sizes, m.N) {
			sizes = append(sizes, m.N)
		}
	}
	for _, n := range sizes {
		w := newPeerWork(r, n)
		for _, p := range peers {
			if err := w.measure(ctx, p, runs); err != nil {
				return fmt.Errorf("%s, n = %d: %w", p.Name, n, err)
			}
		}
	}
	return nil
}

// comparable says whether a measurement is of n operations on n random keys.
func (m Measurement) comparable(n int) bool { return m.N == n && m.Operations == n && m.Order == "" }

// beside returns the first measurement of an operation on n random keys, and whether there is one.
func (r *Report) beside(op string, n int) (Measurement, bool) {
	i := slices.IndexFunc(r.Measurements, func(m Measurement) bool { return m.Op == op && m.comparable(n) })
	if i < 0 {
		return Measurement{}, false
	}
	return r.Measurements[i], true
}

// peerWork is what peers are given to do.
type peerWork struct {
	report                         *Report
	n                              int
	keys, values, queries, answers []uint32
	length                         int    // pairs expected in a range; 0: ours was not asked for ranges
	reach                          uint64 // keys of a range
}

func newPeerWork(r *Report, n int) *peerWork {
	w := &peerWork{report: r, n: n, keys: make([]uint32, n), values: make([]uint32, n), queries: make([]uint32, n),
		answers: make([]uint32, n)}
	space, order := keySpace{r.Environment.Seed}, queryOrder(n, r.Environment.Seed)
	fill(w.keys, space.key)
	fill(w.values, func(i int) uint32 { return space.value(w.keys[i]) })
	fill(w.queries, func(i int) uint32 { return w.keys[order.at(i)] })
	if ours, there := r.beside("range", n); there {
		w.length, w.reach = ours.Length, uint64(ours.Length)<<32/uint64(n)
	}
	return w
}

func (w *peerWork) measure(ctx context.Context, p Peer, runs int) error {
	for _, op := range peerOps {
		if op.name == "range" && (p.Range == nil || w.length == 0) {
			continue
		}
		m := Measurement{Structure: p.Name, Op: op.name, N: w.n, Operations: w.n}
		if op.name == "range" {
			m.Length = w.length
		}
		for run := range runs + 1 {
			took, err := w.once(ctx, p, op.name)
			if err != nil {
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
			if ours, there := w.report.beside(name, w.n); there {
				m.Ratios = append(m.Ratios, Ratio{"time of " + ours.Structure + " " + name,
					over(m.time(), ours.time())})
			}
		}
		w.report.Measurements = append(w.report.Measurements, m)
	}
	return nil
}

// once has a peer do an operation for all keys.
func (w *peerWork) once(ctx context.Context, p Peer, op string) (time.Duration, error) {
	part := func(first, end int) error { p.Insert(w.keys[first:end], w.values[first:end]); return nil }
	switch op {
	case "insert":
		p.Reset(w.n)
	case "find":
		part = func(first, end int) error { p.Find(w.queries[first:end], w.answers[first:end]); return nil }
	case "range":
		part = func(first, end int) error {
			for i := first; i < end; i++ {
				p.Range(w.queries[i], w.high(i), func(value uint32) { w.answers[i] ^= value })
			}
			return nil
		}
	}
	clear(w.answers)
	runtime.GC()
	start := time.Now()
	if p.Alone {
		part(0, w.n)
	} else {
		parallel(w.n, part)
	}
	return time.Since(start), ctx.Err()
}

// high is where range i ends.
func (w *peerWork) high(i int) uint32 {
	return uint32(min(uint64(w.queries[i])+w.reach-1, 1<<32-1))
}

// check looks at the answers to the last operation. Of a range it is all values' exclusive or.
func (w *peerWork) check(op string) error {
	space := keySpace{w.report.Environment.Seed}
	want := func(i int) uint32 { return space.value(w.queries[i]) }
	switch op {
	case "insert":
		return nil // the searches show it
	case "range":
		sorted := ascending(w.keys)
		upTo := make([]uint32, w.n+1)
		for i, key := range sorted {
			upTo[i+1] = upTo[i] ^ space.value(key)
		}
		want = func(i int) uint32 {
			from, _ := slices.BinarySearch(sorted, w.queries[i])
			to := sort.Search(w.n, func(at int) bool { return sorted[at] > w.high(i) })
			return upTo[from] ^ upTo[to]
		}
	}
	return each(w.n, func(i int) error {
		if want := want(i); w.answers[i] != want {
			return &WrongError{op, fmt.Sprintf("query %d: %d instead of %d", i, w.answers[i], want)}
		}
		return nil
	})
}
