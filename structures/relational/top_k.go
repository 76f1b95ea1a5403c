package relational

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// TopK returns the k greatest keys of a slice in descending order, and their rows: top[i] is keys[rows[i]]. Among equal
// keys, the first ones are taken and come first. If there are fewer than k keys, all are returned.
//
// Floats are compared by their total order (structures.KeyCode), where a NaN is greater than all numbers, or less than
// all if its sign bit is set.
//
// If the keys take more device memory than MaxBytes, they pass through it in parts. Errors: *structures.CountError if k
// is negative, or if there are more than primitives.MaxLength keys; *vk.OutOfMemoryError; vk.ErrClosed; and the
// context's, which is checked between parts.
func TopK[K structures.Number](ctx context.Context, r *Relational, keys []K, k int) (top []K, rows []int32, err error) {
	width := structures.WidthOf[K]()
	words, rows, err := r.topK(ctx, selection{len(keys), k, pipeline.Keys(keys, width), width})
	return numbersOf(words, structures.KeyCode[K]()), rows, err
}

// selection is a call of TopK without type parameters.
type selection struct {
	n, k  int
	keys  pipeline.Column
	width structures.Width
}

func (q selection) check() error {
	if q.n < 0 || q.n > primitives.MaxLength {
		return &structures.CountError{What: "keys", N: q.n, Most: primitives.MaxLength}
	}
	if q.k < 0 {
		return &structures.CountError{What: "elements to be taken", N: q.k, Most: primitives.MaxLength}
	}
	return nil
}

func (r *Relational) topK(ctx context.Context, q selection) (top []uint64, rows []int32, err error) {
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	if err := q.check(); err != nil {
		return nil, nil, err
	}
	var all []row
	err = r.inside(ctx, func(s *vk.Stream) error {
		n := min(max(q.n, leastRows), mostRows)
		for n > leastRows && q.memory(r, n, 0).end > uint64(r.maxBytes) {
			n /= 2
		}
		for {
			var err error
			all, err = r.topKBy(ctx, s, q, n)
			if !pipeline.Short(err) || n <= leastRows {
				return err
			}
			n /= 2
		}
	})
	if err != nil {
		return nil, nil, err
	}
	top, rows = make([]uint64, len(all)), make([]int32, len(all))
	for i, one := range all {
		top[i], rows[i] = one.key, one.at
	}
	return top, rows, nil
}

// topKMemory is the operands of a part in one buffer. All parts use it, one after the other.
type topKMemory struct {
	args primitives.TopKArgs
	end  uint64
}

func (q selection) memory(r *Relational, n int, base uint64) (m topKMemory) {
	parts := recording.Parts{Base: base}
	a := &m.args
	a.K, a.Length, a.Widths = min(q.k, n), primitives.Length{N: n}, primitives.Widths{Key: q.width}
	a.Keys = parts.Take(n * q.width.Bytes())
	a.OutKeys, a.OutValues = parts.Take(a.K*q.width.Bytes()), parts.Take(4*a.K)
	a.Scratch = parts.Take(r.bulk.Scratch(*a))
	m.end = parts.Used
	return m
}

// row is a key with its row.
type row struct {
	key uint64
	at  int32
}

// topKBy takes the keys from parts of n rows.
func (r *Relational) topKBy(ctx context.Context, s *vk.Stream, q selection, n int) (top []row, err error) {
	b, err := vk.NewBuffer[uint32](r.d, int(q.memory(r, n, 0).end+3)/4)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	a := q.memory(r, n, b.Address()).args
	for first := 0; first < q.n; first += n {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		a.Length.N = min(n, q.n-first)
		if err := q.keys.Part(first, a.Length.N).Upload(ctx, b, wordAt(b, a.Keys)); err != nil {
			return nil, err
		}
		if err := recording.Run(s, func() error { return r.bulk.TopK(s, a) }); err != nil {
			return nil, err
		}
		read := reader{ctx: ctx, b: b, n: min(q.k, a.Length.N)}
		keys, at := read.words(a.OutKeys, q.width), read.words(a.OutValues, structures.Bits32)
		if read.err != nil {
			return nil, read.err
		}
		for i, key := range keys {
			top = append(top, row{key, int32(first) + int32(at[i])})
		}
		if first > 0 { // the rows of earlier parts come first, as they do in top
			slices.SortStableFunc(top, func(a, b row) int { return cmp.Compare(b.key, a.key) })
		}
		top = top[:min(q.k, len(top))]
	}
	return top, nil
}
