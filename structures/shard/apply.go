package shard

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// apply does a mixed batch.
func (d *dictionary[K, V]) apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	r := pipeline.ResultsOf(b)
	if err := d.checkMixed(b); err != nil {
		return pipeline.MadeResults(r, err)
	}
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return pipeline.MadeResults(r, pipeline.NotBegun(r.Status, len(b.Keys), err))
	}
	defer leave()
	inserted := d.inserts(b)
	d.beforeInsertion(ctx, inserted)
	d.changes.Add(1)
	left := 0
	if slices.ContainsFunc(b.Kinds, structures.Kind.Ordered) {
		r, left, err = d.applyOrdered(ctx, b)
	} else {
		left, err = d.applyKeyed(ctx, b, r)
	}
	if err == nil && len(inserted) != 0 {
		d.afterInsertion(ctx, len(inserted))
	}
	return pipeline.MadeResults(r, unfinished(left, err))
}

// checkMixed checks the arguments of a mixed batch, before any shard does its part.
func (d *dictionary[K, V]) checkMixed(b structures.Batch[K, V]) error {
	if err := cmp.Or(d.gate.Err(), pipeline.Lengths(b, false)); err != nil {
		return err
	}
	var asked [most]bool // kinds, of which one is asked for once
	for i, k := range b.Kinds {
		switch {
		case everywhere(k) || asked[k]:
		case k.Ranges() && b.Highs == nil:
			return &structures.LengthError{Keys: len(b.Keys), Other: "highs"}
		case k == structures.FindRange && b.Width < 1:
			return &structures.LengthError{Keys: len(b.Keys), Other: "pairs a range (Width)", Need: 1, Got: b.Width}
		case !d.does(k):
			return &structures.KindError{Index: i, Kind: k}
		}
		asked[k] = true
	}
	return nil
}

// inserts returns the keys that a mixed batch inserts into a tree.
func (d *dictionary[K, V]) inserts(b structures.Batch[K, V]) (keys []K) {
	if d.trees == nil {
		return nil
	}
	for i, k := range b.Kinds {
		if k.Inserts() {
			keys = append(keys, b.Keys[i])
		}
	}
	return keys
}

// applyKeyed does a mixed batch without ordered queries. left is the number of operations that were not done.
func (d *dictionary[K, V]) applyKeyed(ctx context.Context, b structures.Batch[K, V],
	r structures.Results[K, V]) (left int, err error) {
	return d.run(ctx, &batch{
		n: len(b.Keys), keys: columnOf(b.Keys), lanes: 1, whole: true,
		in:  []column{columnOf(b.Kinds), columnOf(b.Keys), columnOf(b.Values), {}},
		out: []column{columnOf(r.Status), columnOf(r.Values)}, status: true,
		do: func(ctx context.Context, s int, p part) error {
			own, err := d.shards[s].Apply(ctx, structures.Batch[K, V]{
				Kinds: typed[structures.Kind](p.in[0]), Keys: typed[K](p.in[1]), Values: typed[V](p.in[2]),
			})
			copy(typed[structures.Status](p.out[0]), own.Status)
			copy(typed[V](p.out[1]), own.Values)
			return err
		},
	})
}

// portion is what a shard does of a mixed batch with ordered queries.
type portion[K, V structures.Number] struct {
	structures.Batch[K, V]
	places []int // of its operations in the batch
	got    structures.Results[K, V]
}

// applyOrdered does a mixed batch with ordered queries. It returns the number of operations that were not done, too.
func (d *dictionary[K, V]) applyOrdered(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], int,
	error) {
	all := portions(&d.place, b)
	var touched []int
	for s := range all {
		if len(all[s].places) != 0 {
			touched = append(touched, s)
		}
	}
	err := each(ctx, touched, func(s int) (err error) {
		x := &all[s]
		x.got, err = d.shards[s].Apply(ctx, x.Batch)
		if x.got.Status == nil { // refused or closed: nothing is done
			x.got.Status = make([]structures.Status, len(x.places))
		}
		return err
	})
	r, left := united(&d.place, b, all)
	return r, left, err
}

// portions divides a mixed batch. A shard gets the operations on its keys, its parts of ranges, and the neighbors that
// are asked for before or after it.
func portions[K, V structures.Number](p *placement, b structures.Batch[K, V]) []portion[K, V] {
	all := make([]portion[K, V], p.shards)
	for i, k := range b.Kinds {
		home := shardOf(p, b.Keys[i])
		first, last := home, home
		switch k {
		case structures.FindSuccessor, structures.FindCeil:
			last = p.shards - 1
		case structures.FindPredecessor, structures.FindFloor:
			first = 0
		case structures.FindRange, structures.CountRange:
			last = max(first, shardOf(p, b.Highs[i]))
		}
		for s := first; s <= last; s++ {
			all[s].add(p, b, i, s, home)
		}
	}
	return all
}

// add adds operation i of a batch, whose key belongs to the shard home, to the portion of shard s.
func (x *portion[K, V]) add(p *placement, b structures.Batch[K, V], i, s, home int) {
	kind, key, high, value := b.Kinds[i], b.Keys[i], K(0), V(0)
	if b.Values != nil {
		value = b.Values[i]
	}
	switch {
	case kind.Ranges():
		r := within(p, s, []structures.Range[K]{{Lo: key, Hi: b.Highs[i]}})[0]
		key, high = r.Lo, r.Hi
	case s > home:
		kind = structures.FindCeil
		_, key = outermost[K](p, s, true)
	case s < home:
		kind = structures.FindFloor
		_, key = outermost[K](p, s, false)
	}
	x.Kinds, x.Keys, x.Values = append(x.Kinds, kind), append(x.Keys, key), append(x.Values, value)
	x.Highs, x.places = append(x.Highs, high), append(x.places, i)
	x.Width, x.OwnMoments = b.Width, b.OwnMoments
}

// united returns the results of a mixed batch with ordered queries, and how many operations are not done.
func united[K, V structures.Number](p *placement, b structures.Batch[K, V],
	all []portion[K, V]) (r structures.Results[K, V], left int) {
	r = pipeline.ResultsOf(b)
	pending := make([]bool, len(b.Kinds))
	for s := range all {
		for j, i := range all[s].places {
			if all[s].got.Status[j] == structures.Pending {
				pending[i] = true
			} else {
				uniteOperation(p, b.Kinds[i], &r, i, s, all[s].got, j)
			}
		}
	}
	for i, is := range pending {
		if is {
			r.Status[i] = structures.Pending
			left++
		}
	}
	if slices.Contains(b.Kinds, structures.FindRange) {
		listAll(b, all, &r)
	}
	return r, left
}

// uniteOperation adds what shard s has for operation i to what the shards before it have.
func uniteOperation[K, V structures.Number](p *placement, k structures.Kind, r *structures.Results[K, V], i, s int,
	from structures.Results[K, V], j int) {
	status := from.Status[j]
	switch {
	case k == structures.FindRange:
		r.Status[i] = status // listAll counts
	case k == structures.CountRange:
		r.Status[i] = status
		r.Values[i] += from.Values[j]
	case !k.Ordered():
		r.Status[i], r.Values[i] = status, from.Values[j]
	case status == structures.Found && shardOf(p, from.Keys[j]) == s: // no stray
		if down := k == structures.FindPredecessor || k == structures.FindFloor; down || r.Status[i] != status {
			r.Status[i], r.Keys[i], r.Values[i] = status, from.Keys[j], from.Values[j]
		}
	case r.Status[i] != structures.Found:
		r.Status[i] = structures.Absent
	}
}

// listAll lists the pairs of ranges: those of each shard in turn, and at most Width.
func listAll[K, V structures.Number](b structures.Batch[K, V], all []portion[K, V], r *structures.Results[K, V]) {
	next := make([]int, len(all)) // of the places of each shard
	l := &r.Ranges
	l.Offsets = append(l.Offsets, 0)
	for i, k := range b.Kinds {
		begin := len(l.Keys)
		for s, x := range all {
			if next[s] == len(x.places) || x.places[next[s]] != i {
				continue
			}
			j, from := next[s], x.got.Ranges
			next[s]++
			if k != structures.FindRange || from.Offsets == nil || r.Status[i] == structures.Pending {
				continue
			}
			first := from.Offsets[j]
			end := min(from.Offsets[j+1], first+uint64(b.Width-(len(l.Keys)-begin)))
			l.Keys, l.Values = append(l.Keys, from.Keys[first:end]...), append(l.Values, from.Values[first:end]...)
		}
		if k == structures.FindRange {
			r.Values[i] = V(len(l.Keys) - begin)
		}
		l.Offsets = append(l.Offsets, uint64(len(l.Keys)))
	}
}
