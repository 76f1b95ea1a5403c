package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/zeebo/xxh3"
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

// rowsAtATime is how many rows a batch has. Tests change it.
var rowsAtATime = batchLength

// rows are some rows of a table, column by column.
type rows struct {
	kept
	file   string
	names  []string
	whole  bool // the last column has records as they are printed
	format input.Format
	types  []keytype.Type
	hashes []uint64 // of what the rows are grouped by
	left   []bool   // rows that have no room, or wait for those
	n      int

	// Of divided:
	other  *rows
	by     division // of these rows; the zero value: they are not divided
	begins []int
	from   []uint32 // the rows of which these are a copy
}

// ready has room for n rows of some columns.
func (r *rows) ready(columns, n int) {
	if r.words != nil {
		return
	}
	r.kept, r.hashes, r.other = newKept(columns), make([]uint64, n), &rows{}
	for c := range columns {
		r.words[c] = make([]uint64, n)
	}
}

// read fills the rows with the next ones of a file.
func (r *rows) read(from *input.Reader) (err error) {
	r.names, r.format, r.whole = from.Names(), from.Format(), from.Records()
	from.SetTexts(r.texts...)
	r.by = division{}
	if r.n, err = from.Read(r.words...); r.n == 0 {
		return err
	}
	r.types, r.nulls = from.Types(), make([][]bool, len(r.words))
	for c, at := range from.Nulls() {
		if len(at) > 0 {
			r.nulls[c] = make([]bool, r.n)
		}
		for _, i := range at {
			r.nulls[c][i] = true
		}
	}
	return err
}

// lacks reports whether a row has no value in one of some columns.
func (r *rows) lacks(columns []int, i int) bool {
	return slices.ContainsFunc(columns, func(c int) bool { return r.null(c, i) })
}

// takePart removes the rows that are in other parts.
func (r *rows) takePart(by []int, part partition) {
	if part.n < 2 {
		return
	}
	r.hash(by, 0) // the same in all processes
	r.filter(func(i int) bool { return partOf(r.hashes[i], part.n) == part.i-1 })
}

// filter removes the rows for which keep returns false.
func (r *rows) filter(keep func(i int) bool) {
	taken := 0
	for i := range r.n {
		if keep(i) {
			r.move(i, taken)
			taken++
		}
	}
	r.n, r.by = taken, division{}
}

// move replaces a row.
func (r *rows) move(from, to int) {
	r.hashes[to] = r.hashes[from]
	for c, words := range r.words {
		if words[to] = words[from]; r.nulls[c] != nil {
			r.nulls[c][to] = r.nulls[c][from]
		}
	}
}

// mix adds what a row has in a column to a hash of the row. A number has the same hash in all types that a column may
// become, so that rows from before find those that come later.
func (r *rows) mix(hash uint64, column, i int) uint64 {
	word := r.words[column][i]
	switch t := r.types[column]; {
	case r.null(column, i):
		word = 0x94d049bb133111eb
	case t == keytype.Text:
		word = xxh3.Hash(r.texts[column].At(word))
	case t == keytype.Int32:
		word = uint64(int64(int32(t.Bits(word))))
	case t == keytype.Time:
		word *= uint64(time.Second)
	case t == keytype.Int64, t == keytype.Time64:
		word = t.Bits(word)
	}
	return mixed(hash, word)
}

func mixed(hash, word uint64) uint64 {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], hash)
	binary.LittleEndian.PutUint64(both[8:], word)
	return xxh3.Hash(both[:])
}

// hash hashes what the rows have in some columns.
func (r *rows) hash(columns []int, seed uint64) {
	few := make([][]uint64, len(r.words)) // of columns with few texts: their hashes
	for _, column := range columns {
		if texts := r.texts[column]; r.types[column] == keytype.Text && texts.Len() < r.n/8 {
			for word := range texts.Len() {
				few[column] = append(few[column], xxh3.Hash(texts.At(uint64(word))))
			}
		}
	}
	threads.Each(r.n, 8*r.n, func(first, end int) {
		for i := first; i < end; i++ {
			r.hashes[i] = seed
		}
		for _, column := range columns {
			switch hashes := few[column]; {
			case hashes != nil && r.nulls[column] == nil:
				for i, word := range r.words[column][first:end] {
					r.hashes[first+i] = mixed(r.hashes[first+i], hashes[word])
				}
			case hashes == nil && r.types[column] == keytype.Text:
				r.hashTexts(column, first, end)
			default:
				for i := first; i < end; i++ {
					r.hashes[i] = r.mix(r.hashes[i], column, i)
				}
			}
		}
	})
}

// hashTexts is hash for a column of texts, from one row to before another. It gives many rows with equal texts the same
// word, so that their texts need not be compared.
func (r *rows) hashTexts(column, first, end int) {
	var known [1 << 12]struct {
		hash, word uint64
		last       uint64 // another word of the text, which was read a moment ago
		some       bool
	}
	words, texts := r.words[column], r.texts[column]
	for i := first; i < end; i++ {
		if r.null(column, i) {
			r.hashes[i] = r.mix(r.hashes[i], column, i)
			continue
		}
		word := words[i]
		text := texts.At(word)
		hash := xxh3.Hash(text)
		r.hashes[i] = mixed(r.hashes[i], hash)
		k := &known[hash%uint64(len(known))]
		if k.some && k.hash != hash {
			k = &known[hash%uint64(len(known))^1]
		}
		switch {
		case !k.some:
			k.hash, k.word, k.last, k.some = hash, word, word, true
		case k.hash == hash && bytes.Equal(texts.At(k.last), text):
			words[i], k.last = k.word, word
		}
	}
}

// division is how rows are divided among a number of goroutines: by hashes with a seed.
type division struct {
	seed  uint64
	among int
}

func newDivision() division { return division{rand.Uint64(), threads.Shares()} }

// partOf returns which of n parts has rows of a hash.
func partOf(hash uint64, n int) int { return int(hash >> 32 * uint64(n) >> 32) }

// divided returns a copy of the rows in the order of the parts that their hashes are in, and where each part begins and
// the last one ends. Rows of one part stay in their order. The copy is valid until the next one, and is not made again
// while the rows are the same.
func (r *rows) divided(columns []int, d division) (by *rows, begins []int) {
	by = r.other
	if r.by == d {
		return by, r.begins
	}
	r.hash(columns, d.seed)
	if len(by.words) != len(r.words) {
		*by = rows{from: make([]uint32, len(r.hashes))}
		by.ready(len(r.words), len(r.hashes))
	}
	by.file, by.names, by.types, by.texts, by.n = r.file, r.names, r.types, r.texts, r.n
	by.nulls = make([][]bool, len(r.nulls))
	for c, nulls := range r.nulls {
		if nulls != nil {
			by.nulls[c] = make([]bool, r.n)
		}
	}
	r.by = d
	r.begins = threads.Divide(r.n, d.among, func(i int) int { return partOf(r.hashes[i], d.among) }, func(i, to int) {
		by.from[to], by.hashes[to] = uint32(i), r.hashes[i]
		for c, words := range r.words {
			if by.words[c][to] = words[i]; by.nulls[c] != nil {
				by.nulls[c][to] = r.nulls[c][i]
			}
		}
	})
	return by, r.begins
}

// equal reports whether two rows have the same words in some columns.
func (r *rows) equal(columns []int, i, k int) bool {
	for _, c := range columns {
		if r.words[c][i] != r.words[c][k] || r.null(c, i) != r.null(c, k) {
			return false
		}
	}
	return true
}

// eachPart calls do with the begin and the end of each part, on a goroutine of its own.
func eachPart(begins []int, do func(k, first, end int)) {
	var wait sync.WaitGroup
	for k, end := range begins[1:] {
		wait.Go(func() { do(k, begins[k], end) })
	}
	wait.Wait()
}
