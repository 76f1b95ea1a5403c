package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
)

// errAbsent ends a command with --must-exist if a key is absent. run turns it into an exit status and prints nothing.
var errAbsent = errors.New("a key is absent")

// keyQuestion describes a command that looks up keys.
type keyQuestion struct {
	ordering  string   // the command's name if it needs an ordered structure
	mustExist string   // the usage of --must-exist
	columns   []string // of the answer

	// ask looks up some keys. It returns which of them it found, and a function that writes the row about the i-th key.
	ask func(ctx context.Context, dict *dictionary, keys numbers) (found []bool, write func(r *row, i int), err error)

	// server, if not nil, is a server that may be asked instead; askServer is then ask.
	server    *remote
	askServer func(context.Context, *bulk.Client, numbers) (found []bool, write func(r *row, i int), err error)
}

// aboutKeys gives a command its arguments, its flags and its RunE. That answers part by part, so that there may be more
// keys than fit into memory.
func (g *global) aboutKeys(c *cobra.Command, q keyQuestion) *cobra.Command {
	var s source
	var a asked
	var rows rowFlags
	var mustExist bool
	answering := func(key keytype.Type, ask func(numbers) ([]bool, func(*row, int), error)) error {
		answer := newAnswer(g.out, rows, q.columns...)
		var keys, hits int
		var took time.Duration
		err := a.read(key, func(b batch) error {
			started := time.Now()
			part := b.column(0)
			part.words = part.words[:min(uint64(len(part.words)), answer.left)]
			found, write, err := ask(part)
			if err != nil {
				return err
			}
			took += time.Since(started)
			keys, hits = keys+len(found), hits+trues(found)
			return answer.now(answer.rows(len(found), write))
		})
		if err := answer.end(err); err != nil {
			return err
		}
		g.note("looked up %s; %s found", rate(keys, "keys", took), grouped(hits))
		if mustExist && hits < keys {
			return errAbsent
		}
		return nil
	}
	c.Args = q.server.or(takes("a DICT or a TABLE, then keys", 1, math.MaxInt), nil)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if q.server.given() {
			return q.server.aboutKeys(c.Context(), g, &a, arguments, func(ctx context.Context, c *bulk.Client) error {
				return answering(c.Key, func(keys numbers) ([]bool, func(*row, int), error) {
					return q.askServer(ctx, c, keys)
				})
			})
		}
		return a.use(c.Context(), g, &s, arguments, func(ctx context.Context, dict *dictionary) error {
			return answering(dict.key, func(keys numbers) ([]bool, func(*row, int), error) {
				return q.ask(ctx, dict, keys)
			})
		})
	}
	flags := c.Flags()
	a.addKeys(flags)
	flags.BoolVar(&mustExist, "must-exist", false, q.mustExist)
	rows.add(flags, q.columns...)
	s.add(c, q.ordering)
	q.server.add(c, "keys", "keys-format", "keys-column", "keys-comment", "must-exist", "json", "limit")
	c.SetFlagErrorFunc(minusIsNoFlag)
	return c
}

func trues(all []bool) (n int) {
	for _, x := range all {
		if x {
			n++
		}
	}
	return n
}

// minusIsNoFlag explains, in the error of an unknown flag, how to write a key that begins with a minus sign.
func minusIsNoFlag(c *cobra.Command, err error) error {
	if strings.HasPrefix(err.Error(), "unknown shorthand flag") {
		return fmt.Errorf("%w; before keys that begin with a minus sign there must be a \"--\" (see %s --help)", err,
			c.CommandPath())
	}
	return flagError(c, err)
}

// rangeQuestion describes a command about ranges of keys.
type rangeQuestion struct {
	columns []string // of the answer

	// print prints the answer about some ranges: asked has their ends as the user wrote them, ranges their words, and
	// counts the number of keys in each.
	print func(ctx context.Context, dict *dictionary, asked batch, ranges []keyRange, counts []uint32, a *answer) error
}

// aboutRanges is aboutKeys for ranges.
func (g *global) aboutRanges(c *cobra.Command, q rangeQuestion) *cobra.Command {
	var s source
	var a asked
	var rows rowFlags
	c.Args = takes("a DICT or a TABLE, then ranges", 1, math.MaxInt)
	c.RunE = func(c *cobra.Command, arguments []string) error {
		return a.use(c.Context(), g, &s, arguments, func(ctx context.Context, dict *dictionary) error {
			answer := newAnswer(g.out, rows, q.columns...)
			var all int
			var pairs uint64
			var took time.Duration
			err := a.read(dict.key, func(b batch) error {
				started := time.Now()
				part, err := dict.ranges(b.column(0), b.column(1))
				if err != nil {
					return err
				}
				counts, err := dict.Count(ctx, part)
				if err != nil {
					return err
				}
				took += time.Since(started)
				all += len(part)
				for _, n := range counts {
					pairs += uint64(n)
				}
				return answer.now(q.print(ctx, dict, b, part, counts, answer))
			})
			if err := answer.end(err); err != nil {
				return err
			}
			g.note("counted %s; %s keys in them", rate(all, "ranges", took), grouped(pairs))
			return nil
		})
	}
	flags := c.Flags()
	a.addRanges(flags)
	rows.add(flags, q.columns...)
	s.add(c, c.Name())
	c.SetFlagErrorFunc(minusIsNoFlag)
	return c
}
