package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/input/keyfile"
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
	options   keyfile.Options
	columns   []string
	arguments []string
}

func (a *asked) add(flags *pflag.FlagSet, what string) {
	a.flags = flags
	flags.StringVar(&a.path, "keys", "", "file of "+what+" to look up; \"-\" is standard input")
	flags.Var(keyFormatFlag(&a.options.Format), "keys-format", "how "+what+" are written in it (see \"vkds tally --help\")")
	flags.Var(commentFlag{&a.options.Comment}, "keys-comment", "of text and csv: the character that begins lines to pass\nover there")
}

// addKeys adds the flags of a command that is asked about keys.
func (a *asked) addKeys(flags *pflag.FlagSet) {
	a.add(flags, "keys")
	flags.StringVar(&a.options.Column, "keys-column", "", "of csv: the keys' column there (default 1)")
}

// addRanges adds those of one that is asked about ranges.
func (a *asked) addRanges(flags *pflag.FlagSet) {
	a.add(flags, "ranges")
	flags.StringSliceVar(&a.columns, "keys-column", nil, "of csv: the two columns of their ends there (default 1,2)")
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
		return "", errors.New("the table and the keys can't both come from standard input")
	}
	switch len(a.columns) {
	case 0:
	case 2:
		a.options.Column, a.options.HighColumn = a.columns[0], a.columns[1]
	default:
		return "", fmt.Errorf("--keys-column %s: two columns, those of the lower and the upper ends", strings.Join(a.columns, ","))
	}
	if a.options.Format == keyfile.Auto && a.options.Column != "" {
		a.options.Format = keyfile.CSV
	}
	if err := fits(flags, keyfile.FormatOf(a.path, a.options.Format), "keys-column", "keys-comment"); err != nil {
		return "", err
	}
	return table, distinct("-", table, a.path)
}

// fits tells of flags that a format of keys has no use for: those for csv, and one for comments in text, too.
func fits(flags *pflag.FlagSet, f keyfile.Format, csv, comment string) error {
	switch {
	case flags.Changed(csv) && f != keyfile.CSV:
		return fmt.Errorf("--%s is for csv, not for %s", csv, f)
	case flags.Changed(comment) && f != keyfile.CSV && f != keyfile.Text:
		return fmt.Errorf("--%s is for text and csv, not for %s", comment, f)
	}
	return nil
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
	var r *keyfile.Reader
	defer func() {
		if r != nil {
			r.Close()
		}
	}()
	return a.read("keys", t, func(ctx context.Context) (read readFunc, err error) {
		if r, err = keyfile.Open(ctx, a.path, a.options); err != nil {
			return nil, err
		}
		return func(keys, _ []uint32) (int, error) { return r.Read(keys) }, nil
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
	var r *keyfile.RangeReader
	defer func() {
		if r != nil {
			r.Close()
		}
	}()
	return a.read("ranges", t, func(ctx context.Context) (read readFunc, err error) {
		if r, err = keyfile.OpenRanges(ctx, a.path, a.options); err != nil {
			return nil, err
		}
		return r.Read, nil
	}, func(b batch) error {
		ranges = ranges[:0]
		for i, lo := range b.keys {
			ranges = append(ranges, structures.Range{Lo: lo, Hi: b.values[i]})
		}
		return use(ranges)
	})
}

// read reads the file.
func (a *asked) read(what string, t keytype.Type, open func(context.Context) (readFunc, error), use func(batch) error) error {
	if a.path == infile.Stdin && a.terminal(os.Stdin) {
		a.note("%s, one a line, please; then Ctrl-D", what)
	}
	show, end := a.progress("reading " + what)
	defer end()
	a.options.Type, a.options.Progress = t, show
	return batches(a.ctx, open, use)
}
