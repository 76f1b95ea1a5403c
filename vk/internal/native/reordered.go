package native

import (
	"math/rand/v2"
	"slices"
	"sync"
	"unsafe"
)

// Reordered returns a device that runs the commands of a submission in another order that their barriers allow. In
// every second submission, it runs the last possible command first; in the others, a random one. It is for tests: CPU
// drivers run commands in the order of recording, so with them no test notices a missing barrier, or one that names the
// wrong kinds of work.
func Reordered(d Device, seed uint64) Device {
	return &reordered{Device: d, recorded: map[Commands]*recording{}, random: rand.New(rand.NewPCG(seed, 0))}
}

type reordered struct {
	Device
	mu       sync.Mutex
	recorded map[Commands]*recording
	random   *rand.Rand
	turn     int
}

// recording has the commands of a command buffer that were not yet passed to the driver.
type recording struct {
	steps  []step
	chosen func() // sets the pipeline of the next dispatch
}

// step is a command, or a barrier.
type step struct {
	work          Work // the work of a command; 0 for a barrier
	before, after Work // the kinds of work that a barrier orders
	do            func()
}

const (
	allWork = Shader | Transfer | Indirect | Host

	mostSteps = 256 // the most steps that are reordered together
)

func (r *reordered) of(c Commands) *recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.recorded[c]
	if to == nil {
		to = &recording{}
		r.recorded[c] = to
	}
	return to
}

func (r *reordered) Begin(c Commands) Result {
	*r.of(c) = recording{}
	return r.Device.Begin(c)
}

func (r *reordered) End(c Commands) Result {
	r.flush(c)
	return r.Device.End(c)
}

// flush passes the recorded commands to the command buffer in an allowed order, with full barriers between them.
func (r *reordered) flush(c Commands) {
	from := r.of(c)
	for _, i := range from.order(r.choice()) {
		from.steps[i].do()
		r.Device.Barrier(c, allWork, allWork)
	}
	from.steps = nil
}

// choice returns a function that chooses one of n commands, for one submission.
func (r *reordered) choice() func(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn++; r.turn%2 == 1 {
		return func(n int) int { return n - 1 }
	}
	return rand.New(rand.NewPCG(r.random.Uint64(), 0)).IntN
}

// order returns the commands in an order in which each comes after those that barriers put before it. If several
// commands can come next, choose takes one.
func (r *recording) order(choose func(n int) int) (sequence []int) {
	behind, waits := make([][]int, len(r.steps)), make([]int, len(r.steps))
	var next []int
	for i, command := range r.steps {
		if command.work == 0 {
			continue
		}
		// Barriers after kinds of work in ended also wait for this command; work of kinds in later comes after it.
		ended, later := command.work, Work(0)
		for j := i + 1; j < len(r.steps); j++ {
			switch s := r.steps[j]; {
			case s.work == 0 && s.before&ended != 0:
				ended |= s.after
				later |= s.after
			case s.work != 0 && s.work&^later == 0:
				behind[i] = append(behind[i], j)
				waits[j]++
			}
		}
		if waits[i] == 0 {
			next = append(next, i)
		}
	}
	for len(next) > 0 {
		at := choose(len(next))
		i := next[at]
		next = slices.Delete(next, at, at+1)
		sequence = append(sequence, i)
		for _, j := range behind[i] {
			if waits[j]--; waits[j] == 0 {
				next = append(next, j)
			}
		}
		slices.Sort(next)
	}
	return sequence
}

func (r *reordered) command(c Commands, work Work, do func()) {
	to := r.of(c)
	if to.steps = append(to.steps, step{work: work, do: do}); len(to.steps) >= mostSteps {
		r.flush(c)
	}
}

func (r *reordered) Barrier(c Commands, before, after Work) {
	to := r.of(c)
	to.steps = append(to.steps, step{before: before, after: after})
}

func (r *reordered) Fill(c Commands, b Buffer, at, bytes uint64, word uint32) {
	r.command(c, Transfer, func() { r.Device.Fill(c, b, at, bytes, word) })
}

func (r *reordered) Update(c Commands, b Buffer, at uint64, words []uint32) {
	words = slices.Clone(words)
	r.command(c, Transfer, func() { r.Device.Update(c, b, at, words) })
}

func (r *reordered) Copy(c Commands, from, to Buffer, fromAt, toAt, bytes uint64) {
	r.command(c, Transfer, func() { r.Device.Copy(c, from, to, fromAt, toAt, bytes) })
}

func (r *reordered) Run(c Commands, p Pipeline, l Layout, push unsafe.Pointer, pushBytes uint32) {
	constants := slices.Clone(unsafe.Slice((*byte)(push), pushBytes))
	r.of(c).chosen = func() { r.Device.Run(c, p, l, unsafe.Pointer(unsafe.SliceData(constants)), pushBytes) }
}

func (r *reordered) Dispatch(c Commands, x, y uint32) {
	run := r.of(c).chosen
	r.command(c, Shader, func() { run(); r.Device.Dispatch(c, x, y) })
}

func (r *reordered) DispatchIndirect(c Commands, args Buffer, at uint64) {
	run := r.of(c).chosen
	r.command(c, Shader|Indirect, func() { run(); r.Device.DispatchIndirect(c, args, at) })
}

// Timestamps keep their places, so no command moves across them.
func (r *reordered) Timestamp(c Commands, q QueryPool, query uint32) {
	r.flush(c)
	r.Device.Timestamp(c, q, query)
}

func (r *reordered) ResetTimestamps(c Commands, q QueryPool, queries uint32) {
	r.flush(c)
	r.Device.ResetTimestamps(c, q, queries)
}
