package keytype

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Index gives each text a row, a number from 0 in the order of insertion. The device maps the texts' hashes to rows,
// and each row that it finds is compared with the requested text. So a text that is absent, but has the hash of
// another, is not found. Before two texts with the same hash are inserted, the Index changes to another hash.
//
// Only one goroutine at a time may use it. Errors are *CollisionError and those of the Map. After the latter the Index
// may have only some of the texts.
type Index struct {
	create  Make
	hashes  Hashes
	attempt int
	hash    Hash
	rows    Map // from hashes to rows
	texts   Arena
	deleted map[uint64]bool // rows
}

// NewIndex makes an empty Index with room for that many texts.
func NewIndex(ctx context.Context, create Make, hashes Hashes, capacity int) (*Index, error) {
	rows, err := create(ctx, capacity)
	if err != nil {
		return nil, err
	}
	return &Index{create: create, hashes: hashes, hash: hashes(0), rows: rows, deleted: map[uint64]bool{}}, nil
}

// Map returns the dictionary of the hashes. It is valid until the next Put.
func (x *Index) Map() Map { return x.rows }

// Texts returns the texts of all rows, by number, including deleted ones.
func (x *Index) Texts() *Arena { return &x.texts }

// Len returns the number of texts.
func (x *Index) Len() int { return x.texts.Len() - len(x.deleted) }

// Rows returns the rows of the texts, in order.
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

// Put returns the row of each text. A new text gets a new row, and its status is Inserted; otherwise it is Found.
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

// put is Put with the current hash. After ErrCollision the map has rows without texts.
func (x *Index) put(ctx context.Context, all Some) (rows []uint64, status []structures.Status, err error) {
	base, hashes := uint64(x.texts.Len()), x.hash.of(all)
	rows, status = make([]uint64, all.Len()), make([]structures.Status, all.Len())
	for i := range rows {
		rows[i] = base + uint64(i) // correct if all are new
	}
	if err := x.rows.UpdateInto(ctx, structures.InsertUnique, hashes, rows, status); err != nil {
		return nil, nil, err
	}
	var fresh []uint64 // indices of the inserted ones
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

// close makes the new rows consecutive, and returns the rows of all texts.
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

// same reports whether each text is that of its row. Rows from base on are those of the fresh texts.
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

// rehash fills a new map with the texts, by the next hash under which they do not collide. It has room for more texts.
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

// refill inserts all rows into an empty map.
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

// partLength is the number of texts that go to the device at a time.
const partLength = 1 << 20

// Find returns the row of each text, and whether it is there.
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

// Delete deletes texts: Deleted, or Absent, also for a text that was deleted earlier in the batch.
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
