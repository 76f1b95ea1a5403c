package keytype

import (
	"context"
	"errors"

	"github.com/vkds/vkds/structures"
)

// Tally counts texts. The device maps the hash of each to its count, and to the sum of a second hash over all its
// occurrences: where texts of one hash were counted together, the sum isn't the count times the one text's second hash.
// So no text is looked at but for its hashes, and the host keeps each of them once.
//
// It is used by one goroutine at a time.
type Tally struct {
	create       Make
	hashes       Hashes
	attempt      int
	first        Hash
	second       Hash
	counts, sums Map
	distinct     Arena    // in the order in which they came
	keys         []uint64 // their hashes
	ones         []uint64
}

// NewTally makes an empty one, with room for so many distinct texts.
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
	for len(t.ones) < all.Len() {
		t.ones = append(t.ones, 1)
	}
	hashes, status := t.first.of(all), make([]structures.Status, all.Len())
	if err := t.counts.UpdateInto(ctx, structures.InsertAdd, hashes, t.ones[:all.Len()], status); err != nil {
		return err
	}
	if err := t.sums.UpdateInto(ctx, structures.InsertAdd, hashes, t.second.of(all), nil); err != nil {
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

// Texts are the distinct ones, in the order in which they came.
func (t *Tally) Texts() *Arena { return &t.distinct }

// Counts returns how often each of Texts came. Error also: ErrCollision, where they are wrong: Again, and add all texts
// once more.
func (t *Tally) Counts(ctx context.Context) ([]uint64, error) {
	counts := make([]uint64, 0, len(t.keys))
	var numbers []uint64 // of the part's texts
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

// Again makes it an empty one with another hash. Error also: *CollisionError.
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
