package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// workload is what all settings of one n share: the keys and their order, and the device's buffers, which are made when
// first asked for.
type workload struct {
	space  keySpace
	order  order // of queries: other than that of the insertions
	stream *vk.Stream

	carry []uint32 // words of the host on their way up or down
	bytes []uint8  // n of the host, for statuses that came down

	buffers map[string]*vk.Buffer[uint32]
	status  *vk.Buffer[uint8]
	left    *vk.Buffer[uint32]
	heater  *primitives.Primitives // nil until it is needed

	patience time.Duration // for how long work is tried again of which operations were given up
}

func newWorkload(d *vk.Device, seed uint32, n int) *workload {
	w := &workload{space: keySpace{seed}, order: queryOrder(n, seed), bytes: make([]uint8, n),
		buffers: map[string]*vk.Buffer[uint32]{}, patience: time.Minute}
	err := attempt(func() {
		w.stream = must(d.NewStream())
		w.status = must(vk.NewBuffer[uint8](d, (n+3)&^3))
		w.left = must(vk.NewBuffer[uint32](d, 1))
	})
	if err != nil {
		w.close()
		ok(err)
	}
	w.stream.Fill(w.left, 0, 4, 0) // batches add to it, and measure sees to it that none has a reason to
	return w
}

// close waits for what is under way, which uses the memory that is freed.
func (w *workload) close() {
	if w.stream != nil {
		w.stream.Close()
	}
	for _, b := range w.buffers {
		b.Free()
	}
	if w.status != nil {
		w.status.Free()
	}
	if w.left != nil {
		w.left.Free()
	}
	if w.heater != nil {
		w.heater.Close()
	}
}

func (s *session) wait() { ok(s.stream.Wait(s.ctx)) }

// heat keeps a GPU at its full clock where a benchmark has to prepare each run: in the gaps that this leaves, an H200
// falls to a clock at which the run takes more than twice as long.
func (s *session) heat() {
	const words, time300 = 1 << 24, 300 * time.Millisecond
	if s.d.Info().Type == vk.CPU || s.o.WarmUp == 0 {
		return
	}
	if s.heater == nil {
		s.heater = primitives.New(s.d, primitives.Options{})
	}
	hot := s.room("heat", words)
	scratch := s.room("heat scratch", (s.heater.Scratch(primitives.ScanArgs{Length: primitives.Length{N: words}})+3)/4)
	for start := time.Now(); time.Since(start) < time300; s.wait() {
		for range 16 {
			ok(s.heater.Scan(s.stream, primitives.ScanArgs{In: hot.Address(), Out: hot.Address(),
				Length: primitives.Length{N: words}, Scratch: scratch.Address()}))
		}
	}
}

// room returns the buffer of a name, of so many words at least; its contents are whatever they were.
func (s *session) room(name string, words int) *vk.Buffer[uint32] {
	if b := s.buffers[name]; b != nil {
		if b.Len() >= words {
			return b
		}
		delete(s.buffers, name)
		b.Free()
	}
	s.buffers[name] = must(vk.NewBuffer[uint32](s.d, max(words, 1)))
	return s.buffers[name]
}

// words is a buffer of so many words, each a function of its index.
func (s *session) words(name string, count int, of func(i int) uint32) *vk.Buffer[uint32] {
	b, words := s.room(name, count), s.carried(count)
	fill(words, of)
	ok(b.Upload(s.ctx, 0, words))
	return b
}

// carried is room of the host for words on their way up or down.
func (s *session) carried(words int) []uint32 {
	if len(s.carry) < words {
		s.carry = make([]uint32, words)
	}
	return s.carry[:words]
}

// elements returns the buffer of a name with n elements of the width at hand; once made, they stay.
func (s *session) elements(name string, of func(i int) uint32) *vk.Buffer[uint32] {
	if s.width == structures.Bits64 {
		name += ", 64 bits"
	}
	if b := s.buffers[name]; b != nil {
		return b
	}
	return s.batchOf(name, s.n, of)
}

// batchOf is a buffer of so many elements of the width at hand.
func (s *session) batchOf(name string, count int, of func(i int) uint32) *vk.Buffer[uint32] {
	if s.width == structures.Bits64 {
		return s.words(name, 2*count, func(i int) uint32 { return uint32(s.element(of(i/2)) >> (i % 2 * 32)) })
	}
	return s.words(name, count, of)
}

// roomFor is room for so many elements of the width at hand.
func (s *session) roomFor(name string, n int) *vk.Buffer[uint32] { return s.room(name, n<<s.width) }

// all are the buffers of the first keys of a sequence in their order, and of their values: n of each at least.
func (s *session) all(q sequence) (keys, values *vk.Buffer[uint32]) {
	name := q.order.String() // of random keys the first ones are the same however many there are
	if q.order != Random {
		name += fmt.Sprintf(" of %d", q.n)
	}
	return s.elements("keys "+name, q.key), s.elements("values "+name,
		func(i int) uint32 { return s.space.value(q.key(i)) })
}

// asked are the buffers of n queries and of room for their answers.
func (s *session) asked(of func(i int) uint32) (queries, answers *vk.Buffer[uint32]) {
	return s.batchOf("queries", s.n, of), s.roomFor("answers", s.n)
}

// listed are buffers for so many pairs.
func (s *session) listed(pairs int) (keys, values *vk.Buffer[uint32]) {
	return s.roomFor("listed keys", pairs), s.roomFor("listed values", pairs)
}

// query is the key that query i asks for, if all are to be there.
func (s *session) query(i int) uint32 { return s.keys.key(s.order.at(i)) }

// inOrder returns the keys that are there, in order.
func (s *session) inOrder(pairs int) []uint32 {
	if len(s.sorted) != pairs {
		s.sorted = make([]uint32, pairs)
		fill(s.sorted, s.keys.key)
		s.sorted = ascending(s.sorted)
	}
	return s.sorted
}

// task is work on the stream that is measured.
type task struct {
	prepare func()       // brings things into the state before; not measured
	record  func() error // puts the work on the stream
	check   func()       // looks at the results
	pending bool         // the work counts operations given up, of which there may be none
}

// measure runs a task: once to check it (and to have its kernels made), then for the warm-up's time, then as often
// as asked for, and checks the last run as well.
func (s *session) measure(m Measurement, t task) Measurement {
	s.run(&m, t, false)
	t.check()
	s.heat() // the check took the host long, and an H200 may take longer than the warm-up to be at its full clock again
	for start := time.Now(); time.Since(start) < s.o.WarmUp; {
		s.run(&m, t, false)
	}
	for range s.o.Repeat {
		if t.prepare != nil {
			s.heat()
		}
		s.run(&m, t, true)
	}
	t.check()
	return s.add(m)
}

// run runs a task, again where operations were given up: on a CPU device, what holds a latch may be off its processor
// for longer than others wait for it. On a loaded machine that may be so many times.
func (s *session) run(m *Measurement, t task, timed bool) {
	const tries = 4 // at least
	start := time.Now()
	for try := 1; ; try++ {
		left := s.once(m, t, timed)
		if left == 0 {
			return
		}
		if try >= tries && time.Since(start) >= s.patience {
			s.failPending(left)
		}
		s.stream.Fill(s.left, 0, 4, 0)
	}
}

func (s *session) failPending(left uint32) {
	s.fail("%d operations were left pending, so that the time is not that of all", left)
}

// once runs a task once, and notes its times unless operations were left.
func (s *session) once(m *Measurement, t task, timed bool) (left uint32) {
	if t.prepare != nil {
		t.prepare()
	}
	wall, device := s.timed(t.record)
	if t.pending {
		left = s.download(s.left, 1)[0]
	}
	if timed && left == 0 {
		m.Wall = append(m.Wall, wall)
		if device != nil {
			m.Device = append(m.Device, *device)
		}
	}
	return left
}

// timed submits what is recorded and waits for it: the time from recording to the end of waiting, and the device's, nil
// where the work was submitted in parts.
func (s *session) timed(record func() error) (wall time.Duration, device *time.Duration) {
	s.stream.Timings() // those of the preparation
	var err error
	start := time.Now()
	s.stream.Timed(s.op.Name, func() { err = record() })
	ok(err)
	s.wait()
	wall = time.Since(start)
	for _, t := range s.stream.Timings() {
		if t.Label == s.op.Name {
			device = &t.Duration
		}
	}
	return wall, device
}

// calls measures calls that wait by themselves, after the preparation of each; what the last one gave is for the caller
// to check. kernels, if not nil, tells what the device did in the last call: the times of the kernels with the label,
// or with any label if it is "", are added up.
func (s *session) calls(m Measurement, prepare, call func(), kernels func() []vk.Timing, label string) Measurement {
	for begin, warm := time.Now(), false; len(m.Wall) < s.o.Repeat; {
		prepare()
		if kernels != nil {
			kernels() // those of the preparation
		}
		start := time.Now()
		call()
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
		warm = warm || time.Since(begin) >= s.o.WarmUp
	}
	return m
}

// series measures runs of batches: the times of each batch's, by the device's clock or without it by the wall's, become
// medians.
func (s *session) series(m Measurement, run func() (device, wall []time.Duration)) Measurement {
	var steps [][]time.Duration
	for begin, warm := time.Now(), false; len(m.Wall) < s.o.Repeat; warm = warm || time.Since(begin) >= s.o.WarmUp {
		device, wall := run()
		if !warm {
			continue
		}
		m.Wall = append(m.Wall, sum(wall))
		if device != nil {
			m.Device, wall = append(m.Device, sum(device)), device
		}
		steps = append(steps, wall)
	}
	for i := range steps[0] {
		var runs []time.Duration
		for _, run := range steps {
			runs = append(runs, run[i])
		}
		m.Steps = append(m.Steps, Median(runs))
	}
	return m
}

func sum(of []time.Duration) (total time.Duration) {
	for _, d := range of {
		total += d
	}
	return total
}

// ending waits for the stream whatever became of the cell: what is under way uses memory that the cell frees.
func (s *session) ending() { s.stream.Wait(context.Background()) }
