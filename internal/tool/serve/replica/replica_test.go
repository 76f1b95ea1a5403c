package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

var integers = Types{keytype.Int64, keytype.Int64}

// oracle is what a state should be, as plain as can be.
type oracle struct {
	clock int64
	pairs map[uint64]Answer // Value and Deadline
}

func (o *oracle) apply(now int64, ops []Op) []Answer {
	o.clock = max(o.clock, now)
	for k, x := range o.pairs {
		if x.Deadline != 0 && x.Deadline <= o.clock {
			delete(o.pairs, k)
		}
	}
	var answers []Answer
	for _, op := range ops {
		is, there := o.pairs[op.Key]
		a := Answer{Value: is.Value, Deadline: is.Deadline, Found: there}
		switch op.Kind {
		case Set:
			if op.Flags&IfAbsent != 0 && there || op.Flags&IfPresent != 0 && !there {
				break
			}
			a.Done = true
			at := op.Deadline
			if op.Flags&KeepDeadline != 0 {
				at = is.Deadline
			}
			o.pairs[op.Key] = Answer{Value: op.Value, Deadline: at}
		case Add:
			old := int64(0)
			if there {
				old = int64(keytype.Int64.Bits(is.Value))
			}
			sum := old + int64(op.Value)
			if (sum > old) != (int64(op.Value) > 0) && op.Value != 0 {
				a.Overflow, a.Value = true, 0
				break
			}
			a.Value, _ = keytype.Int64.FromInt(sum)
			o.pairs[op.Key] = Answer{Value: a.Value, Deadline: is.Deadline}
		case Delete:
			delete(o.pairs, op.Key)
		case Expire:
			if a.Done = there; there {
				o.pairs[op.Key] = Answer{Value: is.Value, Deadline: op.Deadline}
			}
		case Persist:
			if a.Done = is.Deadline != 0; there {
				o.pairs[op.Key] = Answer{Value: is.Value}
			}
		}
		if x := o.pairs[op.Key]; x.Deadline != 0 && x.Deadline <= o.clock {
			delete(o.pairs, op.Key)
		}
		answers = append(answers, a)
	}
	return answers
}

var drawnKeys = []uint64{0, 1, 2, 3, 4, 5, 1 << 63, math.MaxUint64}

func drawOps(t *rapid.T) []Op {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Op {
		op := Op{Kind: rapid.SampledFrom([]Kind{Get, Set, Set, Add, Delete, Expire, Persist}).Draw(t, "kind"),
			Key: rapid.SampledFrom(drawnKeys).Draw(t, "key")}
		switch op.Kind {
		case Set:
			op.Flags = rapid.SampledFrom([]Flags{0, IfAbsent, IfPresent, KeepDeadline,
				IfPresent | KeepDeadline}).Draw(t, "flags")
			op.Value = rapid.Uint64().Draw(t, "value")
			if op.Flags&KeepDeadline == 0 {
				op.Deadline = rapid.Int64Range(0, 40).Draw(t, "deadline")
			}
		case Add:
			op.Value = uint64(rapid.Int64().Draw(t, "by"))
		case Expire:
			op.Deadline = rapid.Int64Range(1, 40).Draw(t, "deadline")
		}
		return op
	}), 0, 12).Draw(t, "ops")
}

// Whatever the operations and the times, answers, pairs and deadlines are those of a plain map, before and after the
// state is stored and restored.
func TestState(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(rt *rapid.T) {
		types := rapid.SampledFrom(eachTypes).Draw(rt, "types")
		x := wording{types}
		s, err := newState(ctx, types, nil)
		require.NoError(rt, err)
		defer func() { s.close() }()
		if s.texts != nil && rapid.Bool().Draw(rt, "weak") {
			s.texts.hashes = weak(rapid.IntRange(0, 3).Draw(rt, "bits"))
		}
		want := &oracle{pairs: map[uint64]Answer{}}
		replayed, number := map[uint64]uint64{}, uint64(0) // by changes alone
		for range rapid.IntRange(1, 8).Draw(rt, "entries") {
			now, ops := rapid.Int64Range(1, 40).Draw(rt, "now"), drawOps(rt)
			own, texts := x.texts(ops)
			e, err := types.decode(types.encode(types.head(nil, now, seed{7}), own, texts))
			require.NoError(rt, err)
			answers, err := s.apply(ctx, e)
			require.NoError(rt, err)
			x.words(answers)
			if expected := want.apply(now, ops); len(ops) > 0 {
				require.Equal(rt, expected, answers)
			}
			changes, err := s.changes.since(number, math.MaxInt, math.MaxInt)
			require.NoError(rt, err)
			for _, c := range changes {
				key, value := x.change(c)
				is, there := replayed[key]
				require.False(rt, c.Deleted && !there || !c.Deleted && there && is == value, "%v changes nothing", c)
				if replayed[key] = value; c.Deleted {
					delete(replayed, key)
				}
			}
			number += uint64(len(changes))
			if rapid.IntRange(0, 3).Draw(rt, "restored") == 0 {
				var file bytes.Buffer
				stored, err := s.store(ctx)
				require.NoError(rt, err)
				_, err = s.apply(ctx, x.entry(now, Op{Kind: Set, Key: 77}, Op{Kind: Delete, Key: 1}))
				require.NoError(rt, err)
				require.NoError(rt, stored.write(&file))
				stored.Release()
				other, err := newState(ctx, types, nil)
				require.NoError(rt, err)
				if s.texts != nil {
					other.texts.hashes = s.texts.hashes
				}
				require.NoError(rt, other.restore(ctx, &file))
				s.close()
				s = other
			}
			got := x.all(rt, s)
			require.Equal(rt, want.pairs, got)
			for i, a := range x.get(rt, s, drawnKeys) {
				is, there := got[drawnKeys[i]]
				is.Found = there
				require.Equal(rt, is, a)
			}
			require.Len(rt, replayed, len(got))
			for k, x := range got {
				require.Equal(rt, x.Value, replayed[k])
			}
			timed := 0
			for _, x := range got {
				if x.Deadline != 0 {
					timed++
				}
			}
			require.Equal(rt, timed, s.deadlines.of.Len())
			require.Equal(rt, timed, s.deadlines.due.Len())
		}
	})
}

// Numbers of changes go on when the first ones are forgotten, and what was returned stays as it was.
func TestHistory(t *testing.T) {
	h := history{before: 5}
	var early []Change
	for i := range uint64(2*mostChanges + 10) {
		h.add(Change{Key: i})
		if i == 20 {
			got, err := h.since(10, 3, 0)
			require.NoError(t, err)
			require.Equal(t, []Change{{Key: 5}, {Key: 6}, {Key: 7}}, got)
			early = got
		}
	}
	require.Equal(t, []Change{{Key: 5}, {Key: 6}, {Key: 7}}, early)
	require.EqualValues(t, 2*mostChanges+15, h.last())
	for number, want := range map[uint64]bool{0: false, 5 + mostChanges - 1: false, 5 + mostChanges: true,
		2*mostChanges + 15: true, 2*mostChanges + 16: false} {
		got, err := h.since(number, 1, 0)
		if require.Equal(t, want, err == nil, "since %d", number); err == nil && number < h.last() {
			require.Equal(t, []Change{{Key: number - 5}}, got)
		}
	}
	long := history{of: []Change{{Key: 1, Text: &Record{"12345", "123456"}}, {Text: &Record{"123456", "1234"}}, {}}}
	for bytes, want := range map[int]int{0: 1, 11: 1, 20: 1, 21: 3} {
		got, err := long.since(0, 9, bytes)
		require.NoError(t, err)
		require.Equal(t, []int{want, want}, []int{len(got), cap(got)})
	}
	var gone *GoneError
	_, err := h.since(5+mostChanges-1, 1, 0)
	require.ErrorAs(t, err, &gone)
	require.EqualValues(t, 6+mostChanges, gone.First)
	var ahead *AheadError
	_, err = h.since(2*mostChanges+16, 1, 0)
	require.ErrorAs(t, err, &ahead, "it may come yet")
	require.EqualValues(t, 2*mostChanges+15, ahead.Last)
}

func TestSums(t *testing.T) {
	for _, x := range []struct {
		of   keytype.Type
		is   string
		by   int64
		want string
	}{
		{keytype.Int64, "5", -7, "-2"},
		{keytype.Int64, "9223372036854775807", 1, ""},
		{keytype.Int64, "-9223372036854775808", -1, ""},
		{keytype.Int32, "2147483647", 1, ""},
		{keytype.Int32, "-5", 10, "5"},
		{keytype.Uint64, "3", -3, "0"},
		{keytype.Uint64, "3", -4, ""},
		{keytype.Uint64, "18446744073709551615", 1, ""},
		{keytype.Uint64, "18446744073709551615", math.MinInt64, "9223372036854775807"},
		{keytype.Uint32, "4294967295", 1, ""},
	} {
		w, err := x.of.Parse(x.is)
		require.NoError(t, err)
		got, ok := added(x.of, w, x.by)
		require.Equal(t, x.want != "", ok, "%+v", x)
		if ok {
			require.Equal(t, x.want, x.of.Format(got))
		}
	}
	for _, of := range []keytype.Type{keytype.Float32, keytype.Float64} {
		w, ok := addedFloat(of, zero(of), 1.5)
		require.True(t, ok)
		w, ok = addedFloat(of, w, 2)
		require.True(t, ok)
		require.Equal(t, "3.5", of.Format(w))
		_, ok = addedFloat(of, w, math.Inf(1))
		require.False(t, ok)
	}
	_, ok := addedFloat(keytype.Float32, zero(keytype.Float32), 1e300)
	require.False(t, ok)
}

// eachTypes are types of which an entry or a snapshot may be.
var eachTypes = []Types{integers, {keytype.Text, keytype.Int64}, {keytype.Int64, keytype.Text},
	{keytype.Text, keytype.Text}}

// Bytes from anywhere are an entry or an error, and never more than memory in proportion.
func FuzzEntry(f *testing.F) {
	for _, types := range eachTypes {
		ops, texts := wording{types}.texts([]Op{{Kind: Set, Key: 1, Value: 2, Deadline: 3}, {Kind: Delete, Key: 1}, {}})
		f.Add(types.encode(types.head(nil, 7, seed{9}), ops, texts))
	}
	f.Add([]byte{1, 3, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, types := range eachTypes {
			e, err := types.decode(data)
			if err != nil {
				continue
			}
			require.LessOrEqual(t, cap(e.ops), 2*len(data))
			require.LessOrEqual(t, cap(e.texts), 2*len(data))
			again, err := types.decode(types.encode(types.head(nil, e.now, e.seed), e.ops, e.texts))
			require.NoError(t, err)
			require.Equal(t, e, again)
		}
	})
}

// Stored states from anywhere are restored or refused.
func FuzzStored(f *testing.F) {
	for _, types := range eachTypes {
		s, err := newState(context.Background(), types, nil)
		require.NoError(f, err)
		_, err = s.apply(context.Background(), wording{types}.entry(1, Op{Kind: Set, Key: 1, Value: 2, Deadline: 30},
			Op{Kind: Set, Key: 2}))
		require.NoError(f, err)
		x, err := s.store(context.Background())
		require.NoError(f, err)
		var file bytes.Buffer
		require.NoError(f, x.write(&file))
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		for _, types := range eachTypes {
			s, err := newState(t.Context(), types, nil)
			require.NoError(t, err)
			if s.restore(t.Context(), bytes.NewReader(stored)) == nil {
				require.LessOrEqual(t, s.deadlines.of.Len(), len(stored)/16)
				require.True(t, s.texts == nil || s.texts.bytes <= len(stored))
			}
			require.NoError(t, s.close())
		}
	})
}

func open(t testing.TB, o Options) *Node {
	if o.Types == (Types{}) {
		o.Types = integers
	}
	n, err := Open(t.Context(), o)
	require.NoError(t, err)
	return n
}

func lead(t testing.TB, n *Node) {
	require.Eventually(t, func() bool { return n.leads() != 0 }, 10*time.Second, time.Millisecond)
}

func set(key, value uint64) Op { return Op{Kind: Set, Key: key, Value: value} }

func get(t testing.TB, n *Node, stale bool, keys ...uint64) (answers []Answer, err error) {
	x := wording{n.o.Types}
	words, texts := x.keys(keys)
	err = n.Read(t.Context(), stale, func(v View) (err error) {
		answers, err = v.Get(t.Context(), words, texts, nil)
		return err
	})
	x.words(answers)
	return answers, err
}

// What was answered is there after a restart, from the log alone, from a snapshot, and from both.
func TestRestart(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	want := map[uint64]uint64{}
	for round := range 4 {
		n := open(t, o)
		lead(t, n)
		require.EqualValues(t, len(want), n.state.count.Load())
		for k, v := range want {
			got, err := get(t, n, false, k)
			require.NoError(t, err)
			require.Equal(t, []Answer{{Value: v, Found: true}}, got)
		}
		var mu sync.Mutex
		var g sync.WaitGroup
		for i := range 8 {
			g.Go(func() {
				for range 20 {
					k, v := rand.Uint64N(50)*8+uint64(i), rand.Uint64()
					answers, err := n.Write([]Op{set(k, v), {Kind: Get, Key: k}}, nil)
					require.NoError(t, err)
					require.Equal(t, v, answers[1].Value, "what comes before is seen")
					mu.Lock()
					want[k] = v
					mu.Unlock()
				}
			})
		}
		g.Wait()
		if round == 1 || round == 2 {
			require.NoError(t, n.Compact())
		}
		if round == 2 {
			_, err := n.Write([]Op{set(9999, 1)}, nil)
			require.NoError(t, err)
			want[9999] = 1
		}
		require.NoError(t, n.Close())
		_, err := n.Write([]Op{set(1, 1)}, nil)
		require.Error(t, err)
	}
	_, err := Open(t.Context(), Options{Dir: o.Dir, Types: Types{keytype.Uint64, keytype.Int64}})
	var types *TypesError
	require.ErrorAs(t, err, &types)
	_, err = Open(t.Context(), Options{Dir: o.Dir, Types: integers, Name: "127.0.0.1:1", Peers: []string{"127.0.0.1:1",
		"127.0.0.1:2", "127.0.0.1:3"}})
	var peers *PeersError
	require.ErrorAs(t, err, &peers)
	n := open(t, o)
	_, err = Open(t.Context(), Options{Dir: o.Dir, Types: integers})
	var storage *StorageError
	require.ErrorAs(t, err, &storage, "two processes")
	require.NoError(t, n.Close())
}

// A View has the state of one moment: while entries change all pairs, its look-ups, ranges, counts, snapshots and
// changes agree, although a table answers the look-ups and a tree the others.
func TestOneMoment(t *testing.T) {
	ctx, n := t.Context(), open(t, Options{Dir: t.TempDir()})
	lead(t, n)
	var sets, some []Op
	var keys []uint64
	for key := range uint64(1 << 11) {
		keys, sets = append(keys, key), append(sets, set(key, 0))
		if key%2 == 0 {
			some = append(some, Op{Kind: Delete, Key: key})
		}
	}
	look := func(v View) error {
		answers, err := v.Get(ctx, keys, nil, nil)
		require.NoError(t, err)
		var want structures.Pairs[uint64, uint64]
		for i, a := range answers {
			if a.Found {
				want.Keys, want.Values = append(want.Keys, keys[i]), append(want.Values, a.Value)
			}
		}
		require.EqualValues(t, len(want.Keys), v.Len())
		r, err := v.Range(ctx, []structures.Range[uint64]{structures.AllKeys[uint64]()})
		require.NoError(t, err)
		counts, err := v.Apply(ctx, structures.Batch[uint64, uint64]{Kinds: []structures.Kind{structures.CountRange},
			Keys: []uint64{0}, Highs: []uint64{math.MaxUint64}})
		require.NoError(t, err)
		x, err := v.Snapshot(ctx)
		require.NoError(t, err)
		defer x.Close()
		var saved structures.Pairs[uint64, uint64]
		for p, err := range x.Chunks(ctx) {
			require.NoError(t, err)
			saved.Keys, saved.Values = append(saved.Keys, p.Keys...), append(saved.Values, p.Values...)
		}
		require.True(t, slices.Equal(want.Keys, r.Keys) && slices.Equal(want.Values, r.Values), "the range")
		require.True(t, slices.Equal(want.Keys, saved.Keys) && slices.Equal(want.Values, saved.Values), "the snapshot")
		require.EqualValues(t, len(want.Keys), counts.Values[0])
		if v.LastChange() == 0 {
			return nil
		}
		changes, err := v.Changes(v.LastChange()-1, 1, math.MaxInt)
		require.NoError(t, err)
		require.Equal(t, answers[changes[0].Key].Found, !changes[0].Deleted)
		require.Equal(t, answers[changes[0].Key].Value, changes[0].Value)
		return nil
	}
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				require.NoError(t, n.Read(ctx, false, look))
			}
		})
	}
	for i := range uint64(60) {
		for at := range sets {
			sets[at].Value = i
		}
		ops := sets
		if i%3 == 2 {
			ops = some
		}
		_, err := n.Write(slices.Clone(ops), nil)
		require.NoError(t, err)
	}
	done.Store(true)
	readers.Wait()
	require.NoError(t, n.Close())
}

// Keys are deleted some time after their deadlines without anybody's asking, and only these.
func TestDeadlines(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir()})
	defer n.Close()
	lead(t, n)
	soon := n.Now() + 50
	_, err := n.Write([]Op{{Kind: Set, Key: 1, Deadline: soon}, set(2, 0),
		{Kind: Set, Key: 3, Deadline: n.Now() + 1e6}}, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return n.state.count.Load() == 2 }, 5*time.Second, time.Millisecond)
	require.GreaterOrEqual(t, n.Now(), soon)
	got, err := get(t, n, false, 1, 2, 3)
	require.NoError(t, err)
	require.False(t, got[0].Found)
	require.True(t, got[1].Found && got[2].Found)
}

// However many keys end at once, no entry deletes more than some of them, and an operation finds none of them.
func TestMassExpiry(t *testing.T) {
	s, err := newState(t.Context(), integers, nil)
	require.NoError(t, err)
	defer s.close()
	const n = 2*mostExpired + 100
	ops := make([]Op, n)
	for i := range ops {
		ops[i] = Op{Kind: Set, Key: uint64(i), Value: 1, Deadline: 10}
	}
	_, err = s.apply(t.Context(), entry{now: 1, ops: ops})
	require.NoError(t, err)
	got, err := s.apply(t.Context(), entry{now: 10, ops: []Op{{Key: n - 1},
		{Kind: Set, Key: n - 2, Value: 2, Flags: IfAbsent}, {Kind: Set, Key: n - 3, Value: 3, Flags: IfPresent}}})
	require.NoError(t, err)
	require.Equal(t, []Answer{{}, {Done: true}, {}}, got)
	require.EqualValues(t, n-mostExpired-2, s.count.Load())
	for _, left := range []uint64{98, 1, 1} { // one is new, and three were deleted because they were asked for
		_, err = s.apply(t.Context(), entry{now: 10})
		require.NoError(t, err)
		require.Equal(t, left, s.count.Load())
	}
	require.Zero(t, s.first.Load())

	now := atomic.Int64{} // a Node goes on until all are deleted
	now.Store(1)
	entries := atomic.Int64{}
	node := open(t, Options{Dir: t.TempDir(), clock: func() time.Time { return time.UnixMilli(now.Load()) },
		OnEntry: func(int, time.Duration) { entries.Add(1) }})
	defer node.Close()
	_, err = node.Write(ops, nil)
	require.NoError(t, err)
	now.Store(10)
	require.Eventually(t, func() bool { return node.state.count.Load() == 0 }, 20*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return entries.Load() == 1+3 }, time.Second, time.Millisecond)
}

// What stays in the log of a cluster has a bound in entries and in bytes.
func TestTrailing(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log.db"))
	require.NoError(t, err)
	defer l.Close()
	n := &Node{o: Options{Peers: []string{"a", "b", "c"}}, log: l}
	at := uint64(0)
	for _, x := range []struct {
		add  int
		size int
		want uint64
	}{{0, 0, 1}, {10, 1, 10}, {mostTrailing, 1, mostTrailing}, {3, 1 << 20, mostTrailing}, {15, 1 << 20, 16},
		{1, mostTrailingBytes + 1, 1}} {
		var entries []*raft.Log
		for range x.add {
			at++
			entries = append(entries, &raft.Log{Index: at, Data: make([]byte, x.size)})
		}
		require.NoError(t, l.StoreLogs(entries))
		got, err := n.trailing()
		require.NoError(t, err)
		require.Equal(t, x.want, got, "%+v", x)
	}
	require.NoError(t, l.DeleteRange(1, at-1))
	got, err := n.trailing()
	require.NoError(t, err)
	require.EqualValues(t, 1, got)
}

// A folder keeps its types if the options say so, and an empty one gets those of the options.
func TestTypesOfDir(t *testing.T) {
	words := Types{keytype.Text, keytype.Float64}
	dir := t.TempDir()
	for _, x := range []struct {
		o    Options
		want Types
	}{
		{Options{Types: integers, KeyOfDir: true, ValueOfDir: true}, integers},
		{Options{Types: words}, words}, // there are no entries yet
		{Options{Types: integers, KeyOfDir: true, ValueOfDir: true}, words},
		{Options{Types: Types{integers.Key, words.Value}, KeyOfDir: true}, words},
		{Options{Types: Types{words.Key, integers.Value}, ValueOfDir: true}, words},
		{Options{Types: words}, words},
	} {
		x.o.Dir = dir
		n := open(t, x.o)
		lead(t, n)
		require.Equal(t, x.want, n.Types())
		if x.want == words {
			_, err := n.Write([]Op{{Kind: Set}}, [][]byte{[]byte("k")})
			require.NoError(t, err)
		}
		require.NoError(t, n.Close())
	}
	for _, o := range []Options{{}, {KeyOfDir: true}, {ValueOfDir: true}} {
		o.Dir, o.Types = dir, integers
		_, err := Open(t.Context(), o)
		require.ErrorAs(t, err, new(*TypesError))
	}

	// A start that is refused leaves them as they are, also if only the snapshot tells them.
	of := Options{Dir: dir, Types: integers, KeyOfDir: true, ValueOfDir: true}
	n := open(t, of)
	lead(t, n)
	require.NoError(t, n.raft.Barrier(0).Error())
	require.NoError(t, n.raft.Snapshot().Error())
	require.NoError(t, n.Close())
	_, err := Open(t.Context(), Options{Dir: dir, Types: integers})
	require.ErrorAs(t, err, new(*TypesError))
	n = open(t, of)
	require.Equal(t, words, n.Types())
	require.NoError(t, n.Close())
}

// Entries and snapshots of another version are refused by that name.
func TestVersion(t *testing.T) {
	entry := integers.head(nil, 0, seed{})[:11] // it had no seed
	entry[0] = 1
	_, err := integers.decode(entry)
	require.ErrorContains(t, err, "the data is of version 1 of the log, and this program reads only version 4")
	s, err := newState(t.Context(), integers, nil)
	require.NoError(t, err)
	defer s.close()
	old := append([]byte{1, byte(integers.Key), byte(integers.Value)}, make([]byte, 64)...) // it had no changes
	require.ErrorAs(t, s.restore(t.Context(), bytes.NewReader(old)), new(*VersionError))

	o := Options{Dir: t.TempDir(), Types: integers}
	l, err := openLog(filepath.Join(o.Dir, "log.db"))
	require.NoError(t, err)
	require.NoError(t, l.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogCommand, Data: entry}))
	require.NoError(t, l.Close())
	_, err = Open(t.Context(), o)
	require.EqualError(t, err, "the data is of version 1 of the log, and this program reads only version 4")
}

// A flipped bit and a lost end, in the log or in a snapshot, are found before anything is answered, and named.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	n := open(t, Options{Dir: dir, trailing: 1 << 12})
	lead(t, n)
	for i := range uint64(200) {
		_, err := n.Write([]Op{set(i, 0x1122334455667788)}, nil)
		require.NoError(t, err)
	}
	require.NoError(t, n.Compact())
	_, err := n.Write([]Op{set(7, 0x1122334455667788)}, nil)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	snapshot, err := filepath.Glob(filepath.Join(dir, snapshotFolder, "*", "state.bin"))
	require.NoError(t, err)
	require.Len(t, snapshot, 1)
	log := filepath.Join(dir, "log.db")
	value := []byte{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}
	for name, damage := range map[string]func(t *testing.T) (file string, bytes []byte){
		"bit of the log": func(t *testing.T) (string, []byte) {
			all, err := os.ReadFile(log)
			require.NoError(t, err)
			for at := 0; ; at++ { // in all copies, as some pages are of the past
				i := bytes.Index(all[at:], value)
				if i < 0 {
					return log, all
				}
				at += i
				all[at] ^= 4
			}
		},
		"end of the log": func(t *testing.T) (string, []byte) {
			all, err := os.ReadFile(log)
			require.NoError(t, err)
			return log, all[:3*4096]
		},
		"start of the log": func(t *testing.T) (string, []byte) {
			all, err := os.ReadFile(log)
			require.NoError(t, err)
			clear(all[:2*4096])
			return log, all
		},
		"bit of the snapshot": func(t *testing.T) (string, []byte) {
			all, err := os.ReadFile(snapshot[0])
			require.NoError(t, err)
			all[len(all)/2] ^= 1
			return snapshot[0], all
		},
		"end of the snapshot": func(t *testing.T) (string, []byte) {
			all, err := os.ReadFile(snapshot[0])
			require.NoError(t, err)
			return snapshot[0], all[:len(all)-1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, bytes := damage(t)
			to := t.TempDir()
			require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
			inside, err := filepath.Rel(dir, file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(to, inside), bytes, 0o600))
			_, err = Open(t.Context(), Options{Dir: to, Types: integers})
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, snapshotFolder)))
	n = open(t, Options{Dir: dir, trailing: 1 << 12}) // the log has all entries yet
	require.NoError(t, n.Close())
	l, err := openLog(log)
	require.NoError(t, err)
	require.NoError(t, l.DeleteRange(1, 100))
	require.NoError(t, l.Close())
	_, err = Open(t.Context(), Options{Dir: dir, Types: integers})
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, filepath.Join(dir, snapshotFolder), damaged.File)
}

// A member whose state can't be what the log says stops, and so does one whose disk can't be written.
func TestFailure(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir()})
	lead(t, n)
	require.NoError(t, n.state.pairs.Close()) // a device that is gone
	_, err := n.Write([]Op{set(1, 1)}, nil)
	var unknown *UnknownError
	require.ErrorAs(t, err, &unknown)
	var apply *ApplyError
	require.ErrorAs(t, n.Err(), &apply)
	_, err = get(t, n, false, 1)
	require.ErrorAs(t, err, &apply)
	require.ErrorAs(t, n.Close(), &apply)

	n = open(t, Options{Dir: t.TempDir()})
	lead(t, n)
	require.NoError(t, n.log.BoltStore.Close()) // a disk that refuses
	_, err = n.Write([]Op{set(1, 1)}, nil)
	require.ErrorAs(t, err, &unknown)
	var storage *StorageError
	require.ErrorAs(t, n.Close(), &storage)
}

func TestMaxKeys(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir(), MaxKeys: 2})
	defer n.Close()
	lead(t, n)
	_, err := n.Write([]Op{set(1, 1), set(2, 2)}, nil)
	require.NoError(t, err)
	_, err = n.Write([]Op{set(3, 3)}, nil)
	var full *FullError
	require.ErrorAs(t, err, &full)
	_, err = n.Write([]Op{{Kind: Delete, Key: 1}}, nil)
	require.NoError(t, err)
	_, err = n.Write([]Op{set(3, 3)}, nil)
	require.NoError(t, err)
}

// free returns addresses with free ports, for clients and for peers.
func free(t testing.TB, n int) (addresses []string) {
	for len(addresses) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		require.NoError(t, l.Close())
		p, _ := strconv.Atoi(port)
		l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p+PortsApart))
		if err != nil {
			continue
		}
		require.NoError(t, l.Close())
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	return addresses
}

// Three members: writes go to the leader, the others know it; they answer with what is old if asked to; one that was
// away catches up, by a snapshot; another takes over.
func TestThree(t *testing.T) {
	t.Run("numbers", func(t *testing.T) { testThree(t, integers) })
	t.Run("texts", func(t *testing.T) { testThree(t, Types{keytype.Text, keytype.Text}) })
}

func testThree(t *testing.T, types Types) {
	x := wording{types}
	peers := free(t, 3)
	var options [3]Options
	var nodes [3]*Node
	for i := range nodes {
		options[i] = Options{Dir: t.TempDir(), Name: peers[i], Peers: peers, Types: types, Stale: time.Second,
			trailing: 5}
		nodes[i] = open(t, options[i])
	}
	leader := func() int {
		at := -1
		require.Eventually(t, func() bool {
			at = slices.IndexFunc(nodes[:], func(n *Node) bool { return n != nil && n.leads() != 0 })
			return at >= 0
		}, 10*time.Second, time.Millisecond)
		return at
	}
	// All know the leader before one goes away: it needs another.
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(nodes[:], func(n *Node) bool {
			_, err := get(t, n, true, 1)
			return err != nil
		})
	}, 20*time.Second, 10*time.Millisecond)
	first := leader()
	away := (first + 1) % 3
	for range 20 {
		_, err := nodes[first].Write(x.texts([]Op{set(0, 1<<63)}))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return nodes[away].raft.LastIndex() > 20 }, 5*time.Second, time.Millisecond)
	require.NoError(t, nodes[away].Close())
	nodes[away] = nil
	for i := range uint64(300) {
		_, err := nodes[first].Write(x.texts([]Op{set(i, 1<<63+i)}))
		require.NoError(t, err)
	}
	require.NoError(t, nodes[first].Compact())
	other := 3 - first - away
	_, err := nodes[other].Write(x.texts([]Op{set(1, 1)}))
	var not *NotLeaderError
	require.ErrorAs(t, err, &not)
	require.Equal(t, peers[first], not.Leader)
	_, err = get(t, nodes[other], false, 1)
	require.ErrorAs(t, err, &not)
	require.Eventually(t, func() bool {
		got, err := get(t, nodes[other], true, 299)
		return err == nil && got[0].Found
	}, 5*time.Second, 10*time.Millisecond)

	nodes[away] = open(t, options[away])
	require.Eventually(t, func() bool { return nodes[away].state.count.Load() == 300 }, 10*time.Second,
		10*time.Millisecond)
	sent, err := filepath.Glob(filepath.Join(options[away].Dir, snapshotFolder, "*", "state.bin"))
	require.NoError(t, err)
	require.NotEmpty(t, sent)
	require.Equal(t, nodes[first].state.changes.last(), nodes[away].state.changes.last(), "by a snapshot")
	if types.text() {
		words := nodes[first].state.texts.copy().Keys()
		for _, i := range []int{away, other} {
			require.Equal(t, words, nodes[i].state.texts.copy().Keys(), "a cursor of SCAN is of use on each")
		}
	}
	require.Eventually(t, func() bool {
		begin, err := nodes[away].log.FirstIndex()
		return err == nil && begin > 1
	}, 5*time.Second, time.Millisecond, "its log is cut")
	require.NoError(t, nodes[first].Close())
	nodes[first] = nil
	second := leader()
	got, err := get(t, nodes[second], false, 0, 299, 300)
	require.NoError(t, err)
	require.Equal(t, []Answer{{Found: true, Value: 1 << 63}, {Found: true, Value: 1<<63 + 299}, {}}, got)
	_, err = nodes[second].Write(x.texts([]Op{{Kind: Add, Key: 5, Value: 1}}))
	require.NoError(t, err)

	// Alone, it neither leads nor answers with what may be too old.
	last := 3 - first - second
	require.NoError(t, nodes[last].Close())
	nodes[last] = nil
	require.Eventually(t, func() bool {
		_, err := get(t, nodes[second], true, 1)
		return errors.As(err, &not)
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, nodes[second].Close())
}

// Reads of many goroutines share questions to the other members, and each asks after it was called.
func TestVerify(t *testing.T) {
	n := open(t, Options{Dir: t.TempDir()})
	defer n.Close()
	lead(t, n)
	var done atomic.Int64
	var g sync.WaitGroup
	for range 64 {
		g.Go(func() {
			for range 50 {
				require.NoError(t, n.verified(t.Context()))
				done.Add(1)
			}
		})
	}
	g.Wait()
	require.EqualValues(t, 64*50, done.Load())
}

var _ raft.FSM = (*machine)(nil)

// The name of the data stays, in the log and in a snapshot, and is that of no other data.
func TestData(t *testing.T) {
	name := func(n *Node) (is string) {
		require.NoError(t, n.Here(func(v View) error { is = v.Data(); return nil }))
		return is
	}
	names := map[string]bool{}
	for range 2 {
		o := Options{Dir: t.TempDir(), Types: integers}
		n := open(t, o)
		lead(t, n)
		require.Empty(t, name(n))
		_, err := n.Write([]Op{set(1<<63, 1<<63)}, nil)
		require.NoError(t, err)
		is := name(n)
		require.Len(t, is, 16)
		require.False(t, names[is])
		names[is] = true
		for range 2 {
			require.NoError(t, n.Close())
			n = open(t, o)
			lead(t, n)
			_, err = n.Write([]Op{set(1<<63+1, 1<<63)}, nil) // by another process: another seed
			require.NoError(t, err)
			require.Equal(t, is, name(n))
			require.NoError(t, n.Compact())
		}
		require.NoError(t, n.Close())
	}
}
