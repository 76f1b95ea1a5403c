package bench

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
)

// repetitions are how often each key of a batch of repeated keys comes.
const repetitions = 4

// repeated is a batch of n pairs over a quarter as many keys, in a random order. The value at place i is i+1, of 64
// bits that number in both words.
type repeated struct {
	space keySpace
	order order
}

// number is the key at place i, by its number.
func (r repeated) number(i int) int { return r.order.at(i) / repetitions }

func (r repeated) key(i int) uint32 { return r.space.key(r.number(i)) }

// addRepeated measures additions to the values of an empty hash table's keys, each of which comes four times.
func (s *session) addRepeated(ctx context.Context) error {
	r := repeated{s.space, newOrder(s.n, 0x72657065)}
	b := structures.DeviceBatch{Count: s.n, Status: s.status, Left: s.left}
	var err error
	if b.Keys, err = s.batchOf(ctx, "batch keys", s.n, r.key); err != nil {
		return err
	}
	if b.Values, err = s.words(ctx, "batch values", s.n<<s.width, func(i int) uint32 {
		return uint32(i>>s.width + 1) // both words are the number, so that sums carry from one to the other
	}); err != nil {
		return err
	}
	if err := s.empty(ctx); err != nil {
		return err
	}
	defer func() { s.there = -1 }()
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(s.n, s.n), pending: true,
		prepare: s.empty,
		record:  func() error { return s.dictionary.(concurrent).ApplyOn(s.stream, structures.InsertAdd, b) },
		check:   func(ctx context.Context) error { return s.checkRepeated(ctx, r, b) },
	}))
}

// checkRepeated looks whether each key was inserted once and has the sum of its values.
func (s *session) checkRepeated(ctx context.Context, r repeated, b structures.DeviceBatch) error {
	if err := s.status.Download(ctx, 0, s.bytes); err != nil { // before the look-ups take its place
		return err
	}
	keys := (s.n + repetitions - 1) / repetitions
	sums, inserted := make([]atomic.Uint64, keys), make([]atomic.Uint32, keys)
	err := each(s.n, func(i int) error {
		key, status := r.number(i), structures.Status(s.bytes[i])
		sums[key].Add(uint64(i + 1))
		if status == structures.Inserted && inserted[key].Add(1) == 1 || status == structures.Assigned {
			return nil
		}
		return s.wrong("operation %d: %v", i, status)
	})
	if err != nil {
		return err
	}
	answers, err := s.roomFor("answers", s.n)
	if err != nil {
		return err
	}
	if err := s.find(b.Keys, answers, structures.AutoOrder); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	got, err := s.downloadNumbers(ctx, answers, s.n)
	if err != nil {
		return err
	}
	return each(s.n, func(i int) error {
		want := sums[r.number(i)].Load()
		if s.width == structures.Bits64 {
			want *= 1<<32 | 1
		}
		if inserted[r.number(i)].Load() != 1 || got.at(i) != got.modulo(want) {
			return s.wrong("operation %d: value %d instead of %d", i, got.at(i), want)
		}
		return nil
	})
}
