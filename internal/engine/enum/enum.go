// Package enum prints and parses the values of types that have a name for each of a few numbers.
package enum

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Names are the names of a type's values, by their numbers.
type Names[T ~uint8 | ~uint32] []string

// String returns a value's name, or the type's name and the number if the value has none.
func (n Names[T]) String(v T) string {
	if uint64(v) < uint64(len(n)) {
		return n[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[T]().Name(), v)
}

// Set are the values that may be chosen among, by their names.
type Set[T fmt.Stringer] struct {
	what   string
	values []T
}

// Of is a set of values, and what they are called: "order", "way to wait".
func Of[T fmt.Stringer](what string, values ...T) Set[T] { return Set[T]{what, values} }

// Names lists the values' names, for help texts.
func (s Set[T]) Names() []string {
	names := make([]string, len(s.values))
	for i, v := range s.values {
		names[i] = v.String()
	}
	return names
}

// Parse returns the value of a name. Error: *UnknownError.
func (s Set[T]) Parse(name string) (T, error) {
	names := s.Names()
	if i := slices.Index(names, name); i >= 0 {
		return s.values[i], nil
	}
	var none T
	return none, &UnknownError{s.what, name, names}
}

// UnknownError says that no value of a set has a name.
type UnknownError struct {
	What  string // of Of
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q (known: %s)", e.What, e.Name, strings.Join(e.Known, ", "))
}
