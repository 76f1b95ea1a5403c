package structures

import "github.com/vkds/vkds/vk"

// NewDeviceBatch makes the buffers that a batch of up to n operations of a kind takes, but for those that operations
// ask for that go by order: Keys, Values unless it is of Delete, Kinds if it is Mixed, Status and Left. Clear it before
// it is recorded first. Errors: *vk.OutOfMemoryError, *vk.TooLargeError.
func NewDeviceBatch(d *vk.Device, kind Kind, n int) (DeviceBatch, error) {
	b := DeviceBatch{Count: n}
	m := maker{d: d}
	b.Keys, b.Status, b.Left = buffer[uint32](&m, n), bytes(&m, n), buffer[uint32](&m, 1)
	if kind != Delete {
		b.Values = buffer[uint32](&m, n)
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
func NewDeviceLookups(d *vk.Device, n int) (DeviceLookups, error) {
	m := maker{d: d}
	l := DeviceLookups{
		Count: n, Keys: buffer[uint32](&m, n), Values: buffer[uint32](&m, n), Found: bytes(&m, n),
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
func NewDeviceCounts(d *vk.Device, n int) (DeviceCounts, error) {
	m := maker{d: d}
	c := DeviceCounts{Count: n, Ranges: buffer[uint32](&m, 2*n), Counts: buffer[uint32](&m, n)}
	return c, m.done(c.Free)
}

// Free frees the buffers.
func (c DeviceCounts) Free() {
	free(c.DeviceCount, c.Ranges, c.Counts)
	free(c.Candidates)
}

// NewDeviceRanges makes the buffers of up to n ranges that have so many pairs together. Errors as NewDeviceBatch's.
func NewDeviceRanges(d *vk.Device, n, pairs int) (DeviceRanges, error) {
	m := maker{d: d}
	r := DeviceRanges{
		Count: n, Ranges: buffer[uint32](&m, 2*n), Offsets: buffer[uint32](&m, n+1),
		Keys: buffer[uint32](&m, pairs), Values: buffer[uint32](&m, pairs), Candidates: buffer[uint64](&m, 1),
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
func NewDeviceWindow(d *vk.Device, n, width int) (DeviceWindow, error) {
	m := maker{d: d}
	w := DeviceWindow{
		Count: n, Width: width, Ranges: buffer[uint32](&m, 2*n), Counts: buffer[uint32](&m, n),
		Keys: buffer[uint32](&m, n*width), Values: buffer[uint32](&m, n*width),
	}
	return w, m.done(w.Free)
}

// Free frees the buffers.
func (w DeviceWindow) Free() { free(w.DeviceCount, w.Ranges, w.Keys, w.Values, w.Counts) }

// NewDeviceRanks makes the buffers of up to n keys whose ranks are asked for. Errors as NewDeviceBatch's.
func NewDeviceRanks(d *vk.Device, n int) (DeviceRanks, error) {
	m := maker{d: d}
	r := DeviceRanks{Count: n, Keys: buffer[uint32](&m, n), Ranks: buffer[uint32](&m, n)}
	return r, m.done(r.Free)
}

// Free frees the buffers.
func (r DeviceRanks) Free() { free(r.DeviceCount, r.Keys, r.Ranks) }

// NewDeviceExport makes the buffers of an export of up to so many pairs. Errors as NewDeviceBatch's.
func NewDeviceExport(d *vk.Device, pairs int) (DeviceExport, error) {
	m := maker{d: d}
	e := DeviceExport{
		Keys: buffer[uint32](&m, pairs), Values: buffer[uint32](&m, pairs), Total: buffer[uint32](&m, 1),
	}
	return e, m.done(e.Free)
}

// Free frees the buffers.
func (e DeviceExport) Free() { free(e.Keys, e.Values, e.Total) }

// NewDeviceNeighbors makes the buffers of up to n searches for neighbors. Clear them before they are recorded first.
// Errors as NewDeviceBatch's.
func NewDeviceNeighbors(d *vk.Device, n int) (DeviceNeighbors, error) {
	m := maker{d: d}
	q := DeviceNeighbors{
		Count: n, Keys: buffer[uint32](&m, n), OutKeys: buffer[uint32](&m, n), OutValues: buffer[uint32](&m, n),
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
