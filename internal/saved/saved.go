// Package saved is the format in which dictionaries are saved: what the structures write and load, and the tool's
// files.
//
// A saved dictionary is the name and the parameters of a structure and its pairs, all in little endian:
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
// A number takes 4 or 8 bytes, as its type says: integers are in two's complement, floats as IEEE 754 has them.
//
// If keys or values are text, a block may be of fewer pairs, and in place of the numbers of texts it has their bytes,
// packed by the program that writes them:
//
//	length    u32      of what follows, up to 17 MiB
//	texts              of n of them
//
// Nothing follows. Each checksum is the CRC-32C of all that stands before it, but for other checksums. So every byte is
// under one, and a block is right only after the header and the blocks that it was written after: what is missing,
// doubled, moved, or of another dictionary shows. The description says how many pairs there are, so what reads to its
// end is what was written.
//
// Versions 2 to 7 are read, too. They hold words in place of numbers, as the kernels had them: keys and values of 32
// bits (2), keys alone (3), the same in 64 bits (4 and 5), and with text in 32 and 64 bits (6 and 7). The tool named
// their types in the description; the library didn't, so that such a dictionary can be loaded only as the types that it
// was saved with (see Reader.As).
//
// Version 1, whose blocks could be mixed up with those of another dictionary, is refused: build it again.
package saved

import (
	"fmt"
	"hash/crc32"

	"github.com/vkds/vkds/structures"
)

// Magic is how a saved dictionary begins.
const Magic = "VKDS\r\n\x1a\n"

// Graph is the structure, in a Header, of a saved graph.
const Graph = "graph"

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

// Text is the type, in a Header, of keys or values that are text.
const Text = "text"

// Header describes a saved dictionary.
type Header struct {
	// Structure is the structure's name, such as "slabhash".
	Structure string `json:"structure"`
	// Parameters are the structure's own, such as "load".
	Parameters map[string]float64 `json:"parameters,omitempty"`
	// Pairs is how many pairs there are.
	Pairs int64 `json:"pairs"`
	// KeyType and ValueType are the names of the keys' and the values' types (Named). They are "" if an earlier version
	// named none; ValueType also if KeysOnly.
	KeyType   string `json:"key_type,omitempty"`
	ValueType string `json:"value_type,omitempty"`
	// Writer is the program that wrote it, for people.
	Writer string `json:"writer,omitempty"`
	// KeysOnly says that there are no values: of a set.
	KeysOnly bool `json:"-"`
	// Width is that of the wider of keys and values.
	Width structures.Width `json:"-"`
}

// HasText tells whether keys or values are text.
func (h Header) HasText() bool { return h.KeyType == Text || h.ValueType == Text }

// CountError reports a Writer closed with another number of pairs than its header said.
type CountError struct{ Have, Want int64 }

func (e *CountError) Error() string {
	return fmt.Sprintf("%d pairs written to a dictionary of %d", e.Have, e.Want)
}

// damaged is a *structures.SavedError around one of structures' errors of what is wrong, with more about it.
func damaged(what error, format string, args ...any) error {
	if format != "" {
		what = fmt.Errorf("%w: %s", what, fmt.Sprintf(format, args...))
	}
	return &structures.SavedError{Err: what}
}
