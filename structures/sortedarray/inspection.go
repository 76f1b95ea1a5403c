package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Inspection looks inside of an array.
type Inspection struct{ array *array }

// Inspect returns what looks inside of the array: its statistics.
func (a *Array[K, V]) Inspect() Inspection { return Inspection{a.open().core} }

// Metrics returns what the host knows, without asking the device.
func (i Inspection) Metrics() structures.Metrics { return i.array.core.Metrics() }

// Stats returns the sizes of the array, without asking the device.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.array.stats(ctx) }
