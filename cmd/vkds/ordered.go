package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/word"
)

// orderedHelp explains what the ordered commands have in common.
const orderedHelp = `The dictionary is loaded into a sorted array, which answers fastest, or, if
--structure says so or the dictionary was saved as one, into a B-link-tree or an
LSM. Order is that of the keys' type: -1 comes before 1, and 09:00 before 10:00. Of
what begins with a minus sign, tell that it is no flag by "--" before it.

`

// neighbor is a question about the order of keys.
type neighbor struct {
	name, short, what string
	find              func(o structures.Ordered, ctx context.Context, keys []uint32) (structures.Neighbors, error)
}

// newNeighborCommands returns the constructors of the commands that look for a neighbour of each key.
func newNeighborCommands() (all []func(*global) *cobra.Command) {
	for _, n := range []neighbor{
		{"successor", "Find the next key above each key", "the least key above it", structures.Ordered.Successor},
		{"predecessor", "Find the next key below each key", "the greatest key below it", structures.Ordered.Predecessor},
		{"ceil", "Find each key, or the next one above it", "the least key that is not below it", structures.Ordered.Ceil},
		{"floor", "Find each key, or the next one below it", "the greatest key that is not above it", structures.Ordered.Floor},
	} {
		all = append(all, func(g *global) *cobra.Command { return newNeighborCommand(g, n) })
	}
	return all
}

func newNeighborCommand(g *global, n neighbor) *cobra.Command {
	c := &cobra.Command{
		Use:   n.name + " DICT-or-TABLE [KEY…]",
		Short: n.short,
		Long: `For each key asked, ` + n.name + ` finds ` + n.what + `, and prints
as CSV the key asked, the key found and its value; the latter two are empty where
there is none. Keys come from the command line, else from --keys FILE, else from
standard input, one a line.

` + orderedHelp + sourceHelp,
		Example: `  vkds ` + n.name + ` ip-ranges.csv --key first --value country 134744072
  vkds ` + n.name + ` taxi.csv --key-type time --value-type f32 "2014-07-01 00:10:00"`,
	}
	return g.aboutKeys(c, keyQuestion{
		ordering:  n.name,
		mustExist: "exit with status 1 if nothing is found for a key",
		json:      "print a JSON array of {\"key\": K, \"found\": F or null, \"value\": V or null}",
		ask: func(ctx context.Context, dict *dictionary, keys []uint32) (func([]uint32) ([]bool, error), func(bool) error) {
			var all structures.Neighbors
			find := func(part []uint32) ([]bool, error) {
				f, err := n.find(dict.ordered(), ctx, part)
				all.Keys, all.Values, all.Found = append(all.Keys, f.Keys...), append(all.Values, f.Values...), append(all.Found, f.Found...)
				return f.Found, err
			}
			return find, func(asJSON bool) error { return g.answerNeighbors(dict, keys, all, asJSON) }
		},
	})
}

func (g *global) answerNeighbors(dict *dictionary, keys []uint32, n structures.Neighbors, asJSON bool) error {
	if asJSON {
		return g.answerArray(len(keys), func(line []byte, i int) []byte {
			line = appendJSON(append(line, `{"key": `...), dict.key, keys[i])
			line = appendJSONIf(append(line, `, "found": `...), dict.key, n.Keys[i], n.Found[i])
			line = appendJSONIf(append(line, `, "value": `...), dict.value, n.Values[i], n.Found[i])
			return append(line, '}')
		})
	}
	return g.answerRows("key,found,value", len(keys), func(line []byte, i int) []byte {
		line = append(dict.key.Append(line, keys[i]), ',')
		line = append(appendIf(line, dict.key, n.Keys[i], n.Found[i]), ',')
		return appendIf(line, dict.value, n.Values[i], n.Found[i])
	})
}

// rangesHelp explains how ranges are given.
const rangesHelp = `Ranges are written LO:HI, both ends belonging to them, on the command line, else
in --keys FILE, else on standard input, one a line; of a range whose ends are
reversed nothing is in it. In CSV the ends are two columns, in binary files two
keys each.

`

func newRangeCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "range DICT-or-TABLE [LO:HI…]",
		Short: "List the pairs of ranges of keys",
		Long: `Range prints the pairs whose keys are in a range, as CSV, in the order of their
keys; of several ranges one after the other, in the order asked.

` + rangesHelp + orderedHelp + sourceHelp,
		Example: `  vkds range UnicodeData.txt --delimiter ';' --key-type hex --value 4 1F600:1F64F
  vkds range taxi.csv --key-type time --value-type f32 "2014-11-27 08:00:00:2014-11-27 12:00:00"
  vkds range numbers.csv --key-type i32 -- -5:5`,
	}
	return g.aboutRanges(c, rangeQuestion{
		json: "print a JSON array of {\"lo\": L, \"hi\": H, \"pairs\": […]},\nthe pairs being {\"key\": K, \"value\": V}",
		print: func(ctx context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, asJSON bool) error {
			l := listing{global: g, ctx: ctx, dict: dict, ranges: ranges, counts: counts}
			return l.print(asJSON)
		},
	})
}

func newCountCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "count DICT-or-TABLE [LO:HI…]",
		Short: "Count the keys in ranges",
		Long: `Count prints how many keys are in each range, as CSV: the range's two ends and
the number.

` + rangesHelp + orderedHelp + sourceHelp,
		Example: `  vkds count UnicodeData.txt --delimiter ';' --key-type hex --value 4 0:7F 1F600:1F64F
  vkds count taxi.csv --key-type time --value-type f32 2014-07-01:2014-07-31`,
	}
	return g.aboutRanges(c, rangeQuestion{
		json: "print a JSON array of {\"lo\": L, \"hi\": H, \"count\": N}",
		print: func(_ context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, asJSON bool) error {
			if asJSON {
				return g.answerArray(len(ranges), func(line []byte, i int) []byte {
					line = appendEnds(line, dict.key, ranges[i])
					return append(strconv.AppendUint(append(line, `, "count": `...), uint64(counts[i]), 10), '}')
				})
			}
			return g.answerRows("lo,hi,count", len(ranges), func(line []byte, i int) []byte {
				line = append(dict.key.Append(line, ranges[i].Lo), ',')
				line = append(dict.key.Append(line, ranges[i].Hi), ',')
				return strconv.AppendUint(line, uint64(counts[i]), 10)
			})
		},
	})
}

// appendEnds appends the beginning of a JSON object of a range.
func appendEnds(line []byte, t word.Type, r structures.Range) []byte {
	line = appendJSON(append(line, `{"lo": `...), t, r.Lo)
	return appendJSON(append(line, `, "hi": `...), t, r.Hi)
}

// fetched is how many pairs of ranges come from the device at a time.
const fetched = 1 << 18

// listing prints the pairs of ranges.
type listing struct {
	*global
	ctx    context.Context
	dict   *dictionary
	ranges []structures.Range
	counts []uint32 // of pairs in them
}

// each hands the pairs of all ranges out, in order, and not many at a time: at is the number of their range, and last
// says that it has no more. By the counts, many small ranges are fetched together and a large one piece by piece.
func (l *listing) each(use func(at int, keys, values []uint32, last bool)) error {
	for at := 0; at < len(l.ranges); {
		if l.counts[at] > fetched {
			if err := l.large(at, use); err != nil {
				return err
			}
			at++
			continue
		}
		end, pairs := at, uint64(0)
		for end < len(l.ranges) && end-at < fetched && pairs+uint64(l.counts[end]) <= fetched {
			pairs += uint64(l.counts[end])
			end++
		}
		r, err := l.dict.ordered().Range(l.ctx, l.ranges[at:end])
		if err != nil {
			return err
		}
		for i := range end - at {
			from, to := r.Offsets[i], r.Offsets[i+1]
			use(at+i, r.Keys[from:to], r.Values[from:to], true)
		}
		at = end
	}
	return nil
}

// large hands the pairs of one range out.
func (l *listing) large(at int, use func(at int, keys, values []uint32, last bool)) error {
	pairs, failed := l.dict.ordered().Ascend(l.ctx, l.ranges[at])
	keys, values := make([]uint32, 0, fetched), make([]uint32, 0, fetched)
	for k, v := range pairs {
		if len(keys) == fetched {
			use(at, keys, values, false)
			keys, values = keys[:0], values[:0]
		}
		keys, values = append(keys, k), append(values, v)
	}
	if err := failed(); err != nil {
		return err
	}
	use(at, keys, values, true)
	return nil
}

func (l *listing) print(asJSON bool) (err error) {
	write := l.csv
	if asJSON {
		write = l.json
	}
	if e := l.answer(func(line []byte, out func([]byte)) { err = write(line, out) }); err == nil {
		err = e
	}
	return err
}

func (l *listing) csv(line []byte, write func([]byte)) error {
	write([]byte("key,value\n"))
	return l.each(func(_ int, keys, values []uint32, _ bool) {
		for i, k := range keys {
			line = append(l.dict.key.Append(line[:0], k), ',')
			line = append(l.dict.value.Append(line, values[i]), '\n')
			write(line)
		}
	})
}

func (l *listing) json(line []byte, write func([]byte)) error {
	begun := -1 // the range whose object is open, or was last
	pair := ""  // what stands before the next pair of it
	write([]byte("["))
	err := l.each(func(at int, keys, values []uint32, last bool) {
		line = line[:0]
		if at != begun {
			if begun >= 0 {
				line = append(line, ',')
			}
			line = append(appendEnds(append(line, "\n  "...), l.dict.key, l.ranges[at]), `, "pairs": [`...)
			begun, pair = at, "\n    "
		}
		for i, k := range keys {
			line = appendJSON(append(append(line, pair...), `{"key": `...), l.dict.key, k)
			line = append(appendJSON(append(line, `, "value": `...), l.dict.value, values[i]), '}')
			write(line)
			line, pair = line[:0], ",\n    "
		}
		if last {
			line = append(line, "]}"...)
		}
		write(line)
	})
	write([]byte("\n]\n"))
	return err
}
