package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/infile"
	"github.com/vkds/vkds/keyfile"
	"github.com/vkds/vkds/word"
)

// errAbsent ends get --must-exist where a key is not there: run makes a status
// of it, and says nothing.
var errAbsent = errors.New("a key is absent")

func newGetCommand(g *global) *cobra.Command {
	var s source
	var keys keyfile.Options
	var keyPath string
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
			path, arguments := arguments[0], arguments[1:]
			if len(arguments) > 0 && keyPath != "" {
				return fmt.Errorf("keys come from the command line or from --keys %s, not from both", keyPath)
			}
			if keyPath == "" {
				keyPath = infile.Stdin
			}
			if path == infile.Stdin && keyPath == infile.Stdin && len(arguments) == 0 {
				return errors.New("the table and the keys can't both come from standard input")
			}
			l := &lookup{global: g, ctx: c.Context(), asJSON: asJSON}
			asked := func(t word.Type) error {
				if len(arguments) > 0 {
					return l.parse(arguments, t)
				}
				if keyPath == infile.Stdin && terminal(os.Stdin) {
					g.note("keys, one a line, please; then Ctrl-D")
				}
				keys.Type = t
				return l.readKeys(keyPath, keys)
			}
			if err := l.run(&s, path, asked); err != nil {
				return err
			}
			if mustExist && l.absent > 0 {
				g.note("%s absent", grouped(l.absent))
				return errAbsent
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&keyPath, "keys", "", "file of keys to look up; \"-\" is standard input")
	flags.Var(keyFormatFlag(&keys.Format), "keys-format", "how keys are written in it (see \"vkds tally --help\")")
	flags.StringVar(&keys.Column, "keys-column", "", "of csv: the keys' column there (default 1)")
	flags.BoolVar(&mustExist, "must-exist", false, "exit with status 1 if a key is absent")
	flags.BoolVar(&asJSON, "json", false, "print a JSON array of {\"key\": K, \"value\": V or null}")
	s.add(flags)
	c.MarkFlagsMutuallyExclusive("header", "no-header")
	return c
}

// lookup answers one get.
type lookup struct {
	*global
	ctx    context.Context
	asJSON bool
	keys   []uint32
	absent int
}

// run loads the dictionary, gets the keys, which need its type of keys, and
// prints the answers.
func (l *lookup) run(s *source, path string, asked func(word.Type) error) (err error) {
	d, err := l.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	dict, err := s.open(l.ctx, l.global, d, path)
	if err != nil {
		return err
	}
	defer dict.Close()
	if err := asked(dict.key); err != nil {
		return err
	}
	started := time.Now()
	values, found := make([]uint32, 0, len(l.keys)), make([]bool, 0, len(l.keys))
	for rest := l.keys; len(rest) > 0; {
		n := min(len(rest), batchLength)
		v, f, err := dict.Find(l.ctx, rest[:n])
		if err != nil {
			return err
		}
		values, found, rest = append(values, v...), append(found, f...), rest[n:]
	}
	took := time.Since(started)
	for _, f := range found {
		if !f {
			l.absent++
		}
	}
	l.note("looked up %s; %s found", rate(len(l.keys), "keys", took), grouped(len(l.keys)-l.absent))
	if l.asJSON {
		return l.printJSON(dict, values, found)
	}
	return l.answer(func(line []byte, write func([]byte)) {
		write([]byte("key,value\n"))
		for i, k := range l.keys {
			line = append(dict.key.Append(line[:0], k), ',')
			if found[i] {
				line = dict.value.Append(line, values[i])
			}
			write(append(line, '\n'))
		}
	})
}

// parse takes the keys of the command line.
func (l *lookup) parse(arguments []string, t word.Type) error {
	for i, a := range arguments {
		k, err := t.Parse(a)
		if err != nil {
			return fmt.Errorf("key %d of the command line: %w", i+1, err)
		}
		l.keys = append(l.keys, k)
	}
	return nil
}

// readKeys takes the keys of a file.
func (l *lookup) readKeys(path string, o keyfile.Options) error {
	if o.Format == keyfile.Auto && o.Column != "" {
		o.Format = keyfile.CSV
	}
	show, end := l.progress("reading keys")
	defer end()
	o.Progress = show
	var r *keyfile.Reader
	defer func() {
		if r != nil {
			r.Close()
		}
	}()
	return batches(l.ctx, func(ctx context.Context) (read readFunc, err error) {
		if r, err = keyfile.Open(ctx, path, o); err != nil {
			return nil, err
		}
		return func(keys, _ []uint32) (int, error) { return r.Read(keys) }, nil
	}, func(b batch) error {
		l.keys = append(l.keys, b.keys...)
		return nil
	})
}

func (l *lookup) printJSON(dict *dictionary, values []uint32, found []bool) error {
	return l.answer(func(line []byte, write func([]byte)) {
		line = append(line, "["...)
		for i, k := range l.keys {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, "\n  {\"key\": "...)
			line = appendJSON(line, dict.key, k)
			line = append(line, ", \"value\": "...)
			if found[i] {
				line = appendJSON(line, dict.value, values[i])
			} else {
				line = append(line, "null"...)
			}
			write(append(line, '}'))
			line = line[:0]
		}
		write(append(line, "\n]\n"...))
	})
}

// appendJSON appends a word as JSON; the common type doesn't go through
// package json, which is slow for millions of them.
func appendJSON(line []byte, t word.Type, w uint32) []byte {
	if t == word.Uint32 {
		return strconv.AppendUint(line, uint64(w), 10)
	}
	text, _ := json.Marshal(t.JSON(w)) // numbers and strings always have a JSON form
	return append(line, text...)
}
