// Package runs answers queries over a stack of sorted runs, which is what the sorted array and the LSM are made of:
// lookups, counts, ranges and neighbours (Ashkiani et al., GPU LSM: A Dynamic Dictionary Data Structure for the GPU,
// 2018, sections III-D, III-E and IV-B to IV-D).
//
// Nothing here waits and nothing allocates: a query is recorded into a vk.Stream, works on memory that is given by
// device addresses, and takes its temporary memory from the caller. Where a kernel can't be made, the stream drops its
// batch, unless the caller records within vk.Stream.Whole. The function named …Scratch says how many bytes
// that is; scratch is aligned to 256 bytes, arrays of words to 4, keys and values to their size,
// unless said otherwise. Runs don't change while
// queries over them run.
package runs

import (
	"math/bits"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Stack is up to 32 sorted runs in device memory, the newest first. It is RunStack of
// shaders/runs/sorted_run.glsl, and goes into push constants as it stands.
//
// In a run, keys ascend and equal keys stand in order of time, the oldest first. Of a key's pairs the last one of the
// newest run that has the key is valid; if that is a tombstone, none is.
type Stack struct {
	Rows  uint64 // the address of StackRows rows, each a Row
	Full  uint32 // bit i: row i+1 is full; else it is empty
	Unit  uint32 // row i+1 has Unit << i pairs when it is full
	Front uint32 // the pairs of row 0, the newest
}

// StackRows is how many rows a stack's array has, whether they are in use or not.
const StackRows = 32

// Row is the memory of one run, by device addresses.
type Row struct {
	Keys   uint64 // aligned to 128 bytes and with room for Padded(w, n) where the row has an index
	Values uint64
	// Tombstones is a bit a pair, in words of 32, or 0: the run has none. Pair i is a tombstone if its value is ~0 and
	// its bit is set; the bits of all other pairs are 0.
	Tombstones uint64
	Index      uint64 // IndexKeys(w, n) keys that BuildIndex wrote, aligned to 128 bytes; or 0: searched by bisection
}

// Pairs is how many pairs all runs have together, tombstones and stale ones among them.
func (st Stack) Pairs() uint64 { return uint64(st.Front) + uint64(st.Unit)*uint64(st.Full) }

// Runs is how many runs have pairs.
func (st Stack) Runs() int { return bits.OnesCount32(st.Full) + min(1, int(st.Front)) }

// nodeOf is how many keys a node of an index has, RUN_NODE of shaders/runs/sorted_run.glsl: 128 bytes of them.
func nodeOf(w structures.Width) int { return 128 / w.Bytes() }

// Padded is how many keys the array of a run of n pairs must have room for where it has an index: BuildIndex fills it
// up to whole nodes.
func Padded(w structures.Width, n int) int { return groups(n, nodeOf(w)) * nodeOf(w) }

// IndexKeys is how many keys the index of a run of n pairs has room for.
func IndexKeys(w structures.Width, n int) (keys int) {
	for n > nodeOf(w) {
		n = groups(n, nodeOf(w))
		keys += Padded(w, n)
	}
	return keys
}

// Queries are the operations on one device, on runs whose keys and values are of one width. Kernels are made when they
// are first recorded, and kept. Several goroutines may use one Queries, each with streams of its own.
type Queries struct {
	d     *vk.Device
	p     *primitives.Primitives
	w     structures.Width // of keys and values,
	bytes int              // which take so many

	each, sorted layout // of searches for queries as they come, and for sorted ones
	merging      mergeLayout

	kernels *recording.Kernels
}

// New makes the queries of a device, over primitives of the same device, which must live as long.
func New(d *vk.Device, p *primitives.Primitives, w structures.Width) *Queries {
	q := &Queries{d: d, p: p, w: w, bytes: w.Bytes(), merging: mergeLayoutFor(d), kernels: recording.NewKernels(d)}
	q.each, q.sorted = layoutsFor(d)
	return q
}

// sized is the name of the module of a kernel that sees keys or values.
func (q *Queries) sized(kernel string) string { return recording.Sized(kernel, q.w) }

// numbered are the widths of keys that are sorted with the numbers of their operations.
func (q *Queries) numbered() primitives.Widths { return primitives.Widths{Key: q.w} }

// Close ends the use of the queries, after their work has ended. Further calls do nothing; queries recorded
// afterwards return vk.ErrClosed.
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
