package slabs

import "context"

// span is a run of words in a pool's bitmaps. The bitmaps of all super blocks are numbered one after the other.
type span struct{ first, words int }

// freeSpan returns the first run of the given number of words in which no slab is in use, or false if there is none.
func freeSpan(bitmaps []uint32, words int) (span, bool) {
	free := 0
	for i, word := range bitmaps {
		if word != 0 {
			free = 0
			continue
		}
		if free++; free == words {
			return span{i + 1 - words, words}, true
		}
	}
	return span{}, false
}

// Claim allocates a number of free slabs that are consecutive in the pool's numbering (pool_number of
// slab_alloc.glsl), and returns the number of the first. If there are no such slabs, the pool grows. The slabs are
// freed one by one, like others. Claim waits for the work that uses the pool. Errors: those of Grow.
func (p *Pool) Claim(ctx context.Context, slabs int) (uint32, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	if slabs <= 0 {
		return 0, nil
	}
	if err := p.uses.Rest(ctx); err != nil {
		return 0, err
	}
	words := (slabs + 31) / 32
	found, ok, err := p.look(ctx, words)
	if err == nil && !ok {
		if err = p.Grow(ctx, (slabs+BlockSlabs-1)/BlockSlabs); err == nil {
			found, _, err = p.look(ctx, words)
		}
	}
	if err != nil {
		return 0, err
	}
	return uint32(found.first * 32), p.occupySpan(ctx, found, slabs)
}

// look reads the bitmaps and returns a run of the given number of free words, or false if there is none.
func (p *Pool) look(ctx context.Context, words int) (span, bool, error) {
	bitmaps := make([]uint32, p.blocks()*bitmapWords)
	at := 0
	for _, s := range p.supers {
		if err := s.bitmaps.Download(ctx, 0, bitmaps[at:at+s.bitmaps.Len()]); err != nil {
			return span{}, false, err
		}
		at += s.bitmaps.Len()
	}
	found, ok := freeSpan(bitmaps, words)
	return found, ok, nil
}

// occupySpan marks the first slabs of a run of free words as allocated.
func (p *Pool) occupySpan(ctx context.Context, run span, slabs int) error {
	at := 0 // words of the super blocks before
	for _, s := range p.supers {
		n := s.bitmaps.Len()
		from, to := max(run.first, at)-at, min(run.first+run.words, at+n)-at
		if from < to {
			whole := min(to, run.first-at+slabs/32)
			if from < whole {
				p.stream.Fill(s.bitmaps, 4*from, 4*(whole-from), ^uint32(0))
			}
			if whole = max(whole, from); whole < to {
				p.stream.Fill(s.bitmaps, 4*whole, 4, uint32(1)<<(slabs%32)-1)
			}
		}
		at += n
	}
	return p.stream.Wait(context.WithoutCancel(ctx))
}
