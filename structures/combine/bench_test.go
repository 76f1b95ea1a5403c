package combine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
)

// waiting is a dictionary that answers after 30 µs, in which its goroutine spins as one does that waits for a device.
type waiting struct {
	structures.Dictionary[uint32, uint32]
	batches, keys atomic.Int64
}

func (w *waiting) FindInto(_ context.Context, keys, values []uint32, found []bool) error {
	w.batches.Add(1)
	w.keys.Add(int64(len(keys)))
	for begin := time.Now(); time.Since(begin) < 30*time.Microsecond; {
	}
	copy(values, keys)
	for i := range found {
		found[i] = true
	}
	return nil
}

// BenchmarkGets measures single gets of 1,024 goroutines: what the host can do with any device.
func BenchmarkGets(b *testing.B) {
	const callers = 1024
	own := func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }
	shared, cancel := own()
	defer cancel()
	for name, of := range map[string]func() (context.Context, context.CancelFunc){
		"context=none":   func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"context=shared": func() (context.Context, context.CancelFunc) { return shared, func() {} },
		"context=own":    own,
	} {
		b.Run(name, func(b *testing.B) {
			w := &waiting{}
			c, err := combine.New[uint32, uint32](w, combine.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var all sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for i := range callers {
				all.Go(func() {
					ctx, end := of()
					defer end()
					for k := i; k < b.N; k += callers {
						if v, found, err := c.Get(ctx, uint32(k)); v != uint32(k) || !found || err != nil {
							b.Error(k, v, found, err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			b.ReportMetric(float64(w.keys.Load())/float64(w.batches.Load()), "keys/batch")
		})
	}
}
