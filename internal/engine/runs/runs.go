// Package runs has queries over a stack of sorted runs, of which the sorted array and the LSM consist: lookups, counts,
// ranges and neighbors (Ashkiani et al., GPU LSM: A Dynamic Dictionary Data Structure for the GPU, 2018, sections
// III-D, III-E and IV-B to IV-D).
//
// A query is recorded into a vk.Stream. It does not wait and allocates nothing: memory is given by device addresses,
// and the caller provides scratch memory. Methods named …Scratch return how many bytes. Scratch is aligned to 256
// bytes, arrays of words to 4, and keys and values to their size, unless said otherwise. If a kernel can't be made, the
// stream drops its batch, unless the caller records within vk.Stream.Whole. Runs must not change while queries run.
package runs

import (
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Stack is up to 32 sorted runs in device memory, the newest first. Put it into push constants unchanged: it is
// RunStack of shaders/runs/sorted_run.glsl.
//
// In a run, keys ascend, and equal keys are in order of time, the oldest first. For each key, the last pair in the
// newest run that has the key is valid. If that is a tombstone, no pair of the key is valid.
type Stack struct {
	Rows  uint64 // the address of StackRows rows, each a Row
	Full  uint32 // bit i: row i+1 is full; otherwise it is empty
	Unit  uint32 // row i+1 has Unit << i pairs when it is full
	Front uint32 // the pairs of row 0, the newest
}

// StackRows is the number of rows of a stack's array, used or not.
const StackRows = 32

// Row is the memory of one run, by device addresses.
type Row struct {
	Keys   uint64 // if the row has an index: aligned to 128 bytes, with room for Padded(w, n)
	Values uint64
	// Tombstones has a bit for each pair, in words of 32, or is 0 if the run has none. Pair i is a tombstone if its
	// value is ~0 and its bit is set; the bits of all other pairs are 0.
	Tombstones uint64
	Index      uint64 // IndexKeys(w, n) keys written by BuildIndex, aligned to 128 bytes; 0: search by bisection
}

// Pairs returns the number of pairs in all runs, including tombstones and stale ones.
func (st Stack) Pairs() uint64 { return uint64(st.Front) + uint64(st.Unit)*uint64(st.Full) }

// Runs returns the number of runs that have pairs.
func (st Stack) Runs() int { return bits.OnesCount32(st.Full) + min(1, int(st.Front)) }

// nodeOf returns the number of keys in a node of an index, RUN_NODE of shaders/runs/sorted_run.glsl: 128 bytes.
func nodeOf(w structures.Width) int { return 128 / w.Bytes() }

// Padded returns how many keys the array of a run of n pairs must have room for if it has an index, because BuildIndex
// fills it up to whole nodes.
func Padded(w structures.Width, n int) int { return groups(n, nodeOf(w)) * nodeOf(w) }

// IndexKeys returns the number of keys in the index of a run of n pairs.
func IndexKeys(w structures.Width, n int) (keys int) {
	for n > nodeOf(w) {
		n = groups(n, nodeOf(w))
		keys += Padded(w, n)
	}
	return keys
}

// Queries records the queries of one device, on runs whose keys and values have one width. It makes a kernel when it
// first records it, and keeps it. Several goroutines may use one Queries, each with its own streams.
type Queries struct {
	d     *vk.Device
	p     *primitives.Primitives
	w     structures.Width // of keys and values
	bytes int              // of a key or a value

	each, sorted layout // of searches for queries in any order, and for sorted ones
	merging      mergeLayout

	of      kernels
	kernels *recording.Kernels
}

// New makes the queries of a device, over primitives of the same device. Close the primitives later.
func New(d *vk.Device, p *primitives.Primitives, w structures.Width) *Queries {
	q := &Queries{d: d, p: p, w: w, bytes: w.Bytes(), merging: mergeLayoutFor(d), kernels: recording.NewKernels(d)}
	q.each, q.sorted = layoutsFor(d)
	q.of = q.describe()
	return q
}

// numbered returns the widths of keys that are sorted with the indices of their operations.
func (q *Queries) numbered() primitives.Widths { return primitives.Widths{Key: q.w} }

// Close ends the use of the queries. Their work must have ended. Further calls do nothing; queries recorded afterwards
// return vk.ErrClosed.
func (q *Queries) Close() error {
	q.kernels.Close()
	return nil
}

// MaxQueries is the most queries of one call.
const MaxQueries = 1 << 30

func check(n int) error {
	if n < 0 || n > MaxQueries {
		return &structures.CountError{What: "queries", N: n, Most: MaxQueries}
	}
	return nil
}

func groups(n, each int) int { return (n + each - 1) / each }
