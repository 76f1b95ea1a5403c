package ordered

import (
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Deletion is the deletion of all keys in some ranges, one range after the other. It is done in pieces, in key order.
type Deletion struct {
	Counts []uint32 // for each range, the number of keys deleted so far
	last   uint64   // the greatest key of the width
	all    pieces   // the pieces, which do not overlap
	cut    bool     // the pieces are cut up (cutUp)
	keys   []uint32 // for each piece, its number of keys, once known
	done   int      // the number of pieces done
}

// NewDeletion begins the deletion of ranges.
func NewDeletion(ranges []structures.Range[uint64], w structures.Width) *Deletion {
	return &Deletion{Counts: make([]uint32, len(ranges)), last: LastKey(w), all: disjoint(ranges, w)}
}

// NotBegun returns the results of a deletion that could not begin.
func (d *Deletion) NotBegun(err error) ([]uint32, error) {
	if _, closed := err.(*vk.ClosedError); closed || err == vk.ErrNotOpen {
		return nil, err
	}
	return d.Result(err)
}

// Result returns the results of a deletion. If an error has stopped it, it returns a *structures.PendingError with the
// number of ranges that may still have keys.
func (d *Deletion) Result(err error) ([]uint32, error) {
	if err == nil {
		return d.Counts, nil
	}
	left := map[int]bool{}
	for _, owner := range d.all.owner[d.done:] {
		left[owner] = true
	}
	return d.Counts, &structures.PendingError{Operations: len(left), Err: pipeline.Cause(err)}
}

// Deleted returns the number of keys deleted so far.
func (d *Deletion) Deleted() (sum uint64) {
	for _, n := range d.Counts {
		sum += uint64(n)
	}
	return sum
}

// Everything reports whether the ranges cover all possible keys.
func (d *Deletion) Everything() bool {
	next, all := uint64(0), false
	for _, p := range d.all.ranges {
		if p.Lo != next {
			return false
		}
		next, all = p.Hi+1, p.Hi == d.last
	}
	return all
}

// Left returns the pieces that are not deleted yet, in key order. They do not overlap.
func (d *Deletion) Left() []structures.Range[uint64] { return d.all.ranges[d.done:] }

// Finish marks all these pieces as deleted.
func (d *Deletion) Finish() { d.finish(len(d.all.ranges) - d.done) }

// finish marks the next n pieces as deleted.
func (d *Deletion) finish(n int) {
	p := d.all.part(group{d.done, d.done + n})
	p.sum(d.Counts, d.keys[d.done:d.done+n])
	d.done += n
}

// Measure counts the keys that a deletion will delete. The caller has entered.
func (r *Reader) Measure(ctx context.Context, d *Deletion) (total uint64, err error) {
	if err := r.cutUp(ctx, d); err != nil {
		return 0, err
	}
	if r.of.Exact() {
		copy(d.keys, d.all.candidates)
	} else {
		for _, g := range d.all.groups(AtOnce(r.h.Device)) {
			if err := r.count(ctx, d.all.part(g).ranges, d.keys[g.first:g.end]); err != nil {
				return 0, err
			}
		}
	}
	for _, n := range d.keys {
		total += uint64(n)
	}
	return total, nil
}

// cutUp cuts the pieces of a deletion to a size that one dispatch can do, unless that was done before.
func (r *Reader) cutUp(ctx context.Context, d *Deletion) error {
	if d.cut {
		return nil
	}
	p, err := r.cut(ctx, d.all.ranges, AtOnce(r.h.Device))
	if err != nil {
		return err
	}
	for i, whole := range p.owner {
		p.owner[i] = d.all.owner[whole]
	}
	d.all, d.cut, d.keys = p, true, make([]uint32, len(p.ranges))
	return nil
}

// DeleteEach deletes the keys of the ranges in batches. It lists the keys of each batch in device memory, and calls
// delete to record their deletion, which may wait. The caller has entered alone. Nothing else is recorded on the stream
// at the same time.
func (r *Reader) DeleteEach(ctx context.Context, s *vk.Stream, d *Deletion,
	delete func(keys uint64, n int) error) error {
	if err := r.cutUp(ctx, d); err != nil {
		return err
	}
	list := new(listing)
	defer list.free()
	for _, g := range d.all.groups(AtOnce(r.h.Device)) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n, err := r.list(ctx, s, list, d.all.part(g), d.keys[g.first:g.end])
		if err == nil && n != 0 {
			err = recording.Run(s, func() error { return delete(list.keys, n) })
		}
		if err != nil {
			return err
		}
		d.finish(g.end - g.first)
	}
	return nil
}

// listing is device memory for the pairs of some ranges, as addresses.
type listing struct {
	memory              *vk.Buffer[uint32]
	ranges, offsets     uint64
	total, keys, values uint64
}

func (l *listing) free() {
	if l.memory != nil {
		l.memory.Free()
	}
}

// fit divides the memory for the given numbers of ranges and candidates. If it is too small, fit replaces it.
func (l *listing) fit(d *vk.Device, w structures.Width, ranges, candidates int) error {
	plan := func(base uint64) uint64 {
		p := recording.Parts{Base: base}
		l.ranges, l.offsets, l.total = p.Take(2*w.Bytes()*ranges), p.Take(4*(ranges+1)), p.Take(8)
		l.keys, l.values = p.Take(w.Bytes()*candidates), p.Take(w.Bytes()*candidates)
		return p.Used
	}
	if bytes := int(plan(0)); l.memory == nil || l.memory.Len() < bytes/4 {
		l.free()
		l.memory = nil
		memory, err := vk.NewBuffer[uint32](d, bytes/4)
		if err != nil {
			return err
		}
		l.memory = memory
	}
	plan(l.memory.Address())
	return nil
}

// at returns the index of the word at an address.
func (l *listing) at(address uint64) int { return int(address-l.memory.Address()) / 4 }

// list writes the keys of pieces to a listing. It sets the number of keys of each piece, and returns their sum.
func (r *Reader) list(ctx context.Context, s *vk.Stream, l *listing, p pieces,
	keys []uint32) (n int, err error) {
	m, candidates := len(p.ranges), p.all()
	if candidates == 0 {
		return 0, nil
	}
	if err := l.fit(r.h.Device, r.width, m, candidates); err != nil {
		return 0, err
	}
	if err := pipeline.Ranges(p.ranges, r.width).Upload(ctx, l.memory, l.at(l.ranges)); err != nil {
		return 0, err
	}
	err = recording.Run(s, func() error {
		return r.of.Range(s, Ranges{
			Ranges: l.ranges, Offsets: l.offsets, OutKeys: l.keys, OutValues: l.values, Total: l.total, N: m,
			Capacity: candidates, Candidates: candidates,
		})
	})
	if err != nil {
		return 0, err
	}
	offsets := make([]uint32, m+1)
	if err := l.memory.Download(ctx, l.at(l.offsets), offsets); err != nil {
		return 0, err
	}
	for i := range keys {
		keys[i] = offsets[i+1] - offsets[i]
	}
	return int(offsets[m]), nil
}
