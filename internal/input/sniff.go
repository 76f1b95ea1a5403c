package input

import (
	"bytes"
	"encoding/csv"
	"io"
)

// delimiters are those that are told apart, and what they are called in notes.
var delimiters = []struct {
	char rune
	name string
}{{',', "commas"}, {'\t', "tabs"}, {';', "semicolons"}}

// sniffBytes is how much of a text is looked at.
const sniffBytes = 64 << 10

// sniff guesses the delimiter of a text that begins so: the one by which the most records have as many fields as each
// other, and more than one. That many have to be more than half of all, and two, so that no unlucky line decides; else,
// and where two delimiters do equally well, it is a comma. whole says that there is nothing behind.
func sniff(text []byte, whole bool, comment rune) (delimiter rune, name string) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1] // what stands behind may go on
	}
	best, most, tie := 0, 1, false
	for i, d := range delimiters {
		if d.char == comment {
			continue
		}
		alike, all := alike(text, d.char, comment)
		switch {
		case 2*alike <= all || alike < most:
		case alike == most:
			tie = most > 1
		default:
			best, most, tie = i, alike, false
		}
	}
	if tie {
		best = 0
	}
	return delimiters[best].char, delimiters[best].name
}

// alike returns how many records have the same number of fields, more than one, and how many there are.
func alike(text []byte, delimiter, comment rune) (most, all int) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord, r.ReuseRecord = delimiter, comment, -1, true
	records := map[int]int{} // by their fields
	for {
		record, err := r.Read()
		if err == io.EOF {
			return most, all
		}
		all++
		if n := len(record); err == nil && n > 1 {
			records[n]++
			most = max(most, records[n])
		}
	}
}
