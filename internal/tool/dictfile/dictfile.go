// Package dictfile saves dictionaries in files and reads them. Package saved defines the format; this package adds
// files, with their names in errors, and the types of the tool (package keytype).
package dictfile

import (
	"errors"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// Magic is the first bytes of a saved dictionary.
const Magic = saved.Magic

// Header describes a saved dictionary. KeyType and ValueType are names of types of package keytype.
type Header = saved.Header

// Types returns the types that a header's KeyType and ValueType name. If an earlier version did not name a type, it is
// an unsigned integer of the header's width. Error: *enum.UnknownError.
func Types(h Header) (key, value keytype.Type, err error) {
	key, value = keytype.Type(h.Width), keytype.Type(h.Width)
	if h.KeyType != "" {
		key, err = keytype.Types.Parse(h.KeyType)
	}
	if h.ValueType != "" && err == nil {
		value, err = keytype.Types.Parse(h.ValueType)
	}
	return key, value, err
}

// Error says what is wrong with a file. It wraps an error of package saved or of the system.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// inFile returns an *Error that adds the file's name to an error of package saved.
func inFile(name string, err error) error {
	var damaged *structures.SavedError
	if errors.As(err, &damaged) {
		err = damaged.Err // its text then follows the file's name
	}
	return &Error{name, err}
}
