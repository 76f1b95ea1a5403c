// Package dictfile saves dictionaries and reads them back.
//
// A file holds the name and the parameters of a structure and its pairs, all in
// little endian:
//
//	magic       8 bytes  "VKDS", CR LF, 1a, LF: a transfer as text breaks it
//	version     u32      2
//	length      u32      of the description, in bytes
//	description          JSON, see Header
//	checksum    u32
//	blocks               of 65536 pairs, the last of what is left; then one of none:
//	  pairs     u32      n
//	  keys      n u32
//	  values    n u32
//	  checksum  u32
//
// Nothing follows. Each checksum is the CRC-32C of all that stands before it in
// the file, but for other checksums. So every byte is under one, and a block is
// right only behind the header and the blocks that it was written behind: what
// is missing, doubled, moved, or of another dictionary shows. The description
// says how many pairs there are, so a file that reads to its end is the file
// that was written.
//
// Files of version 1, whose blocks could be mixed up with those of another
// dictionary, are refused with ErrVersion: build them again.
package dictfile

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/vkds/vkds/internal/keytype"
)

// Magic is how a saved dictionary begins.
const Magic = "VKDS\r\n\x1a\n"

// Version is the version of the format that this package reads and writes.
const Version = 2

const (
	blockPairs       = 64 << 10
	longestHeader    = 1 << 20
	blockHead        = 4
	checksumBytes    = 4
	fixedHeaderBytes = len(Magic) + 4 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header describes a saved dictionary.
type Header struct {
	// Structure is the structure's name, such as "slabhash".
	Structure string `json:"structure"`
	// Parameters are the structure's own, such as the number of buckets.
	Parameters map[string]float64 `json:"parameters,omitempty"`
	// Pairs is how many pairs the file holds.
	Pairs int64 `json:"pairs"`
	// KeyType and ValueType are the names of the keys' and the values' types
	// (see package keytype); "" is u32.
	KeyType   string `json:"key_type,omitempty"`
	ValueType string `json:"value_type,omitempty"`
	// Writer is the program that wrote the file, for people.
	Writer string `json:"writer,omitempty"`
}

// Types returns the types that KeyType and ValueType name. An error is a
// *enum.UnknownError.
func (h Header) Types() (key, value keytype.Type, err error) {
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
	}
	return key, value, nil
}

// Why a file can't be read, beside what the system says.
var (
	ErrMagic     = errors.New("is no saved dictionary")
	ErrVersion   = errors.New("was saved by another version of vkds: build it again")
	ErrTruncated = errors.New("ends too early: the saved dictionary is truncated")
	ErrChecksum  = errors.New("is corrupt: a checksum doesn't match")
	ErrCorrupt   = errors.New("is corrupt")
)

// Error reports what is wrong with a file. It wraps one of the errors above or
// the system's.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// LengthError reports slices of keys and of values, which go together, that
// differ in length.
type LengthError struct{ Keys, Values int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("%d keys, but %d values", e.Keys, e.Values)
}

// CountError reports a Writer closed with another number of pairs than its
// header said.
type CountError struct{ Have, Want int64 }

func (e *CountError) Error() string {
	return fmt.Sprintf("%d pairs written to a dictionary of %d", e.Have, e.Want)
}
