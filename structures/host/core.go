package host

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/tidwall/btree"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
)

// core is a dictionary of words. Exactly one of hashed and ordered is used.
type core struct {
	gate    *gate.Gate
	columns saved.Columns
	hashed  *hashed
	ordered *btree.Map[uint64, uint64] // nil: hashed
	changes uint64                     // calls that changed pairs; read and written inside the gate
}

func newCore(columns saved.Columns, ordered bool) *core {
	c := &core{gate: gate.New("dictionary"), columns: columns, hashed: new(hashed)}
	if ordered {
		c.ordered = new(btree.Map[uint64, uint64])
	}
	return c
}

func (c *core) get(key uint64) (value uint64, there bool) {
	if c.ordered != nil {
		return c.ordered.Get(key)
	}
	return c.hashed.get(key)
}

func (c *core) set(key, value uint64) {
	if c.ordered != nil {
		c.ordered.Set(key, value)
	} else {
		c.hashed.set(key, value)
	}
}

func (c *core) remove(key uint64) {
	if c.ordered != nil {
		c.ordered.Delete(key)
	} else {
		c.hashed.remove(key)
	}
}

// copied returns a core with the pairs of an ordered one, and shares its nodes until one of them changes.
func (c *core) copied(ctx context.Context) (*core, error) {
	if err := c.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer c.gate.Leave()
	return &core{gate: gate.New("dictionary"), columns: c.columns, hashed: new(hashed), ordered: c.ordered.Copy()}, nil
}

func (c *core) size() int {
	if c.ordered != nil {
		return c.ordered.Len()
	}
	return c.hashed.len()
}

// has reports whether operations of a kind are supported. The ordered ones need the order.
func (c *core) has(k structures.Kind) bool {
	switch {
	case k == structures.Mixed, k == structures.InsertDuplicate, k > structures.CountRange:
		return false
	case k.Ordered():
		return c.ordered != nil
	}
	return true
}

// do does one operation on a key.
func (c *core) do(kind structures.Kind, key, value uint64) (structures.Status, uint64) {
	if kind == structures.Insert && c.ordered != nil { // one search instead of two
		if _, there := c.ordered.Set(key, value); there {
			return structures.Assigned, 0
		}
		return structures.Inserted, 0
	}
	old, there := c.get(key)
	switch {
	case kind.Inserts() && !there:
		c.set(key, value)
		return structures.Inserted, 0
	case kind == structures.InsertUnique:
		return structures.Found, 0
	case kind.Inserts():
		c.set(key, c.combined(kind, old, value))
		return structures.Assigned, 0
	case !there:
		return structures.Absent, 0
	case kind == structures.Delete, kind == structures.DeleteAll:
		c.remove(key)
		return structures.Deleted, 1
	case kind == structures.CountAll:
		return structures.Found, 1
	}
	return structures.Found, old
}

// combined returns the word of the value that an insertion of a key that is there leaves.
func (c *core) combined(kind structures.Kind, old, value uint64) uint64 {
	less := old < value // words of unsigned integers and floats are in order
	if c.columns.Values.Type.Kind == saved.Signed {
		up := 64 - c.columns.Width().Bits()
		less = int64(old<<up) < int64(value<<up)
	}
	switch {
	case kind == structures.InsertAdd:
		return c.sum(old, value)
	case kind == structures.InsertMin && less, kind == structures.InsertMax && !less:
		return old
	}
	return value
}

// sum returns the word of the sum of two values.
func (c *core) sum(a, b uint64) uint64 {
	up := c.columns.Values.Shift()
	switch t := c.columns.Values.Type; {
	case t.Kind != saved.Float:
		return (a + b) & (math.MaxUint64 >> (64 - c.columns.Width().Bits()))
	case t.Width == structures.Bits32:
		code := structures.KeyCode[float32]()
		return code.Word(code.Of(a>>up)+code.Of(b>>up)) << up
	default:
		code := structures.KeyCode[float64]()
		return code.Word(code.Of(a) + code.Of(b))
	}
}

// often is the number of operations between two looks at the context.
const often = 1 << 12

// share is the number of keys that a core looks up before it takes others: few, so that a call of 10^4 keys keeps all
// cores busy.
const share = 1 << 10

// update does updates of one kind, in their order.
func (c *core) update(ctx context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	if err := c.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer c.gate.Leave()
	c.changes++
	clear(status)
	if c.ordered == nil && len(keys) > often {
		return c.updateParts(ctx, kind, keys, values, status)
	}
	for i, key := range keys {
		if i%often == 0 && ctx.Err() != nil {
			return &structures.PendingError{Operations: len(keys) - i, Err: context.Cause(ctx)}
		}
		value := uint64(0)
		if kind.Inserts() {
			value = values[i]
		}
		done, _ := c.do(kind, key, value)
		if status != nil {
			status[i] = done
		}
	}
	return nil
}

// find looks keys up by all cores. Either slice of results may be nil; the value of an absent key is 0.
func (c *core) find(ctx context.Context, keys, values []uint64, found []bool) error {
	if err := c.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer c.gate.LeaveShared()
	var stopped atomic.Bool
	byAllCores((len(keys)+share-1)/share, func(at int) {
		if ctx.Err() != nil {
			stopped.Store(true)
			return
		}
		for i := at * share; i < min((at+1)*share, len(keys)); i++ {
			value, there := c.get(keys[i])
			if values != nil {
				values[i] = value
			}
			if found != nil {
				found[i] = there
			}
		}
	})
	if stopped.Load() {
		return context.Cause(ctx)
	}
	return nil
}

// batch is a mixed batch of words with its results.
type batch struct {
	kinds             []structures.Kind
	keys, highs       []uint64
	values            []uint64 // nil: no operation inserts
	width             int
	own               bool // Batch.OwnMoments
	status            []structures.Status
	results           []uint64 // of each operation, as words of values or as numbers
	found             []uint64 // the key of each neighbor
	offsets           []uint64 // of the pairs of each FindRange
	listed, listValue []uint64
}

// apply does a mixed batch in its order. Ordered queries see what was there before, unless each has its own moment.
func (c *core) apply(ctx context.Context, b *batch) error {
	for i, k := range b.kinds {
		if !c.has(k) {
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	if err := c.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(b.status, len(b.keys), err)
	}
	defer c.gate.Leave()
	c.changes++
	if !b.own {
		for i, k := range b.kinds {
			if k.Ordered() {
				c.ask(b, i)
			}
		}
	}
	for i, k := range b.kinds {
		if i%often == 0 && ctx.Err() != nil {
			return &structures.PendingError{Operations: len(b.keys) - i, Err: context.Cause(ctx)}
		}
		switch {
		case !k.Ordered():
			value := uint64(0)
			if k.Inserts() && b.values != nil {
				value = b.values[i]
			}
			b.status[i], b.results[i] = c.do(k, b.keys[i], value)
		case b.own:
			c.ask(b, i)
		}
	}
	return nil
}

// ask answers the ordered query at a place of a batch.
func (c *core) ask(b *batch, i int) {
	key, high := b.keys[i], uint64(0)
	if b.kinds[i].Ranges() {
		high = b.highs[i]
	}
	b.status[i] = structures.Found
	switch k := b.kinds[i]; k {
	case structures.CountRange:
		b.results[i] = c.count(key, high)
	case structures.FindRange:
		before := len(b.listed)
		b.listed, b.listValue = c.list(b.listed, b.listValue, key, high, false, b.width)
		n := uint64(len(b.listed) - before)
		b.results[i], b.offsets[i] = n, n
	default:
		to := structures.Direction(k - structures.FindSuccessor)
		k, v, there := c.neighbor(to, key)
		if !there {
			b.status[i] = structures.Absent
			return
		}
		b.found[i], b.results[i] = k, v
	}
}

// rank returns how many keys are less than a key.
func (c *core) rank(key uint64) uint64 {
	low, high := 0, c.ordered.Len()
	for low < high {
		middle := int(uint(low+high) / 2)
		if k, _, _ := c.ordered.GetAt(middle); k < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return uint64(low)
}

// upTo returns how many keys are not greater than a key.
func (c *core) upTo(key uint64) uint64 {
	if key == math.MaxUint64 {
		return uint64(c.ordered.Len())
	}
	return c.rank(key + 1)
}

// count returns how many keys a range has.
func (c *core) count(low, high uint64) uint64 {
	if low > high {
		return 0
	}
	return c.upTo(high) - c.rank(low)
}

// neighbor returns the pair of a neighbor of a key.
func (c *core) neighbor(to structures.Direction, key uint64) (found, value uint64, there bool) {
	first := func(k, v uint64) bool {
		found, value, there = k, v, true
		return false
	}
	switch {
	case to == structures.Ceil:
		c.ordered.Ascend(key, first)
	case to == structures.Floor:
		c.ordered.Descend(key, first)
	case to == structures.Successor && key < math.MaxUint64:
		c.ordered.Ascend(key+1, first)
	case to == structures.Predecessor && key > 0:
		c.ordered.Descend(key-1, first)
	}
	return found, value, there
}

// list appends the pairs of a range, at most so many, in key order or, if down, from the greatest key.
func (c *core) list(keys, values []uint64, low, high uint64, down bool, most int) (k, v []uint64) {
	if low > high || most == 0 {
		return keys, values
	}
	end := len(keys) + most
	next := func(key, value uint64) bool {
		if key < low || key > high {
			return false
		}
		keys, values = append(keys, key), append(values, value)
		return len(keys) < end
	}
	if down {
		c.ordered.Descend(high, next)
	} else {
		c.ordered.Ascend(low, next)
	}
	return keys, values
}

// chunk is how many pairs an iterator reads at a time.
const chunk = 1 << 10

// cursor reads pairs in parts: those of a range in key order, or all of a hash table, whose keys it notes first.
type cursor struct {
	c              *core
	low, high      uint64
	down           bool
	keys           []uint64 // of a hash table, that are still to come
	begun, end     bool
	changes        uint64
	words, results []uint64 // the pairs of the last part
}

// next reads the next part, of no pairs at the end. Error: structures.ErrChanged.
func (p *cursor) next(ctx context.Context) error {
	if err := p.c.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer p.c.gate.LeaveShared()
	if !p.begun {
		p.begun, p.changes, p.end = true, p.c.changes, p.low > p.high
		if p.c.ordered == nil {
			p.keys = p.c.hashed.keys()
		}
	}
	if p.changes != p.c.changes {
		return structures.ErrChanged
	}
	p.part()
	return nil
}

// part reads the next part. The caller has entered the gate.
func (p *cursor) part() {
	p.words, p.results = p.words[:0], p.results[:0]
	if p.c.ordered == nil {
		n := min(chunk, len(p.keys))
		for _, key := range p.keys[:n] {
			value, _ := p.c.hashed.get(key)
			p.words, p.results = append(p.words, key), append(p.results, value)
		}
		p.keys = p.keys[n:]
		return
	}
	if p.end {
		return
	}
	p.words, p.results = p.c.list(p.words, p.results, p.low, p.high, p.down, chunk)
	if p.end = len(p.words) < chunk; p.end {
		return
	}
	if last := p.words[chunk-1]; p.down {
		p.end, p.high = last == p.low, last-1
	} else {
		p.end, p.low = last == p.high, last+1
	}
}

// deleteRange deletes the keys of ranges, each of which may be empty or overlap others.
func (c *core) deleteRange(ctx context.Context, lows, highs []uint64) ([]uint32, error) {
	counts := make([]uint32, len(lows))
	if err := c.gate.Enter(ctx); err != nil {
		return counts, pipeline.NotBegun(nil, len(lows), err)
	}
	defer c.gate.Leave()
	c.changes++
	for i, low := range lows {
		n := c.count(low, highs[i])
		for range n {
			c.ordered.DeleteAt(int(c.rank(low)))
		}
		counts[i] = uint32(n)
	}
	return counts, nil
}

// reserve makes room for n pairs in the parts of a hash table that have had none.
func (c *core) reserve(ctx context.Context, n int) error {
	if err := c.gate.Enter(ctx); err != nil {
		return err
	}
	defer c.gate.Leave()
	each := n / parts
	each += each / 8 // parts differ
	for i, m := range c.hashed.maps {
		if m == nil && each > 0 {
			c.hashed.maps[i] = make(map[uint64]uint64, each)
		}
	}
	return nil
}

func (c *core) clear(ctx context.Context) error {
	if err := c.gate.Enter(ctx); err != nil {
		return err
	}
	defer c.gate.Leave()
	c.changes++
	*c.hashed = hashed{}
	if c.ordered != nil {
		c.ordered.Clear()
	}
	return nil
}

func (c *core) close() error {
	return c.gate.Close(func() error {
		c.gate.End()
		c.hashed, c.ordered = nil, nil
		return nil
	})
}
