package vk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/vkds/vkds/shaders"
)

// Tracing has kernels write what they do to a buffer, as events: shaders/include/trace.glsl describes them.
// Package shaders/traced has the kernels.
type Tracing struct {
	Events int // the events that the buffer has room for, each 32 bytes; 0: none are written
	// Module returns the module with events that stands for the one of that name, if there is one.
	Module func(name string) (shaders.Module, bool)
}

const (
	traceHeader = 16      // words before the events
	eventWords  = 8       // words of an event
	mostEvents  = 1 << 27 // 4 GiB
)

func (t Tracing) check() error {
	switch {
	case t.Events < 0 || t.Events > mostEvents:
		return &OptionError{"Trace.Events", fmt.Sprintf("%d is not between 0 and %d", t.Events, mostEvents)}
	case t.Events != 0 && t.Module == nil:
		return &OptionError{"Trace.Module", "it is nil"}
	}
	return nil
}

// tracer is a Device's buffer for events. A nil tracer has none.
type tracer struct {
	Tracing
	words *Buffer[uint32]

	mu      sync.Mutex
	kernels []string // their names, by their numbers in events
}

func newTracer(d *Device, o Tracing) (*tracer, error) {
	if o.Events == 0 {
		return nil, nil
	}
	words, err := NewBuffer[uint32](d, traceHeader+eventWords*o.Events)
	if err != nil {
		return nil, err
	}
	if err := words.Upload(context.Background(), 0, make([]uint32, traceHeader)); err != nil {
		return nil, err
	}
	return &tracer{Tracing: o, words: words}, nil
}

// instead returns the module with events that stands for m, and the constants of m and of the events. If there is none,
// it returns m.
func (t *tracer) instead(m shaders.Module, constants map[string]uint32) (shaders.Module, map[string]uint32) {
	if t == nil {
		return m, constants
	}
	traced, is := t.Module(m.Name)
	if !is {
		return m, constants
	}
	constants = maps.Clone(constants)
	if constants == nil {
		constants = map[string]uint32{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	number := slices.Index(t.kernels, m.Name)
	if number < 0 {
		number = len(t.kernels)
		t.kernels = append(t.kernels, m.Name)
	}
	address := t.words.Address()
	constants["TRACE_LOW"], constants["TRACE_HIGH"] = uint32(address), uint32(address>>32)
	constants["TRACE_EVENTS"], constants["TRACE_KERNEL"] = uint32(t.Events), uint32(number)
	return traced, constants
}

// Traced is what kernels have written since the last call of Device.Traced.
type Traced struct {
	Words   []uint32 // the events, in the order in which they were numbered, 8 words each (shaders/include/trace.glsl)
	Dropped uint64   // the number of events for which there was no room
	Kernels []string // the names of the kernels by their numbers, of all since the Device was opened
}

// Traced returns the events of Options.Trace, and makes room for the next ones. While kernels run that write events,
// some may be missing or incomplete. It is safe for many goroutines. Errors: *OptionError if Options.Trace has no
// Events; the context's.
func (d *Device) Traced(ctx context.Context) (Traced, error) {
	if !d.made() {
		return Traced{}, ErrNotOpen
	}
	t := d.tracer
	if t == nil {
		return Traced{}, &OptionError{"Trace.Events", "it is 0, so there are no events"}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var count [1]uint32
	if err := t.words.Download(ctx, 0, count[:]); err != nil {
		return Traced{}, err
	}
	events := min(int(count[0]), t.Events)
	all := Traced{Words: make([]uint32, eventWords*events), Dropped: uint64(count[0]) - uint64(events),
		Kernels: slices.Clone(t.kernels)}
	if err := t.words.Download(ctx, traceHeader, all.Words); err != nil {
		return Traced{}, err
	}
	return all, t.words.Upload(ctx, 0, []uint32{0})
}
