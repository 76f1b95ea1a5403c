package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/vk"
)

// asked is what a command is asked about, keys or ranges of them: from its
// command line, else from --keys FILE, else from standard input.
type asked struct {
	*global
	ctx       context.Context
	flags     *pflag.FlagSet
	what      string // "keys" or "ranges"
	path      string
	options   input.Options // but for the columns
	names     []string      // of the columns
	arguments []string

	// What is read before it is used:

	begun bool
	key   input.Column  // of keys, as far as they were known then
	ahead batch         // of ranges the values are the upper ends
	from  *input.Reader // the file or the command line; nil where it isn't open yet
	show  func(read, size int64)
}

func (a *asked) add(flags *pflag.FlagSet, what string) {
	a.flags, a.what = flags, what
	flags.StringVar(&a.path, "keys", "", "`file` of "+what+"; \"-\" is standard input")
	flags.Var(formatFlag(&a.options.Format), "keys-format", "how "+what+" are written in it (see \"vkds help keys\")")
	flags.Var(commentFlag{&a.options.Comment}, "keys-comment",
		"of text and csv: the character that begins lines to pass\nover there")
}

// addKeys adds the flags of a command that is asked about keys.
func (a *asked) addKeys(flags *pflag.FlagSet) {
	a.add(flags, "keys")
	a.names = make([]string, 1)
	flags.StringVar(&a.names[0], "keys-column", "", "the keys' `column` there (default 1)")
}

// addRanges adds those of one that is asked about ranges.
func (a *asked) addRanges(flags *pflag.FlagSet) {
	a.add(flags, "ranges")
	flags.StringSliceVar(&a.names, "keys-column", nil, "the two `columns` of their ends there (default 1,2)")
}

// use takes a command's arguments, and has the DICT-or-TABLE loaded that they begin with, once what is asked of it
// begins well.
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

// take takes a command's arguments, of which the first is its DICT-or-TABLE.
func (a *asked) take(ctx context.Context, g *global, arguments []string) (table string, err error) {
	a.global, a.ctx = g, ctx
	table, a.arguments = arguments[0], arguments[1:]
	flags := a.flags
	if len(a.arguments) > 0 {
		for _, name := range []string{"keys", "keys-format", "keys-column", "keys-comment"} {
			if flags.Changed(name) {
				return "", fmt.Errorf(
					"keys come from the command line or from a file, not from both: --%s is for files", name)
			}
		}
		return table, checkInputs("-", table)
	}
	if a.path == "" {
		a.path = input.Stdin
	}
	if table == input.Stdin && a.path == input.Stdin {
		return "", errBothFromStdin("the table", "the keys")
	}
	if n := len(a.names); a.what == "ranges" && n != 0 && n != 2 {
		return "", fmt.Errorf("--keys-column %s: two columns, those of the lower and the upper ends",
			strings.Join(a.names, ","))
	}
	if a.options.Otherwise = input.Text; flags.Changed("keys-column") {
		a.options.Otherwise = input.CSV
	}
	if err := fits(flags, "keys-", a.options.Format); err != nil {
		return "", err
	}
	return table, checkInputs("-", table, a.path)
}

// begin reads what little there is to read at once: the command line, or the beginning of a file. The keys of a table
// may turn out to be of another type, and then it is begun once more. So standard input and pipes, which can be read
// but once and may take any time, are read when they are used.
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
	if err == io.EOF { // which comes again
		return nil
	}
	return err
}

// open opens the file, or takes the command line for one.
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

// next reads from the file.
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

// read hands what is asked of a dictionary of such keys to use, a part at a time, which is valid until use returns.
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
	return batches(a.ctx, func(ctx context.Context) (readFunc, error) {
		if a.from == nil {
			if err := a.open(ctx); err != nil {
				return nil, err
			}
		}
		return a.next, nil
	}, use)
}
