package host

import (
	"context"
	"io"
	"iter"
	"math"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// front encodes and decodes the slices of calls. Its core is nil if the dictionary was never opened.
type front[K, V structures.Number] struct{ core *core }

func open[K, V structures.Number](ordered bool) front[K, V] {
	return front[K, V]{newCore(saved.Pairs[K, V](), ordered)}
}

// opened returns the core, or one that is not open.
func (f front[K, V]) opened() *core {
	if f.core == nil {
		return &core{columns: saved.Pairs[K, V]()}
	}
	return f.core
}

func keyWords[K structures.Number](keys []K) []uint64 { return words(structures.KeyCode[K](), keys) }

func valueWords[K, V structures.Number](values []V) []uint64 {
	return words(structures.ValueCode[K, V](), values)
}

func words[T structures.Number](code structures.Code[T], numbers []T) []uint64 {
	if w, same := any(numbers).([]uint64); same || numbers == nil {
		return w
	}
	w := make([]uint64, len(numbers))
	for i, x := range numbers {
		w[i] = code.Word(x)
	}
	return w
}

// bounds returns the words of the ends of ranges.
func bounds[K structures.Number](ranges []structures.Range[K]) (lows, highs []uint64) {
	code := structures.KeyCode[K]()
	lows, highs = make([]uint64, len(ranges)), make([]uint64, len(ranges))
	for i, r := range ranges {
		lows[i], highs[i] = code.Word(r.Lo), code.Word(r.Hi)
	}
	return lows, highs
}

func (f front[K, V]) updateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	c := f.opened()
	if err := c.gate.Err(); err != nil {
		return err
	}
	if !c.has(kind) || !kind.Inserts() && kind != structures.Delete {
		return &structures.KindError{Kind: kind}
	}
	if kind.Inserts() && len(values) != len(keys) {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	if err := pipeline.Fits(len(keys), "statuses", status); err != nil {
		return err
	}
	return c.update(ctx, kind, keyWords(keys), valueWords[K](values), status)
}

func (f front[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, f.updateInto(ctx, kind, keys, values, status))
}

func (f front[K, V]) findInto(ctx context.Context, keys []K, values []V, found []bool) error {
	c := f.opened()
	if err := c.gate.Err(); err != nil {
		return err
	}
	if err := pipeline.Fits(len(keys), "values", values); err != nil {
		return err
	}
	if err := pipeline.Fits(len(keys), "found", found); err != nil {
		return err
	}
	results, same := any(values).([]uint64)
	if !same && values != nil {
		results = make([]uint64, len(keys))
		if found == nil {
			found = make([]bool, len(keys))
		}
	}
	if err := c.find(ctx, keyWords(keys), results, found); err != nil || same || values == nil {
		return err
	}
	code := structures.ValueCode[K, V]()
	for i, word := range results {
		values[i] = 0
		if found[i] {
			values[i] = code.Of(word)
		}
	}
	return nil
}

func (f front[K, V]) find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	if err = f.findInto(ctx, keys, values, found); err != nil {
		return nil, nil, err
	}
	return values, found, nil
}

func (f front[K, V]) get(ctx context.Context, key K) (value V, found bool, err error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return 0, false, err
	}
	defer c.gate.LeaveShared()
	word, found := c.get(structures.KeyCode[K]().Word(key))
	if found {
		value = structures.ValueCode[K, V]().Of(word)
	}
	return value, found, nil
}

func (f front[K, V]) put(ctx context.Context, key K, value V) error {
	c := f.opened()
	if err := c.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(nil, 1, err)
	}
	defer c.gate.Leave()
	c.changes++
	c.set(structures.KeyCode[K]().Word(key), structures.ValueCode[K, V]().Word(value))
	return nil
}

func (f front[K, V]) apply(ctx context.Context, b structures.Batch[K, V]) (r structures.Results[K, V], err error) {
	c := f.opened()
	if err := c.gate.Err(); err != nil {
		return r, err
	}
	if err := pipeline.Lengths(b, false); err != nil {
		return r, err
	}
	n := len(b.Keys)
	w := &batch{
		kinds: b.Kinds, keys: keyWords(b.Keys), highs: keyWords(b.Highs), values: valueWords[K](b.Values),
		width: b.Width, own: b.OwnMoments, status: make([]structures.Status, n), results: make([]uint64, n),
		found: make([]uint64, n), offsets: make([]uint64, n),
	}
	err = c.apply(ctx, w)
	r = pipeline.ResultsOf(b)
	r.Status = w.status
	f.answer(w, &r)
	return pipeline.MadeResults(r, err)
}

// answer decodes the results of a batch.
func (f front[K, V]) answer(w *batch, into *structures.Results[K, V]) {
	keys, values := structures.KeyCode[K](), structures.ValueCode[K, V]()
	lists := false
	for i, k := range w.kinds {
		lists = lists || k == structures.FindRange
		found := w.status[i] == structures.Found
		if into.Keys != nil {
			into.Keys[i] = 0
			if found && k.Ordered() && !k.Ranges() {
				into.Keys[i] = keys.Of(w.found[i])
			}
		}
		switch {
		case k == structures.CountAll, k == structures.DeleteAll, k.Ranges():
			into.Values[i] = V(w.results[i])
		case found && !k.Inserts():
			into.Values[i] = values.Of(w.results[i])
		default:
			into.Values[i] = 0
		}
	}
	if !lists {
		return
	}
	r := &into.Ranges
	r.Offsets = make([]uint64, len(w.kinds)+1)
	for i, n := range w.offsets {
		r.Offsets[i+1] = r.Offsets[i] + n
	}
	for i, k := range w.listed {
		r.Keys, r.Values = append(r.Keys, keys.Of(k)), append(r.Values, values.Of(w.listValue[i]))
	}
}

func (f front[K, V]) len(ctx context.Context) (uint64, error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer c.gate.LeaveShared()
	return uint64(c.size()), nil
}

// chunks returns the pairs of a range, or all of a hash table.
func (f front[K, V]) chunks(ctx context.Context, r structures.Range[K],
	down bool) iter.Seq2[structures.Pairs[K, V], error] {
	return func(yield func(structures.Pairs[K, V], error) bool) {
		code, back := structures.KeyCode[K](), structures.ValueCode[K, V]()
		at := &cursor{c: f.opened(), low: code.Word(r.Lo), high: code.Word(r.Hi), down: down}
		pairs := structures.Pairs[K, V]{}
		for {
			if err := at.next(ctx); err != nil {
				yield(structures.Pairs[K, V]{}, err)
				return
			}
			if len(at.words) == 0 {
				return
			}
			pairs.Keys, pairs.Values = pairs.Keys[:0], pairs.Values[:0]
			for i, k := range at.words {
				pairs.Keys, pairs.Values = append(pairs.Keys, code.Of(k)), append(pairs.Values, back.Of(at.results[i]))
			}
			if !yield(pairs, nil) {
				return
			}
		}
	}
}

func (f front[K, V]) pairs(ctx context.Context, r structures.Range[K],
	down bool) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(f.chunks(ctx, r, down), false)
}

func (f front[K, V]) count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer c.gate.LeaveShared()
	lows, highs := bounds(ranges)
	counts := make([]uint32, len(ranges))
	for i := range ranges {
		counts[i] = uint32(c.count(lows[i], highs[i]))
	}
	return counts, nil
}

func (f front[K, V]) rangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	c := f.opened()
	if err := c.gate.Err(); err != nil {
		return err
	}
	if into == nil {
		return &vk.OptionError{Option: "into", Reason: "nil"}
	}
	if err := c.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer c.gate.LeaveShared()
	keys, values := structures.KeyCode[K](), structures.ValueCode[K, V]()
	lows, highs := bounds(ranges)
	into.Offsets, into.Keys, into.Values = append(into.Offsets[:0], 0), into.Keys[:0], into.Values[:0]
	var words, results []uint64
	for i := range ranges {
		words, results = c.list(words[:0], results[:0], lows[i], highs[i], false, math.MaxInt)
		for j, k := range words {
			into.Keys, into.Values = append(into.Keys, keys.Of(k)), append(into.Values, values.Of(results[j]))
		}
		into.Offsets = append(into.Offsets, uint64(len(into.Keys)))
	}
	return nil
}

func (f front[K, V]) rank(ctx context.Context, keys []K) ([]uint32, error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer c.gate.LeaveShared()
	ranks := make([]uint32, len(keys))
	for i, k := range keyWords(keys) {
		ranks[i] = uint32(c.rank(k))
	}
	return ranks, nil
}

func (f front[K, V]) neighbors(ctx context.Context, to structures.Direction,
	keys []K) (n structures.Neighbors[K, V], err error) {
	c := f.opened()
	if err := c.gate.Err(); err != nil {
		return n, err
	}
	if err := pipeline.CheckDirection(to); err != nil {
		return n, err
	}
	if err := c.gate.EnterShared(ctx); err != nil {
		return n, err
	}
	defer c.gate.LeaveShared()
	n = pipeline.NeighborsOf[K, V](len(keys))
	key, value := structures.KeyCode[K](), structures.ValueCode[K, V]()
	for i, word := range keyWords(keys) {
		if k, v, there := c.neighbor(to, word); there {
			n.Keys[i], n.Values[i], n.Found[i] = key.Of(k), value.Of(v), true
		}
	}
	return n, nil
}

func (f front[K, V]) selected(ctx context.Context, ranks []uint32) (n structures.Neighbors[K, V], err error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return n, err
	}
	defer c.gate.LeaveShared()
	n = pipeline.NeighborsOf[K, V](len(ranks))
	key, value := structures.KeyCode[K](), structures.ValueCode[K, V]()
	for i, r := range ranks {
		if k, v, there := c.ordered.GetAt(int(r)); there {
			n.Keys[i], n.Values[i], n.Found[i] = key.Of(k), value.Of(v), true
		}
	}
	return n, nil
}

func (f front[K, V]) deleteRange(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	lows, highs := bounds(ranges)
	return f.opened().deleteRange(ctx, lows, highs)
}

// save writes all pairs under the name of a GPU structure, which any structure loads.
func (f front[K, V]) save(ctx context.Context, w io.Writer, structure string) (int64, error) {
	c := f.opened()
	if err := c.gate.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer c.gate.LeaveShared()
	return c.save(ctx, w, structure)
}

// load makes a dictionary of what any structure has saved.
func load[K, V structures.Number](ctx context.Context, r io.Reader, ordered bool) (front[K, V], error) {
	f := open[K, V](ordered)
	return f, f.core.load(ctx, r)
}
