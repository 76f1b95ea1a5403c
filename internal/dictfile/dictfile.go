// Package dictfile saves dictionaries in files and reads them back: package saved is the format. Here are the files,
// with their names in errors, and the types of keys and values.
package dictfile

import (
	"errors"
	"fmt"

	"github.com/vkds/vkds/internal/keytype"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

// Magic is how a saved dictionary begins.
const Magic = saved.Magic

// Header describes a saved dictionary. KeyType and ValueType are names of package keytype.
type Header = saved.Header

// Types returns the types that KeyType and ValueType of a header name. An error is a *enum.UnknownError, or says that
// one is wider than what was saved.
func Types(h Header) (key, value keytype.Type, err error) {
	key, value = keytype.Type(h.Width), keytype.Type(h.Width) // unsigned integers, where the library saved it
	for _, n := range []struct {
		name string
		into *keytype.Type
	}{{h.KeyType, &key}, {h.ValueType, &value}} {
		if n.name == "" {
			continue
		}
		if *n.into, err = keytype.Types.Parse(n.name); err != nil {
			return 0, 0, err
		}
		if n.into.Width() > h.Width {
			return 0, 0, fmt.Errorf("numbers of type %s in %s", n.name, h.Width)
		}
	}
	return key, value, nil
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
