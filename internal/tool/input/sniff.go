package input

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// A table of text is known by its beginning, in pure functions: sniff finds out what stands between fields, detectNames
// whether the first record holds names, and guessType what columns hold. "vkds help tables" has the rules.

// sniffBytes is how much of a text is looked at.
const sniffBytes = 64 << 10

// sampleOf returns how a text begins, and the text: so much of it that some lines are in it, unless these are longer
// than any record. whole says that there is nothing behind. What goes wrong comes again when the text is read.
func sampleOf(text *bufio.Reader) (head []byte, whole bool, all *bufio.Reader) {
	const lines = 3 // names, and rows that tell what they name
	head, err := text.Peek(sniffBytes)
	if err != nil || bytes.Count(head, []byte("\n")) >= lines {
		return head, err != nil, text
	}
	head = slices.Clone(head)
	_, _ = text.Discard(len(head)) // which are there
	for err == nil && len(head) < longestRecord && bytes.Count(head, []byte("\n")) < lines {
		n := 0
		head = slices.Grow(head, len(head))
		n, err = io.ReadFull(text, head[len(head):cap(head)])
		head = head[:len(head)+n]
	}
	return head, err != nil, bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), text), sniffBytes)
}

// delimiters are those that are told apart, and what they are called.
var delimiters = []struct {
	char rune
	name string
}{{',', "commas"}, {'\t', "tabs"}, {';', "semicolons"}}

// division is how a delimiter divides the beginning of a text.
type division struct {
	delimiter rune
	name      string
	records   [][]string
	all       int // also those that are malformed
	several   int // with several fields
	alike     int // with as many fields as most of these
	fields    int // of those
}

func divide(text []byte, whole bool, delimiter, comment rune) division {
	d := division{delimiter: delimiter}
	d.records, d.all = recordsOf(text, whole, delimiter, comment)
	by := map[int]int{} // records by their fields
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

// sniff finds the delimiter of a text that begins so, by these rules; a comma where none holds.
//
//   - More than half of the records have several fields by it.
//   - Not all of it stand in numbers with decimal commas by another one.
//   - Nearly as many records have the same number of fields by it as by any (nine of ten).
//   - Of those, the first record has several fields by it, if it has by any.
//   - Of those, by it records have the most fields; then as many in the first record; then the most values.
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

// first is how many fields the first record has.
func (d division) first() int {
	if len(d.records) == 0 {
		return 0
	}
	return len(d.records[0])
}

// values counts the fields that hold values, with decimal commas or without.
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

// decimalCommas tells whether there are commas in fields, and all in numbers.
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

// isDecimalComma tells whether a field is a number such as -1.234,50.
func isDecimalComma(field string) bool {
	whole, fraction, found := strings.Cut(strings.TrimLeft(strings.TrimSpace(field), "+-"), ",")
	return found && isDigits(strings.ReplaceAll(whole, ".", "")) && isDigits(fraction)
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// separator is the delimiter that a first line "sep=;" says, as spreadsheets write it.
func separator(head []byte) (delimiter rune, ok bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	said, ok := strings.CutPrefix(strings.ToLower(strings.Trim(string(line), "\"\r")), "sep=")
	if all := []rune(said); ok && len(all) == 1 {
		return all[0], !special(all[0])
	}
	return 0, false
}
