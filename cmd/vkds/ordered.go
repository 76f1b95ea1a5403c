package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/keytype"
	"github.com/vkds/vkds/structures"
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
		header:    "key,found,value",
		ask: func(ctx context.Context, dict *dictionary, keys []uint32, asJSON bool) ([]bool, func([]byte, int) []byte, error) {
			f, err := n.find(dict.ordered(), ctx, keys)
			if asJSON {
				return f.Found, func(line []byte, i int) []byte {
					line = appendJSON(append(line, `{"key": `...), dict.key, keys[i])
					line = appendJSONIf(append(line, `, "found": `...), dict.key, f.Keys[i], f.Found[i])
					line = appendJSONIf(append(line, `, "value": `...), dict.value, f.Values[i], f.Found[i])
					return append(line, '}')
				}, err
			}
			return f.Found, func(line []byte, i int) []byte {
				line = append(dict.key.Append(line, keys[i]), ',')
				line = append(appendIf(line, dict.key, f.Keys[i], f.Found[i]), ',')
				return appendIf(line, dict.value, f.Values[i], f.Found[i])
			}, err
		},
	})
}

// rangesHelp explains how ranges are given.
const rangesHelp = `Ranges are written LO:HI, both ends belonging to them, on the command line, else
in --keys FILE, else on standard input, one a line. Either end may be left out: LO:
is everything from LO on, :HI everything up to HI, and : all there is. A range whose
ends are reversed is empty. In CSV the ends are two columns, in binary files two
keys each, and both have to be there.

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
  vkds range numbers.csv --key-type i32 -- -5:5
  vkds range numbers.csv --key-type i32 100:`,
	}
	return g.aboutRanges(c, rangeQuestion{
		json:   "print a JSON array of {\"lo\": L, \"hi\": H, \"pairs\": […]},\nthe pairs being {\"key\": K, \"value\": V}",
		header: "key,value",
		print: func(ctx context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, a *answer) error {
			l := listing{answer: a, ctx: ctx, dict: dict, ranges: ranges, counts: counts}
			if a.json {
				return l.json()
			}
			return l.csv()
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
		json:   "print a JSON array of {\"lo\": L, \"hi\": H, \"count\": N}",
		header: "lo,hi,count",
		print: func(_ context.Context, dict *dictionary, ranges []structures.Range, counts []uint32, a *answer) error {
			if a.json {
				return a.rows(len(ranges), func(line []byte, i int) []byte {
					line = appendEnds(line, dict.key, ranges[i])
					return append(strconv.AppendUint(append(line, `, "count": `...), uint64(counts[i]), 10), '}')
				})
			}
			return a.rows(len(ranges), func(line []byte, i int) []byte {
				line = append(dict.key.Append(line, ranges[i].Lo), ',')
				line = append(dict.key.Append(line, ranges[i].Hi), ',')
				return strconv.AppendUint(line, uint64(counts[i]), 10)
			})
		},
	})
}

// appendEnds appends the beginning of a JSON object of a range.
func appendEnds(line []byte, t keytype.Type, r structures.Range) []byte {
	line = appendJSON(append(line, `{"lo": `...), t, r.Lo)
	return appendJSON(append(line, `, "hi": `...), t, r.Hi)
}

// fetched is how many pairs of ranges come from the device at a time.
const fetched = 1 << 18

// listing prints the pairs of ranges.
type listing struct {
	answer *answer
	ctx    context.Context
	dict   *dictionary
	ranges []structures.Range
	counts []uint32 // of pairs in them
}

// each hands the pairs of all ranges out, in order, and not many at a time: at is the number of their range, and last
// says that it has no more. By the counts, many small ranges are fetched together and a large one piece by piece.
func (l *listing) each(use func(at int, keys, values []uint32, last bool) error) error {
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
			if err := use(at+i, r.Keys[from:to], r.Values[from:to], true); err != nil {
				return err
			}
		}
		at = end
	}
	return nil
}

// large hands the pairs of one range out.
func (l *listing) large(at int, use func(at int, keys, values []uint32, last bool) error) error {
	pairs, failed := l.dict.ordered().Ascend(l.ctx, l.ranges[at])
	keys, values := make([]uint32, 0, fetched), make([]uint32, 0, fetched)
	for k, v := range pairs {
		if len(keys) == fetched {
			if err := use(at, keys, values, false); err != nil {
				return err
			}
			keys, values = keys[:0], values[:0]
		}
		keys, values = append(keys, k), append(values, v)
	}
	if err := failed(); err != nil {
		return err
	}
	return use(at, keys, values, true)
}

func (l *listing) csv() error {
	return l.each(func(_ int, keys, values []uint32, _ bool) error {
		return l.answer.rows(len(keys), func(line []byte, i int) []byte {
			line = append(l.dict.key.Append(line, keys[i]), ',')
			return l.dict.value.Append(line, values[i])
		})
	})
}

func (l *listing) json() error {
	var line []byte
	begun := -1 // the range whose object is open, or was last
	pair := ""  // what stands before the next pair of it
	return l.each(func(at int, keys, values []uint32, last bool) error {
		line = line[:0]
		if at != begun {
			if err := l.answer.begin(); err != nil {
				return err
			}
			line = append(appendEnds(line, l.dict.key, l.ranges[at]), `, "pairs": [`...)
			begun, pair = at, "\n    "
		}
		for i, k := range keys {
			line = appendJSON(append(append(line, pair...), `{"key": `...), l.dict.key, k)
			line = append(appendJSON(append(line, `, "value": `...), l.dict.value, values[i]), '}')
			if err := l.answer.write(line); err != nil {
				return err
			}
			line, pair = line[:0], ",\n    "
		}
		if last {
			line = append(line, "]}"...)
		}
		return l.answer.write(line)
	})
}
