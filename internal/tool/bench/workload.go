package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// workload has what all settings of one n share: the keys and their order, and device buffers, which are made when they
// are first needed.
type workload struct {
	space  keySpace
	order  order // of queries; it differs from the order of insertions
	stream *vk.Stream

	carry []uint32 // words on the host, on their way to or from the device
	bytes []uint8  // statuses on the host, for n operations or a batch

	buffers map[string]*vk.Buffer[uint32]
	status  *vk.Buffer[uint8]
	left    *vk.Buffer[uint32]
	heater  *primitives.Primitives // nil until it is needed

	patience time.Duration // how long to repeat work that leaves operations pending
}

func newWorkload(d *vk.Device, seed uint32, n, operations int) *workload {
	w := &workload{space: keySpace{seed}, order: queryOrder(n, seed), bytes: make([]uint8, operations),
		buffers: map[string]*vk.Buffer[uint32]{}, patience: time.Minute}
	err := attempt(func() {
		w.stream = must(d.NewStream())
		w.status = must(vk.NewBuffer[uint8](d, (operations+3)&^3))
		w.left = must(vk.NewBuffer[uint32](d, 1))
	})
	if err != nil {
		w.close()
		ok(err)
	}
	w.stream.Fill(w.left, 0, 1, 0) // batches add to it; measure checks that it stays 0
	return w
}

// close waits for the stream, whose work may use the memory that close frees.
func (w *workload) close() {
	w.stream.Close()
	for _, b := range w.buffers {
		b.Free()
	}
	w.status.Free()
	w.left.Free()
	w.heater.Close()
}

func (s *session) wait() { ok(s.stream.Wait(s.ctx)) }

// heat keeps a GPU at its full clock if a benchmark has to prepare each run. In the pauses, the clock of an H200 drops
// so far that a run takes more than twice as long.
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

// room returns the buffer of a name, with at least that many words of any content.
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

// words returns a buffer of count words, each a function of its index.
func (s *session) words(name string, count int, of func(i int) uint32) *vk.Buffer[uint32] {
	b, words := s.room(name, count), s.carried(count)
	fill(words, of)
	ok(b.Upload(s.ctx, 0, words))
	return b
}

// carried returns memory of the host for words on their way to or from the device.
func (s *session) carried(words int) []uint32 {
	if len(s.carry) < words {
		s.carry = make([]uint32, words)
	}
	return s.carry[:words]
}

// elements returns the buffer of a name with n elements of the session's width. It makes them once.
func (s *session) elements(name string, of func(i int) uint32) *vk.Buffer[uint32] {
	if s.width == structures.Bits64 {
		name += ", 64 bits"
	}
	if b := s.buffers[name]; b != nil {
		return b
	}
	return s.batchOf(name, s.n, of)
}

// batchOf returns a buffer of count elements of the session's width.
func (s *session) batchOf(name string, count int, of func(i int) uint32) *vk.Buffer[uint32] {
	if s.width == structures.Bits64 {
		return s.words(name, 2*count, func(i int) uint32 { return uint32(s.element(of(i/2)) >> (i % 2 * 32)) })
	}
	return s.words(name, count, of)
}

// roomFor returns room for n elements of the session's width.
func (s *session) roomFor(name string, n int) *vk.Buffer[uint32] { return s.room(name, n<<s.width) }

// all returns the buffers of the first keys of a sequence and of their values, at least n of each.
func (s *session) all(q sequence) (keys, values *vk.Buffer[uint32]) {
	name := q.order // the first random keys do not depend on n
	if name != random {
		name += fmt.Sprintf(" of %d", q.n)
	}
	return s.elements("keys "+name, q.key), s.elements("values "+name,
		func(i int) uint32 { return s.space.value(q.key(i)) })
}

// asked returns the buffers of n queries and of room for their answers.
func (s *session) asked(of func(i int) uint32) (queries, answers *vk.Buffer[uint32]) {
	return s.batchOf("queries", s.n, of), s.roomFor("answers", s.n)
}

// listed returns buffers for that many pairs.
func (s *session) listed(pairs int) (keys, values *vk.Buffer[uint32]) {
	return s.roomFor("listed keys", pairs), s.roomFor("listed values", pairs)
}

// query returns the key of query i, if all keys are to be present.
func (s *session) query(i int) uint32 { return s.keys.key(s.order.at(i)) }

// inOrder returns the first keys of the sequence, sorted.
func (s *session) inOrder(pairs int) []uint32 {
	if len(s.sorted) != pairs {
		s.sorted = make([]uint32, pairs)
		fill(s.sorted, s.keys.key)
		s.sorted = inAscent(s.sorted)
	}
	return s.sorted
}

// task is work on the stream to be measured.
type task struct {
	prepare func()       // restores the state before the work; not measured
	record  func() error // records the work
	check   func()       // checks the results
	pending bool         // the work counts operations left pending, of which there must be none
}

// measure runs a task: first to check it (and to make its kernels), then for the time of the warm-up, then as often as
// Options.Repeat. It also checks the last run.
func (s *session) measure(m Measurement, t task) Measurement {
	s.run(&m, t, false)
	t.check()
	s.heat() // the host took long for the check, and the warm-up may be too short for an H200 to reach its full clock
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

// run runs a task until it leaves nothing pending.
func (s *session) run(m *Measurement, t task, timed bool) {
	s.untilDone(func() uint32 { return s.once(m, t, timed) })
}

// untilDone repeats work if it leaves operations pending: on a CPU device, the thread that holds a latch may lose its
// processor for longer than others wait. On a loaded machine this may happen several times.
func (s *session) untilDone(work func() (left uint32)) {
	const tries = 4 // at least
	start := time.Now()
	for try := 1; ; try++ {
		left := work()
		if left == 0 {
			return
		}
		if try >= tries && time.Since(start) >= s.patience {
			s.fail("%d operations were left pending, so that the time is not that of all", left)
		}
		s.stream.Fill(s.left, 0, 1, 0)
	}
}

// once runs a task once, and records its times unless operations are left pending.
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

// timed records and submits work, and waits for it. It returns the time from the recording to the end of the wait, and
// the device's time, nil if the work was submitted in parts.
func (s *session) timed(record func() error) (wall time.Duration, device *time.Duration) {
	s.stream.Timings() // drops those of the preparation
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

// calls measures calls that wait themselves, each after prepare. The caller checks the result of the last one. kernels,
// if not nil, returns what the device did in the last call: the device's time is the sum of the times with the label,
// or of all if label is "".
func (s *session) calls(m Measurement, prepare, call func(), kernels func() []vk.Timing, label string) Measurement {
	m = s.series(m, func() (device, wall []time.Duration) {
		prepare()
		if kernels != nil {
			kernels() // drops those of the preparation
		}
		start := time.Now()
		call()
		wall = []time.Duration{time.Since(start)}
		if kernels != nil {
			device = []time.Duration{0}
			for _, t := range kernels() {
				if label == "" || t.Label == label {
					device[0] += t.Duration
				}
			}
		}
		return device, wall
	})
	m.Steps = nil
	return m
}

// series measures runs of batches. The step of a batch is the median of its times, by the device's clock or otherwise
// by wall time.
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

// ending waits for the stream, also after a failure, because its work may use memory that the cell frees.
func (s *session) ending() { s.stream.Wait(context.Background()) }
