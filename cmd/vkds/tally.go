package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

func newTallyCommand(g *global) *cobra.Command {
	var o input.Options
	var column input.Column
	var text delimitedFlags
	var top int
	var minCount uint64
	var rows rowFlags
	c := &cobra.Command{
		Use:   "tally FILE",
		Short: "Count how often each key of a file occurs",
		Long: `Tally reads a file of keys and prints each distinct key with the number of times
that it occurs. The most frequent keys come first. Keys of equal count come in
their own order, texts in the order in which they first came. "-" is standard
input.

The file is read in parts, so it may be larger than memory. The distinct keys
must fit into the device's memory, distinct texts into the host's. --format
lines counts whole lines, exactly as they are.

A line that is not a key is an error. With --skip-invalid, such lines are
skipped and counted. "vkds help keys" explains how keys may be stored, "vkds
help types" what they may be.`,
		Example: `  vkds tally access.log --format lines --top 20
  vkds tally access.csv --column path
  vkds tally blocks.trace.gz --skip-invalid --top 20
  vkds tally requests.trace.xz --format u32be --min-count 1000
  vkds tally memory.trace --column 2 --delimiter space
  sqlite3 shop.db 'select customer from orders' | vkds tally - --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			flags := c.Flags()
			if o.Otherwise = input.Text; flags.Changed("column") || flags.Changed("delimiter") {
				o.Otherwise = input.CSV
			}
			if err := fits(flags, "", o.Format); err != nil {
				return err
			}
			if err := checkInputs("-", arguments[0]); err != nil {
				return err
			}
			if top < 0 {
				return fmt.Errorf("--top %d is negative", top)
			}
			o.Columns = []input.Column{column}
			o.Delimiter, o.Header, o.Comment = text.delimiter, text.choice(), text.comment
			o.Note = func(text string) { g.note("%s", text) }
			t := &tally{global: g, flags: flags, limit: math.MaxUint32,
				loader: loader{ctx: c.Context(), combine: structures.InsertAdd}}
			t.structure = known[find("slabhash")]
			if !flags.Changed("top") {
				top = math.MaxInt
			}
			t.opening = t.startOrHost(arguments[0])
			closed := make(chan error, 1)
			err := t.count(arguments[0], o)
			go func() { closed <- errors.Join(t.Close(), t.opening.Close()) }() // it takes as long as the answer
			if err == nil {
				err = t.print(rows, top, minCount)
			}
			return cmp.Or(err, <-closed)
		},
	}
	flags := c.Flags()
	flags.Var(formatFlag(&o.Format), "format", "format of the file (see \"vkds help keys\")")
	flags.StringVar(&column.Name, "column", "", "`column` of the keys: its name or number (default 1)")
	text.add(flags)
	addType(flags, &column, "type", "type of the keys: "+typeHelp)
	flags.IntVar(&top, "top", 0, "print only the `N` most frequent keys")
	flags.Uint64Var(&minCount, "min-count", 0, "print only keys that occur `N` times or more")
	o.SkipNull = true
	addNull(flags, &o, skippedNull)
	flags.BoolVar(&o.SkipInvalid, "skip-invalid", false, "skip lines that are not keys, and count them")
	rows.addJSON(flags, "key", "count")
	return c
}

// tally counts keys.
type tally struct {
	*global
	flags *pflag.FlagSet
	loader
	weighted                // by their counts
	limit    uint64         // of keys; beyond it, counts have 64 bits
	texts    *keytype.Tally // of keys that are text
}

// count reads and counts a file, and leaves the distinct keys in t.weighted.
func (t *tally) count(path string, o input.Options) error {
	started := time.Now()
	show, end := t.progress("counting " + filepath.Base(path))
	o.Progress = show
	err := t.passes(path, o)
	end()
	if err == nil && t.rows == 0 {
		err = allSkipped(called(path), t.skipped, t.nulls)
	}
	t.noteNulls(called(path), t.nulls)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("counted %s on %s; %s distinct", rate(t.rows, "keys", time.Since(started)),
		nameOf(t.loader.device), grouped(len(t.keys)))
	note += andSkipped(t.skipped)
	t.note("%s", note)
	return nil
}

// passes reads the file. It reads it again if keys that were taken for numbers turn out to be text, or if the hashes
// of two texts collide.
func (t *tally) passes(path string, o input.Options) error {
	for {
		err := t.pass(path, o)
		switch {
		case errors.Is(err, keytype.ErrCollision):
			err = t.again(path)
		case t.takeForText(path, o.Columns, err):
			err = t.loader.Close()
			t.words = nil
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// pass reads the file once, and leaves its distinct keys in t.weighted.
func (t *tally) pass(path string, o input.Options) error {
	t.rows, t.weighted = 0, weighted{}
	if err := t.read(path, o); err != nil {
		return err
	}
	return t.collect()
}

// again prepares to count texts again, with another hash.
func (t *tally) again(path string) error {
	if !input.Again(path) {
		return fmt.Errorf("%s: %w, and it can't be read once more: run vkds again, which takes another hash each time",
			called(path), keytype.ErrCollision)
	}
	return t.texts.Again(t.ctx)
}

func (t *tally) read(path string, o input.Options) error {
	ones := make([]uint64, batchLength)
	for i := range ones {
		ones[i] = 1
	}
	var r *input.Reader
	defer func() {
		if r != nil {
			t.skipped, t.nulls = r.Skipped(), r.SkippedNulls()
			r.Close()
		}
	}()
	return t.batches(func(ctx context.Context) (read readFunc, err error) {
		if r, err = input.Open(ctx, path, o); err != nil {
			return nil, err
		}
		return func(b *batch) error {
			r.SetTexts(b.texts[0])
			n, err := r.Read(b.keys)
			b.cut(n, r.Types())
			return err
		}, fits(t.flags, "", r.Format())
	}, func(b batch) (err error) {
		if b.types[0] == keytype.Text {
			return t.addTexts(b)
		}
		count := keytype.Uint32
		if uint64(t.rows)+uint64(len(b.keys)) > t.limit {
			count = keytype.Uint64
		}
		return t.insert(batch{keys: b.keys, values: ones[:len(b.keys)], types: []keytype.Type{b.types[0], count}})
	})
}

// addTexts counts texts.
func (t *tally) addTexts(b batch) (err error) {
	if t.texts == nil {
		t.key = keytype.Text
		create := makeTexts(t.loader.device, t.structure, 0)
		some := max(1, len(b.keys)/4) // texts repeat themselves
		if t.texts, err = keytype.NewTally(t.ctx, create, hashes, some); err != nil {
			return err
		}
	}
	t.rows += int64(len(b.keys))
	return t.texts.Add(t.ctx, b.column(0).some())
}

// collectTexts is collect for texts. Their numbers are in the order in which they first came.
func (t *tally) collectTexts() error {
	counts, err := t.texts.Counts(t.ctx)
	t.weighted = weighted{make([]uint64, len(counts)), counts}
	for i := range counts {
		t.keys[i] = uint64(i)
	}
	return err
}

// Close frees the device's memory.
func (t *tally) Close() (err error) {
	if t.texts != nil {
		err = t.texts.Close()
	}
	return errors.Join(err, t.loader.Close())
}

// collect fills t.weighted.
func (t *tally) collect() error {
	switch {
	case t.texts != nil:
		return t.collectTexts()
	case t.words == nil:
		return nil
	}
	n, err := t.Len(t.ctx)
	if err != nil {
		return err
	}
	t.weighted = weighted{make([]uint64, 0, n), make([]uint64, 0, n)}
	for chunk, err := range t.Chunks(t.ctx) {
		if err != nil {
			return err
		}
		t.keys, t.weights = append(t.keys, chunk.Keys...), append(t.weights, chunk.Values...)
	}
	return nil
}

// best returns the keys to print, in their order, or an error if the context ends before they are sorted.
func (t *tally) best(top int, minCount uint64) (weighted, error) {
	sorted := make(chan weighted, 1)
	go func() { sorted <- t.weighted.best(top, minCount) }()
	select {
	case best := <-sorted:
		return best, nil
	case <-t.ctx.Done():
		return weighted{}, context.Cause(t.ctx)
	}
}

func (t *tally) print(f rowFlags, top int, minCount uint64) error {
	best, err := t.best(top, minCount)
	if err != nil {
		return err
	}
	a, keys := newAnswer(t.out, f, "key", "count"), shown{Type: t.key}
	if t.texts != nil {
		keys.texts = t.texts.Texts()
	}
	return a.end(a.rows(len(best.keys), func(r *row, i int) {
		r.word(keys, best.keys[i])
		r.number(best.weights[i])
	}))
}
