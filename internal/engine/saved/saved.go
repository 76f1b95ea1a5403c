// Package saved reads and writes the format of saved dictionaries, which Save and Load of the structures and the files
// of the tool use.
//
// A saved dictionary contains the name and the parameters of a structure, and its pairs. All numbers are little endian:
//
//	magic       8 bytes  "VKDS", CR LF, 1a, LF: a transfer as text breaks it
//	version     u32      8
//	length      u32      of the description, in bytes
//	description          JSON, see Header: with the types of keys and values
//	checksum    u32
//	blocks               of 65536 pairs, the last of what is left; then one of none:
//	  pairs     u32      n
//	  keys               n numbers of their type
//	  values             n numbers of their type; none if the description names no type of values
//	  checksum  u32
//
// A number takes 4 or 8 bytes, depending on its type. Integers are in two's complement, floats in IEEE 754 format.
//
// If keys or values are text, a block may have fewer pairs. Instead of the numbers of the texts it has their bytes,
// packed by the program that writes them:
//
//	length    u32      of what follows, up to 17 MiB
//	texts              of n of them
//
// Nothing follows. Each checksum is the CRC-32C of all bytes before it, except other checksums. So a checksum covers
// every byte, and a block is valid only after the header and the blocks after which it was written. Blocks that are
// missing, repeated, moved, or from another dictionary are therefore detected. Because the description has the number
// of pairs, a dictionary that can be read to its end is complete.
//
// Versions 2 to 7 can be read, too. They have words as in the kernels instead of numbers: 32-bit keys and values (2),
// only 32-bit keys (3), the same with 64 bits (4 and 5), and dictionaries with text in 32 and 64 bits (6 and 7). The
// tool wrote the names of their types into the description. The library did not, so such a dictionary can be loaded
// only as the types with which it was saved (see Reader.As).
//
// Version 1 cannot be read: its checksums did not detect blocks of another dictionary. Build the dictionary again.
package saved

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/vkds/vkds/structures"
)

// Magic is the first bytes of a saved dictionary.
const Magic = "VKDS\r\n\x1a\n"

// Graph and Filter are the Header.Structure of a saved graph and of a saved filter. A filter is no dictionary: its
// numbers are not keys.
const (
	Graph  = "graph"
	Filter = "filter"
)

const (
	firstVersion = 2
	textVersion  = 6
	typedVersion = 8

	blockPairs       = 64 << 10
	longestHeader    = 1 << 20
	longestTexts     = 17 << 20
	blockHead        = 4
	checksumBytes    = 4
	fixedHeaderBytes = len(Magic) + 4 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Text is the name in a Header of the type of keys or values that are text.
const Text = "text"

// Header describes a saved dictionary.
type Header struct {
	// Structure is the structure's name, such as "slabhash".
	Structure string `json:"structure"`
	// Parameters are the structure's own parameters, such as "load".
	Parameters map[string]float64 `json:"parameters,omitempty"`
	// Pairs is the number of pairs.
	Pairs int64 `json:"pairs"`
	// KeyType and ValueType are the names of the types of keys and values (Named). They are "" if an earlier version
	// named none. ValueType is also "" if KeysOnly is set.
	KeyType   string `json:"key_type,omitempty"`
	ValueType string `json:"value_type,omitempty"`
	// Writer is the name of the program that wrote the dictionary, for people.
	Writer string `json:"writer,omitempty"`
	// KeysOnly says that there are no values, as in a set.
	KeysOnly bool `json:"-"`
	// Width is the width of keys or values, whichever is wider.
	Width structures.Width `json:"-"`
}

// HasText reports whether keys or values are text.
func (h Header) HasText() bool { return h.KeyType == Text || h.ValueType == Text }

// CountError is returned by Writer.Close if the number of pairs written differs from the header's.
type CountError struct{ Have, Want int64 }

func (e *CountError) Error() string {
	return fmt.Sprintf("%d pairs written to a dictionary of %d", e.Have, e.Want)
}

// Of returns an error of a Reader in the words for what else than a dictionary is read: a Graph or a Filter.
func Of(structure string, err error) error {
	if _, is := err.(*structures.SavedError); !is {
		return err
	}
	return &structures.SavedError{Err: &worded{errors.Unwrap(err), structure}}
}

// worded is an error with another word for "dictionary".
type worded struct {
	error
	structure string
}

func (e *worded) Error() string {
	return strings.Replace(e.error.Error(), "saved dictionary", "saved "+e.structure, 1)
}

func (e *worded) Unwrap() error { return e.error }

// damaged returns a *structures.SavedError around one of the errors of package structures, with details.
func damaged(what error, format string, args ...any) error {
	if format != "" {
		what = fmt.Errorf("%w: %s", what, fmt.Sprintf(format, args...))
	}
	return &structures.SavedError{Err: what}
}
