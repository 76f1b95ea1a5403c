package relational

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// JoinArgs are the operands of Join on a stream.
type JoinArgs struct {
	Lefts, Rights           uint64 // the keys of both sides
	LeftLength, RightLength primitives.Length
	Width                   structures.Width // of the keys
	Kind                    JoinKind
	OutLefts                uint64 // a word for each result: its left row
	OutRights               uint64 // the same for right rows, all bits set for None; not used by Semi and Anti
	Capacity                int    // the most results that are written
	OutCount                uint64 // a number of 64 bits: of all results, also if they are more than Capacity
	Scratch                 uint64 // as many bytes as Scratch says
}

type joinCountPush struct {
	Lower, Upper, Counts uint64
	Length               recording.Length
	Kind                 uint32
}

type joinWritePush struct {
	Offsets, Total, Lower, Upper, Rights, OutLefts, OutRights, First uint64
	Length                                                           recording.Length
	Capacity, RightRows                                              uint32
}

func joinCountKernel() recording.Spec[joinCountPush] {
	return recording.Of[joinCountPush]("relational/join_count", 256)
}

func joinWriteKernel() recording.Spec[joinWritePush] {
	return recording.Of[joinWritePush]("relational/join_write", 256)
}

// joinSteps are the operands of the steps of a join.
type joinSteps struct {
	sort         primitives.SortArgs // of right keys, with their rows
	lower, upper primitives.BoundsArgs
	counts       uint64 // of results of each left row
	scan         primitives.ScanArgs
	args         JoinArgs
	bytes        uint64 // of scratch memory
}

func (a JoinArgs) steps(r *Relational) (j joinSteps) {
	parts := partsOf(a.Scratch)
	lefts, rights := max(0, a.LeftLength.N), max(0, a.RightLength.N)
	j.args = a
	j.sort = primitives.SortArgs{Keys: a.Rights, Values: parts.Take(4 * max(1, rights)),
		OutKeys: parts.Take(rights * a.Width.Bytes()), OutValues: parts.Take(4 * rights), Length: a.RightLength,
		Widths: primitives.Widths{Key: a.Width}}
	j.lower = primitives.BoundsArgs{Keys: j.sort.OutKeys, Length: a.RightLength, Width: a.Width, Queries: a.Lefts,
		Count: a.LeftLength, Out: parts.Take(4 * lefts)}
	j.upper = j.lower
	j.upper.Upper, j.upper.Out = true, parts.Take(4*lefts)
	j.counts = parts.Take(4 * lefts)
	j.scan = primitives.ScanArgs{In: j.counts, Out: parts.Take(8 * lefts), Length: a.LeftLength,
		Sums: structures.Bits64, Total: a.OutCount}
	scratch := parts.Take(max(r.bulk.Scratch(j.sort), r.bulk.Scratch(j.lower), r.bulk.Scratch(j.scan)))
	j.sort.Scratch, j.lower.Scratch, j.upper.Scratch, j.scan.Scratch = scratch, scratch, scratch, scratch
	j.bytes = parts.Used
	return j
}

// shorten makes the left side n rows long, which is no more than before.
func (j *joinSteps) shorten(n int) {
	l := primitives.Length{N: n}
	j.args.LeftLength, j.lower.Count, j.upper.Count, j.scan.Length = l, l, l, l
}

func (a JoinArgs) layout(r *Relational, base uint64) uint64 {
	a.Scratch = base
	return a.steps(r).bytes
}

func (a JoinArgs) table(r *Relational) recording.Table {
	j := a.steps(r)
	return append(recording.KernelsOf[primitives.Operation](r.bulk, j.sort, j.lower, j.upper, j.scan),
		joinCountKernel(), joinWriteKernel())
}

func (a JoinArgs) check() error {
	for what, n := range map[string]int{"left rows": a.LeftLength.N, "right rows": a.RightLength.N,
		"results": a.Capacity} {
		if n < 0 || n > primitives.MaxLength {
			return &structures.CountError{What: what, N: n, Most: primitives.MaxLength}
		}
	}
	if a.Kind > Anti {
		return &vk.OptionError{Option: "Kind", Reason: a.Kind.String() + " is not a kind of joins"}
	}
	if a.Width > structures.Bits64 {
		return &vk.OptionError{Option: "Width", Reason: a.Width.String() + " is not a width of keys"}
	}
	lefts, rights, results := a.LeftLength.N > 0, a.RightLength.N > 0, a.Capacity > 0
	if a.OutCount == 0 || a.Scratch == 0 || lefts && a.Lefts == 0 || rights && a.Rights == 0 ||
		results && (a.OutLefts == 0 || a.Kind.pairs() && a.OutRights == 0) {
		return primitives.ErrNoMemory
	}
	return nil
}

// Join records a join, whose results are in the order of relational.Join. If there are more of them than Capacity, the
// first ones are written, and OutCount has the number of all.
//
// Errors: *structures.CountError, *vk.OptionError, primitives.ErrNoMemory, vk.ErrClosed, that of a stream of another
// device, and those of making a kernel.
func (o OnStream) Join(a JoinArgs) error {
	if err := o.err(); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	return o.s.Whole(func() error {
		j := a.steps(o.r)
		if err := o.r.recordRights(o.s, j); err != nil {
			return err
		}
		if err := o.r.recordCount(o.s, j); err != nil {
			return err
		}
		return o.r.recordWrite(o.s, j, 0)
	})
}

// recordRights records the sort of the right side.
func (r *Relational) recordRights(s *vk.Stream, j joinSteps) error {
	if err := r.bulk.Iota(s, j.sort.Values, j.sort.Length.N); err != nil {
		return err
	}
	return r.bulk.Sort(s, j.sort)
}

// recordCount records how many results each left row has, and how many there are before it.
func (r *Relational) recordCount(s *vk.Stream, j joinSteps) error {
	for _, b := range []primitives.BoundsArgs{j.lower, j.upper} {
		if err := r.bulk.Bounds(s, b); err != nil {
			return err
		}
	}
	k, err := joinCountKernel().Kernel(r.kernels, s)
	if err != nil {
		return err
	}
	length := deviceLength(j.args.LeftLength)
	if n := j.args.LeftLength.N; n > 0 {
		k.Dispatch(s, groups(n, k.Workgroup()), joinCountPush{j.lower.Out, j.upper.Out, j.counts, length,
			uint32(j.args.Kind)})
	}
	return r.bulk.Scan(s, j.scan)
}

// recordWrite records the writing of results, from the one numbered first on.
func (r *Relational) recordWrite(s *vk.Stream, j joinSteps, first uint64) error {
	k, err := joinWriteKernel().Kernel(r.kernels, s)
	if err != nil {
		return err
	}
	a := j.args
	push := joinWritePush{Offsets: j.scan.Out, Total: a.OutCount, Lower: j.lower.Out, Upper: j.upper.Out,
		Rights: j.sort.OutValues, OutLefts: a.OutLefts, First: first, Length: deviceLength(a.LeftLength),
		Capacity: uint32(a.Capacity), RightRows: uint32(a.RightLength.N)}
	if a.Kind.pairs() {
		push.OutRights = a.OutRights
	}
	if a.Capacity > 0 {
		k.Dispatch(s, groups(a.Capacity, k.Workgroup()), push)
	}
	return nil
}

func deviceLength(l primitives.Length) recording.Length {
	return recording.Length{At: l.At, N: uint32(l.N)}
}

func groups(n, each int) int { return (n + each - 1) / each }
