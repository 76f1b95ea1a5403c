package main

import (
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// walk is words.Ascend or words.Descend.
type walk func(o words, ctx context.Context, r keyRange) iter.Seq2[pair, error]

func newMinCommand(g *global) *cobra.Command {
	return newEndCommand(g, "min", "least", words.Ascend)
}

func newMaxCommand(g *global) *cobra.Command {
	return newEndCommand(g, "max", "greatest", words.Descend)
}

// newEndCommand returns the command that prints the pairs at one end of a dictionary.
func newEndCommand(g *global, name, which string, from walk) *cobra.Command {
	var s source
	rows := rowFlags{left: 1}
	var mustExist bool
	c := &cobra.Command{
		Use:   name + " DICT-or-TABLE",
		Short: "Print the pair with the " + which + " key",
		Long: strings.ToUpper(name[:1]) + name[1:] +
			` prints the pair with the ` + which + ` key. With --limit N it prints the pairs
with the ` + which + ` N keys, the ` + which + ` key first.

` + orderedHelp + sourceHelp,
		Example: `  vkds ` + name + ` airports.vkds
  vkds ` + name + ` taxi.csv --key-type time --value-type f32 --limit 3`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			ctx, empty := c.Context(), false
			err := g.answerPairs(ctx, &s, arguments[0], rows, func(_ *vk.Device, dict *dictionary, a *answer) error {
				empty = dict.pairs == 0
				return inParts(from(dict, ctx, structures.AllKeys[uint64]()),
					func(keys, values []uint64) error { return a.pairs(dict, keys, values) })
			})
			if err == nil && mustExist && empty {
				return errAbsent
			}
			return err
		},
	}
	flags := c.Flags()
	flags.BoolVar(&mustExist, "must-exist", false, "exit with status 1 if there is no pair")
	rows.add(flags, pairColumns...)
	s.add(c, name)
	return c
}
