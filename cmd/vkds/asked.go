package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/vk"
)

// asked reads the keys or ranges that a command is asked about: from its command line, else from --keys FILE, else from
// standard input.
type asked struct {
	*global
	ctx       context.Context
	flags     *pflag.FlagSet
	what      string // "keys" or "ranges"
	path      string
	options   input.Options // without the columns
	names     []string      // of the columns
	arguments []string

	// State of reading. The beginning is read ahead, to find errors before a table is loaded.

	begun bool
	key   input.Column  // the column of keys, by the type that the dictionary's keys had when begin was called
	ahead batch         // what was read ahead; of ranges, keys are lower ends and values upper ends
	from  *input.Reader // the file or the command line; nil if it isn't open yet
	show  func(read, size int64)
}

func (a *asked) add(flags *pflag.FlagSet, what string) {
	a.flags, a.what = flags, what
	flags.StringVar(&a.path, "keys", "", "`file` of "+what+"; \"-\" is standard input")
	flags.Var(formatFlag(&a.options.Format), "keys-format", "how "+what+" are stored in that file\n"+
		"(see \"vkds help keys\")")
	flags.Var(commentFlag(&a.options.Comment), "keys-comment",
		"skip lines of that file that begin with this character")
}

// addKeys adds the flags of a command that is asked about keys.
func (a *asked) addKeys(flags *pflag.FlagSet) {
	a.add(flags, "keys")
	a.names = make([]string, 1)
	flags.StringVar(&a.names[0], "keys-column", "", "`column` of the keys in that file (default 1)")
}

// addRanges adds the flags of a command that is asked about ranges.
func (a *asked) addRanges(flags *pflag.FlagSet) {
	a.add(flags, "ranges")
	flags.StringSliceVar(&a.names, "keys-column", nil, "the two `columns` of their ends in that file\n(default 1,2)")
}

// use loads the DICT-or-TABLE that a command's arguments begin with, and calls the function use. If there is an error
// in the beginning of what is asked, nothing is loaded.
func (a *asked) use(ctx context.Context, g *global, s *source, arguments []string,
	use func(context.Context, *dictionary) error) error {
	path, err := a.take(ctx, g, arguments)
	if err != nil {
		return err
	}
	defer a.close()
	s.ready = a.begin
	return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error { return use(ctx, dict) })
}

// take checks a command's arguments and flags, keeps those about keys, and returns the DICT-or-TABLE.
func (a *asked) take(ctx context.Context, g *global, arguments []string) (table string, err error) {
	table = arguments[0]
	return table, a.takeBeside(ctx, g, arguments[1:], table)
}

// takeBeside is take for arguments that are all keys. The keys must not come from where the tables come from.
func (a *asked) takeBeside(ctx context.Context, g *global, arguments []string, tables ...string) error {
	a.global, a.ctx, a.arguments = g, ctx, arguments
	flags := a.flags
	if len(a.arguments) > 0 {
		for _, name := range []string{"keys", "keys-format", "keys-column", "keys-comment"} {
			if flags.Changed(name) {
				return fmt.Errorf("keys come from the command line or from a file, not from both: --%s is for files",
					name)
			}
		}
		return checkInputs("-", tables...)
	}
	if a.path == "" {
		a.path = input.Stdin
	}
	if a.path == input.Stdin && slices.Contains(tables, input.Stdin) {
		return errBothFromStdin("the table", "the keys")
	}
	if n := len(a.names); a.what == "ranges" && n != 0 && n != 2 {
		return fmt.Errorf("--keys-column %s: two columns, those of the lower and the upper ends",
			strings.Join(a.names, ","))
	}
	if a.options.Otherwise = input.Text; flags.Changed("keys-column") {
		a.options.Otherwise = input.CSV
	}
	if err := fits(flags, "keys-", a.options.Format); err != nil {
		return err
	}
	return checkInputs("-", append(tables, a.path)...)
}

// begin reads ahead: the command line, or the beginning of a file. If the keys of a table turn out to be of another
// type, begin is called again. So it does not read standard input and pipes, which can be read only once and may take
// any time.
func (a *asked) begin(key input.Column) (err error) {
	a.close()
	a.key, a.begun, a.ahead, a.from = key, true, batch{}, nil
	if len(a.arguments) == 0 {
		info, err := stat(a.path, os.Stdin)
		if err == nil && !info.IsDir() && (a.path == input.Stdin || !info.Mode().IsRegular()) {
			return nil
		}
	}
	if err := a.open(a.ctx); err != nil {
		return err
	}
	rows := batchLength
	if given := len(a.arguments); given > 0 {
		rows = min(rows, given)
	}
	a.ahead = newBatch(rows)
	err = a.next(&a.ahead)
	if err == io.EOF { // the next read returns it again
		return nil
	}
	return err
}

// open opens the file, or a reader of the command line.
func (a *asked) open(ctx context.Context) (err error) {
	o, key := a.options, a.key
	o.Columns = []input.Column{key}
	if a.what == "ranges" {
		key.End = true
		o.Columns = append(o.Columns, key)
	}
	if len(a.arguments) > 0 {
		a.from = input.Given(a.arguments, o.Columns...)
		return nil
	}
	for i, name := range a.names {
		o.Columns[i].Name = name
	}
	o.Prompt = true
	o.Note = func(text string) { a.note("%s", text) }
	o.Progress = func(read, size int64) {
		if a.show != nil {
			a.show(read, size)
		}
	}
	if a.from, err = input.Open(ctx, a.path, o); err != nil {
		return err
	}
	if err := fits(a.flags, "keys-", a.from.Format()); err != nil {
		return fmt.Errorf("%s: %w", called(a.path), err)
	}
	return nil
}

// next is a readFunc.
func (a *asked) next(b *batch) (err error) {
	n := 0
	if a.what == "ranges" {
		n, err = a.from.Read(b.keys, b.values)
	} else {
		a.from.SetTexts(b.texts[0])
		n, err = a.from.Read(b.keys)
	}
	b.cut(n, a.from.Types())
	return err
}

// close closes the file.
func (a *asked) close() {
	if a.from != nil {
		a.from.Close()
	}
}

// read calls use with what is asked, part by part. t is the type of the dictionary's keys. A part is valid until use
// returns.
func (a *asked) read(t keytype.Type, use func(batch) error) error {
	if !a.begun || a.key.Type != t {
		key := a.key
		key.Type, key.Wider = t, t.Wider()
		if err := a.begin(key); err != nil {
			return err
		}
	}
	if len(a.ahead.keys) > 0 {
		if err := use(a.ahead); err != nil {
			return err
		}
	}
	if given := len(a.arguments); given > 0 && given == len(a.ahead.keys) {
		return nil
	}
	if len(a.arguments) == 0 && a.path == input.Stdin && a.terminal(os.Stdin) {
		a.note("%s, one a line, please; then Ctrl-D", a.what)
	}
	show, end := a.progress("reading " + a.what)
	defer end()
	a.show = show
	return batches(a.ctx, 4, (*batch).ready, func(ctx context.Context) (readFunc, error) {
		if a.from == nil {
			if err := a.open(ctx); err != nil {
				return nil, err
			}
		}
		return a.next, nil
	}, use)
}
