package vk

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"golang.org/x/sync/errgroup"
)

const (
	defaultStaging = 64 << 20
	mostStaging    = 16 << 30
	stagingSlots   = 16
	leastPiece     = 512 << 10 // the least bytes of a transfer for which a submission pays off
	// with 16 slots of 4 MiB, an H200's link moves 37 GB/s up and 44 down; more threads only disturb each other
	stagingThreads = 6
	mappedChunk    = 64 << 20 // bytes copied between two checks of the context
)

// stager copies bytes between Go slices and device memory. If the memory is mapped, it copies directly. Otherwise the
// bytes pass through a ring of slots in host memory: several threads each take a slot and a piece of the transfer, so
// that the host copies some pieces while the device copies others, and no thread waits for another.
type stager struct {
	d      *Device
	bytes  int
	staged bool          // use the ring even if memory is mapped
	turn   chan struct{} // holds one token, because one transfer at a time uses the link
	ring   *HostBuffer[byte]
	free   chan slot // the slots that no thread uses, longest unused first

	submitting sync.Mutex // held to use the stream
	stream     *Stream
}

// slot is one part of the ring.
type slot struct {
	bytes []byte
	at    uint64 // in the ring
	busy  Point  // the device uses the slot until this Point
}

func (s *stager) init(d *Device, o Options) {
	s.d, s.staged, s.bytes = d, o.staged, o.StagingBytes
	if s.bytes == 0 {
		s.bytes = defaultStaging
	}
	s.turn = make(chan struct{}, 1)
	s.turn <- struct{}{}
}

// begin waits until no other transfer runs, and makes the ring for the first transfer. It checks the context first,
// because select chooses at random if both are ready.
func (s *stager) begin(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.turn:
	}
	err := s.d.usable()
	if err == nil && s.stream == nil {
		s.stream, err = s.d.NewStream()
	}
	if err == nil && s.ring == nil {
		size := max(4096, s.bytes/stagingSlots)
		if s.ring, err = NewHostBuffer[byte](s.d, stagingSlots*size); err == nil {
			s.free = make(chan slot, stagingSlots)
			for i := range stagingSlots {
				s.free <- slot{bytes: s.ring.Slice()[i*size:][:size], at: uint64(i * size)}
			}
		}
	}
	if err != nil {
		s.turn <- struct{}{}
	}
	return err
}

// end waits for the submitted copies even if the transfer failed, because the buffers belong to the caller.
func (s *stager) end(err error) error {
	if later := s.stream.Wait(context.Background()); err == nil {
		err = later
	}
	s.turn <- struct{}{}
	return err
}

// split divides a transfer of n bytes into pieces, none larger than a slot, for several threads.
func (s *stager) split(n int) (piece, threads int) {
	threads = min(stagingThreads, runtime.GOMAXPROCS(0))
	piece = min(s.ring.Len()/stagingSlots, max(leastPiece, (n+threads-1)/threads))
	return piece, min(threads, (n+piece-1)/piece)
}

// submit submits a copy of n bytes.
func (s *stager) submit(to *region, toAt uint64, from *region, fromAt uint64, n int) (Point, error) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	s.stream.copy(to, toAt, from, fromAt, uint64(n))
	return s.stream.Submit()
}

// DirectTransfers reports whether Upload and Download are plain copies, because host and device share mapped memory.
// Otherwise they go through the staging ring.
func (d *Device) DirectTransfers() bool {
	return d.made() && d.memory.device.mapped && !d.staging.staged
}

func (s *stager) direct(r *region) bool { return r.block.mapped != nil && !s.staged }

// upload copies src to device memory. Each thread takes a piece and the slot that was used longest ago, fills the slot
// and submits its copy. Only the calling goroutine uses the context, because its methods may panic.
func (s *stager) upload(ctx context.Context, r *region, at uint64, src []byte) (err error) {
	if s.direct(r) {
		return direct(ctx, unsafe.Slice((*byte)(r.pointer()), r.bytes)[at:], src, len(src))
	}
	if len(src) == 0 {
		return context.Cause(ctx)
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	piece, threads := s.split(len(src))
	var next atomic.Int64
	thread := func(ctx context.Context) error {
		defer next.Store(int64(len(src))) // if this thread ends, the others end, too
		for {
			to := int(next.Add(int64(piece)))
			from := to - piece
			if from >= len(src) {
				return nil
			}
			if err := s.send(ctx, r, at+uint64(from), src[from:min(to, len(src))]); err != nil {
				return err
			}
		}
	}
	var others errgroup.Group
	for range threads - 1 {
		others.Go(func() error { return thread(context.Background()) })
	}
	defer func() {
		err = cmp.Or(err, others.Wait())
		err = s.end(err)
	}()
	return thread(ctx)
}

// send copies a piece to a slot and submits the copy from there to device memory.
func (s *stager) send(ctx context.Context, to *region, at uint64, piece []byte) error {
	sl := <-s.free
	defer func() { s.free <- sl }()
	err := sl.busy.Wait(ctx)
	if err == nil {
		copy(sl.bytes, piece)
		sl.busy, err = s.submit(to, at, s.ring.r, sl.at, len(piece))
	}
	return err
}

// download copies device memory to dst. This thread submits copies into all free slots and waits for them in order.
// Other threads copy the slots that have arrived to dst.
func (s *stager) download(ctx context.Context, r *region, at uint64, dst []byte) (err error) {
	if s.direct(r) {
		return direct(ctx, dst, unsafe.Slice((*byte)(r.pointer()), r.bytes)[at:], len(dst))
	}
	if len(dst) == 0 {
		return context.Cause(ctx)
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	type part struct {
		slot
		from, to int
	}
	piece, threads := s.split(len(dst))
	arrived := make(chan part, stagingSlots)
	var emptying sync.WaitGroup
	for range threads {
		emptying.Go(func() {
			for p := range arrived {
				copy(dst[p.from:p.to], p.bytes)
				s.free <- p.slot
			}
		})
	}
	var flying []part
	defer func() { // also if the context panics
		close(arrived)
		emptying.Wait()
		for _, p := range flying {
			s.free <- p.slot
		}
		err = s.end(err)
	}()
	for from := 0; err == nil && (from < len(dst) || len(flying) > 0); {
		p := part{from: from, to: min(from+piece, len(dst))}
		if from < len(dst) && s.takeSlot(&p.slot, len(flying) == 0) {
			p.busy, err = s.submit(s.ring.r, p.at, r, at+uint64(from), p.to-from)
			flying, from = append(flying, p), p.to
		} else if err = flying[0].busy.Wait(ctx); err == nil {
			arrived <- flying[0]
			flying = flying[1:]
		}
	}
	return err
}

// takeSlot takes a free slot. If there is none, it waits only if wait is set.
func (s *stager) takeSlot(sl *slot, wait bool) bool {
	if wait {
		*sl = <-s.free
		return true
	}
	select {
	case *sl = <-s.free:
		return true
	default:
		return false
	}
}

// direct copies n bytes of mapped memory.
func direct(ctx context.Context, dst, src []byte, n int) error {
	err := context.Cause(ctx)
	for at := 0; err == nil && at < n; at += mappedChunk {
		end := min(at+mappedChunk, n)
		threads.Copy(dst[at:end], src[at:end])
		err = context.Cause(ctx)
	}
	return err
}
