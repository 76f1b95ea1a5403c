package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures"
)

// orderedHelp explains what the ordered commands have in common.
const orderedHelp = `Keys have the order of their type. The dictionary is loaded into a sorted array,
or into a B-link-tree or an LSM if --structure says so or it was saved as one.

`

// neighbor describes a command that finds a neighbour of each key.
type neighbor struct {
	name, short, what string
	to                structures.Direction
}

// newNeighborCommands returns the constructors of the commands that look for a neighbour of each key.
func newNeighborCommands() (all []func(*global) *cobra.Command) {
	for _, n := range []neighbor{
		{"successor", "Find the next key above each key", "the least key above it", structures.Successor},
		{"predecessor", "Find the next key below each key", "the greatest key below it",
			structures.Predecessor},
		{"ceil", "Find each key, or the next one above it", "the least key that is not below it",
			structures.Ceil},
		{"floor", "Find each key, or the next one below it", "the greatest key that is not above it",
			structures.Floor},
	} {
		all = append(all, func(g *global) *cobra.Command { return newNeighborCommand(g, n) })
	}
	return all
}

func newNeighborCommand(g *global, n neighbor) *cobra.Command {
	c := &cobra.Command{
		Use:   n.name + " DICT-or-TABLE [KEY…]",
		Short: n.short,
		Long: `For each key asked for, ` + n.name + ` finds
` + n.what + `. It prints the key
asked for, the key found and its value; the latter two are empty if there is
none. Keys come from the command line, else from --keys FILE, else from standard
input, one a line (see "vkds help keys").

` + orderedHelp + sourceHelp,
		Example: `  vkds ` + n.name + ` ip-ranges.csv --key first --value country 134744072
  vkds ` + n.name + ` taxi.csv --key-type time --value-type f32 "2014-07-01 00:10:00"`,
	}
	return g.aboutKeys(c, keyQuestion{
		ordering:  n.name,
		mustExist: "exit with status 1 if nothing is found for a key",
		columns:   []string{"key", "found", "value"},
		ask: func(ctx context.Context, dict *dictionary, keys numbers) ([]bool, func(*row, int), error) {
			f, err := dict.neighbors(ctx, n.to, keys)
			return f.Found, func(r *row, i int) {
				r.word(keys.shown, keys.words[i])
				r.wordIf(dict.keys(), f.Keys[i], f.Found[i])
				r.wordIf(dict.values(), f.Values[i], f.Found[i])
			}, err
		},
	})
}

// rangesFrom says where a command's ranges come from.
const rangesFrom = `Ranges come from the command line, else from --keys FILE, else from standard
input, one a line (see "vkds help keys").

`

func newRangeCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "range DICT-or-TABLE [LO:HI…]",
		Short: "List the pairs in ranges of keys",
		Long: `Range prints the pairs whose keys are in a range, in the order of their keys.
Several ranges are printed one after the other, in the order asked for.

` + rangesHelp + rangesFrom + orderedHelp + sourceHelp,
		Example: `  vkds range UnicodeData.txt --delimiter ';' --key-type hex --value 4 400:4FF
  vkds range taxi.csv --key-type time "2014-11-27 08:00:00:2014-11-27 12:00:00"
  vkds range numbers.csv --key-type i32 -- -5:5
  vkds range numbers.csv --key-type i32 100:`,
	}
	return g.aboutRanges(c, rangeQuestion{
		columns: pairColumns,
		print: func(ctx context.Context, dict *dictionary, _ batch, ranges []keyRange, counts []uint32,
			a *answer) error {
			l := listing{ctx: ctx, dict: dict, ranges: ranges, counts: counts}
			return l.each(func(keys, values []uint64) error { return a.pairs(dict, keys, values) })
		},
	})
}

func newCountCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "count DICT-or-TABLE [LO:HI…]",
		Short: "Count the keys in ranges",
		Long: `Count prints how many keys are in each range: its two ends, and the number.

` + rangesHelp + rangesFrom + orderedHelp + sourceHelp,
		Example: `  vkds count UnicodeData.txt --delimiter ';' --key-type hex --value 4 0:7F 80:
  vkds count taxi.csv --key-type time --value-type f32 2014-07-01:2014-07-31`,
	}
	return g.aboutRanges(c, rangeQuestion{
		columns: []string{"lo", "hi", "count"},
		print: func(_ context.Context, _ *dictionary, asked batch, _ []keyRange, counts []uint32, a *answer) error {
			return a.rows(len(counts), func(r *row, i int) {
				r.word(asked.column(0).shown, asked.keys[i])
				r.word(asked.column(1).shown, asked.values[i])
				r.number(uint64(counts[i]))
			})
		},
	})
}

// listing fetches the pairs of ranges.
type listing struct {
	ctx    context.Context
	dict   *dictionary
	ranges []keyRange
	counts []uint32 // of pairs in each
}

// each calls use with the pairs of all ranges, in order. To keep the parts of about one size, it fetches many small
// ranges together and a large range piece by piece.
func (l *listing) each(use func(keys, values []uint64) error) error {
	for at := 0; at < len(l.ranges); {
		if l.counts[at] > partLength {
			if err := inParts(l.dict.Ascend(l.ctx, l.ranges[at]), use); err != nil {
				return err
			}
			at++
			continue
		}
		end, pairs := at, uint64(0)
		for end < len(l.ranges) && end-at < partLength && pairs+uint64(l.counts[end]) <= partLength {
			pairs += uint64(l.counts[end])
			end++
		}
		r, err := l.dict.Range(l.ctx, l.ranges[at:end])
		if err != nil {
			return err
		}
		if err := use(r.Keys, r.Values); err != nil {
			return err
		}
		at = end
	}
	return nil
}
