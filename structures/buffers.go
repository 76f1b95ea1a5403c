package structures

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// Made says for which Width the buffers of a batch were made, so that a structure of another one refuses the batch. The
// zero value says nothing: the buffers are the caller's own.
type Made struct {
	width Width
	known bool
}

// MadeFor says that buffers were made for pairs of that width.
func MadeFor(w Width) Made { return Made{w, true} }

// Check returns *vk.OptionError if the buffers were made for another width than that of a structure.
func (m Made) Check(w Width) error {
	if !m.known || m.width == w {
		return nil
	}
	return &vk.OptionError{Option: "Made", Reason: fmt.Sprintf("the buffers were made for pairs of %v, and the "+
		"structure has pairs of %v: make them with its PairWidth", m.width, w)}
}

// NewDeviceBatch makes the buffers of a batch of up to n operations: Keys, Status and Left, Values unless kind is
// Delete, and Kinds if kind is Mixed. It makes no buffers for ordered queries (FindSuccessor to CountRange). Call Clear
// before the batch is recorded for the first time.
//
// w is the width at which the structure stores its pairs: the PairWidth of its types, or for a set the WidthOf its
// keys.
//
// Errors: *vk.OutOfMemoryError, *vk.LimitError.
func NewDeviceBatch(d *vk.Device, w Width, kind Kind, n int) (DeviceBatch, error) {
	b := DeviceBatch{Count: n, Made: MadeFor(w)}
	m := maker{d: d, w: w}
	b.Keys, b.Status, b.Left = numbers(&m, n, 1), bytes(&m, n), buffer[uint32](&m, 1)
	if kind != Delete {
		b.Values = numbers(&m, n, 1)
	}
	if kind == Mixed {
		b.Kinds = bytes(&m, n)
	}
	return b, m.done(b.Free)
}

// Clear records that Left is set to 0. Call it before the buffers are used for another batch.
func (b DeviceBatch) Clear(s *vk.Stream) { clearLeft(s, b.Left) }

// Free frees all buffers of the batch, also those that the caller put into it. Wait for the work that uses them first.
func (b DeviceBatch) Free() {
	free(b.DeviceCount, b.Keys, b.Values, b.Left, b.Highs, b.OutKeys, b.OutValues, b.Windows)
	free(b.Kinds, b.Status)
}

// NewDeviceLookups makes the buffers of up to n lookups. It makes both Found and FoundBits. Errors: those of
// NewDeviceBatch.
func NewDeviceLookups(d *vk.Device, w Width, n int) (DeviceLookups, error) {
	m := maker{d: d, w: w}
	l := DeviceLookups{
		Made: MadeFor(w), Count: n, Keys: numbers(&m, n, 1), Values: numbers(&m, n, 1), Found: bytes(&m, n),
		FoundBits: buffer[uint32](&m, (n+31)/32),
	}
	return l, m.done(l.Free)
}

// Free frees the buffers.
func (l DeviceLookups) Free() {
	free(l.DeviceCount, l.Keys, l.Values, l.FoundBits)
	free(l.Found)
}

// NewDeviceCounts makes the buffers to count the keys of up to n ranges, without Candidates. Errors: those of
// NewDeviceBatch.
func NewDeviceCounts(d *vk.Device, w Width, n int) (DeviceCounts, error) {
	m := maker{d: d, w: w}
	c := DeviceCounts{Made: MadeFor(w), Count: n, Ranges: numbers(&m, n, 2), Counts: buffer[uint32](&m, n)}
	return c, m.done(c.Free)
}

// Free frees the buffers.
func (c DeviceCounts) Free() {
	free(c.DeviceCount, c.Ranges, c.Counts)
	free(c.Candidates)
}

// NewDeviceRanges makes the buffers of up to n ranges that together have up to the given number of pairs. Errors: those
// of NewDeviceBatch.
func NewDeviceRanges(d *vk.Device, w Width, n, pairs int) (DeviceRanges, error) {
	m := maker{d: d, w: w}
	r := DeviceRanges{
		Made: MadeFor(w), Count: n, Ranges: numbers(&m, n, 2), Offsets: buffer[uint32](&m, n+1),
		Keys: numbers(&m, pairs, 1), Values: numbers(&m, pairs, 1), Candidates: buffer[uint64](&m, 1),
	}
	return r, m.done(r.Free)
}

// Free frees the buffers.
func (r DeviceRanges) Free() {
	free(r.DeviceCount, r.Ranges, r.Offsets, r.Keys, r.Values)
	free(r.Candidates)
}

// NewDeviceWindow makes the buffers of up to n ranges, with room for width pairs of each. Errors: those of
// NewDeviceBatch.
func NewDeviceWindow(d *vk.Device, w Width, n, width int) (DeviceWindow, error) {
	m := maker{d: d, w: w}
	of := DeviceWindow{
		Made: MadeFor(w), Count: n, Width: width, Ranges: numbers(&m, n, 2), Counts: buffer[uint32](&m, n),
		Keys: numbers(&m, n, width), Values: numbers(&m, n, width),
	}
	return of, m.done(of.Free)
}

// Free frees the buffers.
func (w DeviceWindow) Free() { free(w.DeviceCount, w.Ranges, w.Keys, w.Values, w.Counts) }

// NewDeviceRanks makes the buffers to find the ranks of up to n keys. Errors: those of NewDeviceBatch.
func NewDeviceRanks(d *vk.Device, w Width, n int) (DeviceRanks, error) {
	m := maker{d: d, w: w}
	r := DeviceRanks{Made: MadeFor(w), Count: n, Keys: numbers(&m, n, 1), Ranks: buffer[uint32](&m, n)}
	return r, m.done(r.Free)
}

// Free frees the buffers.
func (r DeviceRanks) Free() { free(r.DeviceCount, r.Keys, r.Ranks) }

// NewDeviceExport makes the buffers to export up to the given number of pairs. Errors: those of NewDeviceBatch.
func NewDeviceExport(d *vk.Device, w Width, pairs int) (DeviceExport, error) {
	m := maker{d: d, w: w}
	e := DeviceExport{
		Made: MadeFor(w), Keys: numbers(&m, pairs, 1), Values: numbers(&m, pairs, 1), Total: buffer[uint32](&m, 1),
	}
	return e, m.done(e.Free)
}

// Free frees the buffers.
func (e DeviceExport) Free() { free(e.Keys, e.Values, e.Total) }

// NewDeviceNeighbors makes the buffers to find the neighbors of up to n keys. Call Clear before the batch is recorded
// for the first time. Errors: those of NewDeviceBatch.
func NewDeviceNeighbors(d *vk.Device, w Width, n int) (DeviceNeighbors, error) {
	m := maker{d: d, w: w}
	q := DeviceNeighbors{
		Made: MadeFor(w), Count: n, Keys: numbers(&m, n, 1), OutKeys: numbers(&m, n, 1), OutValues: numbers(&m, n, 1),
		Status: bytes(&m, n), Left: buffer[uint32](&m, 1),
	}
	return q, m.done(q.Free)
}

// Clear records that Left is set to 0.
func (n DeviceNeighbors) Clear(s *vk.Stream) { clearLeft(s, n.Left) }

// clearLeft records that Left is set to 0 if the batch has it.
func clearLeft(s *vk.Stream, left *vk.Buffer[uint32]) {
	if left != nil {
		s.Fill(left, 0, 1, 0)
	}
}

// Free frees the buffers.
func (n DeviceNeighbors) Free() {
	free(n.DeviceCount, n.Keys, n.OutKeys, n.OutValues, n.Left)
	free(n.Status)
}

// maker makes buffers until one of them fails.
type maker struct {
	d   *vk.Device
	w   Width // of keys and values
	err error
}

func buffer[T vk.Element](m *maker, n int) *vk.Buffer[T] {
	if m.err != nil {
		return nil
	}
	b, err := vk.NewBuffer[T](m.d, n)
	m.err = err
	return b
}

// numbers makes a buffer for n times each keys or values.
func numbers(m *maker, n, each int) *vk.Buffer[uint32] {
	over, words := bits.Mul64(uint64(n), uint64(each)<<m.w)
	if n < 0 || each < 0 || over != 0 || words > math.MaxInt {
		words = math.MaxInt // more than any device has
	}
	return buffer[uint32](m, int(words))
}

// bytes makes a buffer of n bytes, padded to whole words, because kernels write words.
func bytes(m *maker, n int) *vk.Buffer[uint8] {
	if n < 0 {
		return buffer[uint8](m, n)
	}
	return buffer[uint8](m, (n+3)&^3)
}

// done returns the first error. If there is one, it calls free.
func (m *maker) done(free func()) error {
	if m.err != nil {
		free()
	}
	return m.err
}

func free[T vk.Element](all ...*vk.Buffer[T]) {
	for _, b := range all {
		b.Free()
	}
}
