package bench

import (
	"context"
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
	insertion := insertCall(s, dictionaryOf[W](s), slicesOf[W](s.n, s.keys.key))
	insertion.prepare = s.empty
	besideCopies(s, insertion)
	s.holdsAll(s.n)
	s.hold(s.n)
	besideCopies(s, findCall(s, dictionaryOf[W](s), s.query))
}

// treeEndToEnd measures the insertion of a batch and the search with Go slices. The insertion's Form is the path that
// the tree chose.
func treeEndToEnd[W structures.Word](s *session) {
	t, q := s.tree(), newSequence(s.space, s.keys.order, s.n+s.batch)
	batched := func() uint64 { return must(t.Inspect().Stats(s.ctx)).Batches.Batched }
	before := new(uint64)
	insertion := insertCall(s, dictionaryOf[W](s), slicesOf[W](s.batch, func(i int) uint32 { return q.key(s.n + i) }))
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
	besideCopies(s, findCall(s, dictionaryOf[W](s), func(i int) uint32 { return q.key(s.order.at(i)) }))
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
	base := s.measurement(s.n, s.n)
	if x.batch != 0 {
		base.Operations, base.Batch = x.batch, x.batch
	}
	for _, b := range slices.Concat(x.out, x.in) {
		base.Bytes += uint64(len(b))
	}
	alone := base
	alone.Op = "copies-" + x.name + "-kept-slices"
	alone = s.copies(alone, x.in, x.out)
	base.Op = "end-to-end-" + x.name + "-kept-slices"
	m := s.calls(base, x.prepare, x.call, nil, "")
	x.check()
	m.Beside(alone.Op, alone.Time())
	s.add(m)
	s.add(alone)
	return &s.report.Measurements[len(s.report.Measurements)-2]
}

// dictionaryOf is the session's dictionary, as its package defines it.
func dictionaryOf[W structures.Word](s *session) structures.Dictionary[W, W] {
	return s.structure().(structures.Dictionary[W, W])
}

// insertCall inserts new keys.
func insertCall[W structures.Word](s *session, table structures.Dictionary[W, W], keys []W) slicesCall {
	values, status := valuesOf(s, keys), make([]structures.Status, len(keys))
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
func findCall[W structures.Word](s *session, table structures.Dictionary[W, W],
	query func(i int) uint32) slicesCall {
	queries := slicesOf[W](s.n, query)
	want, values, found := valuesOf(s, queries), make([]W, s.n), make([]bool, s.n)
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

// copySlot carries the bytes of some operations to the device, and those of their results back.
type copySlot struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte] // nil if the device's memory is the host's, so nothing is copied
	back   []byte           // results, in host
	out    [][]byte         // to which they are copied at the end
}

func (s *copySlot) begin(in, out [][]byte) {
	up, down, to := 0, 0, s.host.Slice()
	for _, b := range in {
		threads.Copy(to[up:], b)
		up += len(b)
	}
	for _, b := range out {
		down += len(b)
	}
	if s.device != nil {
		s.stream.Copy(s.device, 0, s.host, 0, up)
		s.stream.Copy(s.host, up, s.device, up, down)
	}
	s.back, s.out = to[up:up+down], out
	must(s.stream.Submit())
}

func (s *copySlot) end(ctx context.Context) {
	ok(s.stream.Wait(ctx))
	for _, b := range s.out {
		threads.Copy(b, s.back)
		s.back = s.back[len(b):]
	}
	s.out = nil
}

func (s *copySlot) close() {
	s.stream.Close()
	s.host.Free()
	s.device.Free()
}

// copies measures the copies of the bytes of n operations to the device, and of their results back, which every call
// with slices must do. Like these calls, it has three chunks in flight, each with its own staging memory.
func (s *session) copies(m Measurement, in, out [][]byte) Measurement {
	n, chunk := m.Operations, 1<<21 // operations of a chunk
	kind := s.d.Info().Type
	if kind == vk.CPU {
		chunk = 1 << 17
	}
	parts := func(all [][]byte, first, count int) (some [][]byte) {
		for _, b := range all {
			some = append(some, b[len(b)/n*first:len(b)/n*(first+count)])
		}
		return some
	}
	var slots [3]copySlot
	for i := range slots {
		x, bytes := &slots[i], int(m.Bytes)/n*min(chunk, n)
		defer x.close()
		x.stream, x.host = must(s.d.NewStream()), must(vk.NewHostBuffer[byte](s.d, bytes))
		if kind != vk.CPU && kind != vk.Integrated {
			x.device = must(vk.NewBuffer[byte](s.d, bytes))
		}
	}
	return s.calls(m, func() {}, func() {
		for i, p := range chunks(n, chunk) {
			x := &slots[i%len(slots)]
			x.end(s.ctx)
			x.begin(parts(in, p.first, p.count), parts(out, p.first, p.count))
		}
		for i := range slots {
			slots[i].end(s.ctx)
		}
	}, nil, "")
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
