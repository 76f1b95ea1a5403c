package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Inspection reports the statistics of an array.
type Inspection struct{ array *array }

// Inspect returns the array's Inspection.
func (a *Array[K, V]) Inspect() Inspection { return Inspection{a.open().core} }

// Metrics returns what the host knows, without waiting for the device.
func (i Inspection) Metrics() structures.Metrics { return i.array.core.Metrics() }

// Stats returns the sizes of the array. The host knows them.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.array.stats(ctx) }
