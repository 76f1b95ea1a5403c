package vk

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vkds/vkds/vk/internal/native"
)

// Stream is a sequence of commands on the device. Recording methods only record a command; Submit submits the recorded
// commands and returns; Wait also waits until they have ended. Commands take effect in the order of recording. Each
// command sees everything that earlier commands wrote to memory, also those of earlier submissions. Different streams
// run independently unless After orders them.
//
// If a command cannot be recorded (out of range, a freed buffer or kernel), the next Submit or Wait returns its error
// and drops the whole batch: nothing that was recorded since the last Submit runs.
//
// Only one goroutine at a time may use a Stream.
type Stream struct {
	d     *Device
	queue *queue
	line  *timeline
	last  uint64 // the timeline's value after the newest submission

	pool     native.CommandPool
	open     *batch // the batch that is being recorded, or nil
	flying   []*batch
	spare    []*batch
	waits    []Point
	err      error
	commands uint64      // recorded since the stream was made
	whole    bool        // inside Whole
	parallel int         // depth of Concurrent
	fresh    bool        // the batch has no command inside Concurrent yet
	before   native.Work // of Concurrent: the kinds of work before it,
	ordered  native.Work // and the kinds inside it that have had a barrier
	since    native.Work // the kinds of work since the last barrier
	push     []byte      // push constants for a call of C: those of a dispatch would be allocated each time

	timings []Timing
	queries []*queryPool // unused pools
	closed  atomic.Bool
}

// kit is the reusable part of a stream. When a stream closes, the next stream takes its kit. A kit is not destroyed
// then, because submissions of other streams may still name the semaphore, and the driver's threads may read it after
// its value was reached.
type kit struct {
	semaphore native.Semaphore
	value     uint64 // the value that the semaphore has reached
	pool      native.CommandPool
	spare     []*batch
	queries   []*queryPool
}

// takeKit takes the kit of a closed stream, or makes one.
func (d *Device) takeKit() (kit, error) {
	d.mu.Lock()
	if n := len(d.kits); n > 0 {
		k := d.kits[n-1]
		d.kits = d.kits[:n-1]
		d.mu.Unlock()
		return k, nil
	}
	d.mu.Unlock()
	var k kit
	var result native.Result
	k.semaphore, result = d.native.NewTimeline()
	if err := d.check("vkCreateSemaphore", result); err != nil {
		return kit{}, err
	}
	k.pool, result = d.native.NewCommandPool(d.family)
	if err := d.check("vkCreateCommandPool", result); err != nil {
		d.native.DestroySemaphore(k.semaphore) // no queue has used it
		return kit{}, err
	}
	return k, nil
}

// destroy destroys a kit when its Device closes. The queues must be idle.
func (k kit) destroy(d *Device) {
	for _, q := range k.queries {
		q.destroy(d)
	}
	d.native.DestroyCommandPool(k.pool)
	d.native.DestroySemaphore(k.semaphore)
}

// batch is a command buffer with the objects that belong to it.
type batch struct {
	commands native.Commands
	value    uint64 // the timeline's value when the batch has ended
	pools    []*queryPool
	sections []section

	arguments argumentMemory

	onSubmit []func(p Point, submitted bool)
	finally  []func()
}

// maxFlying is the most submissions of a stream that are in flight at once.
const maxFlying = 256

// NewStream returns a new Stream. Streams are distributed over the queues of the device.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	k, err := d.takeKit()
	if err != nil {
		return nil, err
	}
	s := &Stream{
		d: d, queue: d.queues[int(d.nextQueue.Add(1)-1)%len(d.queues)],
		line: &timeline{d: d, semaphore: k.semaphore}, last: k.value, pool: k.pool, spare: k.spare, queries: k.queries,
	}
	d.adopt(s)
	return s, nil
}

// Device returns the device of the stream.
func (s *Stream) Device() *Device {
	if !s.made() {
		return nil
	}
	return s.d
}

// made reports whether NewStream has made the stream.
func (s *Stream) made() bool { return s != nil && s.d != nil }

func (s *Stream) usableOn(d *Device) error {
	switch {
	case !s.made():
		return ErrNotOpen
	case s.d != d:
		return errForeign
	case s.closed.Load():
		return &ClosedError{"stream"}
	}
	return d.usable()
}

// fail keeps the first error of a batch.
func (s *Stream) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// begin opens a batch if none is open. It returns false if nothing can be recorded.
func (s *Stream) begin() bool {
	if s.err != nil || s.open != nil {
		return s.err == nil
	}
	if s.closed.Load() {
		s.fail(&ClosedError{"stream"})
		return false
	}
	if err := s.d.usable(); err != nil {
		s.fail(err)
		return false
	}
	b, err := s.newBatch()
	if err != nil {
		s.fail(err)
		return false
	}
	s.open, s.since, s.fresh = b, deviceWork, true // the submission before may have done any kind of work
	return true
}

func (s *Stream) newBatch() (*batch, error) {
	var b *batch
	if n := len(s.spare); n > 0 {
		b, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		commands, result := s.d.native.NewCommands(s.pool)
		if err := s.d.check("vkAllocateCommandBuffers", result); err != nil {
			return nil, err
		}
		b = &batch{commands: commands}
	}
	if err := s.d.check("vkBeginCommandBuffer", s.d.native.Begin(b.commands)); err != nil {
		s.spare = append(s.spare, b)
		return nil, err
	}
	return b, nil
}

// deviceWork is all kinds of work that streams do.
const deviceWork = native.Shader | native.Transfer | native.Indirect

// command begins a command of some kind and returns the command buffer. It first records a barrier after all earlier
// commands, including those of earlier submissions, unless Concurrent makes it unnecessary. A barrier names only the
// kinds of work since the last barrier, because older work is ordered by earlier barriers and a barrier with fewer
// kinds is cheaper: a barrier before indirect dispatches takes about 2 µs more on an H200.
func (s *Stream) command(kind native.Work) (native.Commands, bool) {
	if !s.begin() {
		return 0, false
	}
	switch {
	case s.parallel == 0:
		s.d.native.Barrier(s.open.commands, s.since, kind)
		s.since = 0
	case s.fresh:
		s.before, s.ordered, s.since, s.fresh = s.since, 0, 0, false
		fallthrough
	case kind&^s.ordered != 0: // the first command of its kind
		s.d.native.Barrier(s.open.commands, s.before, kind&^s.ordered)
		s.ordered |= kind
	}
	s.since |= kind
	s.commands++
	return s.open.commands, true
}

// Fill records that n elements of b, from index at on, are set to copies of a 32-bit word: an element of 64 bits to two
// of them. Elements of 8 and 16 bits must begin and end with a whole word: at and n are multiples of 4 or 2. If n is 0,
// Fill does nothing.
func (s *Stream) Fill(b Memory, at, n int, word uint32) {
	if !s.made() {
		return
	}
	r := b.where()
	at, n, ok := s.accept("fill", b, at, n)
	if !ok {
		return
	}
	if at%4 != 0 || n%4 != 0 {
		s.fail(fmt.Errorf("vk: fill of %d bytes at %d: both must be multiples of 4", n, at))
		return
	}
	if n == 0 {
		return
	}
	if commands, ok := s.command(native.Transfer); ok {
		s.d.native.Fill(commands, r.block.buffer, r.at+uint64(at), uint64(n), word)
	}
}

// Copy records a copy of n elements: from index srcAt of src on to index dstAt of dst on. The elements of both have the
// same size, for example uint32 and float32. Within one buffer the two ranges must not overlap.
func (s *Stream) Copy(dst Memory, dstAt int, src Memory, srcAt, n int) {
	if !s.made() {
		return
	}
	if a, b := dst.each(), src.each(); a != b {
		s.fail(&OptionError{"src", fmt.Sprintf("a copy from elements of %d bytes to elements of %d", b, a)})
		return
	}
	to, from := dst.where(), src.where()
	dstAt, _, ok := s.accept("copy to", dst, dstAt, n)
	if !ok {
		return
	}
	srcAt, n, ok = s.accept("copy from", src, srcAt, n)
	if !ok || n == 0 {
		return
	}
	if to == from && dstAt < srcAt+n && srcAt < dstAt+n {
		s.fail(fmt.Errorf("vk: copy of %d bytes from %d to %d of one buffer: they overlap", n, srcAt, dstAt))
		return
	}
	s.copy(to, uint64(dstAt), from, uint64(srcAt), uint64(n))
}

func (s *Stream) copy(to *region, toAt uint64, from *region, fromAt, n uint64) {
	if commands, ok := s.command(native.Transfer); ok {
		s.d.native.Copy(commands, from.block.buffer, to.block.buffer, from.at+fromAt, to.at+toAt, n)
	}
}

// accept checks the elements of a command's buffer, and returns their bytes.
func (s *Stream) accept(what string, b Memory, at, n int) (atByte, bytes int, ok bool) {
	err := s.d.Accept("buffer of a "+what, b.where())
	if err == nil {
		atByte, bytes, err = span(b, what, at, n)
	}
	if err != nil {
		s.fail(err)
	}
	return atByte, bytes, err == nil
}

// Concurrent records the commands of record without an order among them: the device may run them at the same time, and
// none of them may depend on the results of another. They come after all earlier commands and before all later ones. A
// command of another kind than those recorded before it, such as a copy after dispatches, may have to wait for some of
// them.
func (s *Stream) Concurrent(record func()) {
	if !s.made() {
		record()
		return
	}
	if s.parallel == 0 {
		s.fresh = true
	}
	s.parallel++
	defer func() { s.parallel-- }()
	record()
}

// After makes the work that is recorded from here on wait until the device has reached p, a Point of another stream of
// the same Device. This work sees everything that was written before p. After submits the work that was recorded
// before; that work does not wait.
func (s *Stream) After(p Point) {
	if p.line == nil || !s.made() || p.line == s.line {
		return
	}
	if p.line.d != s.d {
		s.fail(&ForeignError{"point"})
		return
	}
	if s.open != nil {
		if _, err := s.Submit(); err != nil {
			s.fail(err)
			return
		}
	}
	s.waits = append(s.waits, p)
}

// Submit submits the recorded work and returns at once. The Point is reached when all of that work has ended. If
// nothing was recorded, it is the Point of the last Submit. A stream has at most 256 submissions in flight; Submit
// waits if there are more. Errors: ErrClosed if the stream or its Device was closed, and the error for which the batch
// was dropped.
func (s *Stream) Submit() (Point, error) {
	if !s.made() {
		return Point{}, ErrNotOpen
	}
	if s.closed.Load() {
		s.waits, s.err = nil, nil
		return Point{}, &ClosedError{"stream"}
	}
	if s.err == nil && s.open == nil && len(s.waits) > 0 {
		s.begin() // an empty batch carries the waits
	}
	if s.err == nil && s.open == nil {
		return Point{s.line, s.last}, nil
	}
	err := s.err
	if err == nil {
		err = s.send()
	}
	if err != nil {
		s.abandon()
		return Point{}, err
	}
	return Point{s.line, s.last}, nil
}

// Discard drops the work that was recorded since the last Submit. None of it runs.
func (s *Stream) Discard() {
	if s.made() {
		s.abandon()
	}
}

// abandon drops what was recorded.
func (s *Stream) abandon() {
	// A lost device may still use the commands. They are freed with their pool.
	b := s.open
	s.open, s.waits, s.err = nil, nil, nil
	if b == nil {
		return
	}
	defer func() {
		if !s.d.lost.Load() {
			s.d.native.Reset(b.commands)
			s.recycle(b)
		}
	}()
	defer s.behind(b)
	b.settled(Point{}, false)
}

// behind runs the Finally functions of a dropped batch after the batches that were submitted before it.
func (s *Stream) behind(b *batch) {
	if n := len(s.flying); n > 0 {
		s.flying[n-1].finally = append(s.flying[n-1].finally, b.finally...)
		return
	}
	b.ended()
}

func (s *Stream) send() error {
	if err := s.d.enter(); err != nil {
		return err
	}
	defer s.d.leave()
	for s.retire(); len(s.flying) >= maxFlying; s.retire() {
		if err := s.line.wait(context.Background(), s.flying[0].value); err != nil {
			return err
		}
	}
	b := s.open
	s.d.native.Barrier(b.commands, deviceWork, native.Host)
	if err := s.d.check("vkEndCommandBuffer", s.d.native.End(b.commands)); err != nil {
		return err
	}
	var semaphores []native.Semaphore
	var values []uint64
	for _, p := range s.waits {
		semaphores, values = append(semaphores, p.line.semaphore), append(values, p.value)
	}
	s.queue.Lock()
	result := s.d.native.Submit(s.queue.handle, b.commands, semaphores, values, s.line.semaphore, s.last+1)
	if result == native.Success {
		s.last++
		s.queue.newest = Point{s.line, s.last}
	}
	s.queue.Unlock()
	if err := s.d.check("vkQueueSubmit2", result); err != nil {
		return err
	}
	b.value = s.last
	s.flying = append(s.flying, b)
	s.open, s.waits = nil, nil
	b.settled(Point{s.line, s.last}, true)
	return nil
}

// retire recycles the batches that have ended and calls their Finally functions. Each batch is recycled only once, even
// if one of its functions panics.
func (s *Stream) retire() {
	if len(s.flying) == 0 {
		return
	}
	reached, err := s.line.reached()
	if err != nil {
		return
	}
	done := 0
	defer func() { s.flying = slices.Delete(s.flying, 0, done) }()
	for done < len(s.flying) && s.flying[done].value <= reached {
		done++
		s.takeBack(s.flying[done-1])
	}
}

func (s *Stream) takeBack(b *batch) {
	defer s.recycle(b)
	s.collect(b)
	b.ended()
}

// tidy calls retire unless the Device is closed or lost.
func (s *Stream) tidy() {
	if s.d.enter() == nil {
		defer s.d.leave()
		s.retire()
	}
}

func (s *Stream) recycle(b *batch) {
	s.queries = append(s.queries, b.pools...)
	clear(b.onSubmit)
	clear(b.finally)
	*b = batch{commands: b.commands, onSubmit: b.onSubmit[:0], finally: b.finally[:0]}
	s.spare = append(s.spare, b)
}

// Wait submits the recorded work and waits until everything that the stream has submitted has ended. If ctx ends first,
// Wait returns its error; the work continues, and the stream stays usable. Other errors: those of Submit, and
// ErrDeviceLost.
func (s *Stream) Wait(ctx context.Context) error {
	p, err := s.Submit()
	if err != nil {
		return err
	}
	if err := p.Wait(ctx); err != nil {
		return err
	}
	if s.d.enter() == nil {
		defer s.d.leave()
		s.retire()
		s.d.sweep()
	}
	return nil
}

// Close waits until the stream's work has ended, and frees the stream. Recorded work that was not submitted is dropped.
// Points of the stream stay valid, and Timings still returns the remaining timings. Further calls do nothing.
func (s *Stream) Close() error {
	if !s.made() {
		return ErrNotOpen
	}
	if s.closed.Load() {
		return nil
	}
	s.abandon()
	err := s.line.wait(context.Background(), s.last)
	s.tidy()
	s.d.drop(s)
	return err
}

// release closes the stream, whose work has ended, and keeps its kit for the next stream.
func (s *Stream) release() {
	s.closed.Store(true)
	s.line.close()
	for _, b := range append(s.flying, s.open) {
		if b != nil {
			s.recycle(b)
		}
	}
	// A lost device may still use the commands.
	if !s.d.lost.Load() {
		s.d.native.ResetCommandPool(s.pool)
	}
	s.d.mu.Lock()
	s.d.kits = append(s.d.kits, kit{s.line.semaphore, s.last, s.pool, s.spare, s.queries})
	s.d.mu.Unlock()
	s.open, s.flying, s.spare, s.queries, s.waits = nil, nil, nil, nil, nil
}
