package runs

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Memory is the device memory of one run.
type Memory struct {
	b                                *vk.Buffer[uint32]
	w                                structures.Width
	n                                int // room for pairs
	values, tombstones, index, words int // where the parts begin, in words; the keys begin at 0
}

// align is the alignment of the parts of a Memory, in words: 256 bytes.
const align = 64

// layOut divides the memory of a run of up to n pairs of a width.
func layOut(w structures.Width, n int) *Memory {
	m := &Memory{w: w, n: n}
	take := func(words int) int {
		at := m.words
		m.words += (words + align - 1) &^ (align - 1)
		return at
	}
	wide := w.Bytes() / 4
	take(wide * Padded(w, n))
	m.values, m.tombstones, m.index = take(wide*n), take(groups(n, 32)), take(wide*IndexKeys(w, n))
	return m
}

// MemoryBytes returns the size of the memory of a run of up to n pairs of a width.
func MemoryBytes(w structures.Width, n int) uint64 { return 4 * uint64(layOut(w, n).words) }

// NewMemory allocates memory for a run of up to n pairs. Its contents are undefined.
func NewMemory(d *vk.Device, w structures.Width, n int) (*Memory, error) {
	m := layOut(w, n)
	var err error
	if m.b, err = vk.NewBuffer[uint32](d, m.words); err != nil {
		return nil, err
	}
	return m, nil
}

// Room returns the number of pairs for which there is room.
func (m *Memory) Room() int { return m.n }

// Bytes returns the size in bytes.
func (m *Memory) Bytes() uint64 { return m.b.Bytes() }

// Free frees the memory. It does nothing if m is nil or free already.
func (m *Memory) Free() {
	if m != nil {
		m.b.Free()
	}
}

// Row returns the row of a stack for the run, with or without the bitmap of tombstones.
func (m *Memory) Row(tombstones bool) Row {
	r := Row{Keys: m.b.Address(), Values: m.b.AddressOf(m.values), Index: m.b.AddressOf(m.index)}
	if tombstones {
		r.Tombstones = m.b.AddressOf(m.tombstones)
	}
	return r
}

// Buffer returns the memory as a buffer of words, for uploads.
func (m *Memory) Buffer() *vk.Buffer[uint32] { return m.b }

// ValuesAt returns the index in Buffer of the first value. The keys begin at 0.
func (m *Memory) ValuesAt() int { return m.values }

// FillIndex records that the words of the index are set to ~0. The part of the index that Merge does not write must
// have this value.
func (m *Memory) FillIndex(s *vk.Stream) {
	s.Fill(m.b, m.index, IndexKeys(m.w, m.n)<<m.w, ^uint32(0))
}

// ClearTombstones records that no pair of n is a tombstone.
func (m *Memory) ClearTombstones(s *vk.Stream, n int) {
	s.Fill(m.b, m.tombstones, groups(n, 32), 0)
}
