package relational

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// grouping is a call of Group without type parameters.
type grouping struct {
	n, values              int // lengths of the slices
	keyColumn, valueColumn pipeline.Column
	types                  types
	ask                    Aggregates
	sums                   numberType
}

// reduces reports whether anything is asked of the values.
func (g grouping) reduces() bool { return g.ask != 0 }

// group does a grouping. If a sum overflows, it returns all groups and an *OverflowError without a key.
func (r *Relational) group(ctx context.Context, g grouping) (all groupList, sums []uint64, err error) {
	if err := r.err(); err != nil {
		return all, nil, err
	}
	if err := g.check(); err != nil {
		return all, nil, err
	}
	err = r.inside(ctx, func(s *vk.Stream) error {
		all, err = r.groupParts(ctx, s, g)
		return err
	})
	if err == nil && g.ask&Sums != 0 {
		sums, err = sumsAs(all.sums, g.types.Type == primitives.Float, g.sums)
	}
	return all, sums, err
}

func (g grouping) check() error {
	if g.ask >= Means<<1 {
		return &vk.OptionError{Option: "Aggregates", Reason: "unknown bits are set"}
	}
	if g.values != g.n && (g.reduces() || g.values != 0) {
		return &structures.LengthError{Keys: g.n, Other: "values", Got: g.values}
	}
	if g.ask&Sums != 0 && g.types.Type == primitives.Float && g.sums.of != primitives.Float {
		return &vk.OptionError{Option: "S", Reason: "sums of floats are floats: choose float64"}
	}
	return nil
}

// leastRows is the number of rows below which a part is not divided further.
const leastRows = 1 << 8

// mostRows is the most rows of a part. Tests have it less.
var mostRows = primitives.MaxLength

// groupParts groups part by part and merges the groups. Lists of about the same length are merged first.
func (r *Relational) groupParts(ctx context.Context, s *vk.Stream, g grouping) (groupList, error) {
	var lists []groupList
	merge := func() {
		last := len(lists) - 1
		lists = append(lists[:last-1], mergeGroups(lists[last-1], lists[last], g.types.Type, g.types.Value))
	}
	rows := g.rowsOf(r)
	for first := 0; first < g.n; {
		if err := context.Cause(ctx); err != nil {
			return groupList{}, err
		}
		n := min(rows, g.n-first)
		list, err := r.groupPart(ctx, s, g, first, n)
		switch {
		case err == nil:
			lists, first = append(lists, list), first+n
			for len(lists) > 1 && lists[len(lists)-2].len() <= 2*list.len() {
				merge()
				list = lists[len(lists)-1]
			}
		case pipeline.Short(err) && n > leastRows:
			rows = n / 2
		default:
			return groupList{}, err
		}
	}
	for len(lists) > 1 {
		merge()
	}
	if len(lists) == 0 {
		return g.none(), nil
	}
	return lists[0], nil
}

// rowsOf returns how many rows are grouped at a time.
func (g grouping) rowsOf(r *Relational) int {
	rows := min(max(g.n, leastRows), mostRows)
	for rows > leastRows && g.memory(r, rows, 0).end > uint64(r.maxBytes) {
		rows /= 2
	}
	return rows
}

// groupMemory is the operands of a part in one buffer.
type groupMemory struct {
	args GroupArgs
	end  uint64
}

// memory lays out the memory of up to n rows. The keys of groups and their minima replace the rows, which the sort has
// copied by then.
func (g grouping) memory(r *Relational, n int, base uint64) (m groupMemory) {
	parts := recording.Parts{Base: base}
	a := &m.args
	a.Length, a.Widths, a.Type = primitives.Length{N: n}, g.types.Widths, g.types.Type
	a.Keys = parts.Take(n * a.Widths.Key.Bytes())
	a.OutKeys = a.Keys
	if g.reduces() {
		a.Values = parts.Take(n * a.Widths.Value.Bytes())
	}
	if g.ask&Mins != 0 {
		a.OutMins = a.Values
	}
	a.OutCounts, a.OutGroups = parts.Take(4*n), parts.Take(4)
	if g.ask&(Sums|Means) != 0 {
		a.OutSums = parts.Take(n * a.Type.SumBytes(a.Widths.Value))
	}
	if g.ask&Maxs != 0 {
		a.OutMaxs = parts.Take(n * a.Widths.Value.Bytes())
	}
	a.Scratch = base + parts.Used
	m.end = parts.Used + a.layout(r, a.Scratch)
	return m
}

// groupPart groups n rows from first on.
func (r *Relational) groupPart(ctx context.Context, s *vk.Stream, g grouping, first, n int) (list groupList,
	err error) {
	b, err := vk.NewBuffer[uint32](r.d, int(g.memory(r, n, 0).end+3)/4)
	if err != nil {
		return list, err
	}
	defer b.Free()
	m := g.memory(r, n, b.Address())
	if err := g.keyColumn.Part(first, n).Upload(ctx, b, wordAt(b, m.args.Keys)); err != nil {
		return list, err
	}
	if g.reduces() {
		if err := g.valueColumn.Part(first, n).Upload(ctx, b, wordAt(b, m.args.Values)); err != nil {
			return list, err
		}
	}
	if err := recording.Run(s, func() error { return r.recordGroup(s, m.args) }); err != nil {
		return list, err
	}
	return g.download(ctx, b, m.args)
}

func (g grouping) download(ctx context.Context, b *vk.Buffer[uint32], a GroupArgs) (list groupList, err error) {
	count := make([]uint32, 1)
	if err := b.Download(ctx, wordAt(b, a.OutGroups), count); err != nil {
		return list, err
	}
	read := reader{ctx: ctx, b: b, n: int(count[0])}
	list.keys = read.words(a.OutKeys, a.Widths.Key)
	list.counts = read.words(a.OutCounts, structures.Bits32)
	if g.ask&(Sums|Means) != 0 {
		list.sums = read.totals(a.OutSums, a.Type, a.Widths.Value)
	}
	if g.ask&Mins != 0 {
		list.mins = read.words(a.OutMins, a.Widths.Value)
	}
	if g.ask&Maxs != 0 {
		list.maxs = read.words(a.OutMaxs, a.Widths.Value)
	}
	return list, read.err
}

// none returns the groups of no rows.
func (g grouping) none() (list groupList) {
	list.keys, list.counts = []uint64{}, []uint64{}
	if g.ask&(Sums|Means) != 0 {
		list.sums = []total{}
	}
	if g.ask&Mins != 0 {
		list.mins = []uint64{}
	}
	if g.ask&Maxs != 0 {
		list.maxs = []uint64{}
	}
	return list
}

// reader reads arrays of n elements from a buffer, until the first error.
type reader struct {
	ctx context.Context
	b   *vk.Buffer[uint32]
	n   int
	err error
}

// words reads numbers of a width.
func (r *reader) words(at uint64, w structures.Width) []uint64 {
	all := make([]uint64, r.n)
	if w == structures.Bits64 {
		r.into(at, pipeline.Result(all))
		return all
	}
	narrow := make([]uint32, r.n)
	r.into(at, pipeline.Result(narrow))
	threads.Each(r.n, 8*r.n, func(first, end int) {
		for i := first; i < end; i++ {
			all[i] = uint64(narrow[i])
		}
	})
	return all
}

// totals reads sums of values of a type and a width.
func (r *reader) totals(at uint64, t primitives.ValueType, w structures.Width) []total {
	all := make([]total, r.n)
	if t.SumBytes(w) == 16 {
		r.into(at, pipeline.Result(all))
		return all
	}
	words := r.words(at, structures.Bits64)
	threads.Each(r.n, 16*r.n, func(first, end int) {
		for i := first; i < end; i++ {
			all[i].low = words[i]
			if t == primitives.Signed {
				all[i].high = uint64(int64(words[i]) >> 63)
			}
		}
	})
	return all
}

func (r *reader) into(at uint64, c pipeline.Column) {
	if r.err == nil && r.n > 0 {
		r.err = c.Download(r.ctx, r.b, wordAt(r.b, at))
	}
}

// wordAt returns the index of the word at an address in a buffer.
func wordAt(b *vk.Buffer[uint32], at uint64) int { return int(at-b.Address()) / 4 }
