package relational

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// joining is a call of Join without type parameters.
type joining struct {
	lefts, rights int // lengths of the slices
	left, right   pipeline.Column
	width         structures.Width
	kind          JoinKind
}

// joined is the results of a join.
type joined struct{ lefts, rights []int32 }

func (r *Relational) join(ctx context.Context, j joining) (lefts, rights []int32, err error) {
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	if err := j.check(); err != nil {
		return nil, nil, err
	}
	var all joined
	err = r.inside(ctx, func(s *vk.Stream) error {
		rows := min(max(j.lefts, leastRows), mostRows)
		for rows > leastRows && j.memory(r, rows, 0).end > uint64(r.maxBytes) {
			rows /= 2
		}
		if bytes := j.memory(r, rows, 0).end; bytes > uint64(r.maxBytes) {
			return &vk.OutOfMemoryError{Bytes: bytes, Budget: uint64(r.maxBytes)}
		}
		for {
			var err error
			all, err = r.joinBy(ctx, s, j, rows)
			if !pipeline.Short(err) || rows <= leastRows {
				return err
			}
			rows /= 2
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return all.lefts, all.rights, nil
}

func (j joining) check() error {
	if j.kind > Anti {
		return &vk.OptionError{Option: "kind", Reason: j.kind.String() + " is not a kind of joins"}
	}
	for what, n := range map[string]int{"left rows": j.lefts, "right rows": j.rights} {
		if n > primitives.MaxLength {
			return &structures.CountError{What: what, N: n, Most: primitives.MaxLength}
		}
	}
	return nil
}

// joinMemory is the operands of a join in one buffer. Parts of left rows, and windows of as many results, use it one
// after the other.
type joinMemory struct {
	args JoinArgs
	end  uint64
}

// window is the number of results for which even a short left side has room. Tests have it less.
var window = 1 << 20

// memory lays out the memory for all right rows and up to n left ones.
func (j joining) memory(r *Relational, n int, base uint64) (m joinMemory) {
	parts := recording.Parts{Base: base}
	a := &m.args
	a.Kind, a.Width, a.Capacity = j.kind, j.width, max(n, min(window, r.maxBytes/32))
	a.LeftLength, a.RightLength = primitives.Length{N: n}, primitives.Length{N: j.rights}
	a.Lefts, a.Rights = parts.Take(n*j.width.Bytes()), parts.Take(j.rights*j.width.Bytes())
	a.OutLefts, a.OutCount = parts.Take(4*a.Capacity), parts.Take(8)
	if j.kind.pairs() {
		a.OutRights = parts.Take(4 * a.Capacity)
	}
	a.Scratch = base + parts.Used
	m.end = parts.Used + a.layout(r, a.Scratch)
	return m
}

// joinBy joins n left rows at a time.
func (r *Relational) joinBy(ctx context.Context, s *vk.Stream, j joining, n int) (all joined, err error) {
	b, err := vk.NewBuffer[uint32](r.d, int(j.memory(r, n, 0).end+3)/4)
	if err != nil {
		return all, err
	}
	defer b.Free()
	m := j.memory(r, n, b.Address())
	if j.rights > 0 {
		if err := j.right.Upload(ctx, b, wordAt(b, m.args.Rights)); err != nil {
			return all, err
		}
	}
	if err := recording.Run(s, func() error { return r.recordRights(s, m.args.steps(r)) }); err != nil {
		return all, err
	}
	all.lefts = []int32{}
	if j.kind.pairs() {
		all.rights = []int32{}
	}
	for first := 0; first < j.lefts && err == nil; first += n {
		err = r.joinPart(ctx, s, j, m.args, b, first, min(n, j.lefts-first), &all)
	}
	return all, err
}

// joinPart joins n left rows from first on, and appends the results.
func (r *Relational) joinPart(ctx context.Context, s *vk.Stream, j joining, a JoinArgs, b *vk.Buffer[uint32],
	first, n int, all *joined) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := j.left.Part(first, n).Upload(ctx, b, wordAt(b, a.Lefts)); err != nil {
		return err
	}
	steps := a.steps(r) // the layout of the longest part
	steps.shorten(n)
	if err := recording.Run(s, func() error { return r.recordCount(s, steps) }); err != nil {
		return err
	}
	count := make([]uint64, 1)
	if err := pipeline.Result(count).Download(ctx, b, wordAt(b, a.OutCount)); err != nil {
		return err
	}
	if results := uint64(len(all.lefts)) + count[0]; results > uint64(r.maxResults) {
		return &ResultsError{Results: results, Most: r.maxResults}
	}
	for at := uint64(0); at < count[0]; at += uint64(a.Capacity) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		steps.args.Capacity = int(min(count[0]-at, uint64(a.Capacity)))
		if err := recording.Run(s, func() error { return r.recordWrite(s, steps, at) }); err != nil {
			return err
		}
		if err := all.read(ctx, b, a, steps.args.Capacity, first); err != nil {
			return err
		}
	}
	return nil
}

// read appends n results. The left rows on the device begin with row first.
func (all *joined) read(ctx context.Context, b *vk.Buffer[uint32], a JoinArgs, n, first int) error {
	read := func(to []int32, at uint64) ([]int32, error) {
		old := len(to)
		to = append(to, make([]int32, n)...)
		return to, pipeline.Result(to[old:]).Download(ctx, b, wordAt(b, at))
	}
	var err error
	if all.lefts, err = read(all.lefts, a.OutLefts); err != nil {
		return err
	}
	for i := len(all.lefts) - n; first > 0 && i < len(all.lefts); i++ {
		all.lefts[i] += int32(first)
	}
	if a.OutRights != 0 {
		all.rights, err = read(all.rights, a.OutRights)
	}
	return err
}
