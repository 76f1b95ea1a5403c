package replica

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"pgregory.net/rapid"
)

// wording turns operations on numbers into the same ones of some types, and what becomes of them back.
type wording struct{ types Types }

// keyText returns the text for a key. One of them is empty, and another one has bytes of all kinds.
func keyText(key uint64) string {
	switch key {
	case 0:
		return ""
	case 1:
		return "\x00\xff\r\n\",'{}"
	}
	return fmt.Sprintf("key:%d", key)
}

func keyOf(text string) uint64 {
	switch text {
	case keyText(0):
		return 0
	case keyText(1):
		return 1
	}
	key, err := strconv.ParseUint(strings.TrimPrefix(text, "key:"), 10, 64)
	if err != nil {
		panic(err)
	}
	return key
}

func valueText(word uint64) string { return keytype.Int64.Format(word) }

func valueOf(text string) uint64 {
	if text == "" { // there is none
		return 0
	}
	word, err := keytype.Int64.Parse(text)
	if err != nil {
		panic(err)
	}
	return word
}

func (x wording) entry(now int64, ops ...Op) entry {
	own, texts := x.texts(ops)
	return entry{now: now, seed: seed{7}, ops: own, texts: texts}
}

func (x wording) texts(ops []Op) (own []Op, texts [][]byte) {
	text := func(s string) uint64 {
		texts = append(texts, []byte(s))
		return uint64(len(texts) - 1)
	}
	for _, op := range ops {
		if x.types.Key == keytype.Text {
			op.Key = text(keyText(op.Key))
		}
		if x.types.Value == keytype.Text && op.Kind == Set {
			op.Value = text(valueText(op.Value))
		}
		own = append(own, op)
	}
	return own, texts
}

func (x wording) keys(keys []uint64) (words []uint64, texts [][]byte) {
	for _, k := range keys {
		op, text := x.texts([]Op{{Key: k}})
		if text != nil {
			op[0].Key = uint64(len(texts))
		}
		words, texts = append(words, op[0].Key), append(texts, text...)
	}
	return words, texts
}

func (x wording) words(answers []Answer) {
	for i := range answers {
		if x.types.Value == keytype.Text {
			answers[i].Value, answers[i].Text = valueOf(answers[i].Text), ""
		}
	}
}

// pair returns the numbers of a pair.
func (x wording) pair(key, value uint64, r Record) (uint64, uint64) {
	if x.types.Key == keytype.Text {
		key = keyOf(r.Key)
	}
	if x.types.Value == keytype.Text {
		value = valueOf(r.Value)
	}
	return key, value
}

func (x wording) change(c Change) (key, value uint64) {
	r := Record{}
	if c.Text != nil {
		r = *c.Text
	}
	return x.pair(c.Key, c.Value, r)
}

// all returns the pairs with their deadlines, and checks that the state has nothing else.
func (x wording) all(t require.TestingT, s *state) map[uint64]Answer {
	ctx := context.Background()
	got, length := map[uint64]Answer{}, 0
	for p, err := range s.pairs.All(ctx) {
		require.NoError(t, err)
		r := s.record(p.Key)
		key, value := x.pair(p.Key, p.Value, r)
		got[key] = Answer{Value: value, Deadline: s.deadlines.get(p.Key)}
		length += len(r.Key) + len(r.Value)
		if x.types.Key == keytype.Text {
			word, odd := s.texts.odd[r.Key]
			require.Equal(t, s.texts.hash([]byte(r.Key)) != p.Key, odd)
			require.True(t, !odd || word == p.Key)
		}
	}
	require.EqualValues(t, len(got), s.count.Load())
	if x.types.text() {
		require.Equal(t, []int{len(got), length}, []int{s.texts.of.Len(), s.texts.bytes})
		if x.types.Key == keytype.Text {
			require.LessOrEqual(t, len(s.texts.odd), len(got))
		} else {
			require.Empty(t, s.texts.odd)
		}
	} else {
		require.Nil(t, s.texts)
	}
	return got
}

// get asks for each of the keys by itself and for all of them together.
func (x wording) get(t require.TestingT, s *state, keys []uint64) (answers []Answer) {
	words, texts := x.keys(keys)
	answers, err := View{s}.Get(context.Background(), words, texts, nil)
	require.NoError(t, err)
	for i := range words {
		one, err := View{s}.Get(context.Background(), words[i:i+1], texts, nil)
		require.NoError(t, err)
		require.Equal(t, answers[i:i+1], one)
	}
	x.words(answers)
	return answers
}

// weak are hashes of so few bits, at the end of the words, so that keys go on with the first words.
func weak(bits int) func(seed) keytype.Hash {
	return func(s seed) keytype.Hash {
		hash := keyed(s)
		return func(text []byte) uint64 { return ^(hash(text) >> (64 - bits)) }
	}
}

// Members have the same words for keys that collide, also if one begins with a snapshot, and lengths have bounds.
func TestTexts(t *testing.T) {
	ctx := t.Context()
	types := Types{keytype.Text, keytype.Text}
	x := wording{types}
	rapid.Check(t, func(rt *rapid.T) {
		var members [2]*state
		bits := rapid.IntRange(0, 3).Draw(rt, "bits")
		for i := range members {
			s, err := newState(ctx, types, nil)
			require.NoError(rt, err)
			s.texts.hashes = weak(bits)
			members[i] = s
		}
		defer func() {
			for _, s := range members {
				s.close()
			}
		}()
		for now := range rapid.Int64Range(1, 6).Draw(rt, "entries") {
			ops := drawOps(rt)
			for _, s := range members {
				_, err := s.apply(ctx, x.entry(now, ops...))
				require.NoError(rt, err)
			}
			if rapid.Bool().Draw(rt, "restored") {
				stored, err := members[0].store(ctx)
				require.NoError(rt, err)
				var file bytes.Buffer
				require.NoError(rt, stored.write(&file))
				stored.Release()
				require.NoError(rt, members[0].restore(ctx, &file))
			}
			require.Equal(rt, x.all(rt, members[0]), x.all(rt, members[1]))
			var words [2]map[uint64]Record
			for i, s := range members {
				words[i] = map[uint64]Record{}
				s.texts.of.Scan(func(word uint64, r Record) bool {
					words[i][word] = r
					return true
				})
			}
			require.Equal(rt, words[0], words[1])
		}
	})
	long := [][]byte{make([]byte, keytype.LongestServed), make([]byte, keytype.LongestServed+1)}
	for i, fits := range []bool{true, false} {
		_, err := types.decode(types.encode(types.head(nil, 1, seed{7}), []Op{{Kind: Set, Value: uint64(i)}}, long))
		require.Equal(t, fits, err == nil)
	}
}

// Words are SipHash-2-4 by a seed of 128 bits: here the vector of its authors. Seeds differ, and none is zero.
func TestSeed(t *testing.T) {
	var vector [16]byte
	for i := range vector {
		vector[i] = byte(i)
	}
	var s seed
	s.read(vector[:])
	types := Types{keytype.Text, keytype.Int64}
	texts := newTexts(types)
	texts.begin(s)
	require.EqualValues(t, uint64(0xa129ca6149be45e5), texts.hash(vector[:15]))
	require.Equal(t, vector[:], s.append(nil))
	one, two := newSeed(), newSeed()
	require.NotEqual(t, one[0], two[0])
	require.NotEqual(t, one[1], two[1])
	var bits uint64
	for range 100 {
		s := newSeed()
		bits |= ^s[0]
	}
	require.Equal(t, ^uint64(0), bits, "each bit may be 0")

	_, err := types.decode(types.head(nil, 1, seed{}))
	require.ErrorIs(t, err, errSeed)
	var file bytes.Buffer
	w := bufio.NewWriter(&file)
	of := newTexts(types).of
	of.Set(1, Record{Key: "k"})
	require.NoError(t, errors.Join(writeTexts(w, of), w.Flush()))
	require.ErrorIs(t, newTexts(types).read(bufio.NewReader(&file), seed{}), errSeed)
}

// Readers hash their keys while the first entry brings the seed.
func TestFirstEntry(t *testing.T) {
	for range 20 {
		n := open(t, Options{Dir: t.TempDir(), Types: Types{keytype.Text, keytype.Text}})
		lead(t, n)
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for done := false; !done; {
					err := n.Read(t.Context(), false, func(v View) error {
						answers, err := v.Get(t.Context(), []uint64{0}, [][]byte{[]byte("k")}, nil)
						done = err != nil || answers[0].Found
						return err
					})
					require.NoError(t, err)
				}
			})
		}
		_, err := n.Write([]Op{{Kind: Set, Key: 0, Value: 0}}, [][]byte{[]byte("k")})
		require.NoError(t, err)
		readers.Wait()
		require.NoError(t, n.Close())
	}
}

// Texts that were replaced or deleted leave memory, after a restart and in pairs that stay, and an entry's do.
func TestTextsGone(t *testing.T) {
	const n, length = 1 << 14, 4 << 10 // 64 MiB
	types := Types{keytype.Text, keytype.Text}
	s, err := newState(t.Context(), types, nil)
	require.NoError(t, err)
	defer s.close()
	apply := func(kind Kind, length int) {
		for first := range n / 256 {
			e := entry{seed: seed{7}}
			for i := range 256 {
				e.ops = append(e.ops, Op{Kind: kind, Key: uint64(2 * i), Value: uint64(2*i + 1)})
				e.texts = append(e.texts, fmt.Appendf(nil, "key:%d", 256*first+i), make([]byte, length))
			}
			_, err := s.apply(t.Context(), e)
			require.NoError(t, err)
		}
	}
	restart := func() {
		stored, err := s.store(t.Context())
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, stored.write(&file))
		stored.Release()
		require.NoError(t, s.restore(t.Context(), &file))
	}
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	apply(Set, length)
	restart()
	require.Greater(t, heap()-before, n*length)
	apply(Set, 10)
	require.Less(t, heap()-before, mostGone+8<<20)
	require.Equal(t, n, s.texts.of.Len())
	apply(Set, length)
	restart()
	apply(Delete, 0)
	require.Less(t, heap()-before, mostGone+8<<20)

	many := newTexts(types) // which would be copied for a few bytes
	for i := range uint64(mostGone / recordBytes) {
		many.set(i, Record{})
	}
	many.gone = 2 * mostGone
	require.Nil(t, many.tidied())
	many.gone++
	require.NotNil(t, many.tidied())

	node := open(t, Options{Dir: t.TempDir(), Types: types})
	lead(t, node)
	_, err = node.Write(wording{types}.texts([]Op{{Kind: Set, Key: 1, Value: 2}, {Kind: Set, Key: 2, Value: 3}}))
	require.NoError(t, err)
	w := &node.state.work
	require.Equal(t, []slot{{}, {}}, w.slots)
	require.Equal(t, []Change{{}, {}}, w.changes)
	require.Empty(t, w.fresh)
	require.NoError(t, node.Close())
}

// A text that is a number can be added to, as in Redis, and another one stays as it is.
func TestTextSums(t *testing.T) {
	s, err := newState(t.Context(), Types{keytype.Int64, keytype.Text}, nil)
	require.NoError(t, err)
	defer s.close()
	for _, x := range []struct {
		is    string
		by    int64
		float float64
		want  Answer
	}{
		{is: "5", by: -7, want: Answer{Text: "-2"}},
		{is: "9223372036854775807", by: 1, want: Answer{Overflow: true}},
		{is: "-9223372036854775808", by: -1, want: Answer{Overflow: true}},
		{is: "9223372036854775808", by: 1, want: Answer{NotNumber: true}},
		{is: "", by: 1, want: Answer{NotNumber: true}},
		{is: "+5", by: 1, want: Answer{NotNumber: true}},
		{is: "05", by: 1, want: Answer{NotNumber: true}},
		{is: "5 ", by: 1, want: Answer{NotNumber: true}},
		{is: "user", by: 1, want: Answer{NotNumber: true}},
		{is: "10.5", float: 0.1, want: Answer{Text: "10.6"}},
		{is: "5e3", float: 200, want: Answer{Text: "5200"}},
		{is: "user", float: 1, want: Answer{NotNumber: true}},
		{is: "1e30", float: 1, want: Answer{Text: "1" + strings.Repeat("0", 30)}},
		{is: "1e308", float: 1.7e308, want: Answer{Overflow: true}},
	} {
		op := Op{Kind: Add, Key: 1, Value: uint64(x.by)}
		if x.float != 0 {
			op = Op{Kind: AddFloat, Key: 1, Value: math.Float64bits(x.float)}
		}
		answers, err := s.apply(t.Context(), entry{seed: seed{7}, texts: [][]byte{[]byte(x.is)},
			ops: []Op{{Kind: Set, Key: 1}, op, {Key: 1}}})
		require.NoError(t, err)
		x.want.Found = true
		require.Equal(t, x.want, answers[1], "%+v", x)
		if x.want.Text == "" {
			require.Equal(t, x.is, answers[2].Text)
		} else {
			require.Equal(t, x.want.Text, answers[2].Text)
		}
	}
	answers, err := s.apply(t.Context(), entry{ops: []Op{{Kind: Add, Key: 2, Value: 3},
		{Kind: AddFloat, Key: 3, Value: math.Float64bits(0.5)}}})
	require.NoError(t, err)
	require.Equal(t, []Answer{{Text: "3"}, {Text: "0.5"}}, answers)
}
