package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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
	header          string // of the answer as CSV

	// ask looks some keys up. It returns which of them it found, and what appends the answer about one to a line.
	ask func(ctx context.Context, dict *dictionary, keys []uint32, asJSON bool) (found []bool, row func(line []byte, i int) []byte, err error)
}

// aboutKeys gives a command its arguments, its flags and what it does: it answers part by part, so that there may be
// more keys than memory.
func (g *global) aboutKeys(c *cobra.Command, q keyQuestion) *cobra.Command {
	var s source
	var a asked
	var mustExist, asJSON bool
	c.Args = takes("a DICT or a TABLE, then keys", 1, math.MaxInt)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		ctx := c.Context()
		path, err := a.take(ctx, g, arguments)
		if err != nil {
			return err
		}
		return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error {
			answer := g.newAnswer(q.header, asJSON)
			var keys, hits int
			var took time.Duration
			err := a.keys(dict.key, func(part []uint32) error {
				started := time.Now()
				found, row, err := q.ask(ctx, dict, part, asJSON)
				if err != nil {
					return err
				}
				took += time.Since(started)
				keys, hits = keys+len(part), hits+trues(found)
				return answer.rows(len(part), row)
			})
			if err != nil {
				return cutShort(answer, err)
			}
			g.note("looked up %s; %s found", rate(keys, "keys", took), grouped(hits))
			if err := answer.end(); err != nil || !mustExist || hits == keys {
				return err
			}
			return errAbsent
		})
	}
	flags := c.Flags()
	flags.SortFlags = false
	a.addKeys(flags)
	flags.BoolVar(&mustExist, "must-exist", false, q.mustExist)
	flags.BoolVar(&asJSON, "json", false, q.json)
	s.add(c, q.ordering)
	c.SetFlagErrorFunc(minusIsNoFlag)
	return c
}

// cutShort writes what there is of an answer that an error ended.
func cutShort(a *answer, err error) error {
	if a.begun {
		_ = a.flush() // of the two errors the first one is told
	}
	return err
}

func trues(all []bool) (n int) {
	for _, x := range all {
		if x {
			n++
		}
	}
	return n
}

// minusIsNoFlag explains the error of a key that was taken for a flag.
func minusIsNoFlag(c *cobra.Command, err error) error {
	if strings.HasPrefix(err.Error(), "unknown shorthand flag") {
		return fmt.Errorf("%w; before keys that begin with a minus sign there must be a \"--\" (see %s --help)", err, c.CommandPath())
	}
	return flagError(c, err)
}

// rangeQuestion is what a command asks about ranges of keys.
type rangeQuestion struct {
	json   string // what --json does
	header string // of the answer as CSV

	// print prints the answer about some ranges; counts are how many keys each has.
	print func(ctx context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, a *answer) error
}

// aboutRanges gives a command its arguments, its flags and what it does, part by part as aboutKeys.
func (g *global) aboutRanges(c *cobra.Command, q rangeQuestion) *cobra.Command {
	var s source
	var a asked
	var asJSON bool
	c.Args = takes("a DICT or a TABLE, then ranges", 1, math.MaxInt)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		ctx := c.Context()
		path, err := a.take(ctx, g, arguments)
		if err != nil {
			return err
		}
		return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error {
			answer := g.newAnswer(q.header, asJSON)
			var all int
			var pairs uint64
			var took time.Duration
			err := a.ranges(dict.key, func(part []structures.Range) error {
				started := time.Now()
				counts, err := dict.ordered().Count(ctx, part)
				if err != nil {
					return err
				}
				took += time.Since(started)
				all += len(part)
				for _, n := range counts {
					pairs += uint64(n)
				}
				return q.print(ctx, dict, part, counts, answer)
			})
			if err != nil {
				return cutShort(answer, err)
			}
			g.note("counted %s; %s keys in them", rate(all, "ranges", took), grouped(pairs))
			return answer.end()
		})
	}
	flags := c.Flags()
	flags.SortFlags = false
	a.addRanges(flags)
	flags.BoolVar(&asJSON, "json", false, q.json)
	s.add(c, c.Name())
	c.SetFlagErrorFunc(minusIsNoFlag)
	return c
}
