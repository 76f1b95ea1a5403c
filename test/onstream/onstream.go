// Package onstream is for tests of several dictionaries, whose calls on streams, and what looks inside, have types of
// their own.
package onstream

import (
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

// Calls has the calls of a dictionary on streams.
type Calls struct{ of any }

// Of returns the calls of a dictionary.
func Of(dictionary any) Calls { return Calls{dictionary} }

// On returns those on one stream. They have the methods of structures.OrderedOnStream and ConcurrentOnStream, too, if
// the dictionary's have.
func (c Calls) On(s *vk.Stream) structures.OnStream {
	switch of := c.of.(type) {
	case interface {
		On(*vk.Stream) structures.ConcurrentOnStream
	}:
		return of.On(s)
	case interface {
		On(*vk.Stream) structures.OrderedOnStream
	}:
		return of.On(s)
	case interface {
		On(*vk.Stream) btree.OnStream
	}:
		return of.On(s)
	}
	panic(fmt.Sprintf("%T has no calls on streams", c.of))
}

// Ordered returns the calls of an ordered dictionary on a stream.
func (c Calls) Ordered(s *vk.Stream) structures.OrderedOnStream {
	return c.On(s).(structures.OrderedOnStream)
}

// Concurrent returns the calls on a stream of a dictionary that does batches concurrently.
func (c Calls) Concurrent(s *vk.Stream) structures.ConcurrentOnStream {
	return c.On(s).(structures.ConcurrentOnStream)
}

// Metrics returns what the host knows of a dictionary.
func (c Calls) Metrics() structures.Metrics {
	switch of := c.of.(type) {
	case interface{ Inspect() btree.Inspection }:
		return of.Inspect().Metrics()
	case interface{ Inspect() lsm.Inspection }:
		return of.Inspect().Metrics()
	case interface{ Inspect() slabhash.Inspection }:
		return of.Inspect().Metrics()
	case interface {
		Inspect() sortedarray.Inspection
	}:
		return of.Inspect().Metrics()
	}
	panic(fmt.Sprintf("%T has no metrics", c.of))
}
