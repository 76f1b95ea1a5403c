package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/delimited"
	"github.com/vkds/vkds/keyfile"
	"github.com/vkds/vkds/table"
	"github.com/vkds/vkds/word"
)

// choice is a flag whose value is one of some names; an error lists them.
type choice[T fmt.Stringer] struct {
	value *T
	parse func(string) (T, error)
	names []string
}

func (c choice[T]) String() string {
	if c.value == nil {
		return ""
	}
	return (*c.value).String()
}

func (c choice[T]) Type() string { return strings.Join(c.names, "|") }

func (c choice[T]) Set(name string) (err error) {
	*c.value, err = c.parse(name)
	return err
}

func typeFlag(t *word.Type) pflag.Value {
	return choice[word.Type]{t, word.ParseType, word.Names()}
}

func keyFormatFlag(f *keyfile.Format) pflag.Value {
	return choice[keyfile.Format]{f, keyfile.ParseFormat, keyfile.FormatNames()}
}

func tableFormatFlag(f *table.Format) pflag.Value {
	return choice[table.Format]{f, table.ParseFormat, table.FormatNames()}
}

// delimiterFlag is a character between fields.
type delimiterFlag struct{ r *rune }

func (d delimiterFlag) Type() string { return "char" }

func (d delimiterFlag) String() string {
	if d.r == nil || *d.r == 0 {
		return ""
	}
	return string(*d.r)
}

func (d delimiterFlag) Set(text string) error {
	switch text {
	case "tab", `\t`:
		text = "\t"
	case "space":
		text = " "
	}
	r, size := utf8.DecodeRuneInString(text)
	if size != len(text) || size == 0 || r == utf8.RuneError {
		return fmt.Errorf("%q is no single character (nor \"tab\" or \"space\")", text)
	}
	*d.r = r
	return nil
}

// delimitedFlags are the flags of everything that reads delimited text.
type delimitedFlags struct {
	delimiter        rune
	header, noHeader bool
}

func (d *delimitedFlags) add(flags *pflag.FlagSet) {
	flags.Var(delimiterFlag{&d.delimiter}, "delimiter", "of CSV: the character between fields, or \"tab\" or \"space\"\n(default: a comma; a tab for .tsv)")
	flags.BoolVar(&d.header, "header", false, "of CSV: the first line holds the columns' names\n(default: it does where it looks so)")
	flags.BoolVar(&d.noHeader, "no-header", false, "of CSV: the first line holds data")
}

func (d *delimitedFlags) choice() delimited.Header {
	switch {
	case d.header:
		return delimited.Present
	case d.noHeader:
		return delimited.Absent
	}
	return delimited.Detect
}
