package keytype

import (
	"context"
	"errors"

	"github.com/vkds/vkds/structures"
)

// Tally counts texts. The device maps the hash of each text to its count, and to the sum of a second hash over all its
// occurrences. If texts with the same hash were counted together, the sum is not the count times the second hash of
// one. So only hashes are compared, and the host keeps each text once.
//
// Only one goroutine at a time may use it.
type Tally struct {
	create       Make
	hashes       Hashes
	attempt      int
	first        Hash
	second       Hash
	counts, sums Map
	distinct     Arena    // in the order of their first occurrence
	keys         []uint64 // their hashes
	ones         []uint64
}

// NewTally makes an empty Tally with room for that many distinct texts.
func NewTally(ctx context.Context, create Make, hashes Hashes, capacity int) (*Tally, error) {
	t := &Tally{create: create, hashes: hashes}
	return t, t.begin(ctx, capacity)
}

func (t *Tally) begin(ctx context.Context, capacity int) (err error) {
	t.first, t.second = t.hashes(t.attempt), second()
	for _, m := range []*Map{&t.counts, &t.sums} {
		if *m, err = t.create(ctx, capacity); err != nil {
			return errors.Join(err, t.Close())
		}
	}
	return nil
}

// Add counts texts.
func (t *Tally) Add(ctx context.Context, all Some) error {
	all, times := t.once(all)
	hashes, status := t.first.of(all), make([]structures.Status, all.Len())
	if err := t.counts.UpdateInto(ctx, structures.InsertAdd, hashes, times, status); err != nil {
		return err
	}
	seconds := t.second.of(all)
	for i := range seconds {
		seconds[i] *= times[i]
	}
	if err := t.sums.UpdateInto(ctx, structures.InsertAdd, hashes, seconds, nil); err != nil {
		return err
	}
	for i, s := range status {
		if s == structures.Inserted {
			t.distinct.Add(all.At(i))
			t.keys = append(t.keys, hashes[i])
		}
	}
	return nil
}

// once returns each number once, in the order in which they first came, and how many times it came, if most come more
// than once. Otherwise it returns all. Rows of columnar files share texts.
func (t *Tally) once(all Some) (some Some, times []uint64) {
	if 2*all.Arena.Len() > all.Len() {
		for len(t.ones) < all.Len() {
			t.ones = append(t.ones, 1)
		}
		return all, t.ones[:all.Len()]
	}
	some.Arena = all.Arena
	place := make([]uint32, all.Arena.Len()) // 1 + that in some; 0: it has not come yet
	for _, n := range all.Numbers {
		if place[n] == 0 {
			some.Numbers, times = append(some.Numbers, n), append(times, 0)
			place[n] = uint32(len(times))
		}
		times[place[n]-1]++
	}
	return some, times
}

// Texts returns the distinct texts in the order of their first occurrence.
func (t *Tally) Texts() *Arena { return &t.distinct }

// Counts returns the number of occurrences of each of Texts. Error also: ErrCollision if they are wrong. Then call
// Again and add all texts again.
func (t *Tally) Counts(ctx context.Context) ([]uint64, error) {
	counts := make([]uint64, 0, len(t.keys))
	var numbers []uint64 // of the texts of the part
	for at := 0; at < len(t.keys); at += partLength {
		keys := t.keys[at:min(at+partLength, len(t.keys))]
		numbers = numbers[:0]
		for i := range keys {
			numbers = append(numbers, uint64(at+i))
		}
		seconds := t.second.of(Some{&t.distinct, numbers})
		part, _, err := t.counts.Find(ctx, keys)
		if err != nil {
			return nil, err
		}
		sums, _, err := t.sums.Find(ctx, keys)
		if err != nil {
			return nil, err
		}
		for i, n := range part {
			if sums[i] != n*seconds[i] {
				return nil, ErrCollision
			}
		}
		counts = append(counts, part...)
	}
	return counts, nil
}

// Again empties the Tally and changes to another hash. Error also: *CollisionError.
func (t *Tally) Again(ctx context.Context) error {
	if t.attempt++; t.attempt == mostAttempts {
		return &CollisionError{mostAttempts}
	}
	capacity := len(t.keys)
	t.distinct.Reset()
	t.keys = t.keys[:0]
	if err := t.Close(); err != nil {
		return err
	}
	return t.begin(ctx, capacity)
}

// Close frees the device's memory.
func (t *Tally) Close() (err error) {
	for _, m := range []*Map{&t.counts, &t.sums} {
		if *m != nil {
			err = errors.Join(err, (*m).Close())
			*m = nil
		}
	}
	return err
}
