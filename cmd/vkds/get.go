package main

import (
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/vk"
)

// errAbsent ends get --must-exist where a key is not there: run makes a status
// of it, and says nothing.
var errAbsent = errors.New("a key is absent")

func newGetCommand(g *global) *cobra.Command {
	var s source
	var a asked
	var mustExist, asJSON bool
	c := &cobra.Command{
		Use:   "get DICT-or-TABLE [KEY…]",
		Short: "Look keys up",
		Long: `Get looks keys up in a saved dictionary or a table, and prints each with its
value as CSV, in the order asked; the value is empty where the key is absent.
Keys come from the command line, else from --keys FILE, else from standard input,
one a line. They are all read before the first answer is printed.

The exit status is 0 whether or not the keys are there; with --must-exist it is
1 if one isn't.

` + sourceHelp + `

Answers are written as their types are. Of a key that begins with a minus sign,
tell that it is no flag by "--" before it.`,
		Example: `  vkds get airports.csv --key id --value altitude 507 3797
  vkds get airports.vkds --keys wanted.txt.gz --must-exist
  vkds get taxi.csv --key-type time --value-type f32 "2014-07-01 00:30:00"
  vkds get UnicodeData.txt --delimiter ';' --key-type hex --value 4 0x0301`,
		Args: takes("a DICT or a TABLE, then keys", 1, math.MaxInt),
		RunE: func(c *cobra.Command, arguments []string) error {
			path, err := a.take(c.Context(), g, arguments)
			if err != nil {
				return err
			}
			return s.use(c.Context(), g, path, func(_ *vk.Device, dict *dictionary) error {
				keys, err := a.keys(dict.key)
				if err != nil {
					return err
				}
				var values []uint32
				var found []bool
				absent, err := g.lookUp(keys, func(part []uint32) ([]bool, error) {
					v, f, err := dict.Find(c.Context(), part)
					values, found = append(values, v...), append(found, f...)
					return f, err
				})
				if err != nil {
					return err
				}
				if asJSON {
					err = g.answerArray(len(keys), func(line []byte, i int) []byte {
						line = appendJSON(append(line, `{"key": `...), dict.key, keys[i])
						line = appendJSONIf(append(line, `, "value": `...), dict.value, values[i], found[i])
						return append(line, '}')
					})
				} else {
					err = g.answerRows("key,value", len(keys), func(line []byte, i int) []byte {
						line = append(dict.key.Append(line, keys[i]), ',')
						return appendIf(line, dict.value, values[i], found[i])
					})
				}
				if err != nil || !mustExist {
					return err
				}
				return absent
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	a.addKeys(flags)
	flags.BoolVar(&mustExist, "must-exist", false, "exit with status 1 if a key is absent")
	flags.BoolVar(&asJSON, "json", false, "print a JSON array of {\"key\": K, \"value\": V or null}")
	s.add(c, "")
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
