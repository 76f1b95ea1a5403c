package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// hashes are the hash functions of keys that are text. Tests replace them by others, under which texts collide.
var hashes keytype.Hashes = keytype.Random

// textual is what the host keeps of a dictionary with text. If only the values are text, the device maps keys to
// numbers of texts. If the keys are text, it maps their hashes to rows.
type textual struct {
	index      *keytype.Index // of keys; nil: they are not text
	rows       []uint64       // the value of each row, if the keys are text
	valueTexts keytype.Arena  // the values, if they are text; their words are numbers in it
}

// makeTexts returns a function that makes the map of hashes to rows.
func makeTexts(d *vk.Device, s structure, parameter float64) keytype.Make {
	return func(ctx context.Context, capacity int) (keytype.Map, error) {
		return s.make(ctx, d, structures.Bits64, capacity, parameter)
	}
}

// update does a batch of updates, which must have the dictionary's types. If values are text, it changes the batch's
// words to those of the dictionary.
func (d *dictionary) update(ctx context.Context, kind structures.Kind, b batch, status []structures.Status) error {
	if d.value == keytype.Text {
		if err := d.take(b); err != nil {
			return err
		}
	}
	if d.index == nil {
		return d.UpdateInto(ctx, kind, b.keys, b.values, status)
	}
	rows, found, err := d.index.Put(ctx, b.column(0).some())
	d.words = d.index.Map().(words)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if found[i] == structures.Inserted {
			d.textual.rows = append(d.textual.rows, b.values[i])
			continue
		}
		found[i] = structures.Assigned
		switch value := &d.textual.rows[row]; kind {
		case structures.InsertMin:
			*value = min(*value, b.values[i])
		case structures.InsertMax:
			*value = max(*value, b.values[i])
		default:
			*value = b.values[i]
		}
	}
	copy(status, found)
	return nil
}

// take copies the texts of a batch's values into the dictionary, and changes the batch's words to their numbers there.
func (d *dictionary) take(b batch) error {
	if n := uint64(d.valueTexts.Len() + len(b.values)); n > math.MaxUint32 && d.width() == structures.Bits32 {
		return fmt.Errorf("%d texts are too many for a dictionary of 32-bit keys: --key-type u64 makes it one of 64", n)
	}
	for i, n := range b.values {
		b.values[i] = d.valueTexts.Add(b.texts[1].At(n))
	}
	return nil
}

// findTexts is find for keys that are text.
func (d *dictionary) findTexts(ctx context.Context, keys numbers) (values []uint64, found []bool, err error) {
	values, found, err = d.index.Find(ctx, keys.some())
	for i, there := range found {
		if there {
			values[i] = d.textual.rows[values[i]]
		}
	}
	return values, found, err
}

// Len returns the number of pairs.
func (d *dictionary) Len(ctx context.Context) (uint64, error) {
	if d.index == nil {
		return d.words.Len(ctx)
	}
	return uint64(d.index.Len()), nil
}

// Chunks yields all pairs, many at a time. Each chunk is valid until the next one. Pairs come in the order of their
// keys if the structure has one. If the keys are text, pairs come in the order in which the keys first came.
func (d *dictionary) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	if d.index == nil {
		return d.words.Chunks(ctx)
	}
	return func(yield func(structures.Pairs[uint64, uint64], error) bool) {
		var part structures.Pairs[uint64, uint64]
		for row := range d.index.Rows() {
			part.Keys, part.Values = append(part.Keys, row), append(part.Values, d.textual.rows[row])
			if len(part.Keys) == partLength {
				if !yield(part, ctx.Err()) {
					return
				}
				part.Keys, part.Values = part.Keys[:0], part.Values[:0]
			}
		}
		if len(part.Keys) > 0 {
			yield(part, ctx.Err())
		}
	}
}

// textBytes returns the length of all texts that the host holds, also of those that were replaced.
func (d *dictionary) textBytes() int {
	n := d.valueTexts.Bytes()
	if d.index != nil {
		n += d.index.Texts().Bytes()
	}
	return n
}

// shown formats the words of a column.
type shown struct {
	keytype.Type
	texts *keytype.Arena // if the type is Text: the words are numbers of these texts
}

// keys formats the dictionary's keys. Keys to look up have texts and types of their own.
func (d *dictionary) keys() shown {
	if d.index == nil {
		return shown{Type: d.key}
	}
	return shown{d.key, d.index.Texts()}
}

// values formats the dictionary's values.
func (d *dictionary) values() shown { return shown{d.value, &d.valueTexts} }

// column returns the keys (0) or the values (1) of a batch.
func (b batch) column(i int) numbers {
	return numbers{shown{b.types[i], b.texts[i]}, [][]uint64{b.keys, b.values}[i]}
}

// some returns the texts that the words stand for.
func (n numbers) some() keytype.Some { return keytype.Some{Arena: n.texts, Numbers: n.words} }

// same reports whether w, a word of c, and v, a word of other, stand for the same value.
func (c shown) same(w uint64, other shown, v uint64) bool {
	if c.Type == keytype.Text {
		return bytes.Equal(c.texts.At(w), other.texts.At(v))
	}
	return w == v
}

// Format returns a word as messages show it, a long text shortened.
func (c shown) Format(w uint64) string {
	if c.Type == keytype.Text {
		const most = 40
		text := c.texts.At(w)
		return strconv.Quote(string(text[:min(len(text), most)]))
	}
	return c.Type.Format(w)
}

// appendCSV appends a word as a field of CSV. An empty text becomes "", because an empty field is a missing value.
func (c shown) appendCSV(line []byte, w uint64) []byte {
	if c.Type != keytype.Text {
		return c.Append(line, w)
	}
	return input.AppendCSV(line, c.texts.At(w))
}

// appendJSON appends a word as JSON.
func (c shown) appendJSON(line []byte, w uint64) []byte {
	if c.Type != keytype.Text {
		return c.AppendJSON(line, w)
	}
	return appendJSONText(line, c.texts.At(w))
}

// appendJSONText appends a text as encoding/json does, without escapes for HTML and without an allocation.
func appendJSONText(line, text []byte) []byte {
	line = append(line, '"')
	written := 0
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		short := strings.IndexRune("\"\\\b\f\n\r\t", r)
		invalid := r == utf8.RuneError && size == 1
		if short < 0 && r >= ' ' && r != '\u2028' && r != '\u2029' && !invalid {
			continue
		}
		line = append(append(line, text[written:i-size]...), '\\')
		if written = i; short >= 0 {
			line = append(line, `"\bfnrt`[short])
			continue
		}
		line = append(line, 'u')
		for shift := 12; shift >= 0; shift -= 4 {
			line = append(line, "0123456789abcdef"[r>>shift&15])
		}
	}
	return append(append(line, text[written:]...), '"')
}

// orderError reports that a command needs an order, which text doesn't have.
type orderError struct {
	command, file string
	what          string // of the file: "keys" or "values"
	saved         bool
}

func (e *orderError) Error() string {
	hint := fmt.Sprintf(" (--%s-type says what else they are)", e.what[:len(e.what)-1])
	if e.saved {
		hint = ""
	}
	return fmt.Sprintf("%s needs %s that have an order, and those of %s are text%s", e.command, e.what, e.file, hint)
}

// orders returns an error if the command needs an order of keys or values that are text. Otherwise it returns the flags
// that choose a structure. They ask for no ordered structure if the keys are text.
func (s *source) orders(in *opened) (structureFlags, error) {
	into := s.into
	fail := func(what string) error { return &orderError{into.ordering, in.file.Name(), what, in.saved != nil} }
	switch command := into.ordering; {
	case command == "top" && in.value == keytype.Text:
		return into, fail("values")
	case in.key != keytype.Text:
	case into.ordersKeys():
		return into, fail("keys")
	default:
		into.ordering = ""
	}
	return into, nil
}

// ordersKeys reports whether the command needs keys that have an order. dump and top take text, too.
func (s *structureFlags) ordersKeys() bool {
	return !slices.Contains([]string{"", "dump", "top"}, s.ordering)
}
