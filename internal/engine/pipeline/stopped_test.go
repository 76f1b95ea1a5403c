package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// A batch that stops returns how many operations are left, and sets the statuses of unfinished operations to Pending:
// those of chunks that Record refused or that never began, and the pending ones of a chunk that was given up.
func TestLeft(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		f := newRig(t, 10, direct)
		// four bytes an operation, as the kernel copies words
		in, status := make([]uint32, 60), make([]structures.Status, 4*60)
		for i := range in {
			in[i] = 0x01010101
		}
		for i := range status {
			status[i] = 77
		}
		statuses := Statuses(status)
		statuses.Width = 4
		task := f.task()
		record := task.Record
		task.Record = func(s *vk.Stream, c Chunk) error {
			if c.First == 40 {
				return errTest
			}
			return record(s, c)
		}
		f.pendings = []uint32{0, 0, 3}
		left, err := f.f.Run(t.Context(), 60, []Column{In(in), statuses}, task)
		require.ErrorIs(t, err, errTest)
		require.Equal(t, 23, left, "those of the last two chunks, and the pending ones of one that was in flight")
		for i, s := range status {
			want := structures.Status(1)
			if i >= 4*40 {
				want = structures.Pending
			}
			require.Equal(t, want, s, "byte %d", i)
		}

		f.records, f.pendings = nil, []uint32{0, 4}
		task = f.task()
		task.Recover = nil // it is not called
		task.Record = func(s *vk.Stream, c Chunk) error {
			if c.First == 20 {
				return errTest
			}
			return f.task().Record(s, c)
		}
		left, err = f.f.Run(t.Context(), 60, []Column{In(in), statuses}, task)
		require.ErrorIs(t, err, errTest)
		require.Equal(t, 44, left)
	})
}

// Founds tells which operations found their key, for any number of statuses, at any place.
func TestDecodeFounds(t *testing.T) {
	for n := range 40 {
		statuses, want := make([]byte, n), make([]byte, n)
		for i := range statuses {
			s := []structures.Status{structures.Found, structures.Absent, structures.Pending}[(i*i+n)%3]
			statuses[i] = byte(s)
			if s == structures.Found {
				want[i] = 1
			}
		}
		decodeFounds(statuses)
		require.Equal(t, want, statuses)
	}
}

// A batch is divided into its parts as long as these are large enough, and into chunks no larger than the device's.
func TestParts(t *testing.T) {
	p := &Pool{chunk: 1 << 21}
	for _, c := range []struct{ n, parts, chunk int }{
		{1 << 26, 8, 1 << 21}, {1 << 22, 8, 1 << 19}, {1<<22 + 9, 8, 1<<19 + 2}, {1 << 20, 8, 1 << 19}, {5, 8, 1 << 19},
		{1 << 26, 0, 1 << 21}, {1 << 22, 0, 1 << 21}, {1 << 20, 2, 1 << 19}, {1 << 22, 2, 1 << 21},
	} {
		require.Equal(t, c.chunk, (&line{of: p}).chunkOf(&batch{n: c.n, task: Task{Parts: c.parts}}), c)
	}
	p.chunk = 1 << 17
	require.Equal(t, 1<<17, (&line{of: p}).chunkOf(&batch{n: 1 << 26, task: Task{Parts: 8}}))
}
