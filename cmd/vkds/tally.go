package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/keyfile"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
	"github.com/vkds/vkds/word"
)

// tallyTop is how many keys tally --json lists unless told.
const tallyTop = 10

func newTallyCommand(g *global) *cobra.Command {
	var o keyfile.Options
	var text delimitedFlags
	var top int
	var minCount uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "tally FILE",
		Short: "Count how often each key of a file occurs",
		Long: `Tally reads a file of keys and prints each distinct key with the number of times
it occurs, as CSV: the most frequent first, and keys of equal count in their own
order. "-" is standard input. The file is read in parts, so it may be larger
than any memory; its distinct keys must fit the device's.

Formats:
  text   a key a line, in decimal or with 0x
  u32le  4 bytes a key, least significant first
  u32be  4 bytes a key, most significant first
  csv    a column of comma-separated (or otherwise delimited) text
  auto   csv where the name ends in .csv or .tsv, or where --column or
         --delimiter is given; else text

Files are decompressed by the ending of their names: .gz, .bz2, .xz, .zst.

A line that is no key is an error, unless --skip-invalid: then such lines are
counted and passed over. Keys in text and csv are integers 0 to 4294967295 unless
--type says otherwise (see "vkds build --help" for the types).

With --json the answer is one object: {"keys": N, "distinct": N, "skipped": N,
"top": [{"key": K, "count": C}, …]}, where "keys" and "distinct" count
everything and "top" has ` + strconv.Itoa(tallyTop) + ` keys unless --top says otherwise.`,
		Example: `  vkds tally blocks.trace.gz --skip-invalid --top 20
  vkds tally requests.trace.xz --format u32be --min-count 1000
  vkds tally memory.trace --column 2 --delimiter space
  sqlite3 shop.db 'select customer from orders' | vkds tally - --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			flags := c.Flags()
			if o.Format == keyfile.Auto && (flags.Changed("column") || flags.Changed("delimiter")) {
				o.Format = keyfile.CSV
			}
			if flags.Changed("column") && o.Format != keyfile.CSV {
				return fmt.Errorf("--column is for --format csv, not %s", o.Format)
			}
			if top < 0 {
				return fmt.Errorf("--top %d is negative", top)
			}
			o.Delimiter, o.Header = text.delimiter, text.choice()
			t := &tally{global: g, ctx: c.Context(), limit: math.MaxUint32}
			if err := t.count(arguments[0], o); err != nil {
				return err
			}
			if !flags.Changed("top") {
				top = math.MaxInt
				if asJSON {
					top = tallyTop
				}
			}
			if asJSON {
				return t.printJSON(top, minCount, o.Type)
			}
			return t.printCSV(top, minCount, o.Type)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(keyFormatFlag(&o.Format), "format", "how keys are written")
	flags.StringVar(&o.Column, "column", "", "of csv: the keys' column, by name or by number from 1 (default 1)")
	text.add(flags)
	flags.Var(typeFlag(&o.Type), "type", "what keys of text and csv are")
	flags.IntVar(&top, "top", 0, "print so many keys (default: all)")
	flags.Uint64Var(&minCount, "min-count", 0, "print only keys that occur so often or more")
	flags.BoolVar(&o.SkipInvalid, "skip-invalid", false, "pass over lines that are no key, and count them")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	c.MarkFlagsMutuallyExclusive("header", "no-header")
	return c
}

// tally counts keys on the device.
type tally struct {
	*global
	ctx     context.Context
	hash    *slabhash.Map
	keys    uint64 // counted in all
	skipped int64
	entries []entry

	// Counts on the device are 32-bit words, so before limit keys are counted
	// there the counts move here.
	limit   uint64
	there   uint64
	settled map[uint32]uint64
}

type entry struct {
	key   uint32
	count uint64
}

// count reads and counts a file, and leaves the distinct keys in t.entries.
func (t *tally) count(path string, o keyfile.Options) (err error) {
	d, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	started := time.Now()
	show, end := t.progress("counting " + filepath.Base(path))
	o.Progress = show
	err = t.read(d, path, o)
	end()
	if t.hash != nil {
		defer t.hash.Close()
	}
	if err == nil {
		err = t.collect()
	}
	if err != nil {
		return err
	}
	note := fmt.Sprintf("counted %s on %s; %s distinct", rate(t.keys, "keys", time.Since(started)), d.Info().Name, grouped(len(t.entries)))
	if t.skipped > 0 {
		note += fmt.Sprintf("; %s skipped", grouped(t.skipped))
	}
	t.note("%s", note)
	return nil
}

func (t *tally) read(d *vk.Device, path string, o keyfile.Options) error {
	ones := make([]uint32, batchLength)
	for i := range ones {
		ones[i] = 1
	}
	var r *keyfile.Reader
	defer func() {
		if r != nil {
			t.skipped = r.Skipped()
			r.Close()
		}
	}()
	return batches(t.ctx, func(ctx context.Context) (read readFunc, err error) {
		if r, err = keyfile.Open(ctx, path, o); err != nil {
			return nil, err
		}
		return func(keys, _ []uint32) (int, error) { return r.Read(keys) }, nil
	}, func(b batch) (err error) {
		if t.hash == nil {
			// Room for a quarter of the first part: traces repeat themselves,
			// and the table grows where this one doesn't.
			t.hash, err = slabhash.New(t.ctx, d, slabhash.Options{Capacity: len(b.keys) / 4})
			if err != nil {
				return err
			}
		}
		if t.there+uint64(len(b.keys)) > t.limit {
			if err := t.settle(); err != nil {
				return err
			}
		}
		if _, err := t.hash.Add(t.ctx, b.keys, ones[:len(b.keys)]); err != nil {
			return err
		}
		t.keys += uint64(len(b.keys))
		t.there += uint64(len(b.keys))
		return nil
	})
}

// settle moves the counts from the device to t.settled.
func (t *tally) settle() error {
	if t.settled == nil {
		t.settled = map[uint32]uint64{}
	}
	err := t.hash.Chunks(t.ctx, func(keys, counts []uint32) bool {
		for i, k := range keys {
			t.settled[k] += uint64(counts[i])
		}
		return true
	})
	if err != nil {
		return err
	}
	t.there = 0
	return t.hash.Clear(t.ctx)
}

// collect fills t.entries.
func (t *tally) collect() error {
	switch {
	case t.hash == nil:
		return nil
	case t.settled == nil:
		return t.hash.Chunks(t.ctx, func(keys, counts []uint32) bool {
			t.entries = slices.Grow(t.entries, len(keys))
			for i, k := range keys {
				t.entries = append(t.entries, entry{k, uint64(counts[i])})
			}
			return true
		})
	}
	if err := t.settle(); err != nil {
		return err
	}
	for k, n := range t.settled {
		t.entries = append(t.entries, entry{k, n})
	}
	return nil
}

// before is the order in which entries are printed.
func before(a, b entry) int {
	return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key, b.key))
}

// best returns the entries to print, in their order. Where few of many are
// wanted, it sorts few at a time.
func (t *tally) best(top int, minCount uint64) []entry {
	top = min(top, len(t.entries))
	few := max(2*top, 1024)
	var best []entry
	for _, e := range t.entries {
		if e.count < minCount {
			continue
		}
		if best = append(best, e); len(best) == few {
			slices.SortFunc(best, before)
			best = best[:top]
		}
	}
	slices.SortFunc(best, before)
	return best[:min(top, len(best))]
}

func (t *tally) printCSV(top int, minCount uint64, kind word.Type) error {
	return t.answer(func(line []byte, write func([]byte)) {
		write([]byte("key,count\n"))
		for _, e := range t.best(top, minCount) {
			line = append(kind.Append(line[:0], e.key), ',')
			line = append(strconv.AppendUint(line, e.count, 10), '\n')
			write(line)
		}
	})
}

func (t *tally) printJSON(top int, minCount uint64, kind word.Type) error {
	type counted struct {
		Key   any    `json:"key"`
		Count uint64 `json:"count"`
	}
	object := struct {
		Keys     uint64    `json:"keys"`
		Distinct int       `json:"distinct"`
		Skipped  int64     `json:"skipped"`
		Top      []counted `json:"top"`
	}{t.keys, len(t.entries), t.skipped, []counted{}}
	for _, e := range t.best(top, minCount) {
		object.Top = append(object.Top, counted{kind.JSON(e.key), e.count})
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return t.answer(func(_ []byte, write func([]byte)) { write(append(text, '\n')) })
}
