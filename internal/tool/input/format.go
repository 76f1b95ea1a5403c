package input

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
)

// Format is a file format. The zero value is Auto.
type Format uint8

const (
	// Auto reads files named .csv or .tsv as CSV, and files named .txt or .dat as Options.Otherwise. It detects Parquet
	// and Arrow by their first bytes, and then by the extension (.parquet, .pq, .arrow, .arrows, .feather, .ipc). All
	// other files are Options.Otherwise.
	Auto    Format = iota
	CSV            // delimited text
	Text           // lines with a value, or a range LO:HI
	U32LE          // values of 4 bytes, as keytype.Type.FromBits reads them, least significant first
	U32BE          // the same, most significant byte first
	U64LE          // values of 8 bytes, least significant byte first
	U64BE          // the same, most significant byte first
	Parquet        // a regular file that is not compressed as a whole
	Arrow          // Arrow IPC, as a file or a stream
	Lines          // lines, each of which is a text
)

var formatNames = enum.Names[Format]{Auto: "auto", CSV: "csv", Text: "text", U32LE: "u32le", U32BE: "u32be",
	U64LE: "u64le", U64BE: "u64be", Parquet: "parquet", Arrow: "arrow",
	Lines: "lines"}

func (f Format) String() string { return formatNames.String(f) }

// Formats are all formats, by name.
var Formats = enum.Of("format", Auto, CSV, Text, Lines, U32LE, U32BE, U64LE, U64BE, Parquet, Arrow)

// width returns the width of a binary format's values.
func (f Format) width() structures.Width {
	if f == U64LE || f == U64BE {
		return structures.Bits64
	}
	return structures.Bits32
}

// magics are the first bytes of files that are neither text nor plain values.
var magics = []struct {
	bytes, name string
	format      Format // Auto: a format that is not read here
}{
	{"PAR1\x15", "a Parquet file", Parquet}, // after the magic, the first field of thrift
	{arrowMagic + "\x00", "an Arrow file", Arrow},
	{"VKDS\r\n\x1a\n", "a saved dictionary", Auto},
}

// longestMagic is the number of bytes that suffice to detect a format.
const longestMagic = 8

// beginning returns the first bytes of a file, no more than needed to detect its format: a writer may wait for the
// answer to the first line before it writes the next one.
func beginning(peek func(n int) ([]byte, error)) (head []byte, err error) {
	for n := 1; n <= longestMagic; n++ {
		if head, err = peek(n); err != nil || len(head) < n || !beginsMagic(head) {
			break
		}
	}
	return head, err
}

// beginsMagic reports whether a file with these first bytes may not be text, or may have a byte order mark.
func beginsMagic(head []byte) bool {
	begins := func(magic string) bool { return strings.HasPrefix(magic, string(head)) }
	for _, m := range magics {
		if begins(m.bytes) {
			return true
		}
	}
	return begins(arrowStreamMagic) || begins("\ufeff") || BeginsCompression(head)
}

// foreign names the file that begins with these bytes, or returns "".
func foreign(head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.name
		}
	}
	return ""
}

// detect returns the format for Auto.
func (o Options) detect(file *File) (Format, error) {
	if o.Format != Auto {
		return o.Format, nil
	}
	ext := strings.ToLower(filepath.Ext(TrimCompression(file.Name())))
	switch ext {
	case ".csv", ".tsv":
		return CSV, nil
	case ".txt", ".dat":
		return o.Otherwise, nil
	}
	head, err := beginning(file.Peek)
	if err != nil {
		return Auto, err
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) && m.format != Auto {
			return m.format, nil
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte(arrowStreamMagic)):
		return Arrow, nil
	case ext == ".parquet" || ext == ".pq":
		return Parquet, nil
	case ext == ".arrow" || ext == ".arrows" || ext == ".feather" || ext == ".ipc":
		return Arrow, nil
	}
	return o.Otherwise, nil
}
