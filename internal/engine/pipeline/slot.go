package pipeline

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/vk"
)

// slot holds one chunk in flight.
type slot struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte]
	size   int  // bytes of each buffer
	laid   int  // of these, the chunk's
	direct bool // the kernels of this chunk use the host buffer

	busy    bool
	filled  sync.WaitGroup // the input was copied to the host buffer
	emptied sync.WaitGroup // the results were copied out
	chunk   Chunk
	left    int      // operations of the chunk that were pending when it ended
	columns []Column // of this chunk
	at      []int    // the offset of each column in the buffers
}

const (
	columnAlign  = 256
	counterBytes = columnAlign // room for the pending counter, at the start of a slot's buffers
	leastBuffer  = 1 << 12     // bytes; small, because there may be many small handles
)

// fill begins to copy a chunk into a slot, concurrently with other chunks if it is large.
func (l *line) fill(s *slot, first, count int, b *batch) error {
	size := s.lay(first, count, b.columns)
	s.direct = size <= l.of.direct
	if err := s.reserve(l.of.d, size); err != nil {
		return err
	}
	host := s.host.Slice()
	base := s.host.Address()
	if !s.direct {
		base = s.device.Address()
	}
	places := s.chunk.Columns[:0]
	for i := range s.columns {
		place := uint64(0)
		if s.columns[i].Width != 0 {
			place = base + uint64(s.at[i])
		}
		places = append(places, place)
	}
	s.chunk = Chunk{First: first, Count: count, Pending: base, Columns: places}
	if threads.One(size) {
		s.encode(host) // a goroutine would cost more
	} else {
		s.filled.Go(func() { s.encode(host) })
	}
	return nil
}

func (s *slot) encode(host []byte) {
	for i := range s.columns {
		s.columns[i].Encode(host[s.at[i]:])
	}
}

func (s *slot) decode(host []byte, partly bool) {
	found := s.found(host)
	for i := range s.columns {
		s.columns[i].decode(host[s.at[i]:], found, partly)
	}
}

// lay assigns a part of the columns to the slot, and returns how many bytes its buffers need.
func (s *slot) lay(first, count int, columns []Column) (size int) {
	s.columns, s.at = s.columns[:0], s.at[:0]
	size = counterBytes
	for _, c := range columns {
		s.columns = append(s.columns, c.Part(first, count))
		s.at = append(s.at, size)
		size += (count*c.Width + columnAlign - 1) / columnAlign * columnAlign
	}
	s.laid = size
	return size
}

// reserve makes the slot's buffers at least size bytes large. Sizes are powers of two, so that batches of growing size
// do not allocate each time.
func (s *slot) reserve(d *vk.Device, size int) (err error) {
	if size > s.size {
		want := leastBuffer
		for want < size {
			want *= 2
		}
		s.free()
		if s.host, err = vk.NewHostBuffer[byte](d, want); err != nil {
			return err
		}
		s.size = want
	}
	if !s.direct && s.device == nil {
		s.device, err = vk.NewBuffer[byte](d, s.size)
	}
	return err
}

// settled waits until nothing is being copied into or out of the slot's host buffer.
func (s *slot) settled() {
	s.filled.Wait()
	s.emptied.Wait()
}

func (s *slot) free() {
	if s.host != nil {
		s.host.Free()
	}
	if s.device != nil {
		s.device.Free()
	}
	s.host, s.device, s.size = nil, nil, 0
}

// submit records and submits a chunk: the copy in (the first time), the task's work, and the copy out.
func (s *slot) submit(task Task, in bool) error {
	s.filled.Wait() // now, because recording may submit the copy to the device when it waits for earlier work
	if s.direct {
		*s.pending() = 0
	} else {
		s.copyIn(in)
	}
	err := task.Record(s.stream, s.chunk)
	if err == nil && task.Turns != nil {
		err = task.Turns.pass()
	}
	if err != nil {
		// The recorded commands use memory that a later chunk may replace. So do commands that recording has submitted
		// in order to wait for earlier work.
		s.stream.Discard()
		return joint.Error(err, s.stream.Wait(context.Background()))
	}
	if !s.direct {
		s.copyOut()
	}
	if _, err := s.stream.Submit(); err != nil {
		return joint.Error(err, s.stream.Wait(context.Background())) // for what was submitted before
	}
	s.busy = true
	return nil
}

func (s *slot) copyIn(columns bool) {
	s.stream.Concurrent(func() {
		s.stream.Fill(s.device, 0, 4, 0)
		for i, c := range s.columns {
			if columns {
				s.stream.Copy(s.device, s.at[i], s.host, s.at[i], c.words(c.From))
			}
		}
	})
}

func (s *slot) copyOut() {
	s.stream.Concurrent(func() {
		s.stream.Copy(s.host, 0, s.device, 0, 4)
		for i := range s.columns {
			s.stream.Copy(s.host, s.at[i], s.device, s.at[i], s.back(i))
		}
	})
}

// back returns how many bytes of a column come back. The last column also comes back if other results depend on it.
func (s *slot) back(column int) int {
	c := s.columns[column]
	if !c.back() && (column < len(s.columns)-1 || !slices.ContainsFunc(s.columns, Column.asks)) {
		return 0
	}
	return s.chunk.Count * c.Width
}

// found returns the last column, if it came back.
func (s *slot) found(host []byte) []byte {
	last := len(s.columns) - 1
	if last < 0 || s.back(last) == 0 {
		return nil
	}
	return host[s.at[last]:][:s.back(last)]
}

// wait waits for the chunk and returns how many of its operations are pending.
func (s *slot) wait() (int, error) {
	// A cancelled context waits for the chunk's end, which takes some milliseconds.
	if err := s.stream.Wait(context.Background()); err != nil {
		return 0, err
	}
	s.left = int(*s.pending())
	return s.left, nil
}

// pending returns the host's counter of pending operations, which the device may write while the chunk runs.
func (s *slot) pending() *uint32 { return (*uint32)(unsafe.Pointer(unsafe.SliceData(s.host.Slice()))) }

// finish begins to copy out the results of the chunk, concurrently with other chunks if it is large.
func (s *slot) finish(b *batch) {
	host, partly := s.host.Slice(), s.left != 0
	if threads.One(s.laid) {
		s.decode(host, partly)
	} else {
		s.emptied.Go(func() { s.decode(host, partly) })
	}
	s.busy = false
	b.finished = append(b.finished, s.chunk)
	b.done += s.chunk.Count
	b.left -= s.chunk.Count - s.left
	if b.task.Progress != nil {
		b.task.Progress(b.done, b.n)
	}
}
