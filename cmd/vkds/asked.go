package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/input"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
	"github.com/vkds/vkds/structures"
)

// asked is what a command is asked about, keys or ranges of them: from its
// command line, else from --keys FILE, else from standard input.
type asked struct {
	*global
	ctx       context.Context
	flags     *pflag.FlagSet
	path      string
	options   input.Options // but for the columns' names
	column    string        // of keys
	columns   []string      // of ranges
	arguments []string
}

func (a *asked) add(flags *pflag.FlagSet, what string) {
	a.flags = flags
	flags.StringVar(&a.path, "keys", "", "file of "+what+" to look up; \"-\" is standard input")
	flags.Var(formatFlag(&a.options.Format), "keys-format", "how "+what+" are written in it (see \"vkds tally --help\")")
	flags.Var(commentFlag{&a.options.Comment}, "keys-comment", "of text and csv: the character that begins lines to pass\nover there")
}

// addKeys adds the flags of a command that is asked about keys.
func (a *asked) addKeys(flags *pflag.FlagSet) {
	a.add(flags, "keys")
	flags.StringVar(&a.column, "keys-column", "", "the keys' column there (default 1)")
}

// addRanges adds those of one that is asked about ranges.
func (a *asked) addRanges(flags *pflag.FlagSet) {
	a.add(flags, "ranges")
	flags.StringSliceVar(&a.columns, "keys-column", nil, "the two columns of their ends there (default 1,2)")
}

// take takes a command's arguments, of which the first is its DICT-or-TABLE.
func (a *asked) take(ctx context.Context, g *global, arguments []string) (table string, err error) {
	a.global, a.ctx = g, ctx
	table, a.arguments = arguments[0], arguments[1:]
	flags := a.flags
	if len(a.arguments) > 0 {
		for _, name := range []string{"keys", "keys-format", "keys-column", "keys-comment"} {
			if flags.Changed(name) {
				return "", fmt.Errorf("keys come from the command line or from a file, not from both: --%s is for files", name)
			}
		}
		return table, distinct("-", table)
	}
	if a.path == "" {
		a.path = infile.Stdin
	}
	if table == infile.Stdin && a.path == infile.Stdin {
		return "", errBothFromStdin("the table", "the keys")
	}
	if n := len(a.columns); n != 0 && n != 2 {
		return "", fmt.Errorf("--keys-column %s: two columns, those of the lower and the upper ends", strings.Join(a.columns, ","))
	}
	if a.options.Otherwise = input.Text; flags.Changed("keys-column") {
		a.options.Otherwise = input.CSV
	}
	if err := fits(flags, "keys-", a.options.Format); err != nil {
		return "", err
	}
	return table, distinct("-", table, a.path)
}

// keys hands the keys asked for to use, a part at a time, which is valid until use returns.
func (a *asked) keys(t keytype.Type, use func(keys []uint32) error) error {
	var keys []uint32
	for i, text := range a.arguments {
		k, err := t.Parse(text)
		if err != nil {
			return fmt.Errorf("key %d of the command line: %w", i+1, err)
		}
		keys = append(keys, k)
	}
	if len(keys) > 0 {
		return use(keys)
	}
	column := input.Column{Name: a.column, Type: t}
	return a.read("keys", []input.Column{column}, func(r *input.Reader) readFunc {
		return func(keys, _ []uint32) (int, error) { return r.Read(keys) }
	}, func(b batch) error { return use(b.keys) })
}

// ranges hands the ranges asked for to use as keys does.
func (a *asked) ranges(t keytype.Type, use func(ranges []structures.Range) error) error {
	var ranges []structures.Range
	for i, text := range a.arguments {
		lo, hi, err := t.ParseRange(text)
		if err != nil {
			return fmt.Errorf("range %d of the command line: %w", i+1, err)
		}
		ranges = append(ranges, structures.Range{Lo: lo, Hi: hi})
	}
	if len(ranges) > 0 {
		return use(ranges)
	}
	columns := []input.Column{{Type: t}, {Type: t, End: true}}
	for i, name := range a.columns {
		columns[i].Name = name
	}
	return a.read("ranges", columns, pairs, func(b batch) error {
		ranges = ranges[:0]
		for i, lo := range b.keys {
			ranges = append(ranges, structures.Range{Lo: lo, Hi: b.values[i]})
		}
		return use(ranges)
	})
}

// read reads columns of the file.
func (a *asked) read(what string, columns []input.Column, reading func(*input.Reader) readFunc, use func(batch) error) error {
	if a.path == infile.Stdin && a.terminal(os.Stdin) {
		a.note("%s, one a line, please; then Ctrl-D", what)
	}
	show, end := a.progress("reading " + what)
	defer end()
	o := a.options
	o.Columns, o.Progress = columns, show
	var r *input.Reader
	defer func() {
		if r != nil {
			r.Close()
		}
	}()
	return batches(a.ctx, func(ctx context.Context) (_ readFunc, err error) {
		if r, err = input.Open(ctx, a.path, o); err != nil {
			return nil, err
		}
		if err := fits(a.flags, "keys-", r.Format()); err != nil {
			return nil, fmt.Errorf("%s: %w", called(a.path), err)
		}
		return reading(r), nil
	}, use)
}
