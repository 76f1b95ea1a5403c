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
		d.afterInsertion(ctx)
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

// applyOrdered does a mixed batch with ordered queries.
func (d *dictionary[K, V]) applyOrdered(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], int,
	error) {
	x := crossOperations(&d.place, b)
	some := make([]structures.Results[K, V], len(d.shards))
	err := each(ctx, x.touched(), func(s int) error {
		at := x[s]
		own := structures.Batch[K, V]{
			Kinds: pipeline.Pick(b.Kinds, at), Keys: pipeline.Pick(b.Keys, at), Values: pick(b.Values, at),
			Highs: pick(b.Highs, at), Width: b.Width, OwnMoments: b.OwnMoments,
		}
		if len(d.strays) != 0 {
			clip(&d.place, s, own)
		}
		r, err := d.shards[s].Apply(ctx, own)
		if some[s] = r; r.Status == nil { // refused or closed: nothing is done
			some[s].Status = make([]structures.Status, len(at))
		}
		return err
	})
	if len(d.strays) != 0 {
		hideStrays(&d.place, b, x, some)
	}
	r, left := united(b, x, some)
	return r, left, err
}

// pick is pipeline.Pick, but nil of nil.
func pick[T any](all []T, places []int) []T {
	if all == nil {
		return nil
	}
	return pipeline.Pick(all, places)
}

// crossOperations returns which shards have to do with each operation: that of its key, those that its range crosses,
// and for a neighbor also those beyond in its direction.
func crossOperations[K, V structures.Number](p *placement, b structures.Batch[K, V]) crossing {
	x := make(crossing, p.shards)
	for i, k := range b.Kinds {
		first := shardOf(p, b.Keys[i])
		last := first
		switch k {
		case structures.FindSuccessor, structures.FindCeil:
			last = p.shards - 1
		case structures.FindPredecessor, structures.FindFloor:
			first = 0
		case structures.FindRange, structures.CountRange:
			last = max(first, shardOf(p, b.Highs[i]))
		}
		for s := first; s <= last; s++ {
			x[s] = append(x[s], i)
		}
	}
	return x
}

// clip has ordered queries of a batch for a shard find only keys that belong to it, or those beyond if it has none.
func clip[K, V structures.Number](p *placement, s int, b structures.Batch[K, V]) {
	for i, k := range b.Kinds {
		home := shardOf(p, b.Keys[i])
		switch {
		case k == structures.FindRange || k == structures.CountRange:
			r := within(p, s, []structures.Range[K]{{Lo: b.Keys[i], Hi: b.Highs[i]}})[0]
			b.Keys[i], b.Highs[i] = r.Lo, r.Hi
		case !k.Ordered():
		case home < s:
			_, b.Keys[i] = outermost[K](p, s, true)
			b.Kinds[i] = structures.FindCeil
		case home > s:
			_, b.Keys[i] = outermost[K](p, s, false)
			b.Kinds[i] = structures.FindFloor
		}
	}
}

// hideStrays makes the strays that shards have found as neighbors absent.
func hideStrays[K, V structures.Number](p *placement, b structures.Batch[K, V], x crossing,
	some []structures.Results[K, V]) {
	for s, places := range x {
		for j, i := range places {
			k := b.Kinds[i]
			if k.Ordered() && !k.Ranges() && some[s].Status[j] == structures.Found && shardOf(p, some[s].Keys[j]) != s {
				some[s].Status[j], some[s].Keys[j], some[s].Values[j] = structures.Absent, 0, 0
			}
		}
	}
}

// united returns the results of a mixed batch with ordered queries, and how many operations are not done.
func united[K, V structures.Number](b structures.Batch[K, V], x crossing,
	some []structures.Results[K, V]) (structures.Results[K, V], int) {
	r := pipeline.ResultsOf(b)
	pending := make([]bool, len(b.Kinds))
	for s, places := range x {
		for j, i := range places {
			status := some[s].Status[j]
			if status == structures.Pending {
				pending[i] = true
				continue
			}
			uniteOperation(b, &r, i, some[s], j, status)
		}
	}
	left := 0
	for i, is := range pending {
		if is {
			r.Status[i] = structures.Pending
			left++
		}
	}
	if slices.Contains(b.Kinds, structures.FindRange) {
		listAll(b, x, some, &r)
	}
	return r, left
}

// uniteOperation adds what a shard has for an operation to what the shards before it have.
func uniteOperation[K, V structures.Number](b structures.Batch[K, V], r *structures.Results[K, V], i int,
	from structures.Results[K, V], j int, status structures.Status) {
	down := b.Kinds[i] == structures.FindPredecessor || b.Kinds[i] == structures.FindFloor
	switch k := b.Kinds[i]; {
	case k == structures.FindRange:
		r.Status[i] = status // listAll counts
	case k == structures.CountRange:
		r.Status[i] = status
		r.Values[i] += from.Values[j]
	case k.Ordered():
		if r.Status[i] != structures.Found || down && status == structures.Found {
			r.Status[i], r.Keys[i], r.Values[i] = status, from.Keys[j], from.Values[j]
		}
	default:
		r.Status[i], r.Values[i] = status, from.Values[j]
	}
}

// listAll lists the pairs of ranges: those of each shard in turn, and at most Width.
func listAll[K, V structures.Number](b structures.Batch[K, V], x crossing, some []structures.Results[K, V],
	r *structures.Results[K, V]) {
	next := make([]int, len(some)) // of the places of each shard
	l := &r.Ranges
	l.Offsets = append(l.Offsets, 0)
	for i, k := range b.Kinds {
		begin := len(l.Keys)
		for s, places := range x {
			if next[s] == len(places) || places[next[s]] != i {
				continue
			}
			j := next[s]
			next[s]++
			from := some[s].Ranges
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
