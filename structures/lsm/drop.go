package lsm

import (
	"sync/atomic"

	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// Updates count from the moment when they are recorded, since what is recorded next has to know what they come to. But
// the stream may still drop its batch. Then nothing of it runs, and all is as it was before the first of them.

// past is what an LSM was.
type past struct {
	state
	live       int
	tombstones bool
	begun      uint32
	front      *runs.Memory // the front; nil: there was none so far
}

// open are the updates of a batch that may still be dropped. The stream says what becomes of it, by whatever goroutine.
type open struct {
	before           past
	certain, dropped atomic.Bool
}

func (l *lsm) past() past { return past{l.state, l.live, l.tombstones, l.begun, l.fronts[0]} }

// restore makes the LSM what it was. Memory that was made since stays, as memory that nothing is in.
func (l *lsm) restore(p past) {
	l.state, l.live, l.tombstones, l.begun = p.state, p.live, p.tombstones, p.begun
	if p.front != nil && p.front != l.fronts[0] {
		l.fronts[0], l.fronts[1] = l.fronts[1], l.fronts[0]
	}
}

// note keeps what the LSM was before an update that was recorded, unless an earlier one of the same batch has.
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

// settle takes back what was recorded into a batch that was dropped.
func (l *lsm) settle() {
	if l.open == nil || !l.open.certain.Load() {
		return
	}
	if l.open.dropped.Load() {
		l.restore(l.open.before)
	}
	l.open = nil
}
