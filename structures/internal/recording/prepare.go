package recording

import (
	"context"
	"runtime"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

// Kernels are made ahead by what asks for them: a structure does with a small one of its sort whatever can be done, and
// records into a stream that records nothing (vk.Device.NewRehearsal) what batches of any size take. So there is no
// list of kernels to be kept.

// Part is one of those rehearsals, or of the things that are done. Its stream records nothing.
type Part func(ctx context.Context, s *vk.Stream) error

// Prepare does parts, several at a time, which must not hinder each other, and tells progress how many of them are
// done. Kernels that are made on their streams are run once, in no workgroups: some drivers compile them only then. The
// first error ends it, and the context's, between two kernels.
func Prepare(ctx context.Context, d *vk.Device, progress structures.Progress, parts []Part) error {
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
	done, ended := make(chan struct{}, len(parts)), make(chan error, 1)
	go func() {
		for _, part := range parts {
			all.Go(func() error {
				if err := rehearse(inner, d, none, part); err != nil {
					return err
				}
				done <- struct{}{}
				return nil
			})
		}
		ended <- all.Wait()
		close(ended)
	}()
	// Nothing is at work any more when this returns, also where the user's context or progress panics: this goroutine
	// alone asks them.
	defer func() {
		stop()
		for range ended {
		}
	}()
	for n := 0; ; {
		select {
		case <-done:
			if n++; progress != nil {
				progress(n, len(parts))
			}
		case <-stopped:
			return ctx.Err()
		case err := <-ended:
			return err
		}
	}
}

// Form are the constants that a pool may have, by which kernels over it differ.
type Form = map[string]uint32

// PrepareForms is Prepare for a structure over a pool, in each form that the pool may have. small makes a small one of
// the structure's sort, of which rehearsals are parts, and which end closes; try, if not nil, does with another one
// what can be done.
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

// rehearsal makes kernels ahead.
type rehearsal struct {
	ctx    context.Context
	stream *vk.Stream
	none   *vk.Buffer[uint32]
}

type rehearsalKey struct{}

func rehearse(ctx context.Context, d *vk.Device, none *vk.Buffer[uint32], part Part) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stream, err := d.NewStream()
	if err != nil {
		return err
	}
	r := &rehearsal{ctx: ctx, stream: stream, none: none}
	s, err := d.NewRehearsal(context.WithValue(ctx, rehearsalKey{}, r))
	if err == nil {
		err = part(ctx, s)
		_ = s.Close() // it has done nothing
	}
	if closing := stream.Close(); err == nil {
		err = closing
	}
	return err
}

// rehearsalOf is what makes the kernels of a stream ahead; nil of one that records.
func rehearsalOf(s *vk.Stream) *rehearsal {
	ctx := s.Rehearsal()
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(rehearsalKey{}).(*rehearsal)
	return r
}

// next answers why no more kernels are to be made.
func (r *rehearsal) next() error {
	if r == nil {
		return nil
	}
	return r.ctx.Err()
}

// runOnce dispatches a kernel in no workgroups, and waits.
func runOnce[P any](r *rehearsal, k *vk.Kernel[P]) error {
	k.DispatchIndirect(r.stream, r.none, 0, *new(P))
	return r.stream.Wait(context.WithoutCancel(r.ctx)) // its kernel is being compiled in any case
}

// General has kernels over a pool be those that a pool above 1 GiB takes, and works on one below.
func (k *Kernels) General() { k.general = true }

func general(constants []Specialization) []Specialization {
	constants = slices.Clone(constants)
	for i := range constants {
		if constants[i].name == poolLight {
			constants[i].value = 0
		}
	}
	return constants
}

// Sizes are lengths of batches up to a most: of each of the choices that go by a length, some are on either side.
func Sizes(most int) (all []int) {
	for n := 1; n <= most; n *= 2 {
		if all = append(all, n); n > 1 && n < most {
			all = append(all, n+1)
		}
	}
	return all
}

// rehearsedWords are those that a rehearsal has of memory, for addresses of their own: some operations do without a
// pass where two are the same.
const rehearsedWords = 64

// Room makes memory for so many words that commands on a stream name; in a rehearsal, whose commands do nothing, for
// rehearsedWords at most.
func Room(s *vk.Stream, words int) (*vk.Buffer[uint32], error) {
	return vk.NewBuffer[uint32](s.Device(), RoomFor(s, words))
}

// RoomFor is how many words Room makes memory for.
func RoomFor(s *vk.Stream, words int) int {
	if s.Rehearsal() != nil {
		return min(words, rehearsedWords)
	}
	return words
}

// Left copies what commands on a stream, which was waited for, have left in the first words of memory: a rehearsal's
// nothing, so that the words stay as they are.
func Left(ctx context.Context, s *vk.Stream, b *vk.Buffer[uint32], words []uint32) error {
	if s.Rehearsal() != nil {
		return nil
	}
	return b.Download(ctx, 0, words)
}
