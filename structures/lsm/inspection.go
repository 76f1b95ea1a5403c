package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Inspection reports statistics and kernel times of an LSM.
type Inspection struct{ lsm *lsm }

// Inspect returns the LSM's Inspection: statistics, and kernel times.
func (l *LSM[K, V]) Inspect() Inspection { return Inspection{l.open().core} }

// Metrics returns what the host knows, without waiting for the device.
func (i Inspection) Metrics() structures.Metrics { return i.lsm.core.Metrics() }

// Stats measures the LSM. It waits for a kernel that looks up the key of each pair in all newer runs.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.lsm.stats(ctx) }

// Timings returns how long the stages of Build and Cleanup took on the device since the last call: "merge" (once for
// each run), "pack", "distribute". It is empty without Options.Timed.
func (i Inspection) Timings() []vk.Timing { return i.lsm.timings() }
