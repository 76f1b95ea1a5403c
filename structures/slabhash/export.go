package slabhash

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

type exportPush struct {
	Hash     Device
	Keys     uint64
	Values   uint64
	Written  uint64
	First    uint32
	Count    uint32
	Capacity uint32
}

type collectPush struct {
	Hash    Device
	Keys    uint64
	Offsets uint64
	Values  uint64
	Count   uint32
}

const pairsAnExport = 1 << 21 // about so many a dispatch

// export hands all pairs to yield, part by part, until it says no; values are nil for a set. The slices
// are yield's only until it returns.
func (t *table) export(ctx context.Context, yield func(keys, values []uint32) bool) error {
	if err := t.usable(); err != nil {
		return err
	}
	n, err := t.len(ctx)
	if err != nil || n == 0 {
		return err
	}
	k, err := kernel[exportPush](t, t.stream, t.variant("export"), t.tiles.walk)
	if err != nil {
		return err
	}
	columns := 2
	if t.keys {
		columns = 1
	}
	var pairs *vk.Buffer[uint32]
	defer func() {
		if pairs != nil {
			pairs.Free()
		}
	}()
	written := t.counter.Slice()[:1]
	host := []uint32{}
	a := max(1, uint32(min(uint64(t.base.buckets), uint64(t.base.buckets)*pairsAnExport/n)))
	for first := uint32(0); first < t.base.buckets; {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := min(a, t.base.buckets-first)
		capacity := 0
		if pairs != nil {
			capacity = pairs.Len() / columns
		}
		written[0] = 0
		push := exportPush{Hash: t.device(t.base), Written: t.counter.Address(), First: first, Count: count, Capacity: uint32(capacity)}
		if pairs != nil {
			push.Keys = pairs.Address()
			push.Values = pairs.AddressOf(capacity * (columns - 1))
		}
		k.Dispatch(t.stream, t.tileGroups(count), push)
		if err := t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		got := int(written[0])
		if got > capacity {
			// Room for what is there, and somewhat more for the other parts.
			if pairs != nil {
				pairs.Free()
			}
			if pairs, err = vk.NewBuffer[uint32](t.d, columns*(got+got/8+1024)); err != nil {
				pairs = nil
				return err
			}
			continue
		}
		if len(host) < columns*got {
			host = make([]uint32, pairs.Len())
		}
		keys, values := host[:got], []uint32(nil)
		if err := pairs.Download(ctx, 0, keys); err != nil {
			return err
		}
		if !t.keys {
			values = host[got : 2*got]
			if err := pairs.Download(ctx, capacity, values); err != nil {
				return err
			}
		}
		if got != 0 && !yield(keys, values) {
			return nil
		}
		first += count
	}
	return nil
}

// findAll returns all values of each key: those of key i are values[offsets[i]:offsets[i+1]], oldest first.
func (t *table) findAll(ctx context.Context, keys []uint32) (offsets []int, values []uint32, err error) {
	counts := make([]uint32, len(keys))
	if _, err := t.apply(ctx, structures.Count, nil, keys, counts); err != nil {
		return nil, nil, err
	}
	offsets = make([]int, len(keys)+1)
	for i, n := range counts {
		offsets[i+1] = offsets[i] + int(n)
	}
	values = make([]uint32, offsets[len(keys)])
	k, err := kernel[collectPush](t, t.stream, "collect", t.tiles.find)
	if err != nil {
		return nil, nil, err
	}
	for first := 0; first < len(keys); {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		// As many queries as have about so many values, but one at least.
		end := first + 1
		for end < len(keys) && end-first < pairsAnExport && offsets[end+1]-offsets[first] <= pairsAnExport {
			end++
		}
		if err := t.collect(ctx, k, keys[first:end], offsets[first:end+1], values[offsets[first]:offsets[end]]); err != nil {
			return nil, nil, err
		}
		first = end
	}
	return offsets, values, nil
}

// collect fills values with what the keys have, at the offsets less the first of them.
func (t *table) collect(ctx context.Context, k *vk.Kernel[collectPush], keys []uint32, offsets []int, values []uint32) error {
	n := len(keys)
	in := make([]uint32, 2*n)
	copy(in, keys)
	for i := range keys {
		in[n+i] = uint32(offsets[i] - offsets[0])
	}
	queries, err := vk.NewBuffer[uint32](t.d, len(in))
	if err != nil {
		return err
	}
	defer queries.Free()
	found, err := vk.NewBuffer[uint32](t.d, len(values))
	if err != nil {
		return err
	}
	defer found.Free()
	if err := queries.Upload(ctx, 0, in); err != nil {
		return err
	}
	k.Dispatch(t.stream, groups(n), collectPush{t.device(t.base), queries.Address(), queries.AddressOf(n), found.Address(), uint32(n)})
	if err := t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return found.Download(ctx, 0, values)
}
