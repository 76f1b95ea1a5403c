package lsm

import (
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/vk"
)

// Updates take effect when they are recorded, because the next recorded work depends on them. But the stream may still
// drop its batch. Then none of the batch runs, and the LSM must be as it was before the batch's first update.

// past is an earlier state of an LSM.
type past struct {
	state
	live       int
	tombstones bool
	begun      uint32
	front      *runs.Memory // nil: there was none so far
}

// open has the updates of a batch that may still be dropped. The stream reports the outcome, from any goroutine.
type open struct {
	before           past
	certain, dropped atomic.Bool
}

func (l *lsm) past() past { return past{l.state, l.live, l.tombstones, l.begun, l.fronts[0]} }

// restore returns the LSM to an earlier state. Memory that was allocated since stays, empty.
func (l *lsm) restore(p past) {
	l.state, l.live, l.tombstones, l.begun = p.state, p.live, p.tombstones, p.begun
	if p.front != nil && p.front != l.fronts[0] {
		l.fronts[0], l.fronts[1] = l.fronts[1], l.fronts[0]
	}
}

// note saves the state before a recorded update, unless an earlier update of the same batch has done so.
func (l *lsm) note(s *vk.Stream, before past) {
	if l.open != nil {
		return
	}
	o := &open{before: before}
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		o.dropped.Store(!submitted)
		o.certain.Store(true)
	})
	l.open = o
}

// settle undoes updates that were recorded into a batch that was dropped.
func (l *lsm) settle() {
	if l.open == nil || !l.open.certain.Load() {
		return
	}
	if l.open.dropped.Load() {
		l.restore(l.open.before)
	}
	l.open = nil
}
