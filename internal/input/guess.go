package input

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/vkds/vkds/internal/keytype"
)

// guessesText tells whether a column may turn out to be text: nobody has said what it is, nor that rows are passed over
// in which it isn't that.
func (o Options) guessesText() bool {
	return !o.SkipInvalid && slices.ContainsFunc(o.columns, func(c *column) bool { return c.Any })
}

// sampleRows is how many rows a guess is made from at most.
const sampleRows = 100

// sampled are the first records of a text that begins so; whole says that there is nothing behind.
func sampled(text []byte, whole bool, o Options) (records [][]string) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1] // what stands behind may go on
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord = o.Delimiter, o.Comment, -1
	for len(records) < sampleRows {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			records = append(records, record)
		}
	}
	return records
}

// guessText makes the columns text that hold nothing else in the first records. named says that the first of these are
// names; else it may be, unless one of the columns has a number there.
func (d *delimited) guessText(o Options, named bool) {
	field := func(record []string, c int) string {
		if i := d.index[c]; i < len(record) {
			return record[i]
		}
		return ""
	}
	rows := d.sample
	if len(rows) > 0 && o.Header != Absent {
		data := false
		for c := range d.columns {
			data = data || isNumber(field(rows[0], c))
		}
		if named || !data {
			rows = rows[1:]
		}
	}
	for c, column := range d.columns {
		var fields []string
		for _, record := range rows {
			fields = append(fields, field(record, c))
		}
		column.guessText(o, d.file, fields)
	}
	d.sample = nil
}

// guessText makes a column text where some of its first fields hold something, and none a number.
func (c *column) guessText(o Options, file string, fields []string) {
	filled := slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" })
	if c.Any && !o.SkipInvalid && filled && !slices.ContainsFunc(fields, isNumber) {
		c.Type, c.Wider = keytype.Text, nil
		o.note("%s: column %s is taken for text", file, quote(c.Name))
	}
}

// isNumber tells whether a field holds a value of any type but text. "nan" and "cafe" are words.
func isNumber(field string) bool {
	if !strings.ContainsAny(field, "0123456789") {
		return false
	}
	for _, t := range []keytype.Type{keytype.Uint64, keytype.Int64, keytype.Float64, keytype.Time64, keytype.IPv4,
		keytype.IPv6} {
		_, err := t.Parse(field)
		if err == nil || errors.Is(err, keytype.ErrRange) || errors.Is(err, keytype.ErrAddress) {
			return true
		}
	}
	return false
}
