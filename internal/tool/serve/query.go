package serve

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/structures"
)

const (
	mostQueries = 1 << 10 // of a batch
	mostPairs   = 1 << 20 // of a range
	mostScanned = 1 << 16 // pairs of one SCAN, and of VK.TOP
	mostPattern = 1 << 10 // bytes of a pattern
	mostWork    = 1 << 26 // steps of one SCAN: the bytes of its keys by those of its pattern, or by fewSteps
	fewSteps    = 32      // as many are bytes of a key worth without a pattern
	mostDigits  = 32      // bytes of a key that is no text
	fewPairs    = 1 << 12 // of a batch
)

// stopping returns an error if the server no longer begins what takes long.
func stopping(ctx context.Context) error {
	if ctx.Err() != nil {
		return replica.ErrClosed
	}
	return nil
}

// query is a question about the order of keys, or about all of them.
type query struct {
	kind    structures.Kind // structures.Mixed: the number of keys
	lo, hi  uint64
	limit   int    // pairs of a range; 0: all
	scan    bool   // SCAN
	all     bool   // of all shards
	pattern string // of SCAN; "": all keys

	keys, values []uint64
	records      []replica.Record // what of them is text
	n            uint64           // the number of keys
	found        bool
	err          error // of another shard
}

// question puts a query among those that are answered together.
func (c *conn) question(q query) {
	if len(c.replies) > 0 {
		c.flush()
	}
	c.queries = append(c.queries, q)
}

func (c *conn) size([][]byte) { c.question(query{}) }

// scan lists keys in their order. The cursor is the word of the next key.
func (c *conn) scan(args [][]byte) {
	lo, err := strconv.ParseUint(string(args[0]), 10, 64)
	if err != nil {
		c.fail("ERR invalid cursor")
		return
	}
	q := query{kind: structures.FindRange, lo: lo, hi: math.MaxUint64, limit: 10, scan: true}
	for rest := args[1:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 {
			c.fail("ERR syntax error")
			return
		}
		switch text := string(rest[1]); strings.ToUpper(string(rest[0])) {
		case "MATCH":
			if len(text) > mostPattern {
				c.fail("ERR the pattern has %d bytes, more than %d", len(text), mostPattern)
				return
			}
			q.pattern = text
		case "COUNT":
			n, err := integer(rest[1])
			if err != nil || n < 1 {
				c.fail("ERR syntax error")
				return
			}
			q.limit = int(min(n, mostScanned))
		default:
			c.fail("ERR syntax error")
			return
		}
	}
	c.question(q)
}

// ordered reports whether keys have an order. If not, it answers with an error: the words of texts are their hashes.
func (c *conn) ordered() bool {
	if c.s.config.Types.Key == keytype.Text {
		c.fail("ERR keys are text, which has no order here (SCAN lists keys)")
		return false
	}
	return true
}

// rangeEnd parses an end of a range: a key, or the sign for the first or the last one.
func (c *conn) rangeEnd(text []byte) (uint64, bool) {
	switch string(text) {
	case "-":
		return 0, true
	case "+":
		return math.MaxUint64, true
	}
	return c.key(text)
}

func (c *conn) rangeOf(kind structures.Kind, args [][]byte) (q query, ok bool) {
	if q.kind = kind; !c.ordered() {
		return q, false
	}
	if q.lo, ok = c.rangeEnd(args[0]); ok {
		q.hi, ok = c.rangeEnd(args[1])
	}
	return q, ok
}

func (c *conn) keyRange(args [][]byte) {
	args, all := c.everywhere(args)
	if len(args) < 2 {
		c.fail("ERR syntax error")
		return
	}
	q, ok := c.rangeOf(structures.FindRange, args)
	if !ok {
		return
	}
	switch {
	case len(args) == 4 && strings.EqualFold(string(args[2]), "LIMIT"):
		n, err := strconv.ParseUint(string(args[3]), 10, 32)
		if err != nil || n < 1 || n > mostPairs {
			c.fail("ERR LIMIT is from 1 to %d", mostPairs)
			return
		}
		q.limit = int(n)
	case len(args) != 2:
		c.fail("ERR syntax error")
		return
	}
	q.all = all
	c.question(q)
}

func (c *conn) countRange(args [][]byte) {
	args, all := c.everywhere(args)
	if len(args) != 2 {
		c.fail("ERR syntax error")
		return
	}
	if q, ok := c.rangeOf(structures.CountRange, args); ok {
		q.all = all
		c.question(q)
	}
}

func (c *conn) floor(args [][]byte) { c.neighbor(structures.FindFloor, args) }
func (c *conn) ceil(args [][]byte)  { c.neighbor(structures.FindCeil, args) }

func (c *conn) neighbor(kind structures.Kind, args [][]byte) {
	args, all := c.everywhere(args)
	switch {
	case len(args) != 1:
		c.fail("ERR syntax error")
		return
	case !c.ordered():
		return
	}
	if key, ok := c.key(args[0]); ok {
		c.question(query{kind: kind, lo: key, all: all})
	}
}

// errWide says how many pairs some ranges have, if these are too many.
type errWide uint64

func (n errWide) Error() string {
	return fmt.Sprintf("the range has %d pairs: ask for at most %d at a time (LIMIT)", uint64(n), mostPairs)
}

// flushQueries answers queries: as many together as have few pairs, all of one moment.
func (c *conn) flushQueries() {
	started, n := time.Now(), len(c.queries)
	for all := c.queries; len(all) > 0 && !c.quit; {
		part, widest := 0, 1
		for ; part < len(all); part++ {
			widest = max(widest, all[part].limit)
			if q := &all[part]; q.all && q.kind == structures.FindRange && q.limit == 0 {
				widest = fewPairs // alone: mostPairs is a bound of what others have of it
			}
			if part > 0 && widest*(part+1) > fewPairs {
				break
			}
		}
		all = all[c.answerSome(all[:part]):]
	}
	c.s.metrics.batch(ordered, n, time.Since(started))
	clear(c.queries)
	c.queries = c.queries[:0]
}

// answerSome answers the first of some queries, and returns how many.
func (c *conn) answerSome(all []query) int {
	ctx := context.Background()
	r := room{c: c, asks: slices.ContainsFunc(all, func(q query) bool { return q.all })}
	defer r.leave()
	for err := r.take(pairBytes * int64(all[0].limit)); ; err = r.wait() {
		if err == nil {
			err = c.s.node.Read(ctx, c.readOnly, func(v replica.View) error {
				for {
					err := c.find(ctx, v, all, &r)
					if err != nil {
						drop(all)
					}
					if wide := errWide(0); len(all) == 1 || err != errFull && !errors.As(err, &wide) {
						return err
					}
					all = all[:len(all)/2]
				}
			})
		}
		if err == nil {
			if err = c.s.gather(c.s.abroad, all, &r); err != nil {
				drop(all)
			}
		}
		if err == errFull {
			continue
		}
		for i := range all {
			if err := cmp.Or(err, stopping(c.s.scanning), all[i].err); err != nil {
				c.refuse(err, nil)
			} else {
				c.answer(&all[i])
			}
			drop(all[i : i+1])
		}
		c.sendLarge()
		return len(all)
	}
}

// drop gives up what queries have found.
func drop(all []query) {
	for i := range all {
		all[i].keys, all[i].values, all[i].records = nil, nil, nil
	}
}

// find finds what queries ask for, with its texts, if there is room.
func (c *conn) find(ctx context.Context, v replica.View, all []query, r *room) error {
	if err := answer(ctx, v, all, r); err != nil {
		return err
	}
	bytes := int64(0)
	for i := range all {
		q := &all[i]
		if q.records = v.Records(q.keys); q.scan {
			q.cut(c.s.config.Types.Key == keytype.Text)
		}
		bytes += q.bytes()
	}
	if !r.fits(bytes) {
		return errFull
	}
	return nil
}

// sendLarge sends the answers if they are many, so that a connection has few bytes of them in memory. After the
// connection has ended, it drops them.
func (c *conn) sendLarge() {
	if len(c.out) > mostOut && (c.quit || c.send() != nil) {
		c.quit, c.out = true, c.out[:0]
	}
}

// answer answers queries by one batch. Ranges without a limit are counted by it, and listed by another call if there is
// room for their pairs.
func answer(ctx context.Context, v replica.View, all []query, room *room) error {
	b := structures.Batch[uint64, uint64]{}
	var at []int // the query of each operation
	for i, q := range all {
		kind := q.kind
		switch {
		case kind == structures.Mixed:
			all[i].n = v.Len()
			continue
		case kind == structures.FindRange && q.limit == 0:
			kind = structures.CountRange
		case kind == structures.FindRange:
			b.Width = max(b.Width, q.limit)
		}
		at = append(at, i)
		b.Kinds, b.Keys, b.Highs = append(b.Kinds, kind), append(b.Keys, q.lo), append(b.Highs, q.hi)
	}
	if len(at) == 0 {
		return nil
	}
	r, err := v.Apply(ctx, b)
	if err != nil {
		return err
	}
	var ranges []structures.Range[uint64]
	var open []int
	total := uint64(0)
	for op, i := range at {
		q := &all[i]
		switch {
		case q.kind == structures.FindRange && q.limit == 0:
			open, ranges = append(open, i), append(ranges, structures.Range[uint64]{Lo: q.lo, Hi: q.hi})
			total += r.Values[op]
		case q.kind == structures.FindRange:
			from, to := r.Ranges.Offsets[op], r.Ranges.Offsets[op+1]
			to = min(to, from+uint64(q.limit)) // the batch's width may be another query's
			q.keys, q.values = r.Ranges.Keys[from:to], r.Ranges.Values[from:to]
		case q.kind == structures.CountRange:
			q.n = r.Values[op]
		default:
			if q.found = r.Status[op] == structures.Found; q.found {
				q.keys, q.values = r.Keys[op:op+1], r.Values[op:op+1]
			}
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	switch {
	case total > mostPairs:
		return errWide(total)
	case !room.fits(pairBytes * int64(total)):
		return errFull
	}
	listed, err := v.Range(ctx, ranges)
	if err != nil {
		return err
	}
	for i, x := range open {
		from, to := listed.Offsets[i], listed.Offsets[i+1]
		all[x].keys, all[x].values = listed.Keys[from:to], listed.Values[from:to]
	}
	return nil
}

// answer appends the reply to a query.
func (c *conn) answer(q *query) {
	switch {
	case q.scan:
		c.scanned(q)
	case q.kind == structures.FindRange:
		c.pairs(q)
	case q.kind == structures.CountRange, q.kind == structures.Mixed:
		c.out = redcon.AppendInt(c.out, int64(q.n))
	case q.found:
		c.pairs(q)
	case c.resp3:
		c.null()
	default:
		c.out = append(c.out, "*-1\r\n"...)
	}
}

func (c *conn) pairs(q *query) {
	c.out = redcon.AppendArray(c.out, 2*len(q.keys))
	for i, k := range q.keys {
		c.pair(k, q.values[i], q.record(i))
		c.sendLarge()
	}
}

// record returns what of a pair is text.
func (q *query) record(i int) (r replica.Record) {
	if q.records != nil {
		r = q.records[i]
	}
	return r
}

// cut leaves so many keys of a SCAN that it ends soon, and no values. The next one goes on after them.
func (q *query) cut(text bool) {
	for i := range q.records {
		q.records[i].Value = ""
	}
	work := 0
	for i := range q.keys {
		length := mostDigits
		if text {
			length = len(q.records[i].Key)
		}
		if work += length * max(fewSteps, len(q.pattern)); work > mostWork && i > 0 {
			clear(q.records[min(i, len(q.records)):])
			q.keys, q.records, q.limit = q.keys[:i], q.records[:min(i, len(q.records))], i
			return
		}
	}
}

func (c *conn) scanned(q *query) {
	next := uint64(0)
	if n := len(q.keys); n == q.limit {
		next = q.keys[n-1] + 1 // 0 behind the last of all: the end
	}
	c.out = redcon.AppendArray(c.out, 2)
	c.out = redcon.AppendBulkUint(c.out, next)
	t := c.s.config.Types.Key
	var which []int
	for i := range q.keys {
		if q.pattern == "" || q.pattern == "*" || matches(q.pattern, c.keyOf(q, i)) {
			which = append(which, i)
		}
	}
	c.out = redcon.AppendArray(c.out, len(which))
	for _, i := range which {
		c.field(t, q.keys[i], q.record(i).Key)
		c.sendLarge()
	}
}

// keyOf returns the text of a key, whatever its type.
func (c *conn) keyOf(q *query, i int) string {
	t := c.s.config.Types.Key
	if t == keytype.Text {
		return q.record(i).Key
	}
	c.text = t.Append(c.text[:0], q.keys[i])
	return string(c.text)
}

// alone calls f with a snapshot of all pairs. Only one of those who read all pairs does so at a time.
func (c *conn) alone(f func(context.Context, replica.Snapshot) error) error {
	c.flush()
	ctx := c.s.scanning
	select {
	case c.s.scans <- struct{}{}:
		defer func() { <-c.s.scans }()
	case <-ctx.Done():
		return replica.ErrClosed
	}
	var x replica.Snapshot
	err := c.s.node.Read(ctx, c.readOnly, func(v replica.View) (err error) {
		x, err = v.Snapshot(ctx)
		return err
	})
	if err == nil {
		err = errors.Join(f(ctx, x), x.Close())
	}
	if err != nil {
		return cmp.Or(stopping(ctx), err)
	}
	return nil
}

// top lists the pairs with the greatest values, or the least.
func (c *conn) top(args [][]byte) {
	args, all := c.everywhere(args)
	if len(args) == 0 {
		c.fail("ERR syntax error")
		return
	}
	n, err := strconv.ParseUint(string(args[0]), 10, 32)
	least := len(args) == 2 && strings.EqualFold(string(args[1]), "LEAST")
	switch {
	case err != nil || n < 1 || n > mostScanned:
		c.fail("ERR the number of pairs is from 1 to %d", mostScanned)
		return
	case len(args) > 1 && !least:
		c.fail("ERR syntax error")
		return
	case c.s.config.Types.Value == keytype.Text:
		c.fail("ERR values are text, which has no order here")
		return
	}
	best := &ranking{least: least}
	texts := c.s.config.Types.Key == keytype.Text
	c.flush() // its answers need room, too
	room := room{c: c, asks: all}
	defer room.leave()
	if err := room.take(pairBytes * int64(n)); err != nil {
		c.refuse(err, nil)
		return
	}
	err = c.alone(func(ctx context.Context, x replica.Snapshot) error {
		for pairs, err := range x.Chunks(ctx) {
			if err != nil {
				return err
			}
			for i, k := range pairs.Keys {
				p := ranked{Pair: structures.Pair[uint64, uint64]{Key: k, Value: pairs.Values[i]}}
				if texts && best.mayTake(int(n), p.Pair.Value) {
					p.Record = x.Record(k)
				}
				best.offer(int(n), p)
			}
		}
		return nil
	})
	cut := func(list []ranked) []ranked {
		slices.SortFunc(list, best.compare)
		return list[:min(len(list), int(n))]
	}
	list := best.pairs
	if err == nil && all {
		list, err = c.s.gatherTop(c.s.abroad, list, args, cut)
	}
	list = cut(list)
	bytes := pairBytes * int64(n)
	for _, x := range list {
		bytes += int64(len(x.Record.Key))
	}
	if err == nil && !room.fits(bytes) { // others would wait for it while it waits and reads all pairs again
		err = errRoom
	}
	if err != nil {
		c.refuse(err, nil)
		return
	}
	c.out = redcon.AppendArray(c.out, 2*len(list))
	for _, x := range list {
		c.pair(x.Pair.Key, x.Pair.Value, x.Record)
		c.sendLarge()
	}
}

// changes lists changes after one, and first the number of the last one that it lists, which is where to go on.
func (c *conn) changes(args [][]byte) {
	since, err := strconv.ParseUint(string(args[0]), 10, 64)
	last := string(args[0]) == "$"
	if err != nil && !last {
		c.fail("ERR the number of a change is an integer, or $ for that of the last one")
		return
	}
	most := uint64(1000)
	switch {
	case len(args) == 3 && strings.EqualFold(string(args[1]), "LIMIT"):
		if most, err = strconv.ParseUint(string(args[2]), 10, 32); err != nil || most < 1 || most > mostScanned {
			c.fail("ERR LIMIT is from 1 to %d", mostScanned)
			return
		}
	case len(args) != 1:
		c.fail("ERR syntax error")
		return
	}
	c.flush()
	room := room{c: c}
	defer room.leave()
	if err := room.take(pairBytes * int64(most)); err != nil {
		c.refuse(err, nil)
		return
	}
	var all []replica.Change
	err = c.s.node.Read(context.Background(), c.readOnly, func(v replica.View) (err error) {
		if last {
			since = v.LastChange()
		}
		all, err = v.Changes(since, int(most), mostOut)
		return err
	})
	if err != nil {
		c.refuse(err, nil)
		return
	}
	c.out = redcon.AppendArray(c.out, 1+2*len(all))
	c.out = redcon.AppendInt(c.out, int64(since)+int64(len(all)))
	for _, x := range all {
		r := replica.Record{}
		if x.Text != nil {
			r = *x.Text
		}
		if x.Deleted {
			c.field(c.s.config.Types.Key, x.Key, r.Key)
			c.null()
		} else {
			c.pair(x.Key, x.Value, r)
		}
		c.sendLarge()
	}
}

// ranked is a pair of a ranking, with its key if that is text.
type ranked struct {
	structures.Pair[uint64, uint64]
	replica.Record
}

// ranking is a heap of the best pairs, the worst of them first.
type ranking struct {
	pairs []ranked
	least bool
}

// compare orders the best pair first. Of equal values, the lesser key is better, whose words say nothing if keys are
// texts.
func (r *ranking) compare(a, b ranked) int {
	return cmp.Or(r.values(a.Pair.Value, b.Pair.Value), strings.Compare(a.Record.Key, b.Record.Key),
		cmp.Compare(a.Pair.Key, b.Pair.Key))
}

// values orders the better value first.
func (r *ranking) values(a, b uint64) int {
	if r.least {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(b, a)
}

func (r *ranking) Len() int           { return len(r.pairs) }
func (r *ranking) Less(i, j int) bool { return r.compare(r.pairs[i], r.pairs[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.pairs[i], r.pairs[j] = r.pairs[j], r.pairs[i] }
func (r *ranking) Push(x any)         { r.pairs = append(r.pairs, x.(ranked)) }
func (r *ranking) Pop() any           { panic("nothing is taken out") }

// mayTake reports whether a pair with this value may be among the best n.
func (r *ranking) mayTake(n int, value uint64) bool {
	return len(r.pairs) < n || r.values(value, r.pairs[0].Pair.Value) <= 0
}

func (r *ranking) offer(n int, p ranked) {
	switch {
	case len(r.pairs) < n:
		heap.Push(r, p)
	case r.compare(p, r.pairs[0]) < 0:
		r.pairs[0] = p
		heap.Fix(r, 0)
	}
}

// exported is the folder of what VK.SNAPSHOT writes, in that of the data.
const exported = "exported"

// mostExported is how many files the folder has at most, so that clients can't fill the disk with them.
const mostExported = 16

var errExported = fmt.Errorf("%s has %d files, the most allowed: take one of their names, or delete one", exported,
	mostExported)

// snapshot writes all pairs of one moment to a file that vkds reads, and answers with its path. A file of the same name
// is replaced.
func (c *conn) snapshot(args [][]byte) {
	name := string(args[0])
	if len(name) == 0 || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) {
		c.fail("ERR the name of a snapshot has 1 to 64 letters, digits, - and _")
		return
	}
	file := filepath.Join(c.s.config.Dir, exported, name+".vkds")
	err := c.alone(func(ctx context.Context, x replica.Snapshot) error { return c.s.export(ctx, x, file) })
	if err != nil {
		c.refuse(err, nil)
		return
	}
	c.bulk(append(c.text[:0], file...))
}

func (s *Server) export(ctx context.Context, x replica.Snapshot, file string) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	if len(files) >= mostExported && !slices.ContainsFunc(files, func(f os.DirEntry) bool {
		return f.Name() == filepath.Base(file)
	}) {
		return errExported
	}
	n, err := x.Len(ctx)
	if err != nil {
		return err
	}
	w, err := dictfile.Create(ctx, file, dictfile.Header{Structure: "btree", Pairs: int64(n),
		KeyType: s.config.Types.Key.String(), ValueType: s.config.Types.Value.String(), Writer: s.o.Version})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	write := w.Write
	if t := s.config.Types; t.Key == keytype.Text || t.Value == keytype.Text {
		write = textsOf(x, t, w)
	}
	for pairs, err := range x.Chunks(ctx) {
		if err := cmp.Or(err, write(pairs.Keys, pairs.Values)); err != nil {
			return err
		}
	}
	return w.Close()
}

// textsOf returns a function that writes pairs to a file with texts. The file's words of texts are numbers in arenas,
// which have one text at a time.
func textsOf(x replica.Snapshot, t replica.Types, w *dictfile.Writer) func(keys, values []uint64) error {
	texts := [2]*keytype.Arena{{}, {}}
	w.SetTexts(texts[0], texts[1])
	return func(keys, values []uint64) error {
		for i, key := range keys {
			r, value := x.Record(key), values[i]
			texts[0].Reset()
			texts[1].Reset()
			if t.Key == keytype.Text {
				key = texts[0].AddString(r.Key)
			}
			if t.Value == keytype.Text {
				value = texts[1].AddString(r.Value)
			}
			if err := w.Write([]uint64{key}, []uint64{value}); err != nil {
				return err
			}
		}
		return nil
	}
}
