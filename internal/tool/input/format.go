package input

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
)

// Format is how a file is stored. The zero value is Auto.
type Format uint8

const (
	// Auto tells Parquet and Arrow by their first bytes, then by the name's ending (.parquet, .pq, .arrow, .arrows,
	// .feather, .ipc), takes any file named .csv or .tsv for CSV, and anything else for Options.Otherwise, as it does
	// whatever is named .txt or .dat.
	Auto    Format = iota
	CSV            // delimited text
	Text           // a value a line, or a range LO:HI
	U32LE          // 4 bytes a value, as keytype.Type.FromBits has them, least significant first, a row after the other
	U32BE          // the same, most significant first
	U64LE          // the same of 8 bytes, least significant first
	U64BE          // and most significant first
	Parquet        // an uncompressed regular file, whatever is compressed inside
	Arrow          // Arrow IPC, as a file or a stream
	Lines          // a text a line, whatever is in it
)

var formatNames = enum.Names[Format]{Auto: "auto", CSV: "csv", Text: "text", U32LE: "u32le", U32BE: "u32be",
	U64LE: "u64le", U64BE: "u64be", Parquet: "parquet", Arrow: "arrow",
	Lines: "lines"}

func (f Format) String() string { return formatNames.String(f) }

// Formats are all there are, by their names.
var Formats = enum.Of("format", Auto, CSV, Text, Lines, U32LE, U32BE, U64LE, U64BE, Parquet, Arrow)

// width is that of a binary format's values.
func (f Format) width() structures.Width {
	if f == U64LE || f == U64BE {
		return structures.Bits64
	}
	return structures.Bits32
}

// magics are the first bytes of what is neither text nor plain values.
var magics = []struct {
	bytes, name string
	format      Format // Auto: none that is read here
}{
	{"PAR1\x15", "a Parquet file", Parquet}, // behind the magic, thrift's first field
	{arrowMagic + "\x00", "an Arrow file", Arrow},
	{"VKDS\r\n\x1a\n", "a saved dictionary", Auto},
}

// longestMagic is how many bytes are enough to tell.
const longestMagic = 8

// beginning looks at the first bytes of a file, as many as tell what it is: somebody may wait for the answer to a first
// line before writing the next one.
func beginning(peek func(n int) ([]byte, error)) (head []byte, err error) {
	for n := 1; n <= longestMagic; n++ {
		if head, err = peek(n); err != nil || len(head) < n || !beginsMagic(head) {
			break
		}
	}
	return head, err
}

// beginsMagic tells whether a file that begins so may turn out to be no text, or to have a byte order mark.
func beginsMagic(head []byte) bool {
	begins := func(magic string) bool { return strings.HasPrefix(magic, string(head)) }
	for _, m := range magics {
		if begins(m.bytes) {
			return true
		}
	}
	return begins(arrowStreamMagic) || begins("\ufeff") || BeginsCompression(head)
}

// foreign is what a file is by its first bytes, or "".
func foreign(head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.name
		}
	}
	return ""
}

// detect finds out what Auto stands for.
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
