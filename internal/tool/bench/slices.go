package bench

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// mapEndToEnd measures updates and lookups of a map from Go slices to Go slices.
func mapEndToEnd[W structures.Word](s *session) {
	s.empty()
	keys := slicesOf[W](s.n, s.keys.key)
	besideCopies(s, insertCall(s, keys, s.empty, func() { s.holdsAll(s.n) }))
	besideCopies(s, findCall[W](s, s.query, func() { s.hold(s.n) }))
}

// treeEndToEnd measures insertion of a batch and search from Go slices to Go slices. The insertion tells the path that
// the tree chose.
func treeEndToEnd[W structures.Word](s *session) {
	t, q := s.tree(), newSequence(s.space, s.keys.order, s.n+s.batch)
	x := insertCall(s, slicesOf[W](s.batch, func(i int) uint32 { return q.key(s.n + i) }),
		func() { s.holdOf(q, s.n) }, func() { s.sound(s.n + s.batch) })
	x.batch, x.path = s.batch, func() uint64 { return must(t.Inspect().Stats(s.ctx)).Batches.Batched }
	besideCopies(s, x)
	s.there = -1
	besideCopies(s, findCall[W](s, func(i int) uint32 { return q.key(s.order.at(i)) }, func() {}))
}

// sliced is what a structure does with Go's slices.
type sliced[W structures.Word] interface {
	Insert(ctx context.Context, keys, values []W) ([]structures.Status, error)
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W, status []structures.Status) error
	Find(ctx context.Context, keys []W) (values []W, found []bool, err error)
	FindInto(ctx context.Context, keys, values []W, found []bool) error
}

func slicedOf[W structures.Word](s *session) sliced[W] { return s.structure().(sliced[W]) }

// slicesOf are elements by their indices.
func slicesOf[W structures.Word](n int, of func(i int) uint32) []W {
	all := make([]W, n)
	fill(all, func(i int) W { return elementOf[W](of(i)) })
	return all
}

// valuesOf are the values that belong to keys.
func valuesOf[W structures.Word](s *session, keys []W) []W {
	return slicesOf[W](len(keys), func(i int) uint32 { return s.space.value(upperOf(keys[i])) })
}

// slicesCall is a call with slices, and what its bytes are.
type slicesCall struct {
	name        string
	batch       int // operations of it; 0: n
	prepare     func()
	fresh, kept func()        // with results that the call makes, and into slices that are there
	check       func()        // what the last call has given
	path        func() uint64 // how many batches went the batched path so far; nil: there is none
	in          [][]byte
	out         func() [][]byte // slices as those that the call makes
}

// besideCopies measures a call with slices, and beside it what the same bytes cost that go to a device that does
// nothing, and back (copies): into result slices made by the call, as Insert and Find make theirs (the operating system
// then hands out the pages one by one), and into slices that are there.
func besideCopies(s *session, x slicesCall) {
	c := &copies{session: s}
	defer c.close()
	kept := x.out()
	base := s.measurement(s.n, s.n)
	if x.batch != 0 {
		base.Operations, base.Batch = x.batch, x.batch
	}
	for _, b := range slices.Concat(kept, x.in) {
		base.Bytes += uint64(len(b))
	}
	of := func(op string, prepare, call func()) Measurement {
		m := base
		m.Op = op + x.name
		return s.calls(m, prepare, call, nil, "")
	}
	called := func(prepare, call func(), copies Measurement) Measurement {
		before := uint64(0)
		m := of("end-to-end-", func() {
			prepare()
			if x.path != nil {
				before = x.path()
			}
		}, call)
		x.check()
		if x.path != nil {
			m.Form = btree.Concurrent.String()
			if x.path() > before {
				m.Form = btree.Batched.String()
			}
		}
		m.beside("time of "+copies.Op, copies.Time())
		return m
	}
	nothing := func() {}
	copiesFresh := of("copies-", nothing, func() { c.run(base.Operations, x.in, x.out()) })
	fresh := called(x.prepare, x.fresh, copiesFresh)
	x.name += "-kept-slices"
	copiesKept := of("copies-", nothing, func() { c.run(base.Operations, x.in, kept) })
	there := called(x.prepare, x.kept, copiesKept)
	s.report.Measurements = append(s.report.Measurements, fresh, there, copiesFresh, copiesKept)
}

// insertCall is the insertion of new keys.
func insertCall[W structures.Word](s *session, keys []W, prepare, check func()) slicesCall {
	values := valuesOf(s, keys)
	status := new([]structures.Status) // of the last call
	kept := make([]structures.Status, len(keys))
	return slicesCall{
		name: "insert", prepare: prepare, in: [][]byte{bytesOf(keys), bytesOf(values)},
		out: func() [][]byte { return [][]byte{make([]byte, len(keys))} },
		fresh: func() {
			s.there = -1
			*status = must(slicedOf[W](s).Insert(s.ctx, keys, values))
		},
		kept: func() {
			s.there, *status = -1, kept
			ok(slicedOf[W](s).UpdateInto(s.ctx, structures.Insert, keys, values, kept))
		},
		check: func() {
			s.allInserted(*status)
			check()
		},
	}
}

// allInserted checks that all operations have inserted.
func (s *session) allInserted(status []structures.Status) {
	ok(each(len(status), func(i int) error {
		if status[i] != structures.Inserted {
			return s.wrong("operation %d: %v", i, status[i])
		}
		return nil
	}))
}

// findCall is the lookup of n keys that are there.
func findCall[W structures.Word](s *session, query func(i int) uint32, prepare func()) slicesCall {
	queries := slicesOf[W](s.n, query)
	want := valuesOf(s, queries)
	last := &struct {
		values []W
		found  []bool
	}{}
	keptValues, keptFound := make([]W, s.n), make([]bool, s.n)
	return slicesCall{
		name: "find", prepare: prepare, in: [][]byte{bytesOf(queries)},
		out: func() [][]byte { return [][]byte{bytesOf(make([]W, s.n)), make([]byte, s.n)} },
		fresh: func() {
			var err error
			last.values, last.found, err = slicedOf[W](s).Find(s.ctx, queries)
			ok(err)
		},
		kept: func() {
			last.values, last.found = keptValues, keptFound
			ok(slicedOf[W](s).FindInto(s.ctx, queries, keptValues, keptFound))
		},
		check: func() {
			ok(each(s.n, func(i int) error {
				if !last.found[i] || last.values[i] != want[i] {
					return s.wrong("query %d: %d, %t", i, last.values[i], last.found[i])
				}
				return nil
			}))
		},
	}
}

// insertSlices measures insertions of a batch from Go slices into a map, whose keys are new, or all there, or of which
// a tenth comes twice in the batch.
func insertSlices[W structures.Word](s *session) {
	fresh := func(i int) uint32 { return s.keys.key(s.n - s.batch + i) }
	never, always := func(int) bool { return false }, func(int) bool { return true }
	tenth := func(i int) bool { return i%10 == 9 }
	for _, x := range []struct {
		name     string
		pairs    int // that are there before
		key      func(i int) uint32
		assigned func(i int) bool // what operation i does; else it inserts
		lacks    func(i int) bool // whether the key of the last batch's pair i is not there afterwards
	}{
		{"new", s.n - s.batch, fresh, never, never},
		{"there", s.n, s.keys.key, always, never},
		{"tenth-twice", s.n - s.batch, func(i int) uint32 { return fresh(i - i%10/9) }, tenth, tenth},
	} {
		keys, status := slicesOf[W](s.batch, x.key), make([]structures.Status, s.batch)
		values := valuesOf(s, keys)
		m := s.measurement(s.n, s.batch)
		m.Op, m.Batch = s.op.Name+"-"+x.name, s.batch
		m = s.calls(m, func() {
			s.hold(x.pairs)
			if x.pairs != s.n {
				s.there = -1
			}
		}, func() { ok(slicedOf[W](s).UpdateInto(s.ctx, structures.Insert, keys, values, status)) }, nil, "")
		s.checkInserted(status, x.assigned, x.lacks)
		s.add(m)
	}
}

// checkInserted looks at what became of a batch, which has made the map one of the n pairs but for those that it lacks.
func (s *session) checkInserted(status []structures.Status, assigned, lacks func(i int) bool) {
	there := s.n
	for i, got := range status {
		if want := assigned(i); got != structures.Assigned && want || got != structures.Inserted && !want {
			ok(s.wrong("operation %d: %v", i, got))
		}
		if lacks(i) {
			there--
		}
	}
	s.sound(there)
	s.finds(func(i int) (uint32, bool) {
		at := s.order.at(i) - (s.n - s.batch)
		return s.space.value(s.query(i)), at < 0 || !lacks(at)
	})
}

// copies carries bytes to a device and back, and has nothing done to them: what calls with slices can't do without. As
// these do, it has three chunks in flight, each with staging memory of its own, which it keeps.
type copies struct {
	*session
	slots [3]copySlot
}

type copySlot struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte] // nil if the device's memory is the host's: then there is nothing to copy beside
	out    func()           // copies what has come back to its slices
}

// run carries what n operations bring and what they result in.
func (c *copies) run(n int, in, out [][]byte) {
	chunk := 1 << 21 // operations that go at once
	if c.d.Info().Type == vk.CPU {
		chunk = 1 << 17
	}
	for turn, first := 0, 0; first < n; turn, first = turn+1, first+chunk {
		s := &c.slots[turn%len(c.slots)]
		s.end(c.ctx)
		count := min(chunk, n-first)
		part := func(b []byte) []byte { return b[len(b)/n*first : len(b)/n*(first+count)] }
		c.begin(s, part, in, out)
	}
	for i := range c.slots {
		c.slots[i].end(c.ctx)
	}
}

func (s *copySlot) end(ctx context.Context) {
	if s.out != nil {
		ok(s.stream.Wait(ctx))
		s.out()
		s.out = nil
	}
}

// begin sends a chunk on its way.
func (c *copies) begin(s *copySlot, part func([]byte) []byte, in, out [][]byte) {
	up, down := 0, 0
	for _, b := range in {
		up += len(part(b))
	}
	for _, b := range out {
		down += len(part(b))
	}
	c.reserve(s, up+down)
	to := s.host.Slice()
	for _, b := range in {
		threads.Copy(to[:len(part(b))], part(b))
		to = to[len(part(b)):]
	}
	if s.device != nil {
		s.stream.Copy(s.device, 0, s.host, 0, up)
		s.stream.Copy(s.host, up, s.device, up, down)
	}
	s.out = func() {
		from := s.host.Slice()[up:]
		for _, b := range out {
			threads.Copy(part(b), from[:len(part(b))])
			from = from[len(part(b)):]
		}
	}
	must(s.stream.Submit())
}

func (c *copies) reserve(s *copySlot, bytes int) {
	if s.stream == nil {
		s.stream = must(c.d.NewStream())
	}
	if s.host != nil && s.host.Len() >= bytes {
		return
	}
	s.free()
	s.host = must(vk.NewHostBuffer[byte](c.d, bytes))
	if kind := c.d.Info().Type; kind != vk.CPU && kind != vk.Integrated {
		s.device = must(vk.NewBuffer[byte](c.d, bytes))
	}
}

func (s *copySlot) free() {
	if s.host != nil {
		s.host.Free()
	}
	if s.device != nil {
		s.device.Free()
	}
	s.host, s.device = nil, nil
}

func (c *copies) close() {
	var err error
	for i := range c.slots {
		if s := &c.slots[i]; s.stream != nil {
			err = errors.Join(err, s.stream.Close())
			s.free()
		}
	}
	ok(err)
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
