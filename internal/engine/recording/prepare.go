package recording

import (
	"context"
	"runtime"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/errgroup"
)

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
