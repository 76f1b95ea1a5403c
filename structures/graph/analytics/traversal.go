package analytics

import (
	"slices"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// traversal is a run of shaders/analytics/traversal.glsl.
type traversal struct {
	w       *workspace
	kernel  string                     // its modules are kernel.small and kernel.large, by the form of rows
	own     []recording.Specialization // of both modules
	push    traversalPush
	control *vk.Buffer[uint32]
	device  time.Duration
	rounds  uint32
	words   []uint32 // of the control block at the end
}

type traversalPush struct {
	Graph                                           rowsPush
	Control, Queues, Values, Marks, Extra           uint64
	Capacity, SmallEntries, SmallLanes, Rounds, Own uint32
	More                                            uint32
	Part                                            dispatched
}

// The words of the control block.
const (
	controlRound  = 0
	controlGroups = 6
	controlDone   = 9
	controlOwn    = 12
	controlWords  = 32
)

const (
	largeGroup = 128 // invocations of a workgroup in a large round,
	largeStage = 32  // and the entries of the queue that it takes
	// frontierBatch is BATCH of modules without a variant of rolled loops: the vertices that an invocation looks at.
	frontierBatch = 4
	// frontierPart is FRONTIER_PART: queues have room for every vertex and for every further part of a long row.
	frontierPart = 1024
)

// newTraversal allocates the memory of a traversal: values have a word for each vertex, marks and extra that many
// words.
func (w *workspace) newTraversal(kernel string, marks, extra int) (*traversal, error) {
	t := &traversal{w: w, kernel: kernel, device: w.looked}
	capacity := max(w.vertices, w.parts) + 1
	var queues, values, mark, more *vk.Buffer[uint32]
	if err := w.rooms(room{"control", controlWords, &t.control}, room{"queues", 4 * capacity, &queues},
		room{"values", w.vertices, &values}, room{"marks", marks, &mark}, room{"extra", extra, &more}); err != nil {
		return nil, err
	}
	t.push = traversalPush{Graph: w.push, Control: t.control.Address(), Queues: queues.Address(),
		Values: values.Address(), Marks: mark.Address(), Capacity: uint32(capacity),
		SmallEntries: uint32(w.group), SmallLanes: uint32(16 * w.group), Rounds: 256,
		Part: dispatched{0, uint32(w.dispatches())}}
	if extra > 0 {
		t.push.Extra = more.Address()
	}
	return t, nil
}

// begin records the begin of a traversal from one vertex. bit: marks are bitmaps. own is a word of the control block.
func (t *traversal) begin(source uint32, marks int, bit, extra bool, own uint32) error {
	push := t.push
	push.SmallEntries, push.SmallLanes, push.More = source, uint32(marks), own
	push.Own = 0
	if bit {
		push.Own = 1
	}
	if !extra {
		push.Extra = 0
	}
	return dispatch(t.w, t.w.beginKernel(), groups(max(t.w.vertices, marks, controlWords), largeGroup), push)
}

// The numbers of pairs of kernels that are recorded at a time. Large rounds seldom follow each other for long, and one
// kernel does many small rounds.
const (
	firstPairs = 8
	mostPairs  = 64
)

// run records begin and then rounds, until the traversal is done.
func (t *traversal) run(begin func() error) error {
	var control []uint32
	for pairs := t.w.passes(firstPairs); ; pairs = min(2*pairs, t.w.passes(mostPairs)) {
		last := control
		took, err := t.w.do(func() error {
			if begin != nil {
				if err := begin(); err != nil {
					return err
				}
			}
			return t.record(pairs)
		})
		if err != nil {
			return err
		}
		begin = nil
		t.device += took
		if control, err = t.w.download(t.control, controlWords); err != nil {
			return err
		}
		t.rounds = control[controlRound]
		if control[controlDone] != 0 {
			t.words = control
			return nil
		}
		if slices.Equal(control, last) {
			return ErrStuck
		}
	}
}

// record records that many pairs of kernels: one for small rounds, and one for a large round.
func (t *traversal) record(pairs int) error {
	small, err := t.w.smallKernel(t.kernel, t.own...).Kernel(t.w.kernels, t.w.s)
	if err != nil {
		return err
	}
	large, err := t.w.largeKernel(t.kernel, t.own...).Kernel(t.w.kernels, t.w.s)
	if err != nil {
		return err
	}
	for range pairs {
		small.Dispatch(t.w.s, 1, t.push)
		shareIndirect(t.w, large, t.control, controlGroups, t.w.dispatches(), func(part dispatched) traversalPush {
			push := t.push
			push.Part = part
			return push
		})
	}
	return nil
}
