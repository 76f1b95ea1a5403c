package recording

import (
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Meter counts what a structure does. It may be read at any time, by any goroutine.
type Meter struct {
	updates, queries                  calls
	retries, growths, rebuilds, bytes atomic.Uint64
}

type calls struct{ batches, operations atomic.Uint64 }

func (c *calls) add(n int) {
	c.batches.Add(1)
	c.operations.Add(uint64(n))
}

func (c *calls) read() structures.Calls {
	return structures.Calls{Batches: c.batches.Load(), Operations: c.operations.Load()}
}

// Batch counts a batch of n operations of one kind, or Mixed.
func (m *Meter) Batch(kind structures.Kind, n int) {
	if kind < structures.Find {
		m.updates.add(n)
	} else {
		m.queries.add(n)
	}
}

// Query counts a batch of n queries.
func (m *Meter) Query(n int) { m.queries.add(n) }

// Retry counts that operations were left pending and are tried again.
func (m *Meter) Retry() { m.retries.Add(1) }

// Grow counts a growth of the memory.
func (m *Meter) Grow() { m.growths.Add(1) }

// GrowBy counts the growths of memory that was freed since.
func (m *Meter) GrowBy(n uint64) { m.growths.Add(n) }

// Rebuild counts a rebuild of the structure.
func (m *Meter) Rebuild() { m.rebuilds.Add(1) }

// Hold sets the number of bytes of device memory, and returns the number before.
func (m *Meter) Hold(bytes uint64) (before uint64) { return m.bytes.Swap(bytes) }

// Metrics returns the counters of a structure on a device.
func (m *Meter) Metrics(d *vk.Device) structures.Metrics {
	return structures.Metrics{
		Updates: m.updates.read(), Queries: m.queries.read(), Retries: m.retries.Load(), Growths: m.growths.Load(),
		Rebuilds: m.rebuilds.Load(), Bytes: m.bytes.Load(), Kernels: keptOf(d).count.Load(),
	}
}
