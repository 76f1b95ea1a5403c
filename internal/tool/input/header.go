package input

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// Header says whether the first line has the columns' names.
type Header uint8

const (
	// Detect takes the first line for names if a column is requested by name, or if detectNames does.
	Detect Header = iota
	Present
	Absent
)

// isName reports whether a field of the first line looks like the name of a column whose type was not guessed.
func isName(field string, c *column) bool {
	field = strings.TrimSpace(field)
	_, err := c.Parse(field)
	return errors.Is(err, keytype.ErrSyntax) && !beginsNumber(field)
}

// beginsNumber reports whether a field begins like a number, and unlike a name.
func beginsNumber(field string) bool {
	return field != "" && strings.ContainsAny(field[:1], "0123456789+-.")
}

// verdict is whether a first record has names.
type verdict uint8

const (
	untold verdict = iota // it may have
	names
	data
)

// detectNames decides whether the first of a table's first records has the names of columns. It uses all columns, also
// those that are not read. The first rule that applies decides:
//
//   - A number, a time or an address is data.
//   - A word above these, or in a column without words, is a name.
//   - Only words, without records below, are names, unless the columns are known to be text.
//   - A field that begins like a number is data.
//
// said returns the column at an index, and whether its type was not guessed.
func detectNames(records [][]string, said func(column int) (c *column, is bool)) verdict {
	var name, value, number bool
	some, texts := false, true
	for i, field := range records[0] {
		field = strings.TrimSpace(field)
		c, is := said(i)
		texts = texts && is && c.Type == keytype.Text
		kind, _ := classify(field)
		if kind == none {
			continue
		}
		some = true
		begins := beginsNumber(field)
		var below []string
		for _, record := range records[1:] {
			if i < len(record) {
				below = append(below, record[i])
			}
		}
		all, _ := census(below)
		values := 2*all[word] < len(below)-all[none] // a few may be wrong
		if is && c.Type != keytype.Text {
			values, begins, kind = true, !isName(field, c), word
		}
		name = name || values && !begins && kind == word
		value = value || values && begins || kind != word
		number = number || begins
	}
	switch {
	case value:
		return data
	case name:
		return names
	case number:
		return data
	case len(records) == 1 && some && !texts:
		return names
	}
	return untold
}

// mayBeNames reports whether an undecided first record could have names: its fields are not empty, all different, and
// do not occur below.
func mayBeNames(records [][]string) bool {
	for i, field := range records[0] {
		if strings.TrimSpace(field) == "" || slices.Contains(records[0][:i], field) {
			return false
		}
		for _, record := range records[1:] {
			if i < len(record) && record[i] == field {
				return false
			}
		}
	}
	return true
}

// number returns the number of a column that is requested by number, and reports whether it is.
func number(column string) (int, bool) {
	if column == "" || strings.Trim(column, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(column)
	return n, err == nil
}

// quote returns a column's number as it is, and a name in quotes.
func quote(column string) string {
	if _, isNumber := number(column); isNumber {
		return column
	}
	return strconv.Quote(column)
}

// find returns the index, from 0, of a column among names: that with the same name, or otherwise that with the same
// name except for upper and lower case.
func find(file string, names []string, column string) (int, error) {
	if n, isNumber := number(column); isNumber {
		if n < 1 || n > len(names) {
			return 0, &ColumnError{file, column, fmt.Sprintf("no column %s: the table has %s", column,
				plural(len(names), "column"))}
		}
		return n - 1, nil
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		found := places(names, column, same)
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return 0, &ColumnError{file, column, ambiguous(names, found[0], found[1], column)}
		}
	}
	return 0, &ColumnError{file, column, fmt.Sprintf("no column %q: the table has %s", column, list(names))}
}

// places returns the indices of the names that are the same as one.
func places(names []string, one string, same func(a, b string) bool) (found []int) {
	for i, name := range names {
		if same(name, one) {
			found = append(found, i)
		}
	}
	return found
}

// ambiguous describes two columns that a name may mean.
func ambiguous(names []string, i, j int, column string) string {
	if names[i] == names[j] {
		return fmt.Sprintf("columns %d and %d are both called %q: ask by number", i+1, j+1, names[i])
	}
	return fmt.Sprintf("%q may be column %d, %q, or column %d, %q: ask as it is written there", column, i+1, names[i],
		j+1, names[j])
}

// list lists the names, as many as fit a line.
func list(names []string) string {
	const most, longest = 12, 40
	var quoted []string
	for i, name := range names {
		if i == most {
			quoted = append(quoted, "…")
			break
		}
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
