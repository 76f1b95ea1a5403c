package conformance

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/vk"
)

// onDevice are the operations of a batch in device buffers; outcome and left nil where nobody asks for them.
type onDevice struct {
	n    int // operations
	room int // that the buffers have room for: what is behind the n first is not to be done

	// said is nil where the host says their number, which room is then. Else the step of the stream before writes it to
	// count, which says something else until then.
	said, count    *vk.Buffer[uint32]
	keys, values   *vk.Buffer[uint32]
	kinds, outcome *vk.Buffer[uint8]
	bits           *vk.Buffer[uint32] // of lookups, instead of an outcome or with it
	left           *vk.Buffer[uint32]
}

// write has a stream write the number of the operations, if it is for the device to say.
func (b onDevice) write(s *vk.Stream) {
	if b.said != nil {
		s.Copy(b.count, 0, b.said, 0, 1)
	}
}

func (b onDevice) batch() structures.DeviceBatch {
	return structures.DeviceBatch{
		Count: b.room, DeviceCount: b.count, Keys: b.keys, Values: b.values, Kinds: b.kinds,
		Status: b.outcome, Left: b.left,
	}
}

// calls are how a dictionary's calls on device buffers are used.
type calls struct {
	of    onstream.Calls
	order structures.LookupOrder
	// concurrent says that batches on several streams may change the dictionary at the same time, and that a batch may
	// be structures.Mixed. Else each comes behind the one before, and is of updates of one kind.
	concurrent bool
	waits      bool // an update may wait for its stream, and so submit what was recorded before
	runs       bool // an update is submitted by the call, so that there is nothing to drop
}

// callsOf are the calls of a dictionary: those that it shares with all, unless batches are to be concurrent.
func callsOf[W structures.Word](dictionary Dictionary[W], concurrent bool, order structures.LookupOrder) calls {
	c := calls{of: onstream.Of(dictionary), order: order, concurrent: concurrent}
	switch dictionary.(type) {
	case *btree.Tree[W, W]:
		c.waits = !concurrent
	case *snapshotted[W]:
		c.waits = true // for memory of versions
	case *sortedarray.Array[W, W]:
		c.runs = true
	}
	return c
}

func (c calls) update(ctx context.Context, s *vk.Stream, kind structures.Kind, b onDevice) error {
	b.write(s)
	if c.concurrent || kind == structures.Mixed {
		return c.of.Concurrent(s).Apply(kind, b.batch())
	}
	return c.of.On(s).Update(ctx, kind, b.batch())
}

func (c calls) find(s *vk.Stream, b onDevice) error {
	b.write(s)
	return c.of.On(s).Find(structures.DeviceLookups{
		Count: b.room, DeviceCount: b.count, Keys: b.keys, Values: b.values, Found: b.outcome, FoundBits: b.bits,
		Order: c.order,
	})
}

// streamed is a dictionary whose batches come in device buffers and are recorded on two streams, among others that are
// recorded and never run.
type streamed[W structures.Word] struct {
	Dictionary[W]
	t       testing.TB
	d       *vk.Device
	free    bool // batches may be concurrent
	streams [2]*vk.Stream
	turn    int // calls so far
	used    []interface{ Free() }
}

// onStreams is a dictionary by its calls on device buffers, until the returned function is called.
func onStreams[W structures.Word](t testing.TB, d *vk.Device, s subject[W], dictionary Dictionary[W],
	turn int) (_ *streamed[W], end func()) {
	o := &streamed[W]{Dictionary: dictionary, t: t, d: d, free: s.free, turn: turn}
	for i := range o.streams {
		o.streams[i] = o.stream()
	}
	return o, func() {
		for _, s := range o.streams {
			require.NoError(t, s.Close())
		}
	}
}

// bare is the dictionary itself.
func bare[W structures.Word](dictionary Dictionary[W]) Dictionary[W] {
	if o, ok := dictionary.(*streamed[W]); ok {
		return o.Dictionary
	}
	return dictionary
}

func (o *streamed[W]) stream() *vk.Stream {
	s, err := o.d.NewStream()
	require.NoError(o.t, err)
	return s
}

// room is a buffer until the call's end.
func room[T vk.Element, W structures.Word](o *streamed[W], n int) *vk.Buffer[T] {
	b, err := vk.NewBuffer[T](o.d, max(n, 1))
	require.NoError(o.t, err)
	o.used = append(o.used, b)
	return b
}

func upload[T vk.Element, W structures.Word](o *streamed[W], elements []T) *vk.Buffer[T] {
	b := room[T](o, len(elements))
	require.NoError(o.t, b.Upload(o.t.Context(), 0, elements))
	return b
}

func download[T vk.Element, W structures.Word](o *streamed[W], b *vk.Buffer[T], n int) []T {
	s := make([]T, n)
	require.NoError(o.t, b.Download(o.t.Context(), 0, s))
	return s
}

// put is upload, of keys or values.
func (o *streamed[W]) put(some []W) *vk.Buffer[uint32] {
	return upload(o, numbers.Words(some))
}

// roomFor is a buffer of so many keys or values until the call's end.
func (o *streamed[W]) roomFor(n int) *vk.Buffer[uint32] {
	return room[uint32](o, numbers.WordsOf[W](n))
}

// get is download, of keys or values.
func (o *streamed[W]) get(b *vk.Buffer[uint32], n int) []W {
	return numbers.From[W](download(o, b, numbers.WordsOf[W](n)))
}

func padded(bytes int) int { return (bytes + 3) &^ 3 }

// begin begins a call: it returns what it is to be done by.
func (o *streamed[W]) begin() (calls, func()) {
	o.turn++
	order := []structures.LookupOrder{structures.AutoOrder, structures.OneByOne, structures.SortedFirst}[o.turn%3]
	return callsOf(o.Dictionary, o.free && o.turn%4 != 0, order), o.release
}

// release frees a call's buffers.
func (o *streamed[W]) release() {
	for _, b := range o.used {
		b.Free()
	}
	o.used = nil
}

// number says how a call with so many elements says so: the buffers have room for as many or for more, and a word in
// device memory, if not nil, has the number, or one that is greater than what there is room for.
func (o *streamed[W]) number(n int) (room int, count *vk.Buffer[uint32]) {
	switch o.turn / 4 % 4 {
	case 1:
		return n + 1 + o.turn%70, upload(o, []uint32{uint32(n)})
	case 2:
		return n, upload(o, []uint32{uint32(n)})
	case 3:
		return n, upload(o, []uint32{^uint32(o.turn)})
	}
	return n, nil
}

// upload puts operations into device buffers. What is behind them would change the same keys and others if it were
// done.
func (o *streamed[W]) upload(b Batch[W]) onDevice {
	room, said := o.number(len(b.Keys))
	return o.uploadInto(b, room, said)
}

func (o *streamed[W]) uploadInto(b Batch[W], number int, said *vk.Buffer[uint32]) onDevice {
	n := len(b.Keys)
	keys, values, kinds := make([]W, number), make([]W, number), make([]uint8, number)
	copy(keys, b.Keys)
	copy(values, b.Values)
	for i, k := range b.Kinds {
		kinds[i] = uint8(k)
	}
	for i := n; i < number; i++ {
		keys[i], values[i], kinds[i] = W(i), 0x5eed0000+W(i), uint8(structures.Insert)
		if n > 0 {
			keys[i] = b.Keys[i%n] ^ W(i%2)
		}
		if i%3 == 0 {
			kinds[i] = uint8(structures.Delete)
		}
	}
	var count *vk.Buffer[uint32]
	if said != nil {
		count = upload(o, []uint32{uint32(number)})
	}
	return onDevice{
		n: n, room: number, said: said, count: count,
		keys: o.put(keys), values: o.put(values), kinds: upload(o, kinds),
		outcome: room[uint8](o, padded(number)), left: upload(o, []uint32{0}),
	}
}

func part[W structures.Word](b Batch[W], from, to int) Batch[W] {
	p := Batch[W]{Keys: b.Keys[from:to]}
	if b.Kinds != nil {
		p.Kinds = b.Kinds[from:to]
	}
	if b.Values != nil {
		p.Values = b.Values[from:to]
	}
	return p
}

// wait waits for what is recorded on the streams.
func (o *streamed[W]) wait() {
	for _, s := range o.streams {
		require.NoError(o.t, s.Wait(o.t.Context()))
	}
}

// drop records what would change what a batch is about, and sees to it that none of it runs: it is discarded, a command
// that can't be makes the stream drop it, or the stream is closed.
func (o *streamed[W]) drop(c calls, b Batch[W]) {
	ctx, s := o.t.Context(), o.stream()
	other := make([]W, len(b.Keys))
	for i := range other {
		other[i] = 0x5eed0000 + W(i)
	}
	fresh := slices.Clone(b.Keys)
	for i := range fresh {
		fresh[i] ^= 1 << 9
	}
	update := func(kind structures.Kind, b Batch[W]) func() error {
		// The host says their number: else a call may wait for the stream.
		return func() error { return c.update(ctx, s, kind, o.uploadInto(b, len(b.Keys), nil)) }
	}
	updates := []func() error{
		update(structures.Insert, Batch[W]{Keys: b.Keys, Values: other}),
		update(structures.Delete, Batch[W]{Keys: b.Keys}),
		update(structures.Insert, Batch[W]{Keys: fresh, Values: other}),
	}
	if c.waits {
		updates = updates[o.turn/5%3:][:1]
	}
	for _, update := range updates {
		require.NoError(o.t, update())
	}
	switch o.turn % 3 {
	case 0:
		s.Discard()
		require.NoError(o.t, s.Wait(ctx))
	case 1:
		s.Fill(upload(o, []uint32{0}), 1024, 1, 0)
		require.Error(o.t, s.Wait(ctx))
	}
	require.NoError(o.t, s.Close())
}

// do does a batch of one kind, or structures.Mixed: half of it on either stream. What comes back in values is that of
// the operations.
func (o *streamed[W]) do(c calls, kind structures.Kind,
	b Batch[W]) (statuses []structures.Status, values []W) {
	ctx, n := o.t.Context(), len(b.Keys)
	if o.turn%5 == 0 && !c.runs {
		o.drop(c, b)
	}
	var parts [2]onDevice
	cuts := [3]int{0, n * (o.turn % 4) / 4, n}
	for i, s := range o.streams {
		parts[i] = o.upload(part(b, cuts[i], cuts[i+1]))
		if i > 0 && !c.concurrent {
			behind, err := o.streams[i-1].Submit()
			require.NoError(o.t, err)
			s.After(behind)
		}
		require.NoError(o.t, c.update(ctx, s, kind, parts[i]))
		_, err := s.Submit()
		require.NoError(o.t, err)
	}
	o.wait()
	for i, s := range o.streams {
		require.NoError(o.t, c.of.On(s).Finish(ctx, kind, parts[i].batch()))
		for _, status := range download(o, parts[i].outcome, parts[i].n) {
			statuses = append(statuses, structures.Status(status))
		}
		values = append(values, o.get(parts[i].values, parts[i].n)...)
	}
	if o.turn%3 == 0 && (kind == structures.Insert || kind == structures.Delete && !o.hashed()) {
		o.again(c, kind, b)
	}
	return statuses, values
}

// again does a batch once more by which nothing changes, and asks for no outcomes: ordered ones take other kernels
// then.
func (o *streamed[W]) again(c calls, kind structures.Kind, b Batch[W]) {
	ctx := o.t.Context()
	if kind == structures.Insert && (c.concurrent || o.hashed()) {
		kind = structures.InsertUnique // of equal keys another one may win this time
	}
	again := o.upload(b)
	again.outcome, again.left = nil, nil
	require.NoError(o.t, c.update(ctx, o.streams[1], kind, again))
	require.NoError(o.t, c.of.On(o.streams[1]).Finish(ctx, kind, again.batch()))
}

func (o *streamed[W]) insert(kind structures.Kind, keys, values []W) ([]structures.Status, error) {
	c, end := o.begin()
	defer end()
	statuses, _ := o.do(c, kind, Batch[W]{Keys: keys, Values: values})
	return statuses, nil
}

func (o *streamed[W]) Insert(_ context.Context, keys, values []W) ([]structures.Status, error) {
	return o.insert(structures.Insert, keys, values)
}

func (o *streamed[W]) InsertUnique(_ context.Context, keys, values []W) ([]structures.Status, error) {
	return o.insert(structures.InsertUnique, keys, values)
}

func (o *streamed[W]) InsertAdd(_ context.Context, keys, values []W) ([]structures.Status, error) {
	return o.insert(structures.InsertAdd, keys, values)
}

func (o *streamed[W]) InsertMin(_ context.Context, keys, values []W) ([]structures.Status, error) {
	return o.insert(structures.InsertMin, keys, values)
}

func (o *streamed[W]) InsertMax(_ context.Context, keys, values []W) ([]structures.Status, error) {
	return o.insert(structures.InsertMax, keys, values)
}

func (o *streamed[W]) Delete(_ context.Context, keys []W) ([]structures.Status, error) {
	c, end := o.begin()
	defer end()
	statuses, _ := o.do(c, structures.Delete, Batch[W]{Keys: keys})
	return statuses, nil
}

func (o *streamed[W]) Find(_ context.Context, keys []W) (values []W, found []bool, err error) {
	c, end := o.begin()
	defer end()
	values, found = o.find(c, keys)
	return values, found, nil
}

func (o *streamed[W]) find(c calls, keys []W) (values []W, found []bool) {
	b := o.upload(Batch[W]{Keys: keys})
	// Twice in a row, and something else in between, so that what the first needs beside its buffers is still in use.
	first := b
	first.values, first.outcome = o.roomFor(b.room), room[uint8](o, padded(b.room))
	if o.turn%2 == 0 {
		b.bits = room[uint32](o, (b.room+31)/32)
	}
	if o.turn%4 == 0 {
		b.outcome = nil
	}
	few := o.upload(Batch[W]{Keys: keys[:len(keys)/2]})
	s := o.streams[o.turn%2]
	require.NoError(o.t, c.find(s, first))
	require.NoError(o.t, c.find(s, few))
	require.NoError(o.t, c.find(s, b))
	require.NoError(o.t, s.Wait(o.t.Context()))
	flags := download(o, first.outcome, b.n)
	values = o.get(b.values, b.n)
	require.True(o.t, slices.Equal(values, o.get(first.values, b.n)), "one look-up, two answers")
	if b.outcome != nil {
		require.True(o.t, slices.Equal(flags, download(o, b.outcome, b.n)), "one look-up, two answers")
	}
	if b.bits != nil {
		words := download(o, b.bits, (b.n+31)/32)
		for i := range 32 * len(words) {
			bit := words[i/32] >> (i % 32) & 1
			require.True(o.t, i < b.n && bit == uint32(flags[i]) || i >= b.n && bit == 0, "bit %d of %d", i, b.n)
		}
	}
	found = make([]bool, b.n)
	for i, flag := range flags {
		require.LessOrEqual(o.t, flag, uint8(1))
		found[i] = flag == 1
	}
	return values, found
}

// Apply does a mixed batch; where there are none on device buffers, its operations kind by kind: what asks first.
func (o *streamed[W]) Apply(_ context.Context, b Batch[W]) (Results[W], error) {
	c, end := o.begin()
	defer end()
	if c.concurrent && !slices.Contains(b.Kinds, structures.CountAll) || o.hashed() {
		statuses, values := o.do(c, structures.Mixed, b)
		return Results[W]{Status: statuses, Values: values}, nil
	}
	r := Results[W]{Status: make([]structures.Status, len(b.Keys)), Values: make([]W, len(b.Keys))}
	for _, kind := range slices.Concat([]structures.Kind{structures.Find, structures.CountAll, structures.Insert,
		structures.InsertUnique}, inPlaceKinds, []structures.Kind{structures.Delete}) {
		var which []int
		for i, k := range b.Kinds {
			if k == kind {
				which = append(which, i)
			}
		}
		if len(which) == 0 && (kind == structures.InsertUnique || kind.UpdatesInPlace()) {
			continue // not all do it, or it is for others to see what none come to
		}
		some := Batch[W]{Keys: pick(b.Keys, which), Values: pick(b.Values, which)}
		statuses := make([]structures.Status, len(which))
		var values []W
		switch kind {
		case structures.Find, structures.CountAll:
			var found []bool
			if values, found = o.find(c, some.Keys); kind == structures.CountAll {
				values = numbers.Each(o.count(each(some.Keys)), func(n uint32) W { return W(n) })
			}
			for j, there := range found {
				statuses[j] = structures.Absent
				if there {
					statuses[j] = structures.Found
				}
			}
		default:
			statuses, values = o.do(c, kind, some)
		}
		for j, i := range which {
			r.Status[i], r.Values[i] = statuses[j], values[j]
		}
	}
	return r, nil
}

func (o *streamed[W]) hashed() bool {
	_, hashed := o.Dictionary.(*slabhash.Map[W, W])
	return hashed
}

// pick returns some elements.
func pick[T any](all []T, which []int) []T {
	some := make([]T, len(which))
	for j, i := range which {
		some[j] = all[i]
	}
	return some
}

// each are the ranges of single keys.
func each[W structures.Word](keys []W) []Range[W] {
	ranges := make([]Range[W], len(keys))
	for i, k := range keys {
		ranges[i] = Range[W]{Lo: k, Hi: k}
	}
	return ranges
}

func (o *streamed[W]) ordered(s *vk.Stream) structures.OrderedOnStream {
	return onstream.Of(o.Dictionary).Ordered(s)
}

// uploadRanges puts ranges into a device buffer, and says how many it has room for. What is behind them would have
// pairs.
func (o *streamed[W]) uploadRanges(
	ranges []Range[W]) (words *vk.Buffer[uint32], room int, count *vk.Buffer[uint32]) {
	room, count = o.number(len(ranges))
	all := make([]W, 0, 2*room)
	for i := range room {
		r := structures.AllKeys[W]()
		if i < len(ranges) {
			r = ranges[i]
		}
		all = append(all, r.Lo, r.Hi)
	}
	return o.put(all), room, count
}

func (o *streamed[W]) count(ranges []Range[W]) []uint32 {
	s := o.streams[o.turn%2]
	words, n, number := o.uploadRanges(ranges)
	r := structures.DeviceCounts{Count: n, DeviceCount: number, Ranges: words, Counts: room[uint32](o, n)}
	if o.turn%2 == 0 {
		r.Candidates = room[uint64](o, 1)
	}
	require.NoError(o.t, o.ordered(s).Count(r))
	require.NoError(o.t, s.Wait(o.t.Context()))
	return download(o, r.Counts, len(ranges))
}

func (o *streamed[W]) Count(_ context.Context, ranges []Range[W]) ([]uint32, error) {
	_, end := o.begin()
	defer end()
	return o.count(ranges), nil
}

func (o *streamed[W]) Range(_ context.Context, ranges []Range[W]) (Ranges[W], error) {
	_, end := o.begin()
	defer end()
	s := o.streams[o.turn%2]
	words, n, number := o.uploadRanges(ranges)
	c := structures.DeviceCounts{
		Count: n, DeviceCount: number, Ranges: words, Counts: room[uint32](o, n), Candidates: upload(o, []uint64{0}),
	}
	require.NoError(o.t, o.ordered(s).Count(c))
	require.NoError(o.t, s.Wait(o.t.Context()))
	pairs := 0
	for _, n := range download(o, c.Counts, len(ranges)) {
		pairs += int(n)
	}
	candidates := download(o, c.Candidates, 1)[0]
	r := structures.DeviceRanges{
		Count: n, DeviceCount: number, Ranges: words, Offsets: room[uint32](o, n+1),
		Keys: o.roomFor(pairs), Values: o.roomFor(pairs),
		MaxCandidates: int(candidates), Candidates: upload(o, []uint64{0}),
	}
	require.NoError(o.t, o.ordered(s).Range(r))
	require.NoError(o.t, s.Wait(o.t.Context()))
	require.Equal(o.t, candidates, download(o, r.Candidates, 1)[0])
	out := Ranges[W]{Keys: o.get(r.Keys, pairs), Values: o.get(r.Values, pairs)}
	for _, offset := range download(o, r.Offsets, len(ranges)+1) {
		out.Offsets = append(out.Offsets, uint64(offset))
	}
	require.EqualValues(o.t, pairs, out.Offsets[len(ranges)])
	return out, nil
}

func (o *streamed[W]) DeleteRange(ctx context.Context, ranges []Range[W]) ([]uint32, error) {
	return o.Dictionary.(Ordered[W]).DeleteRange(ctx, ranges)
}

func (o *streamed[W]) Rank(_ context.Context, keys []W) ([]uint32, error) {
	_, end := o.begin()
	defer end()
	s, n := o.streams[o.turn%2], len(keys)
	all, number := o.number(n)
	q := structures.DeviceRanks{
		Count: all, DeviceCount: number, Keys: o.put(append(slices.Clone(keys), make([]W, all-n)...)),
		Ranks: room[uint32](o, all),
	}
	require.NoError(o.t, o.ordered(s).Rank(q))
	require.NoError(o.t, s.Wait(o.t.Context()))
	return download(o, q.Ranks, n), nil
}

func (o *streamed[W]) Select(_ context.Context, ranks []uint32) (Neighbors[W], error) {
	_, end := o.begin()
	defer end()
	s, n := o.streams[o.turn%2], len(ranks)
	all, number := o.number(n)
	q := structures.DeviceNeighbors{
		Count: all, DeviceCount: number, Keys: upload(o, append(slices.Clone(ranks), make([]uint32, all-n)...)),
		OutKeys: o.roomFor(all), OutValues: o.roomFor(all), Status: room[uint8](o, padded(all)),
	}
	require.NoError(o.t, o.ordered(s).Select(q))
	require.NoError(o.t, s.Wait(o.t.Context()))
	return Neighbors[W]{Keys: o.get(q.OutKeys, n), Values: o.get(q.OutValues, n),
		Found: o.found(q.Status, n)}, nil
}

// export is all pairs, with room for so many; there are more, perhaps.
func (o *streamed[W]) export(pairs int) (keys, values []W, total uint32) {
	_, end := o.begin()
	defer end()
	s := o.streams[o.turn%2]
	const untouched = 0xbad0feed
	e := structures.DeviceExport{Keys: o.roomFor(pairs + 1), Values: o.roomFor(pairs), Total: room[uint32](o, 1)}
	s.Fill(e.Keys, 0, e.Keys.Len(), untouched)
	require.NoError(o.t, onstream.Of(o.Dictionary).On(s).Export(e))
	require.NoError(o.t, s.Wait(o.t.Context()))
	keys, total = o.get(e.Keys, pairs+1), download(o, e.Total, 1)[0]
	there := min(int(total), pairs)
	for _, word := range numbers.Words(keys[there:]) {
		require.EqualValues(o.t, untouched, word, "written where no pair goes")
	}
	return keys[:there], o.get(e.Values, there), total
}

// requireExport compares what is exported, with room for all pairs, for more and for fewer.
func (o *streamed[W]) requireExport(n int, right func(keys, values []W) bool) {
	for _, pairs := range []int{max(n, 1), n + 100, max(n/2, 1)} {
		keys, values, total := o.export(pairs)
		require.EqualValues(o.t, n, total)
		require.Len(o.t, keys, min(n, pairs))
		require.True(o.t, right(keys, values), "other pairs than there are")
	}
}

// found says which of n queries have found something.
func (o *streamed[W]) found(statuses *vk.Buffer[uint8], n int) (found []bool) {
	for _, status := range download(o, statuses, n) {
		require.Contains(o.t, []structures.Status{structures.Found, structures.Absent}, structures.Status(status))
		found = append(found, structures.Status(status) == structures.Found)
	}
	return found
}

func (o *streamed[W]) Neighbor(_ context.Context, to structures.Direction, keys []W) (Neighbors[W], error) {
	_, end := o.begin()
	defer end()
	s, n := o.streams[o.turn%2], len(keys)
	all, number := o.number(n)
	q := structures.DeviceNeighbors{
		Count: all, DeviceCount: number, Keys: o.put(append(slices.Clone(keys), make([]W, all-n)...)),
		OutKeys: o.roomFor(all), OutValues: o.roomFor(all),
		Status: room[uint8](o, padded(all)), Left: room[uint32](o, 1),
	}
	s.Fill(q.Left, 0, 1, 0)
	require.NoError(o.t, o.ordered(s).Neighbor(to, q))
	require.NoError(o.t, o.ordered(s).FinishNeighbors(o.t.Context(), to, q))
	require.Zero(o.t, download(o, q.Left, 1)[0])
	out := Neighbors[W]{Keys: o.get(q.OutKeys, n), Values: o.get(q.OutValues, n),
		Found: make([]bool, n)}
	for i, status := range download(o, q.Status, n) {
		require.Contains(o.t, []structures.Status{structures.Found, structures.Absent}, structures.Status(status))
		out.Found[i] = structures.Status(status) == structures.Found
	}
	return out, nil
}

func (o *streamed[W]) Ascend(ctx context.Context, r Range[W]) iter.Seq2[Pair[W], error] {
	return o.Dictionary.(Ordered[W]).Ascend(ctx, r)
}

func (o *streamed[W]) Descend(ctx context.Context, r Range[W]) iter.Seq2[Pair[W], error] {
	return o.Dictionary.(Ordered[W]).Descend(ctx, r)
}
