package shard

import (
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
)

// block is a part of a batch that was divided among the shards. Its memory is used again.
type block struct {
	first, end int // the operations of the batch
	of         []uint8
	shares     []counts // the first place of each shard in each share of the operations
	begins     []int    // the part of shard s is begins[s] … begins[s+1]-1
	only       int      // the shard to which all operations belong; -1: several
	in, out    []column // the operations in the order of their shards, unless only one has some
	memory     [][]uint64
	open       sync.WaitGroup // shards that are at work
}

// divide assigns operations of a batch to the block.
func (x *block) divide(p *placement, b *batch, first, end int) {
	n := end - first
	x.first, x.end = first, end
	x.of = slices.Grow(x.of[:0], n)[:n]
	shares := max(1, min(threads.Shares(), n/leastShare))
	x.shares = slices.Grow(x.shares[:0], shares)[:shares]
	threads.InShares(shares, n, func(share, from, to int) {
		c := &x.shares[share]
		*c = counts{}
		p.mark(b.keys.cut(first+from, first+to), x.of[from:to])
		c.count(x.of[from:to], p.shards)
	})
	x.lay(p.shards)
	if x.only >= 0 {
		return
	}
	x.in, x.out = x.columns(x.in, b.in, 0, n), x.columns(x.out, b.out, len(b.in), n)
	threads.InShares(shares, n, func(share, from, to int) {
		var some [4]column
		move(x.of[from:to], x.shares[share], cutAll(some[:0], b.in, first+from, first+to), x.in, false)
	})
}

// lay makes places of the numbers of operations.
func (x *block) lay(shards int) {
	x.begins, x.only = append(x.begins[:0], 0), -1
	at := uint32(0)
	for s := range shards {
		begin := at
		for share := range x.shares {
			x.shares[share][s], at = at, at+x.shares[share][s]
		}
		if x.begins = append(x.begins, int(at)); int(at-begin) == len(x.of) {
			x.only = s
		}
	}
}

// touched returns the shards that have operations, in order.
func (x *block) touched() (shards []int) {
	for s, begin := range x.begins[:len(x.begins)-1] {
		if x.begins[s+1] > begin {
			shards = append(shards, s)
		}
	}
	return shards
}

// part returns the part of a shard. A shard that has all operations uses the user's slices.
func (x *block) part(b *batch, s int) part {
	if x.only >= 0 {
		return part{cutAll(nil, b.in, x.first, x.end), cutAll(nil, b.out, x.first, x.end)}
	}
	first, end := x.begins[s], x.begins[s+1]
	return part{cutAll(nil, x.in, first, end), cutAll(nil, x.out, first, end)}
}

// putBack writes the results to the user's slices.
func (x *block) putBack(b *batch) {
	if x.only >= 0 {
		return
	}
	threads.InShares(len(x.shares), x.end-x.first, func(share, from, to int) {
		var some [4]column
		move(x.of[from:to], x.shares[share], cutAll(some[:0], b.out, x.first+from, x.first+to), x.out, true)
	})
}

// inCaller returns a shard's error as one about the user's batch: an operation has its place there.
func (x *block) inCaller(err error, s int) error {
	var kind *structures.KindError
	if !errors.As(err, &kind) {
		return err
	}
	left := kind.Index
	for i, of := range x.of {
		if int(of) == s {
			if left == 0 {
				return &structures.KindError{Index: x.first + i, Kind: kind.Kind}
			}
			left--
		}
	}
	return err
}

// columns returns memory for columns of n elements, of which the first one is number at.
func (x *block) columns(to, like []column, at, n int) []column {
	to = to[:0]
	for i, c := range like {
		for len(x.memory) <= at+i {
			x.memory = append(x.memory, nil)
		}
		if c.width == 0 {
			to = append(to, column{})
			continue
		}
		size := (n*c.width + 7) / 8
		words := slices.Grow(x.memory[at+i][:0], size)[:size]
		x.memory[at+i] = words
		to = append(to, column{unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n*c.width), c.width})
	}
	return to
}

func cutAll(to, columns []column, first, end int) []column {
	for _, c := range columns {
		to = append(to, c.cut(first, end))
	}
	return to
}

func clearAll(columns []column) {
	for _, c := range columns {
		clear(c.bytes)
	}
}
