package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// tables are the flags of a command that reads columns of tables, and how it reads them.
type tables struct {
	*global
	options input.Options // without the columns
	text    delimitedFlags
	said    []string // types of columns
	skipped int64    // rows
	keys    []int    // the columns that are compared, by which --partition chooses rows
	ahead   division // of rows, before they are used; the zero value: they are not divided
	part    partition
	names   []string // of the columns of the last file
	memory  uint64   // 0: not bounded

	fractions []string // columns with Options.As that have fractions
}

// batch returns how many rows of some columns are read at a time, fewer if there is little memory for them.
func (t *tables) batch(columns int) int {
	const least = 1 << 12
	perRow := uint64(256 * (columns + 2)) // some four times what those that are in memory need, without their texts
	if t.memory == 0 {
		return rowsAtATime
	}
	return int(min(uint64(rowsAtATime), max(least, t.memory/perRow)))
}

// partition is I/N: the rows whose hash has the I-th part of N.
type partition struct{ i, n int }

func (p *partition) set(text string) error {
	i, n, _ := strings.Cut(text, "/")
	var errs [2]error
	p.i, errs[0] = strconv.Atoi(i)
	p.n, errs[1] = strconv.Atoi(n)
	if errs != [2]error{} || p.i < 1 || p.i > p.n {
		return fmt.Errorf("%q is not a part: give its number and how many there are, such as 1/4", text)
	}
	return nil
}

func (t *tables) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&t.said, "type", nil, "`COLUMN=TYPE`: "+typeHelp+"\n(may be given for several columns)")
	flags.Var(formatFlag(&t.options.Format), "format", "how tables are stored (see \"vkds help keys\")")
	t.text.add(flags)
	addNull(flags, &t.options, "")
	flags.Var(&said{kind: "I/N", set: t.part.set}, "partition",
		"read only the rows of this part of N; rows with equal\n"+
			"values in the columns that are compared are in one part")
	flags.BoolVar(&t.options.SkipInvalid, "skip-invalid", false, "skip rows that can't be read, and count them")
}

// begin settles how tables are read, and checks that there are some.
func (t *tables) begin(flags *pflag.FlagSet, paths ...string) error {
	if at := slices.Index(paths, input.Stdin); at >= 0 && slices.Contains(paths[at+1:], input.Stdin) {
		return errors.New("standard input is given twice")
	}
	if t.memory == 0 && flags.Lookup("memory") != nil {
		t.memory = availableMemory() / 2
	}
	o := &t.options
	o.Otherwise, o.KeepNull = input.CSV, o.Null == nil
	o.Delimiter, o.Header, o.Comment = t.text.delimiter, t.text.choice(), t.text.comment
	o.Note = func(text string) { t.note("%s", text) }
	if err := fits(flags, "", o.Format); err != nil {
		return err
	}
	return checkInputs("-", paths...)
}

// columnOf returns a column whose type is guessed.
func columnOf(name string) input.Column {
	return input.Column{Name: name, Type: keytype.Uint32, Wider: keytype.Uint32.Wider(), Any: true, Adapts: true,
		Flag: "--type " + name + "="}
}

// checkBy returns an error if the columns of --by have no name, or are not different.
func checkBy(by []string) error {
	for i, name := range by {
		switch {
		case name == "":
			return fmt.Errorf("--by %s: a column has no name", strings.Join(by, ","))
		case slices.Contains(by[:i], name):
			return fmt.Errorf("--by %s: column %s is given twice", strings.Join(by, ","), name)
		}
	}
	return nil
}

// sameColumns returns an error if a file has other columns than the one before it.
func sameColumns(file string, columns []string, what string, before []string) error {
	if slices.Equal(columns, before) {
		return nil
	}
	return fmt.Errorf("%s has the columns %s, and the %s before it %s", file, strings.Join(columns, ", "), what,
		strings.Join(before, ", "))
}

// setTypes sets the types of columns that --type names.
func (t *tables) setTypes(columns ...[]input.Column) error {
	for _, said := range t.said {
		name, of, _ := strings.Cut(said, "=")
		typ, err := keytype.Types.Parse(of)
		if err != nil {
			return fmt.Errorf("--type %s: %w", said, err)
		}
		some := false
		for _, columns := range columns {
			for i := range columns {
				if c := &columns[i]; c.Name == name {
					c.Type, c.Wider, c.Any, some = typ, typ.Wider(), false, true
				}
			}
		}
		if !some && t.options.As == nil {
			return fmt.Errorf("--type %s: column %s is not read", said, name)
		}
	}
	return nil
}

// readFiles calls use with the rows of a table that is in several files, until use returns an error.
func (t *tables) readFiles(ctx context.Context, paths []string, what string, columns []input.Column,
	use func(*rows) error) (err error) {
	o := t.options
	o.Columns = columns
	for _, path := range paths {
		next, err := t.read(ctx, path, what, o, use)
		if err != nil {
			return err
		}
		o.Columns = next[:len(columns)]
		if as := t.options.As; as != nil {
			verbatim := next[len(columns):]
			o.As = func(name string, index int) input.Column {
				if index < len(verbatim) && verbatim[index].Name == name {
					return verbatim[index]
				}
				return as(name, index)
			}
		}
	}
	return nil
}

// read calls use with the rows of a file, part by part, until use returns an error. It returns the columns for reading
// another file.
func (t *tables) read(ctx context.Context, path, what string, o input.Options,
	use func(*rows) error) (next []input.Column, err error) {
	show, end := t.progress(what + " " + filepath.Base(path))
	defer end()
	o.Progress = show
	var r *input.Reader
	defer func() {
		if r != nil {
			t.skipped += r.Skipped()
			next = r.Columns()
			r.Close()
		}
	}()
	return nil, batches(ctx, 4, func(b *rows) { b.ready(r.Width(), t.batch(r.Width())) },
		func(ctx context.Context) (_ func(*rows) error, err error) {
			if r, err = input.Open(ctx, path, o); err != nil {
				return nil, err
			}
			t.names = r.Names()
			return func(b *rows) error {
				b.file = called(path)
				err := b.read(r)
				if b.n == 0 {
					return err
				}
				b.takePart(t.keys, t.part)
				if t.ahead.among > 0 {
					b.divided(t.keys, t.ahead)
				}
				return err
			}, nil
		}, func(b rows) error { return use(&b) })
}

// readWhole is read for a table that is read again if a column that was taken for numbers turns out to be text. It
// calls begin before each time; false ends it, with the error.
func (t *tables) readWhole(ctx context.Context, paths []string, what string, columns []input.Column, begin func() bool,
	use func(*rows) error) (err error) {
	for skipped := t.skipped; begin(); t.skipped = skipped {
		err = t.readFiles(ctx, paths, what, columns, use)
		if slices.ContainsFunc(paths, func(path string) bool { return !input.Again(path) }) {
			break
		}
		var fraction *input.FractionError
		if t.options.As != nil && errors.As(err, &fraction) && !slices.Contains(t.fractions, fraction.Column) {
			t.fractions = append(t.fractions, fraction.Column)
			continue
		}
		if !t.takeForText(paths[0], columns, err) {
			break
		}
	}
	return err
}
