package input

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// Pure functions examine the beginning of a text table: sniff finds the delimiter, detectNames finds whether the first
// record has names, and guessType finds the types of columns. "vkds help tables" has the rules.

// sniffBytes is the size of the beginning.
const sniffBytes = 64 << 10

// sampleOf returns the beginning of a text, and the text to read: at least some lines, unless they are longer than any
// record. whole: the beginning is the whole text. Reading the text returns errors again.
func sampleOf(text *bufio.Reader) (head []byte, whole bool, all *bufio.Reader) {
	const lines = 3 // names, and rows below them
	head, err := text.Peek(sniffBytes)
	if err != nil || bytes.Count(head, []byte("\n")) >= lines {
		return head, err != nil, text
	}
	head = slices.Clone(head)
	_, _ = text.Discard(len(head)) // they are buffered
	for err == nil && len(head) < longestRecord && bytes.Count(head, []byte("\n")) < lines {
		n := 0
		head = slices.Grow(head, len(head))
		n, err = io.ReadFull(text, head[len(head):cap(head)])
		head = head[:len(head)+n]
	}
	return head, err != nil, bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), text), sniffBytes)
}

// delimiters are the detected delimiters, with their names.
var delimiters = []struct {
	char rune
	name string
}{{',', "commas"}, {'\t', "tabs"}, {';', "semicolons"}}

// division is a division of the beginning of a text by a delimiter.
type division struct {
	delimiter rune
	name      string
	records   [][]string
	all       int // number of records, including malformed ones
	several   int // number of records with several fields
	alike     int // of these, the number with the most frequent number of fields
	fields    int // that number of fields
}

func divide(text []byte, whole bool, delimiter, comment rune) division {
	d := division{delimiter: delimiter}
	d.records, d.all = recordsOf(text, whole, delimiter, comment)
	by := map[int]int{} // number of records by their number of fields
	for _, record := range d.records {
		n := len(record)
		if n == 1 {
			continue
		}
		d.several++
		by[n]++
		if by[n] > d.alike || by[n] == d.alike && n > d.fields {
			d.alike, d.fields = by[n], n
		}
	}
	return d
}

// sniff finds the delimiter of a text by these rules, in order; if none applies, it is a comma.
//
//   - More than half of the records have several fields.
//   - A comma is not the delimiter if by another delimiter all commas are in numbers with decimal commas.
//   - At least nine tenths as many records as by any delimiter have the same number of fields.
//   - The first record has several fields, if it has by any delimiter.
//   - The records have the most fields; then the first record is most like them; then there are the most values.
func sniff(text []byte, whole bool, comment rune) division {
	var all []division
	for _, d := range delimiters {
		if d.char == comment {
			continue
		}
		by := divide(text, whole, d.char, comment)
		by.name = d.name
		all = append(all, by)
	}
	none := all[0]
	all = slices.DeleteFunc(all, func(d division) bool { return 2*d.several <= d.all })
	if slices.ContainsFunc(all, division.decimalCommas) {
		all = slices.DeleteFunc(all, func(d division) bool { return d.delimiter == ',' })
	}
	most := 0
	for _, d := range all {
		most = max(most, d.alike)
	}
	all = slices.DeleteFunc(all, func(d division) bool { return 10*d.alike < 9*most })
	for _, value := range []func(division) int{
		func(d division) int { return min(d.first(), 2) },
		func(d division) int { return d.fields },
		func(d division) int { return -max(d.first()-d.fields, d.fields-d.first()) },
		division.values,
	} {
		if len(all) < 2 {
			break
		}
		most := value(slices.MaxFunc(all, func(a, b division) int { return value(a) - value(b) }))
		all = slices.DeleteFunc(all, func(d division) bool { return value(d) < most })
	}
	if len(all) == 0 {
		return none
	}
	return all[0]
}

// first returns the number of fields in the first record.
func (d division) first() int {
	if len(d.records) == 0 {
		return 0
	}
	return len(d.records[0])
}

// values returns the number of fields with values, including numbers with decimal commas.
func (d division) values() (n int) {
	for _, record := range d.records {
		for _, field := range record {
			if k, _ := classify(field); k != word && k != none || isDecimalComma(field) {
				n++
			}
		}
	}
	return n
}

// decimalCommas reports whether there are commas in fields, and all are in numbers.
func (d division) decimalCommas() (some bool) {
	if d.delimiter == ',' {
		return false
	}
	for _, record := range d.records {
		for _, field := range record {
			if !strings.Contains(field, ",") {
				continue
			}
			if some = isDecimalComma(field); !some {
				return false
			}
		}
	}
	return some
}

// isDecimalComma reports whether a field is a number like -1.234,50.
func isDecimalComma(field string) bool {
	whole, fraction, found := strings.Cut(strings.TrimLeft(strings.TrimSpace(field), "+-"), ",")
	return found && isDigits(strings.ReplaceAll(whole, ".", "")) && isDigits(fraction)
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// separator returns the delimiter of a first line "sep=;", as spreadsheets write it.
func separator(head []byte) (delimiter rune, ok bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	said, ok := strings.CutPrefix(strings.ToLower(strings.Trim(string(line), "\"\r")), "sep=")
	if all := []rune(said); ok && len(all) == 1 {
		return all[0], !special(all[0])
	}
	return 0, false
}
