package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// choice is a flag whose value is one of some names; an error lists them.
type choice[T fmt.Stringer] struct {
	value *T
	parse func(string) (T, error)
	names []string
	kind  string // what the help calls the value
}

func (c choice[T]) String() string {
	if c.value == nil {
		return ""
	}
	return (*c.value).String()
}

func (c choice[T]) Type() string { return c.kind }

func (c choice[T]) Values() []string { return c.names }

func (c choice[T]) Set(name string) (err error) {
	*c.value, err = c.parse(name)
	return err
}

// typeHelp ends the usage of each flag that names a type.
const typeHelp = "u32, u64, i32, i64, f32,\nf64, time, ip, hex or text (default: guessed from\nthe first values, " +
	"or as Parquet or Arrow says)"

// said is a flag whose value is what a function takes.
type said struct {
	kind  string   // what the help calls the value
	text  string   // what was given last; before, the default in the help
	names []string // that shells complete
	set   func(text string) error
}

func (s *said) String() string   { return s.text }
func (s *said) Type() string     { return s.kind }
func (s *said) Values() []string { return s.names }

func (s *said) Set(text string) error {
	s.text = text
	return s.set(text)
}

// addType adds a flag that names the type of a column. Without it, the type is guessed. Times, addresses and
// hexadecimal numbers become wider if the column needs it, unless the named type is already the wide one. Integers
// become wider only if no type was named.
func addType(flags *pflag.FlagSet, c *input.Column, name, usage string) {
	c.Wider, c.Any, c.Flag = c.Type.Wider(), true, "--"+name
	flags.Var(&said{kind: "type", names: keytype.Types.Names(), set: func(text string) error {
		return setType(c, text)
	}}, name, usage)
}

func setType(c *input.Column, name string) (err error) {
	c.Any, c.Wider = false, nil
	if c.Type, err = keytype.Types.Parse(name); err == nil && !c.Type.Integer() {
		c.Wider = c.Type.Wider()
	}
	return err
}

// addNull adds the flag --null, the value that fields without one are read as.
func addNull(flags *pflag.FlagSet, o *input.Options, otherwise string) {
	flags.Var(&said{kind: "value", set: func(text string) error { o.Null = &text; return nil }}, "null",
		"read empty fields and NULLs as this value"+otherwise)
}

// skippedNull is what happens without --null if rows that lack a value are skipped.
const skippedNull = "\n(default: skip their rows, and count them)"

func formatFlag(f *input.Format) pflag.Value {
	return choice[input.Format]{f, input.Formats.Parse, input.Formats.Names(), "format"}
}

// purposes lists the formats that a flag about a file's contents applies to. flag is the end of the flag's name, which
// begins with a prefix in some commands.
var purposes = []struct {
	flag    string
	formats []input.Format
}{
	{"column", []input.Format{input.CSV, input.Parquet, input.Arrow}},
	{"delimiter", []input.Format{input.CSV}},
	{"header", []input.Format{input.CSV, input.Text}},
	{"no-header", []input.Format{input.CSV, input.Text}},
	{"comment", []input.Format{input.CSV, input.Text}},
}

// fits returns an error if a flag was given that does not apply to the format. If the format is Auto, all apply. prefix
// is what the flags' names begin with.
func fits(flags *pflag.FlagSet, prefix string, f input.Format) error {
	for _, p := range purposes {
		if f == input.Auto || !flags.Changed(prefix+p.flag) || slices.Contains(p.formats, f) {
			continue
		}
		var names []string
		for _, f := range p.formats {
			names = append(names, f.String())
		}
		return fmt.Errorf("--%s%s is for %s, not for %s", prefix, p.flag, strings.Join(names, ", "), f)
	}
	return nil
}

// delimiterFlag is the character between fields.
func delimiterFlag(d *rune) pflag.Value {
	return &said{kind: "char", set: func(text string) error {
		switch text {
		case "tab", `\t`:
			text = "\t"
		case "space":
			text = " "
		}
		r, size := utf8.DecodeRuneInString(text)
		if size != len(text) || size == 0 || r == utf8.RuneError {
			return fmt.Errorf("%q is not a single character (nor \"tab\" or \"space\")", text)
		}
		*d = r
		return nil
	}}
}

// commentFlag is the character that comment lines begin with.
func commentFlag(c *rune) pflag.Value {
	return &said{kind: "char", set: func(text string) error {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case size != len(text) || size == 0 || r == utf8.RuneError:
			return fmt.Errorf("%q is not a single character", text)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-.\" \t\r\n", r):
			return fmt.Errorf("lines that begin with %q may hold data", text)
		}
		*c = r
		return nil
	}}
}

// limitFlag is the greatest number of rows to print. Without it, all are printed.
func limitFlag(most *uint64) pflag.Value {
	f := &said{kind: "N", set: func(text string) error {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return fmt.Errorf("%q is not a number of rows", text)
		}
		*most = n
		return nil
	}}
	if *most != math.MaxUint64 {
		f.text = strconv.FormatUint(*most, 10)
	}
	return f
}

// delimitedFlags are the flags of all commands that read delimited text.
type delimitedFlags struct {
	delimiter        rune
	comment          rune
	header, noHeader bool
}

func (d *delimitedFlags) add(flags *pflag.FlagSet) {
	flags.Var(delimiterFlag(&d.delimiter), "delimiter",
		"of CSV: the character between fields, or \"tab\" or\n\"space\" (default: a comma, a tab or a semicolon,\n"+
			"guessed from the first rows)")
	flags.BoolVar(&d.header, "header", false, "the first line holds names (default: guessed from\n"+
		"the first rows)")
	flags.BoolVar(&d.noHeader, "no-header", false, "the first line holds data")
	flags.Var(commentFlag(&d.comment), "comment", "skip lines of text that begin with this character,\nsuch as #")
}

// notEmpty returns an error if a flag was given an empty value: most likely, a variable of the shell isn't set.
func notEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if empty := f.Value.String(); f.Value.Type() == "string" && empty == "" || f.Value.Type() == "stringSlice" &&
			strings.Trim(empty, "[]") == "" {
			err = fmt.Errorf("--%s is given, but empty", f.Name)
		}
	})
	return err
}

// exclusive lists pairs of flags that can't be given together.
var exclusive = [][2]string{{"header", "no-header"}, {"json", "output-format"}, {"quiet", "verbose"},
	{"directed", "undirected"}, {"reset", "dry-run"}, {"reset", "only"}, {"reset", "n"}}

// together returns an error if two exclusive flags were given.
func together(flags *pflag.FlagSet) error {
	for _, pair := range exclusive {
		if flags.Changed(pair[0]) && flags.Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}

// within reports whether least <= x <= most. It is false for NaN.
func within(x, least, most float64) bool { return x >= least && x <= most }

func (d *delimitedFlags) choice() input.Header {
	switch {
	case d.header:
		return input.Present
	case d.noHeader:
		return input.Absent
	}
	return input.Detect
}
