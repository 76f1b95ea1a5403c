package alloc

import (
	"context"
	"fmt"
)

// Occupy allocates the first n slabs of a pool of which nothing is allocated: those whose Reference is that of 0 to
// n-1. For whoever lays out many slabs at once, in their order. The pool grows as it must; it returns when that is
// done. Errors: those of Grow.
func (p *SlabPool) Occupy(ctx context.Context, n int) error {
	if err := p.usable(ctx); err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("alloc: %d slabs to be allocated", n)
	}
	if blocks := (n+BlockSlabs-1)/BlockSlabs - p.blocks(); blocks > 0 {
		if err := p.Grow(ctx, blocks); err != nil {
			return err
		}
	}
	for _, s := range p.supers {
		here := min(n, s.blocks*BlockSlabs)
		n -= here
		p.stream.Concurrent(func() {
			p.stream.Fill(s.bitmaps, 0, here/32*4, ^uint32(0))
			if rest := here % 32; rest != 0 {
				p.stream.Fill(s.bitmaps, here/32*4, 4, 1<<rest-1)
			}
		})
	}
	return p.stream.Wait(context.WithoutCancel(ctx))
}

// Reference returns the reference to slab i of a pool, counted over all super blocks: references of full super blocks
// follow one another, with a gap between two of them.
func (p *SlabPool) Reference(i int) uint32 {
	each := p.perSuper() * BlockSlabs
	return uint32(i/each)<<24 | uint32(i%each)
}
