package analytics

import (
	"cmp"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// The values of own for live_orient.comp.
const (
	orientGather = 0
	orientCount  = 1
	orientFill   = 2
)

type triangleEdgesPush struct {
	Rows          rowsPush
	ArcsAt, Count uint64
	Graph         graph.Description
	Part          dispatched
}

// edgeTriangles counts the triangles of a live graph.
type edgeTriangles struct {
	t                                *traversal
	offsets, targets, count, scratch *vk.Buffer[uint32]
}

func (w *workspace) trianglesByEdges(r *TrianglesResult) error {
	t, err := w.newTraversal("", w.vertices, 0)
	if err != nil {
		return err
	}
	e := edgeTriangles{t: t}
	if err := w.rooms(room{"oriented offsets", w.vertices + 1, &e.offsets},
		room{"oriented targets", w.arcs/2 + 1, &e.targets}, room{"counts", 2, &e.count},
		room{"scratch", w.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: w.vertices}}) / 4,
			&e.scratch}); err != nil {
		return err
	}
	took, err := w.do(func() error { return cmp.Or(e.orient(), e.countTriangles()) })
	if err != nil {
		return err
	}
	words, err := w.download(e.count, 2)
	r.Count, r.Elapsed = number(words, 0), w.looked+took
	return err
}

// orient records the copy of one arc of each edge into rows. It gathers all vertices in the queue of a large round,
// which passes over all arcs twice: to count them, and to put them in their places.
func (e *edgeTriangles) orient() error {
	w, marks := e.t.w, e.t.push.Marks
	k, err := w.liveOrientKernel().Kernel(w.kernels, w.s)
	if err != nil {
		return err
	}
	push := e.t.push
	push.Values, push.More = e.targets.Address(), uint32(w.arcs/2)
	round := func(own uint32) {
		all := groups(w.parts, largeStage)
		share(w, k, all, w.dispatches(), func(part dispatched) traversalPush {
			push.Own, push.Part = own, part
			return push
		})
	}
	if err := cmp.Or(recording.Clear(w.kernels, w.s, e.t.control.Address(), controlWords),
		recording.Clear(w.kernels, w.s, marks, w.vertices)); err != nil {
		return err
	}
	push.Own = orientGather
	k.Dispatch(w.s, groups(w.vertices, frontierBatch*largeGroup), push)
	round(orientCount)
	if err := w.bulk.Scan(w.s, primitives.ScanArgs{In: marks, Out: e.offsets.Address(),
		Length: primitives.Length{N: w.vertices}, Total: e.offsets.AddressOf(w.vertices),
		Scratch: e.scratch.Address()}); err != nil {
		return err
	}
	w.s.Copy(w.buffers["marks"], 0, e.offsets, 0, w.vertices)
	round(orientFill)
	return nil
}

func (e *edgeTriangles) countTriangles() error {
	w := e.t.w
	if err := recording.Clear(w.kernels, w.s, e.count.Address(), 2); err != nil {
		return err
	}
	rows := rowsPush{[3]uint64{e.offsets.Address(), e.targets.Address(), 0}, uint32(w.vertices), uint32(w.arcs / 2)}
	all := groups(w.arcs/2, triangleGroup)
	parts := groups(all, dispatchGroups)
	return inDispatches(w, w.trianglesEdgesKernel(), all, parts, func(part dispatched) triangleEdgesPush {
		return triangleEdgesPush{rows, e.offsets.AddressOf(w.vertices), e.count.Address(), w.device, part}
	})
}
