package recording

import (
	"sync/atomic"

	"github.com/vkds/vkds/vk"
)

// Fate is what becomes of a batch in which something was recorded that the host has noted already. Whoever has noted it
// asks, and takes it back if the batch was dropped.
type Fate struct{ certain, dropped atomic.Bool }

// FateOf returns the fate of the batch that a stream is recording.
func FateOf(s *vk.Stream) *Fate {
	f := &Fate{}
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		f.dropped.Store(!submitted)
		f.certain.Store(true)
	})
	return f
}

// Certain says whether it is known by now, and then Dropped which one it is.
func (f *Fate) Certain() bool { return f.certain.Load() }

// Dropped says that the batch will not run.
func (f *Fate) Dropped() bool { return f.dropped.Load() }
