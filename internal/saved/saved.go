// Package saved is the format in which dictionaries are saved: what the structures write and load, and the tool's
// files.
//
// A saved dictionary is the name and the parameters of a structure and its pairs, all in little endian:
//
//	magic       8 bytes  "VKDS", CR LF, 1a, LF: a transfer as text breaks it
//	version     u32      2; 3: keys without values; 4 and 5: the same at 64 bits; 6 and 7: with text, at 32 and 64
//	length      u32      of the description, in bytes
//	description          JSON, see Header
//	checksum    u32
//	blocks               of 65536 pairs, the last of what is left; then one of none:
//	  pairs     u32      n
//	  keys      n u32    or u64, as the version says
//	  values    n u32    or u64, or none
//	  checksum  u32
//
// With text, which the description says of keys, values or both, a block may be of fewer pairs, and in place of the
// numbers of texts it has their bytes, packed by whoever writes them:
//
//	length    u32      of what follows, up to 17 MiB
//	texts              of n of them
//
// Nothing follows. Each checksum is the CRC-32C of all that stands before it, but for other checksums. So every byte is
// under one, and a block is right only behind the header and the blocks that it was written behind: what is missing,
// doubled, moved, or of another dictionary shows. The description says how many pairs there are, so what reads to its
// end is what was written.
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

const (
	firstVersion = 2
	textVersion  = 6
	lastVersion  = 7

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
	// KeyType and ValueType are the names of the keys' and the values' types; "" is u32.
	KeyType   string `json:"key_type,omitempty"`
	ValueType string `json:"value_type,omitempty"`
	// Writer is the program that wrote it, for people.
	Writer string `json:"writer,omitempty"`
	// KeysOnly says that there are no values: of a set. The version tells it.
	KeysOnly bool `json:"-"`
	// Width is that of keys and values. The version tells it, too.
	Width structures.Width `json:"-"`
}

// HasText tells whether keys or values are text.
func (h Header) HasText() bool { return h.KeyType == Text || h.ValueType == Text }

// version is the format's for pairs, or keys alone, of this width.
func (h Header) version() uint32 {
	if h.HasText() {
		return textVersion + uint32(h.Width)
	}
	version := firstVersion + 2*uint32(h.Width)
	if h.KeysOnly {
		version++
	}
	return version
}

// setVersion takes from the version what it says.
func (h *Header) setVersion(version uint32) {
	if version >= textVersion {
		h.Width = structures.Width(version - textVersion)
		return
	}
	h.KeysOnly = (version-firstVersion)%2 == 1
	h.Width = structures.Width((version - firstVersion) / 2)
}

// bytes is how many a pair takes.
func (h Header) bytes() int {
	if h.KeysOnly {
		return h.Width.Bytes()
	}
	return 2 * h.Width.Bytes()
}

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
