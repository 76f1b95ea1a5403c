package input

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vkds/vkds/internal/keytype"
)

// Header says whether the first line holds the columns' names.
type Header uint8

const (
	// Detect takes the first line for names where a column is asked by name, or where no chosen field is a value of its
	// type or begins like a number.
	Detect Header = iota
	Present
	Absent
)

// isName tells whether a field of the first line looks like a column's name.
func isName(field string, c *column) bool {
	field = strings.TrimSpace(field)
	_, err := c.Parse(field)
	return errors.Is(err, keytype.ErrSyntax) && !beginsNumber(field)
}

// beginsNumber tells whether a field begins as numbers do, and no name does.
func beginsNumber(field string) bool {
	return field != "" && strings.ContainsAny(field[:1], "0123456789+-.")
}

// number tells whether a column is asked by number, and returns it.
func number(column string) (int, bool) {
	if column == "" || strings.Trim(column, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(column)
	return n, err == nil
}

// quote writes a column's number as it is and a name in quotes.
func quote(column string) string {
	if _, isNumber := number(column); isNumber {
		return column
	}
	return strconv.Quote(column)
}

// find returns the place, from 0, of a column among names: the one that is called so, else the one that is but for
// upper and lower case.
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

// places are those of the names that are the same as one.
func places(names []string, one string, same func(a, b string) bool) (found []int) {
	for i, name := range names {
		if same(name, one) {
			found = append(found, i)
		}
	}
	return found
}

// ambiguous tells of two columns that may be meant by a name.
func ambiguous(names []string, i, j int, column string) string {
	if names[i] == names[j] {
		return fmt.Sprintf("columns %d and %d are both called %q: ask by number", i+1, j+1, names[i])
	}
	return fmt.Sprintf("%q may be column %d, %q, or column %d, %q: ask as it is written there", column, i+1, names[i],
		j+1, names[j])
}

// list shows the names that there are, as many as fit a line.
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
