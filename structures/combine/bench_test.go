package combine_test

import (
	"context"
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
)

var (
	callers  = flag.Int("callers", 1024, "goroutines of BenchmarkGets")
	answers_ = flag.Duration("answers", 30*time.Microsecond, "time of a call on the dictionary")
	contexts = flag.String("contexts", "none", "none, shared, own")
)

// spinning is a dictionary that answers a batch after a time in which its goroutine spins, as one does that waits for a
// device.
type spinning struct {
	structures.Dictionary[uint32, uint32]
	batches, keys atomic.Int64
}

func (s *spinning) FindInto(_ context.Context, keys, values []uint32, found []bool) error {
	s.batches.Add(1)
	s.keys.Add(int64(len(keys)))
	for begin := time.Now(); time.Since(begin) < *answers_; {
	}
	copy(values, keys)
	for i := range found {
		found[i] = true
	}
	return nil
}

func BenchmarkGets(b *testing.B) {
	d := &spinning{}
	c, err := combine.New[uint32, uint32](d, combine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	shared, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range *callers {
		all.Go(func() {
			ctx := context.Background()
			switch *contexts {
			case "shared":
				ctx = shared
			case "own":
				var cancel func()
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
			}
			for k := i; k < b.N; k += *callers {
				if v, found, err := c.Get(ctx, uint32(k)); v != uint32(k) || !found || err != nil {
					b.Error(k, v, found, err)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
	b.ReportMetric(float64(d.keys.Load())/float64(d.batches.Load()), "batch")
}
