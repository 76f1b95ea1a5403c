package analytics

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Prepare makes all kernels that the Analyzer's calls may need, for any options and sizes, so that no later call makes
// one: a driver may take seconds for those of the first calls. For a live graph, of which some calls make rows, it also
// calls graph.Graph.Prepare, which makes the kernels of the graph's own calls. Prepare uses all processors, does not
// block other calls, and returns when it is done. If the context ends, it stops between two kernels and keeps those
// that it has made. A second call does nothing. Errors: the context's, vk.ErrClosed, *vk.OutOfMemoryError, those of
// making a kernel.
func (a *Analyzer) Prepare(ctx context.Context) error {
	if err := a.turns().EnterShared(ctx); err != nil {
		return err
	}
	defer a.gate.LeaveShared()
	if a.prepared.Load() {
		return nil
	}
	err := a.prepare(ctx)
	if err == nil {
		a.prepared.Store(true)
	}
	return err
}

func (a *Analyzer) prepare(ctx context.Context) error {
	var forms []recording.Form
	if a.on == nil {
		if err := a.g.Use(ctx, func() error { return nil }); err != nil {
			return err
		}
	} else if forms = a.on.InShaders().Forms(); forms == nil {
		return cmp.Or(a.d.Err(), error(&vk.ClosedError{What: "graph"}))
	}
	if a.on != nil {
		if err := a.on.Prepare(ctx); err != nil {
			return err
		}
	}
	return a.all().Prepare(ctx, a.d, nil, forms...)
}
