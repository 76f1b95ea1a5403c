package structures

import (
	"math"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// NewDeviceBatch makes the buffers of a batch of up to n operations of one kind, or Mixed: Keys, Values unless the kind
// is Delete, Kinds if it is Mixed, Status and Left. It makes none for operations that ask for order. Call Clear before
// the batch is first recorded.
//
// w is the width at which the structure stores its pairs: PairWidth of its types, for a set the WidthOf its keys.
//
// Errors: *vk.OutOfMemoryError, *vk.TooLargeError.
func NewDeviceBatch(d *vk.Device, w Width, kind Kind, n int) (DeviceBatch, error) {
	b := DeviceBatch{Count: n}
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

// Clear records that no operation is left pending any more, as it has to be before a batch's buffers are used again.
func (b DeviceBatch) Clear(s *vk.Stream) { clearLeft(s, b.Left) }

// Free frees the buffers, those that were put into the batch by hand, too, behind the work that was waited for.
func (b DeviceBatch) Free() {
	free(b.DeviceCount, b.Keys, b.Values, b.Left, b.Highs, b.OutKeys, b.OutValues, b.Windows)
	free(b.Kinds, b.Status)
}

// NewDeviceLookups makes the buffers of up to n lookups, whose answers are found as bytes and as bits. Errors as
// NewDeviceBatch's.
func NewDeviceLookups(d *vk.Device, w Width, n int) (DeviceLookups, error) {
	m := maker{d: d, w: w}
	l := DeviceLookups{
		Count: n, Keys: numbers(&m, n, 1), Values: numbers(&m, n, 1), Found: bytes(&m, n),
		FoundBits: buffer[uint32](&m, (n+31)/32),
	}
	return l, m.done(l.Free)
}

// Free frees the buffers.
func (l DeviceLookups) Free() {
	free(l.DeviceCount, l.Keys, l.Values, l.FoundBits)
	free(l.Found)
}

// NewDeviceCounts makes the buffers of up to n ranges whose keys are to be counted, without Candidates. Errors as
// NewDeviceBatch's.
func NewDeviceCounts(d *vk.Device, w Width, n int) (DeviceCounts, error) {
	m := maker{d: d, w: w}
	c := DeviceCounts{Count: n, Ranges: numbers(&m, n, 2), Counts: buffer[uint32](&m, n)}
	return c, m.done(c.Free)
}

// Free frees the buffers.
func (c DeviceCounts) Free() {
	free(c.DeviceCount, c.Ranges, c.Counts)
	free(c.Candidates)
}

// NewDeviceRanges makes the buffers of up to n ranges that have so many pairs together. Errors as NewDeviceBatch's.
func NewDeviceRanges(d *vk.Device, w Width, n, pairs int) (DeviceRanges, error) {
	m := maker{d: d, w: w}
	r := DeviceRanges{
		Count: n, Ranges: numbers(&m, n, 2), Offsets: buffer[uint32](&m, n+1),
		Keys: numbers(&m, pairs, 1), Values: numbers(&m, pairs, 1), Candidates: buffer[uint64](&m, 1),
	}
	return r, m.done(r.Free)
}

// Free frees the buffers.
func (r DeviceRanges) Free() {
	free(r.DeviceCount, r.Ranges, r.Offsets, r.Keys, r.Values)
	free(r.Candidates)
}

// NewDeviceWindow makes the buffers of up to n ranges of which so many pairs each are asked for. Errors as
// NewDeviceBatch's.
func NewDeviceWindow(d *vk.Device, w Width, n, width int) (DeviceWindow, error) {
	m := maker{d: d, w: w}
	of := DeviceWindow{
		Count: n, Width: width, Ranges: numbers(&m, n, 2), Counts: buffer[uint32](&m, n),
		Keys: numbers(&m, n, width), Values: numbers(&m, n, width),
	}
	return of, m.done(of.Free)
}

// Free frees the buffers.
func (w DeviceWindow) Free() { free(w.DeviceCount, w.Ranges, w.Keys, w.Values, w.Counts) }

// NewDeviceRanks makes the buffers of up to n keys whose ranks are asked for. Errors as NewDeviceBatch's.
func NewDeviceRanks(d *vk.Device, w Width, n int) (DeviceRanks, error) {
	m := maker{d: d, w: w}
	r := DeviceRanks{Count: n, Keys: numbers(&m, n, 1), Ranks: buffer[uint32](&m, n)}
	return r, m.done(r.Free)
}

// Free frees the buffers.
func (r DeviceRanks) Free() { free(r.DeviceCount, r.Keys, r.Ranks) }

// NewDeviceExport makes the buffers of an export of up to so many pairs. Errors as NewDeviceBatch's.
func NewDeviceExport(d *vk.Device, w Width, pairs int) (DeviceExport, error) {
	m := maker{d: d, w: w}
	e := DeviceExport{
		Keys: numbers(&m, pairs, 1), Values: numbers(&m, pairs, 1), Total: buffer[uint32](&m, 1),
	}
	return e, m.done(e.Free)
}

// Free frees the buffers.
func (e DeviceExport) Free() { free(e.Keys, e.Values, e.Total) }

// NewDeviceNeighbors makes the buffers of up to n searches for neighbors. Clear them before they are recorded first.
// Errors as NewDeviceBatch's.
func NewDeviceNeighbors(d *vk.Device, w Width, n int) (DeviceNeighbors, error) {
	m := maker{d: d, w: w}
	q := DeviceNeighbors{
		Count: n, Keys: numbers(&m, n, 1), OutKeys: numbers(&m, n, 1), OutValues: numbers(&m, n, 1),
		Status: bytes(&m, n), Left: buffer[uint32](&m, 1),
	}
	return q, m.done(q.Free)
}

// Clear records that no search is left pending any more.
func (n DeviceNeighbors) Clear(s *vk.Stream) { clearLeft(s, n.Left) }

// clearLeft records that a batch's word is 0, where it has one.
func clearLeft(s *vk.Stream, left *vk.Buffer[uint32]) {
	if left != nil {
		s.Fill(left, 0, 4, 0)
	}
}

// Free frees the buffers.
func (n DeviceNeighbors) Free() {
	free(n.DeviceCount, n.Keys, n.OutKeys, n.OutValues, n.Left)
	free(n.Status)
}

// maker makes buffers until one can't be had.
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

// numbers are n times so many keys or values.
func numbers(m *maker, n, each int) *vk.Buffer[uint32] {
	over, words := bits.Mul64(uint64(n), uint64(each)<<m.w)
	if n < 0 || each < 0 || over != 0 || words > math.MaxInt {
		words = math.MaxInt // more than any device has
	}
	return buffer[uint32](m, int(words))
}

// bytes are padded to whole words, as kernels write them.
func bytes(m *maker, n int) *vk.Buffer[uint8] {
	if n < 0 {
		return buffer[uint8](m, n)
	}
	return buffer[uint8](m, (n+3)&^3)
}

// done frees all where not all could be made.
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
