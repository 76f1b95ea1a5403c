package slabs

import (
	"cmp"
	"context"
	"errors"

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

// asideBits are those of a description's Seed that say which part of the pool is set aside.
const asideBits = 63

// mostAside returns how many words of the bitmaps are set aside at most, of so many: nearly a quarter.
func mostAside(all int) int { return all / 256 * asideBits / bitmapWords * bitmapWords }

// SetAside keeps nearly a quarter of the pool, its end, for Claim, if no kernel has used the pool yet. Kernels allocate
// all over the rest, so that soon there is no run of free slabs, and Claim must search the bitmaps and make the pool
// grow, which takes 10 ms on an H200. What is set aside is marked in the bitmaps, and counts as free. Relieve gives it
// back.
func (p *Pool) SetAside(ctx context.Context) error {
	p.mu.Lock() // until it is done, so that no kernel is told of the pool meanwhile
	defer p.mu.Unlock()
	if p.aside.words != 0 || p.described {
		return nil
	}
	all := p.blocks() * bitmapWords
	run := span{all - mostAside(all), mostAside(all)}
	p.fill(run, ^uint32(0))
	p.setLocked(run)
	return p.stream.Wait(context.WithoutCancel(ctx))
}

// Untouched reports whether no kernel can have allocated slabs since New or Reset. The caller need not have entered.
func (p *Pool) Untouched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.described
}

// touch says that slabs may be allocated from here on. It returns what Untouched was.
func (p *Pool) touch() (untouched bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	untouched, p.described = !p.described, true
	return untouched
}

// keep records that a run of free words at the end of the pool is set aside.
func (p *Pool) keep(run span) {
	p.fill(run, ^uint32(0))
	p.set(run)
}

// giveBack records that what is set aside becomes free for all to allocate.
func (p *Pool) giveBack() {
	p.fill(p.aside, 0)
	p.set(span{})
}

// set says which run is set aside. Kernels are told if it is the end of the pool, which it is until the pool grows.
func (p *Pool) set(aside span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setLocked(aside)
}

func (p *Pool) setLocked(aside span) {
	p.aside, p.aside256 = aside, 0
	if all := p.blocks() * bitmapWords; aside.words != 0 && aside.first+aside.words == all {
		p.aside256 = uint32(min(256*aside.words/all, asideBits))
	}
}

// Aside returns the number of slabs that are set aside.
func (p *Pool) Aside() int { return 32 * p.aside.words }

// Room makes room for the slabs of so many more memory blocks. The pool grows, or, if it can't, gives back what is set
// aside, if that is enough. Errors: those of Grow.
func (p *Pool) Room(ctx context.Context, blocks int) error {
	err := p.Grow(ctx, blocks)
	if !errors.Is(err, vk.ErrNoRoom) || p.Aside() < blocks*BlockSlabs {
		return err
	}
	return p.Relieve(ctx, 0, blocks, true)
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
	untouched := p.touch()
	found := span{p.aside.first, (slabs + 31) / 32}
	if found.words <= p.aside.words {
		p.set(span{found.first + found.words, p.aside.words - found.words})
	} else {
		var err error
		if found, err = p.seek(ctx, found.words, untouched); err != nil {
			return 0, cmp.Or(err, p.stream.Wait(context.WithoutCancel(ctx)))
		}
		p.fill(found, ^uint32(0))
	}
	if rest := slabs % 32; rest != 0 {
		p.fill(span{found.first + found.words - 1, 1}, uint32(1)<<rest-1)
	}
	return uint32(found.first * 32), p.stream.Wait(context.WithoutCancel(ctx))
}

// seek returns a run of so many free words, for which it may give back what is set aside. If there is none, the pool
// grows. If the end of the pool is free behind the run, it is set aside. untouched says that all slabs are free.
func (p *Pool) seek(ctx context.Context, words int, untouched bool) (span, error) {
	p.giveBack()
	all, before := p.blocks()*bitmapWords, 0
	found := span{0, words}
	if !untouched || words > all {
		var ok bool
		var err error
		if found, ok, err = p.look(ctx, words); ok || err != nil {
			return found, err
		}
		if err := p.Grow(ctx, (words+bitmapWords-1)/bitmapWords); err != nil {
			return found, err
		}
		before, all = all, p.blocks()*bitmapWords
		found = span{before, words}
	}
	if end := mostAside(all); before+words+end <= all {
		p.keep(span{all - end, end})
	}
	return found, nil
}

// look reads the bitmaps and returns the first run of so many free words, or false if there is none.
func (p *Pool) look(ctx context.Context, words int) (span, bool, error) {
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
	found, ok := freeSpan(bitmaps, words)
	return found, ok, nil
}

// fill records that the words of a run become value.
func (p *Pool) fill(run span, value uint32) {
	p.each(run, func(bitmaps *vk.Buffer[uint32], first, words int) {
		p.stream.Fill(bitmaps, first, words, value)
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
