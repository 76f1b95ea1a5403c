package vk

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

const (
	defaultStaging = 64 << 20
	stagingSlots   = 16
	leastPiece     = 512 << 10 // of a transfer, for which a submission of its own pays
	copyShare      = 256 << 10 // bytes for which another thread pays in ParallelCopy
	copyThreads    = 16        // 9 GB/s with one, 50 with 16 on the machine of an H200, whose link takes 48
	mappedChunk    = 64 << 20  // copied between two looks at the context
)

// ParallelCopy copies src to dst, as copy does, by as many threads as pay.
func ParallelCopy[T Element](dst, src []T) {
	n := min(len(dst), len(src))
	to, from := view(dst[:n]), view(src[:n])
	copyBy(min(copyThreads, runtime.GOMAXPROCS(0), len(from)/copyShare), to, from)
}

// copyBy copies by so many threads.
func copyBy(threads int, to, from []byte) {
	if threads < 2 {
		copy(to, from)
		return
	}
	share := (len(from)/threads + 63) &^ 63
	var wait sync.WaitGroup
	for at := share; at < len(from); at += share {
		end := min(at+share, len(from))
		wait.Go(func() { copy(to[at:end], from[at:end]) })
	}
	copy(to[:share], from[:share])
	wait.Wait()
}

// stager moves bytes between Go slices and device memory. Where the memory is mapped that is a copy. Elsewhere
// the bytes pass through a ring of slots in host memory: several threads each take a slot and a piece of the
// transfer, so that the host copies some pieces while the device copies others, and no thread waits for another.
type stager struct {
	d      *Device
	bytes  int
	staged bool          // even where memory is mapped
	turn   chan struct{} // holds one token: a transfer at a time, since the link is one
	ring   *HostBuffer[byte]
	free   chan slot // the slots that no thread has, longest unused first

	submitting sync.Mutex // the stream is for one thread at a time
	stream     *Stream
}

// slot is one part of the ring.
type slot struct {
	bytes []byte
	at    uint64 // in the ring
	busy  Point  // the device reads it until then
}

func (s *stager) init(d *Device, o Options) {
	s.d, s.staged, s.bytes = d, o.staged, o.StagingBytes
	if s.bytes <= 0 {
		s.bytes = defaultStaging
	}
	s.turn = make(chan struct{}, 1)
	s.turn <- struct{}{}
}

// begin waits for its turn, and makes the ring at the first transfer.
func (s *stager) begin(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
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

// end waits for the copies that are under way, whatever became of the transfer: the buffers are the caller's.
func (s *stager) end(err error) error {
	if later := s.stream.Wait(context.Background()); err == nil {
		err = later
	}
	s.turn <- struct{}{}
	return err
}

// pieces has several threads do the pieces of a transfer of n bytes, each with a slot that is at least as large.
func (s *stager) pieces(ctx context.Context, n int, do func(ctx context.Context, sl *slot, from, to int) error) error {
	if n == 0 {
		return ctx.Err()
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	threads := min(copyThreads, runtime.GOMAXPROCS(0), stagingSlots)
	size := s.ring.Len() / stagingSlots
	piece := min(size, max(leastPiece, (n+threads-1)/threads))
	threads = min(threads, (n+piece-1)/piece)
	var next atomic.Int64
	work := func(ctx context.Context) error {
		for {
			to := int(next.Add(int64(piece)))
			from := to - piece
			if from >= n {
				return nil
			}
			sl := <-s.free
			err := ctx.Err()
			if err == nil {
				err = do(ctx, &sl, from, min(to, n))
			}
			s.free <- sl
			if err != nil {
				return err
			}
		}
	}
	if threads == 1 {
		return s.end(work(ctx))
	}
	group, ctx := errgroup.WithContext(ctx)
	for range threads {
		group.Go(func() error { return work(ctx) })
	}
	return s.end(group.Wait())
}

// submit has the device copy n bytes.
func (s *stager) submit(to *region, toAt uint64, from *region, fromAt uint64, n int) (Point, error) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	s.stream.copy(to, toAt, from, fromAt, uint64(n))
	return s.stream.Submit()
}

// DirectTransfers says how Upload and Download go: as plain copies, where host and device share a mapped memory,
// or through the staging ring.
func (d *Device) DirectTransfers() bool { return d.memory.device.mapped && !d.staging.staged }

func (s *stager) direct(r *region) bool { return r.block.mapped != nil && !s.staged }

func (s *stager) upload(ctx context.Context, r *region, at uint64, src []byte) error {
	if s.direct(r) {
		return direct(ctx, unsafe.Slice((*byte)(r.pointer()), r.bytes)[at:], src, len(src))
	}
	return s.pieces(ctx, len(src), func(ctx context.Context, sl *slot, from, to int) error {
		if err := sl.busy.Wait(ctx); err != nil {
			return err
		}
		copy(sl.bytes, src[from:to])
		var err error
		sl.busy, err = s.submit(r, at+uint64(from), s.ring.r, sl.at, to-from)
		return err
	})
}

func (s *stager) download(ctx context.Context, r *region, at uint64, dst []byte) error {
	if s.direct(r) {
		return direct(ctx, dst, unsafe.Slice((*byte)(r.pointer()), r.bytes)[at:], len(dst))
	}
	return s.pieces(ctx, len(dst), func(ctx context.Context, sl *slot, from, to int) error {
		arrived, err := s.submit(s.ring.r, sl.at, r, at+uint64(from), to-from)
		if err == nil {
			err = arrived.Wait(ctx)
		}
		if err == nil {
			copy(dst[from:to], sl.bytes)
		}
		return err
	})
}

// direct copies n bytes of mapped memory.
func direct(ctx context.Context, dst, src []byte, n int) error {
	err := ctx.Err()
	for at := 0; err == nil && at < n; at += mappedChunk {
		end := min(at+mappedChunk, n)
		ParallelCopy(dst[at:end], src[at:end])
		err = ctx.Err()
	}
	return err
}
