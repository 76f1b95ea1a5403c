package slabs

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/vk"
)

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

// asideShare says which part of a pool is set aside: one of so many.
const asideShare = 8

// SetAside keeps the last eighth of the pool for Claim, if no kernel has used the pool yet. Kernels allocate all over a
// pool, so that soon after there is no run of free slabs, and Claim must search the bitmaps and make the pool grow,
// which takes 10 ms on an H200. What is set aside is marked in the bitmaps, and counts as free. Relieve gives it back.
func (p *Pool) SetAside(ctx context.Context) error {
	words := p.blocks() / asideShare * bitmapWords
	if words == 0 || p.aside.words != 0 || !p.Untouched() {
		return nil
	}
	p.keep(span{p.blocks()*bitmapWords - words, words})
	return p.stream.Wait(context.WithoutCancel(ctx))
}

// Untouched reports whether no kernel can have allocated slabs since New or Reset. The caller need not have entered.
func (p *Pool) Untouched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.described
}

// keep records that a run of free words is set aside.
func (p *Pool) keep(run span) {
	p.fill(run, ^uint32(0))
	p.aside = run
}

// giveBack records that what is set aside becomes free for all to allocate.
func (p *Pool) giveBack() {
	p.fill(p.aside, 0)
	p.aside = span{}
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
	if words > p.aside.words {
		if err := p.seek(ctx, words); err != nil {
			return 0, cmp.Or(err, p.stream.Wait(context.WithoutCancel(ctx)))
		}
	}
	found := span{p.aside.first, words}
	p.aside = span{found.first + words, p.aside.words - words}
	if rest := slabs % 32; rest != 0 {
		p.fill(span{found.first + words - 1, 1}, uint32(1)<<rest-1)
	}
	return uint32(found.first * 32), p.stream.Wait(context.WithoutCancel(ctx))
}

// seek sets a run of at least that many free words aside, instead of the one that is, and more if it can. If there is
// none, the pool grows.
func (p *Pool) seek(ctx context.Context, words int) error {
	p.giveBack()
	all := p.blocks() * bitmapWords
	if more := words + all/asideShare; p.Untouched() && words <= all {
		p.keep(span{0, min(more, all)})
		return nil
	}
	found, ok, err := p.look(ctx, words+all/asideShare, words)
	if err != nil {
		return err
	}
	if !ok {
		if err := p.Grow(ctx, (words+bitmapWords-1)/bitmapWords); err != nil {
			return err
		}
		before := all
		all = p.blocks() * bitmapWords
		found.words = min(words+all/asideShare, all-before)
		found.first = all - found.words
	}
	p.keep(found)
	return nil
}

// look reads the bitmaps and returns the first run of one of some numbers of free words, or false if there is none.
func (p *Pool) look(ctx context.Context, numbers ...int) (span, bool, error) {
	if err := p.stream.Wait(ctx); err != nil {
		return span{}, false, err
	}
	bitmaps := make([]uint32, p.blocks()*bitmapWords)
	at := 0
	for _, s := range p.supers {
		if err := s.bitmaps.Download(ctx, 0, bitmaps[at:at+s.bitmaps.Len()]); err != nil {
			return span{}, false, err
		}
		at += s.bitmaps.Len()
	}
	for _, words := range numbers {
		if found, ok := freeSpan(bitmaps, words); ok {
			return found, true, nil
		}
	}
	return span{}, false, nil
}

// fill records that the words of a run become value.
func (p *Pool) fill(run span, value uint32) {
	p.each(run, func(bitmaps *vk.Buffer[uint32], first, words int) {
		p.stream.Fill(bitmaps, 4*first, 4*words, value)
	})
}

// each calls do for the parts of a run in super blocks.
func (p *Pool) each(run span, do func(bitmaps *vk.Buffer[uint32], first, words int)) {
	at := 0 // words of the super blocks before
	for _, s := range p.supers {
		n := s.bitmaps.Len()
		if from, to := max(run.first, at), min(run.first+run.words, at+n); from < to {
			do(s.bitmaps, from-at, to-from)
		}
		at += n
	}
}
