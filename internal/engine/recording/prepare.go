package recording

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

// Prepared says whether all kernels of a structure are made.
type Prepared struct{ all atomic.Bool }

// Prepare makes all kernels of a structure, in each of their forms, unless they are made already. kernels is called
// while calls that change the structure wait.
func (p *Prepared) Prepare(ctx context.Context, d *vk.Device, turns *gate.Gate, told *gate.Progress,
	kernels func() (Table, []Form)) error {
	ctx, end := told.Begin(ctx)
	defer end()
	if err := turns.EnterShared(ctx); err != nil {
		return err
	}
	if p.all.Load() {
		turns.LeaveShared()
		return nil
	}
	all, forms := kernels()
	turns.LeaveShared()
	err := all.Prepare(ctx, d, gate.Told(ctx), forms...)
	if err == nil {
		p.all.Store(true)
	}
	return err
}

// together does n steps that make kernels, several at a time, and calls progress with the number of steps done. The
// first error stops it. So does the end of the context, between two kernels.
func together(ctx context.Context, d *vk.Device, progress structures.Progress, n int,
	step func(p *preparation, i int) error) error {
	var none *vk.Buffer[uint32]
	if !undispatched {
		var err error
		if none, err = vk.NewBuffer[uint32](d, 3); err != nil { // workgroups
			return err
		}
		defer none.Free()
		if err := none.Upload(ctx, 0, make([]uint32, none.Len())); err != nil {
			return err
		}
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
			return context.Cause(ctx)
		case err := <-ended:
			return err
		}
	}
}
