package keytype

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Index gives each text that is put into it a row, a number from 0 in the order in which they come. The device maps
// their hashes to the rows; each row that it finds is compared with the text that is asked for. So texts of one hash
// are told apart: one that isn't there is absent, and before one comes in beside the other, all change to another hash.
//
// It is used by one goroutine at a time. Errors are those of the Map, which may leave it with a part of the texts, and
// *CollisionError.
type Index struct {
	create  Make
	hashes  Hashes
	attempt int
	hash    Hash
	rows    Map // of hashes
	texts   Arena
	deleted map[uint64]bool // rows
}

// NewIndex makes an empty one, with room for so many texts.
func NewIndex(ctx context.Context, create Make, hashes Hashes, capacity int) (*Index, error) {
	rows, err := create(ctx, capacity)
	if err != nil {
		return nil, err
	}
	return &Index{create: create, hashes: hashes, hash: hashes(0), rows: rows, deleted: map[uint64]bool{}}, nil
}

// Map is the dictionary of the hashes, until the next call of Put.
func (x *Index) Map() Map { return x.rows }

// Texts are those of all rows, by their numbers, also of rows that were deleted.
func (x *Index) Texts() *Arena { return &x.texts }

// Len is how many texts there are.
func (x *Index) Len() int { return x.texts.Len() - len(x.deleted) }

// Rows are those of the texts that there are, in their order.
func (x *Index) Rows() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for row := range uint64(x.texts.Len()) {
			if !x.deleted[row] && !yield(row) {
				return
			}
		}
	}
}

// Close frees the device's memory.
func (x *Index) Close() error { return x.rows.Close() }

// Put returns the row of each text. It makes one for a text that has none: its status is Inserted then, else Found.
func (x *Index) Put(ctx context.Context, all Some) (rows []uint64, status []structures.Status, err error) {
	for {
		rows, status, err = x.put(ctx, all)
		if err != ErrCollision {
			return rows, status, err
		}
		if err := x.rehash(ctx, all.Len()); err != nil {
			return nil, nil, err
		}
	}
}

// put is Put under the hash of this attempt. On ErrCollision the map has rows that there are no texts of.
func (x *Index) put(ctx context.Context, all Some) (rows []uint64, status []structures.Status, err error) {
	base, hashes := uint64(x.texts.Len()), x.hash.of(all)
	rows, status = make([]uint64, all.Len()), make([]structures.Status, all.Len())
	for i := range rows {
		rows[i] = base + uint64(i) // right where all are new
	}
	if err := x.rows.UpdateInto(ctx, structures.InsertUnique, hashes, rows, status); err != nil {
		return nil, nil, err
	}
	var fresh []uint64 // those that are inserted, in all
	for i, s := range status {
		if s == structures.Inserted {
			fresh = append(fresh, uint64(i))
		}
	}
	if len(fresh) < all.Len() {
		if rows, err = x.close(ctx, hashes, fresh, base); err != nil {
			return nil, nil, err
		}
		if !x.same(all, rows, fresh, base) {
			return nil, nil, ErrCollision
		}
	}
	for _, i := range fresh {
		x.texts.Add(all.At(int(i)))
	}
	return rows, status, nil
}

// close leaves no gaps between the rows of the fresh hashes, and returns the rows of all.
func (x *Index) close(ctx context.Context, hashes, fresh []uint64, base uint64) ([]uint64, error) {
	var moved, to []uint64
	for n, i := range fresh {
		if int(i) != n {
			moved, to = append(moved, hashes[i]), append(to, base+uint64(n))
		}
	}
	if len(moved) > 0 {
		if err := x.rows.UpdateInto(ctx, structures.Insert, moved, to, nil); err != nil {
			return nil, err
		}
	}
	rows, _, err := x.rows.Find(ctx, hashes)
	return rows, err
}

// same tells whether each text is that of its row; those of rows from base on are the fresh ones.
func (x *Index) same(all Some, rows, fresh []uint64, base uint64) bool {
	for i, row := range rows {
		have := all.At(i)
		if row < base {
			have = x.texts.At(row)
		} else if first := fresh[row-base]; int(first) != i {
			have = all.At(int(first))
		}
		if !bytes.Equal(have, all.At(i)) {
			return false
		}
	}
	return true
}

// rehash fills a new map with the texts that there are, under the next hash that tells them apart. more are to come.
func (x *Index) rehash(ctx context.Context, more int) error {
	for {
		if x.attempt++; x.attempt == mostAttempts {
			return &CollisionError{mostAttempts}
		}
		rows, err := x.create(ctx, x.Len()+more)
		if err != nil {
			return err
		}
		if err := x.rows.Close(); err != nil {
			return errors.Join(err, rows.Close())
		}
		x.rows, x.hash = rows, x.hashes(x.attempt)
		if err := x.refill(ctx); err != ErrCollision {
			return err
		}
	}
}

// refill puts all rows into an empty map.
func (x *Index) refill(ctx context.Context) error {
	var part []uint64
	insert := func() error {
		status := make([]structures.Status, len(part))
		err := x.rows.UpdateInto(ctx, structures.InsertUnique, x.hash.of(Some{&x.texts, part}), part, status)
		for _, s := range status {
			if s != structures.Inserted && err == nil {
				err = ErrCollision
			}
		}
		part = part[:0]
		return err
	}
	for row := range x.Rows() {
		if part = append(part, row); len(part) == partLength {
			if err := insert(); err != nil {
				return err
			}
		}
	}
	return insert()
}

// partLength is how many texts go to the device at a time.
const partLength = 1 << 20

// Find returns the row of each text that is there.
func (x *Index) Find(ctx context.Context, all Some) (rows []uint64, found []bool, err error) {
	rows, found, err = x.rows.Find(ctx, x.hash.of(all))
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		if found[i] = found[i] && bytes.Equal(x.texts.At(rows[i]), all.At(i)); !found[i] {
			rows[i] = 0
		}
	}
	return rows, found, nil
}

// Delete deletes texts: Deleted, or Absent, also where one comes the second time.
func (x *Index) Delete(ctx context.Context, all Some) ([]structures.Status, error) {
	rows, found, err := x.Find(ctx, all)
	if err != nil {
		return nil, err
	}
	status := make([]structures.Status, all.Len())
	there := Some{Arena: all.Arena}
	for i := range status {
		if status[i] = structures.Absent; found[i] && !x.deleted[rows[i]] {
			status[i], x.deleted[rows[i]] = structures.Deleted, true
			there.Numbers = append(there.Numbers, all.Numbers[i])
		}
	}
	if there.Len() > 0 {
		_, err = x.rows.Delete(ctx, x.hash.of(there))
	}
	return status, err
}
