package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures/slabhash"
)

func newStatsCommand(g *global) *cobra.Command {
	var s source
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats DICT-or-TABLE",
		Short: "Load a dictionary and tell its size, load and memory",
		Long: `Stats loads a saved dictionary or a table and measures what it became on the
device: pairs, buckets, slabs, load, memory and its utilisation, the bytes of
pairs over the bytes of slabs.

` + sourceHelp,
		Example: `  vkds stats airports.vkds
  vkds stats airports.csv --key id --value altitude --load 2 --json`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return stats(c.Context(), g, &s, arguments[0], asJSON)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(flags)
	c.MarkFlagsMutuallyExclusive("header", "no-header")
	return c
}

func stats(ctx context.Context, g *global, s *source, path string, asJSON bool) (err error) {
	d, err := g.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	dict, err := s.open(ctx, g, d, path)
	if err != nil {
		return err
	}
	defer dict.Close()
	m, err := dict.Stats(ctx)
	if err != nil {
		return err
	}
	measures := measured(s.structure, dict, m)
	if asJSON {
		object := map[string]any{"device": d.Info().Name, "buckets_by_slabs": lengths(m)}
		for _, x := range measures {
			object[x.name] = x.value
		}
		return g.answerJSON(object)
	}
	var rows [][]string
	for _, x := range measures {
		rows = append(rows, []string{x.name, x.text()})
	}
	return g.answerTable([]string{"measure", "value"}, rows)
}

// measure is one line of the answer.
type measure struct {
	name  string
	value any
}

func (m measure) text() string {
	if f, ok := m.value.(float64); ok {
		return strconv.FormatFloat(f, 'f', 4, 64)
	}
	return fmt.Sprint(m.value)
}

func measured(structure string, dict *dictionary, s slabhash.Stats) []measure {
	return []measure{
		{"structure", structure},
		{"key_type", dict.key.String()},
		{"value_type", dict.value.String()},
		{"pairs", s.Pairs},
		{"tombstones", s.Tombstones},
		{"buckets", s.Buckets},
		{"slabs", s.Slabs},
		{"chain_slabs", s.ChainSlabs},
		{"longest_bucket", s.LongestBucket},
		{"load", s.Load},
		{"slabs_per_bucket", s.SlabsPerBucket},
		{"utilization", s.Utilization},
		{"bytes", s.Bytes},
	}
}

// lengths are the numbers of buckets of 1, 2, … slabs, as far as there are any.
func lengths(s slabhash.Stats) []uint64 {
	n := len(s.Lengths)
	for n > 0 && s.Lengths[n-1] == 0 {
		n--
	}
	return s.Lengths[:n]
}
