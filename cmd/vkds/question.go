package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// errAbsent ends a command with --must-exist where a key is not there: run makes a status
// of it, and says nothing.
var errAbsent = errors.New("a key is absent")

// keyQuestion is what a command asks about keys.
type keyQuestion struct {
	ordering        string // the command's name if it needs an ordered structure
	mustExist, json string // what the flags of these names do

	// ask returns a function that looks a part of the keys up and says which of them it found, and one that prints
	// what all parts together found.
	ask func(ctx context.Context, dict *dictionary, keys []uint32) (find func(part []uint32) ([]bool, error), print func(asJSON bool) error)
}

// aboutKeys gives a command its arguments, its flags and what it does.
func (g *global) aboutKeys(c *cobra.Command, q keyQuestion) *cobra.Command {
	var s source
	var a asked
	var mustExist, asJSON bool
	c.Args = takes("a DICT or a TABLE, then keys", 1, math.MaxInt)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		path, err := a.take(c.Context(), g, arguments)
		if err != nil {
			return err
		}
		return s.use(c.Context(), g, path, func(_ *vk.Device, dict *dictionary) error {
			keys, err := a.keys(dict.key)
			if err != nil {
				return err
			}
			find, print := q.ask(c.Context(), dict, keys)
			absent, err := g.lookUp(keys, find)
			if err == nil {
				err = print(asJSON)
			}
			if err != nil || !mustExist {
				return err
			}
			return absent
		})
	}
	flags := c.Flags()
	flags.SortFlags = false
	a.addKeys(flags)
	flags.BoolVar(&mustExist, "must-exist", false, q.mustExist)
	flags.BoolVar(&asJSON, "json", false, q.json)
	s.add(c, q.ordering)
	return c
}

// lookUp has keys looked up part by part; find says which of them it found. absent is errAbsent, with a note, if one
// wasn't.
func (g *global) lookUp(keys []uint32, find func(part []uint32) ([]bool, error)) (absent, err error) {
	started, hits := time.Now(), 0
	for rest := keys; len(rest) > 0; {
		n := min(len(rest), batchLength)
		found, err := find(rest[:n])
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if f {
				hits++
			}
		}
		rest = rest[n:]
	}
	g.note("looked up %s; %s found", rate(len(keys), "keys", time.Since(started)), grouped(hits))
	if hits < len(keys) {
		absent = errAbsent
	}
	return absent, nil
}

// rangeQuestion is what a command asks about ranges of keys.
type rangeQuestion struct {
	json string // what --json does

	// print prints the answer; counts are how many keys each range has.
	print func(ctx context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, asJSON bool) error
}

// aboutRanges gives a command its arguments, its flags and what it does.
func (g *global) aboutRanges(c *cobra.Command, q rangeQuestion) *cobra.Command {
	var s source
	var a asked
	var asJSON bool
	c.Args = takes("a DICT or a TABLE, then ranges", 1, math.MaxInt)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		path, err := a.take(c.Context(), g, arguments)
		if err != nil {
			return err
		}
		return s.use(c.Context(), g, path, func(_ *vk.Device, dict *dictionary) error {
			ranges, err := a.ranges(dict.key)
			if err != nil {
				return err
			}
			counts, err := g.countRanges(c.Context(), dict, ranges)
			if err != nil {
				return err
			}
			return q.print(c.Context(), dict, ranges, counts, asJSON)
		})
	}
	flags := c.Flags()
	flags.SortFlags = false
	a.addRanges(flags)
	flags.BoolVar(&asJSON, "json", false, q.json)
	s.add(c, c.Name())
	return c
}

// countRanges returns how many keys are in each range.
func (g *global) countRanges(ctx context.Context, dict *dictionary, ranges []structures.Range) ([]uint32, error) {
	started, counts, pairs := time.Now(), make([]uint32, 0, len(ranges)), uint64(0)
	for rest := ranges; len(rest) > 0; {
		n := min(len(rest), batchLength)
		part, err := dict.ordered().Count(ctx, rest[:n])
		if err != nil {
			return nil, err
		}
		for _, n := range part {
			pairs += uint64(n)
		}
		counts, rest = append(counts, part...), rest[n:]
	}
	g.note("counted %s; %s keys in them", rate(len(ranges), "ranges", time.Since(started)), grouped(pairs))
	return counts, nil
}
