package recording

import (
	"context"
	"runtime"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

// A structure prepares its kernels by using them: a small structure of the same types does everything once, and batches
// of any size are recorded into a stream that records nothing (vk.Device.NewRehearsal). A structure with a Table needs
// none of that.

// Part is one such rehearsal, or the use of a small structure. Its stream records nothing.
type Part func(ctx context.Context, s *vk.Stream) error

// Prepare runs parts, several at a time, and calls progress with the number of parts done. Parts must not block each
// other. A kernel that is made on a part's stream is dispatched once, with no workgroups, because some drivers compile
// it only then. The first error stops Prepare. So does the end of the context, between two kernels.
func Prepare(ctx context.Context, d *vk.Device, progress structures.Progress, parts []Part) error {
	return together(ctx, d, progress, len(parts), func(p *preparation, i int) error { return rehearse(p, parts[i]) })
}

// together does n steps that make kernels, several at a time, and calls progress with the number of steps done. The
// first error stops it. So does the end of the context, between two kernels.
func together(ctx context.Context, d *vk.Device, progress structures.Progress, n int,
	step func(p *preparation, i int) error) error {
	none, err := vk.NewBuffer[uint32](d, 3) // workgroups
	if err != nil {
		return err
	}
	defer none.Free()
	if err := none.Upload(ctx, 0, make([]uint32, none.Len())); err != nil {
		return err
	}
	stopped := ctx.Done()
	inner, stop := context.WithCancel(context.Background())
	all, inner := errgroup.WithContext(inner)
	all.SetLimit(runtime.GOMAXPROCS(0))
	p := &preparation{ctx: inner, d: d, none: none}
	done, ended := make(chan struct{}, n), make(chan error, 1)
	go func() {
		for i := range n {
			all.Go(func() error {
				if err := step(p, i); err != nil {
					return err
				}
				done <- struct{}{}
				return nil
			})
		}
		ended <- all.Wait()
		close(ended)
	}()
	// When Prepare returns, no step is running, even if the user's context or progress panics: only this goroutine
	// calls them.
	defer func() {
		stop()
		for range ended {
		}
	}()
	for made := 0; ; {
		select {
		case <-done:
			if made++; progress != nil {
				progress(made, n)
			}
		case <-stopped:
			return ctx.Err()
		case err := <-ended:
			return err
		}
	}
}

// PrepareForms is Prepare for a structure over a pool, for each form that the pool may have. small makes a small
// structure of the same types, and returns its rehearsals and a function to close it. try, if not nil, uses another
// small structure.
func PrepareForms(ctx context.Context, d *vk.Device, progress structures.Progress, forms []Form,
	small func(context.Context, Form) (rehearsals []Part, end func(), err error),
	try func(context.Context, Form) error) error {
	var parts []Part
	for _, form := range forms {
		rehearsals, end, err := small(ctx, form)
		if err != nil {
			return err
		}
		defer end()
		parts = append(parts, rehearsals...)
		if try != nil {
			parts = append(parts, func(ctx context.Context, _ *vk.Stream) error { return try(ctx, form) })
		}
	}
	return Prepare(ctx, d, progress, parts)
}

type rehearsalKey struct{}

func rehearse(p *preparation, part Part) error {
	if err := p.next(); err != nil {
		return err
	}
	s, err := p.d.NewRehearsal(context.WithValue(p.ctx, rehearsalKey{}, p))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it has done nothing
	return part(p.ctx, s)
}

// rehearsalOf returns the rehearsal of a stream, or nil for a stream that records.
func rehearsalOf(s *vk.Stream) *preparation {
	ctx := s.Rehearsal()
	if ctx == nil {
		return nil
	}
	p, _ := ctx.Value(rehearsalKey{}).(*preparation)
	return p
}

// General selects the kernels for a pool above 1 GiB. They also work on a smaller pool.
func (k *Kernels) General() { k.general = true }

// Sizes returns lengths of batches, up to most. For each threshold that depends on the length, there are lengths on
// both sides.
func Sizes(most int) (all []int) {
	for n := 1; n <= most; n *= 2 {
		if all = append(all, n); n > 1 && n < most {
			all = append(all, n+1)
		}
	}
	return all
}

// rehearsedWords is the memory of a rehearsal, in words. Its addresses must differ from others, because some operations
// leave out a pass if two addresses are equal.
const rehearsedWords = 64

// Room allocates the given number of words for commands on a stream, or at most rehearsedWords in a rehearsal, whose
// commands do nothing.
func Room(s *vk.Stream, words int) (*vk.Buffer[uint32], error) {
	return vk.NewBuffer[uint32](s.Device(), RoomFor(s, words))
}

// RoomFor returns the number of words that Room allocates.
func RoomFor(s *vk.Stream, words int) int {
	if s.Rehearsal() != nil {
		return min(words, rehearsedWords)
	}
	return words
}

// Left copies the first words of memory to words, after the stream that wrote them was waited for. In a rehearsal it
// does nothing.
func Left(ctx context.Context, s *vk.Stream, b *vk.Buffer[uint32], words []uint32) error {
	if s.Rehearsal() != nil {
		return nil
	}
	return b.Download(ctx, 0, words)
}
