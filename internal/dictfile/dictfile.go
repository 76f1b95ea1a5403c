// Package dictfile saves dictionaries in files and reads them back: package saved is the format. Here are the files,
// with their names in errors, and the types of keys and values.
package dictfile

import (
	"errors"

	"github.com/vkds/vkds/internal/keytype"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

// Magic is how a saved dictionary begins.
const Magic = saved.Magic

// Header describes a saved dictionary. KeyType and ValueType are names of package keytype.
type Header = saved.Header

// Types returns the types that KeyType and ValueType of a header name; those that an earlier version didn't name are
// unsigned integers. Error: *enum.UnknownError.
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

// Error reports what is wrong with a file. It wraps what package saved has found, or the system's error.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// inFile names the file of an error of the format's.
func inFile(name string, err error) error {
	var damaged *structures.SavedError
	if errors.As(err, &damaged) {
		err = damaged.Err // whose subject is the file
	}
	return &Error{name, err}
}
