package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/vkds/vkds/vk"
)

// workload is what all settings of one n share: the device's buffers of keys and results, and the way to time work
// and to check it. Buffers are made when first asked for, and kept.
type workload struct {
	d      *vk.Device
	o      Common
	n      int
	space  keySpace
	order  order // of queries: other than that of the insertions
	stream *vk.Stream

	carry   []uint32 // words of the host on their way up or down; made when first wanted
	scratch []uint32 // n of the host, for what came down
	second  []uint32 // as many more, where a check needs them; nil until then
	bytes   []uint8

	buffers map[string]*vk.Buffer[uint32]
	kinds   *vk.Buffer[uint8]
	status  *vk.Buffer[uint8]
	left    *vk.Buffer[uint32]
	heater  *heater // nil until a task needs it

	patience time.Duration // for how long work is tried again of which operations were given up
}

func newWorkload(d *vk.Device, o Common, n int) (*workload, error) {
	w := &workload{d: d, o: o, n: n, space: keySpace{o.Seed}, order: queryOrder(n, o.Seed),
		buffers: map[string]*vk.Buffer[uint32]{}, patience: time.Minute}
	var err error
	if w.stream, err = d.NewStream(); err == nil {
		if w.status, err = vk.NewBuffer[uint8](d, (n+3)&^3); err == nil {
			w.left, err = vk.NewBuffer[uint32](d, 1)
		}
	}
	if err != nil {
		w.close()
		return nil, err
	}
	w.stream.Fill(w.left, 0, 4, 0) // batches add to it, and measure sees to it that none has a reason to
	w.scratch, w.bytes = make([]uint32, n), make([]uint8, n)
	return w, nil
}

// close waits for what is under way, which uses the memory that is freed.
func (w *workload) close() {
	if w.stream != nil {
		w.stream.Close()
	}
	for _, b := range w.buffers {
		b.Free()
	}
	for _, b := range []*vk.Buffer[uint8]{w.kinds, w.status} {
		if b != nil {
			b.Free()
		}
	}
	if w.left != nil {
		w.left.Free()
	}
	if w.heater != nil {
		w.heater.close()
	}
}

// heat has a GPU work until it is at its full clock.
func (w *workload) heat(ctx context.Context) error {
	if w.d.Info().Type == vk.CPU || w.o.WarmUp == 0 {
		return nil
	}
	if w.heater == nil {
		var err error
		if w.heater, err = newHeater(w.d); err != nil {
			return err
		}
	}
	return w.heater.run(ctx, w.stream)
}

// buffer returns a buffer of n words, by name; its contents are whatever they were.
func (w *workload) buffer(name string) (*vk.Buffer[uint32], error) { return w.room(name, w.n) }

// room returns a buffer of so many words at least.
func (w *workload) room(name string, words int) (*vk.Buffer[uint32], error) {
	if b := w.buffers[name]; b != nil {
		if b.Len() >= words {
			return b, nil
		}
		b.Free()
		delete(w.buffers, name)
	}
	b, err := vk.NewBuffer[uint32](w.d, max(words, 1))
	if err == nil {
		w.buffers[name] = b
	}
	return b, err
}

// filled returns the buffer of a name, of which the words are a function of their index; once made, they stay.
func (w *workload) filled(ctx context.Context, name string, words int, of func(i int) uint32) (*vk.Buffer[uint32],
	error) {
	if b := w.buffers[name]; b != nil {
		return b, nil
	}
	b, err := w.words(ctx, name, words, of)
	if err != nil && w.buffers[name] != nil {
		b.Free()
		delete(w.buffers, name)
	}
	return b, err
}

// words is a buffer of so many words, each a function of its index.
func (w *workload) words(ctx context.Context, name string, count int, of func(i int) uint32) (*vk.Buffer[uint32],
	error) {
	b, err := w.room(name, count)
	if err != nil {
		return nil, err
	}
	words := w.carried(count)
	fill(words, of)
	return b, b.Upload(ctx, 0, words)
}

// carried is room of the host for words on their way up or down.
func (w *workload) carried(words int) []uint32 {
	if len(w.carry) < words {
		w.carry = make([]uint32, words)
	}
	return w.carry[:words]
}

// task is something to be measured.
type task struct {
	Measurement
	prepare func(context.Context) error // brings things into the state before; not measured
	record  func() error                // puts the work on the workload's stream
	check   func(context.Context) error // looks at the results
	pending bool                        // the work counts operations given up, of which there may be none
}

// measure runs a task: once to check it (and to have its kernels made), then for the warm-up's time, then as often
// as asked for, and checks the last run as well.
func (w *workload) measure(ctx context.Context, t task) (Measurement, error) {
	if err := w.run(ctx, &t, false); err != nil {
		return t.Measurement, err
	}
	if err := t.check(ctx); err != nil {
		return t.Measurement, err
	}
	// The check took the host long, and an H200 may take longer than the warm-up to be at its full clock again.
	if err := w.heat(ctx); err != nil {
		return t.Measurement, err
	}
	for start := time.Now(); time.Since(start) < w.o.WarmUp; {
		if err := w.run(ctx, &t, false); err != nil {
			return t.Measurement, err
		}
	}
	for range w.o.Repeat {
		if t.prepare != nil {
			if err := w.heat(ctx); err != nil {
				return t.Measurement, err
			}
		}
		if err := w.run(ctx, &t, true); err != nil {
			return t.Measurement, err
		}
	}
	return t.Measurement, t.check(ctx)
}

// run runs a task, again where operations were given up: on a CPU device, what holds a latch may be off its processor
// for longer than others wait for it. On a loaded machine that may be so many times.
func (w *workload) run(ctx context.Context, t *task, timed bool) error {
	const tries = 4 // at least
	start := time.Now()
	for try := 1; ; try++ {
		left, err := w.once(ctx, t, timed)
		if err != nil || left == 0 {
			return err
		}
		if try >= tries && time.Since(start) >= w.patience {
			return &WrongError{t.Op, fmt.Sprintf("%d operations were left pending, so that the time is not that of all",
				left)}
		}
		w.stream.Fill(w.left, 0, 4, 0)
	}
}

// once runs a task once, and notes its times unless operations were left.
func (w *workload) once(ctx context.Context, t *task, timed bool) (left uint32, err error) {
	if t.prepare != nil {
		if err := t.prepare(ctx); err != nil {
			return 0, err
		}
	}
	w.stream.Timings() // those of the preparation
	start := time.Now()
	if timed {
		w.stream.Timed(t.Op, func() { err = t.record() })
	} else {
		err = t.record()
	}
	if err == nil {
		err = w.stream.Wait(ctx)
	}
	wall := time.Since(start)
	if err == nil && t.pending {
		var word [1]uint32
		err = w.left.Download(ctx, 0, word[:])
		left = word[0]
	}
	if err != nil || left != 0 || !timed {
		return left, err
	}
	t.Wall = append(t.Wall, wall)
	for _, timing := range w.stream.Timings() {
		if timing.Label == t.Op {
			t.Device = append(t.Device, timing.Duration)
		}
	}
	return 0, nil
}

// measureWall is measure for calls that wait by themselves; what they gave is for the caller to check. kernels, if not
// nil, tells what the device did in the last call: the times of the kernels with the label, or with any label if it is
// "", are added up.
func (w *workload) measureWall(ctx context.Context, m Measurement, prepare, call func(context.Context) error,
	kernels func() []vk.Timing, label string) (Measurement, error) {
	for begin, warm := time.Now(), false; len(m.Wall) < w.o.Repeat; {
		if err := prepare(ctx); err != nil {
			return m, err
		}
		if kernels != nil {
			kernels() // those of the preparation
		}
		start := time.Now()
		if err := call(ctx); err != nil {
			return m, err
		}
		wall := time.Since(start)
		if warm {
			m.Wall = append(m.Wall, wall)
		}
		if warm && kernels != nil {
			var device time.Duration
			for _, t := range kernels() {
				if label == "" || t.Label == label {
					device += t.Duration
				}
			}
			m.Device = append(m.Device, device)
		}
		warm = warm || time.Since(begin) >= w.o.WarmUp
	}
	return m, nil
}
