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

// mapEndToEnd measures updates and lookups of a map with Go slices.
func mapEndToEnd[W structures.Word](s *session) {
	s.empty()
	insertion := insertCall(s, slicesOf[W](s.n, s.keys.key))
	insertion.prepare = s.empty
	besideCopies(s, insertion)
	s.holdsAll(s.n)
	s.hold(s.n)
	besideCopies(s, findCall[W](s, s.query))
}

// treeEndToEnd measures the insertion of a batch and the search with Go slices. The insertion's Form is the path that
// the tree chose.
func treeEndToEnd[W structures.Word](s *session) {
	t, q := s.tree(), newSequence(s.space, s.keys.order, s.n+s.batch)
	batched := func() uint64 { return must(t.Inspect().Stats(s.ctx)).Batches.Batched }
	before := new(uint64)
	insertion := insertCall(s, slicesOf[W](s.batch, func(i int) uint32 { return q.key(s.n + i) }))
	insertion.batch = s.batch
	insertion.prepare = func() {
		s.holdOf(q, s.n)
		*before = batched()
	}
	m := besideCopies(s, insertion)
	m.Form = btree.Concurrent.String()
	if batched() > *before {
		m.Form = btree.Batched.String()
	}
	s.sound(s.n + s.batch)
	besideCopies(s, findCall[W](s, func(i int) uint32 { return q.key(s.order.at(i)) }))
}

// slicesOf returns n elements by their indices.
func slicesOf[W structures.Word](n int, of func(i int) uint32) []W {
	all := make([]W, n)
	fill(all, func(i int) W { return elementOf[W](of(i)) })
	return all
}

// valuesOf returns the values of keys.
func valuesOf[W structures.Word](s *session, keys []W) []W {
	return slicesOf[W](len(keys), func(i int) uint32 { return s.space.value(upperOf(keys[i])) })
}

// slicesCall is a call that writes its results to the caller's slices.
type slicesCall struct {
	name          string
	batch         int // number of operations; 0: n
	prepare, call func()
	check         func() // checks the last call's results
	in, out       [][]byte
}

// besideCopies measures a call with slices, and for comparison how long it takes to copy the same bytes to the device
// and back (copies). It returns the call's measurement in the report.
func besideCopies(s *session, x slicesCall) *Measurement {
	c := &copies{session: s}
	defer c.close()
	base := s.measurement(s.n, s.n)
	if x.batch != 0 {
		base.Operations, base.Batch = x.batch, x.batch
	}
	for _, b := range slices.Concat(x.out, x.in) {
		base.Bytes += uint64(len(b))
	}
	alone := base
	alone.Op = "copies-" + x.name + "-kept-slices"
	alone = s.calls(alone, func() {}, func() { c.run(base.Operations, x.in, x.out) }, nil, "")
	base.Op = "end-to-end-" + x.name + "-kept-slices"
	m := s.calls(base, x.prepare, x.call, nil, "")
	x.check()
	m.beside("time of "+alone.Op, alone.Time())
	s.add(m)
	s.add(alone)
	return &s.report.Measurements[len(s.report.Measurements)-2]
}

// insertCall inserts new keys.
func insertCall[W structures.Word](s *session, keys []W) slicesCall {
	values, status := valuesOf(s, keys), make([]structures.Status, len(keys))
	table := s.structure().(interface {
		UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W, status []structures.Status) error
	})
	return slicesCall{
		name: "insert", in: [][]byte{bytesOf(keys), bytesOf(values)}, out: [][]byte{bytesOf(status)},
		call: func() {
			s.there = -1
			ok(table.UpdateInto(s.ctx, structures.Insert, keys, values, status))
		},
		check: func() {
			each(len(status), func(i int) {
				if status[i] != structures.Inserted {
					s.fail("operation %d: %v", i, status[i])
				}
			})
		},
	}
}

// findCall looks up n present keys.
func findCall[W structures.Word](s *session, query func(i int) uint32) slicesCall {
	queries := slicesOf[W](s.n, query)
	want, values, found := valuesOf(s, queries), make([]W, s.n), make([]bool, s.n)
	table := s.structure().(interface {
		FindInto(ctx context.Context, keys, values []W, found []bool) error
	})
	return slicesCall{
		name: "find", in: [][]byte{bytesOf(queries)}, out: [][]byte{bytesOf(values), bytesOf(found)},
		prepare: func() {}, call: func() { ok(table.FindInto(s.ctx, queries, values, found)) },
		check: func() {
			each(s.n, func(i int) {
				if !found[i] || values[i] != want[i] {
					s.fail("query %d: %d, %t", i, values[i], found[i])
				}
			})
		},
	}
}

// copies copies bytes to a device and back, which every call with slices must do. Like these calls, it has three chunks
// in flight, each with its own staging memory.
type copies struct {
	*session
	slots [3]copySlot
}

type copySlot struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte] // nil if the device's memory is the host's, so nothing is copied
	out    func()           // copies results to the caller's slices
}

// run copies the bytes of n operations to the device, and of their results back.
func (c *copies) run(n int, in, out [][]byte) {
	chunk := 1 << 21 // operations of a chunk
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

// begin submits the copies of a chunk.
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

// bytesOf returns the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
