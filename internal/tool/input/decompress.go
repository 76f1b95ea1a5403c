package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// formatError reports compressed data that are damaged or in another format.
type formatError struct {
	format string
	err    error
}

func (e *formatError) Unwrap() error { return e.err }

func (e *formatError) Error() string {
	if e.err == nil {
		return "is no " + e.format + " file"
	}
	text := e.err.Error()
	text = strings.TrimPrefix(text, e.format+": ")
	text = strings.TrimPrefix(text, "bzip2 data invalid: ")
	return "damaged " + e.format + " data: " + text
}

// compression is a format of compressed files.
type compression struct {
	name     string
	suffixes []string
	magic    []byte
	other    bool // files may also begin otherwise (zstd's skippable frames)
	open     func(io.Reader) (io.Reader, error)
}

// gzip and zstd come from klauspost/compress, which is about twice as fast as the standard library. That has no zstd.
var compressions = []compression{
	{"gzip", []string{".gz", ".gzip"}, []byte{0x1f, 0x8b}, false,
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"bzip2", []string{".bz2"}, []byte("BZh"), false,
		func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"xz", []string{".xz"}, []byte("\xfd7zXZ\x00"), false, newXZReader},
	{"zstd", []string{".zst", ".zstd"}, []byte{0x28, 0xb5, 0x2f, 0xfd}, true,
		func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }},
}

func byName(path string) *compression {
	ext := strings.ToLower(filepath.Ext(path))
	for i := range compressions {
		for _, suffix := range compressions[i].suffixes {
			if ext == suffix {
				return &compressions[i]
			}
		}
	}
	return nil
}

// Compression returns the name of the compression of data with these first bytes, or "".
func Compression(head []byte) string {
	for _, c := range compressions {
		if bytes.HasPrefix(head, c.magic) {
			return c.name
		}
	}
	return ""
}

// BeginsCompression reports whether data with these first bytes may be compressed, if more of them follow.
func BeginsCompression(head []byte) bool {
	return slices.ContainsFunc(compressions, func(c compression) bool { return bytes.HasPrefix(c.magic, head) })
}

// TrimCompression returns a path without the extension of its compression: "a.csv" for "a.csv.gz".
func TrimCompression(path string) string {
	if byName(path) != nil {
		return path[:len(path)-len(filepath.Ext(path))]
	}
	return path
}

func (f *File) decompress(path string) (io.Reader, error) {
	c := byName(path)
	if c == nil || path == Stdin {
		return f.source, nil
	}
	f.packed = c.name
	buffered := bufio.NewReaderSize(f.source, 256<<10)
	// The libraries treat an empty file as the end of the data, or return errors of their own. So the file is checked
	// here.
	head, err := buffered.Peek(len(c.magic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(head, c.magic) && !(c.other && len(head) == len(c.magic)) {
		if len(head) > 0 && bytes.HasPrefix(c.magic, head) {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, &formatError{format: c.name}
	}
	return f.beside(c, buffered)
}

// beside returns a reader of what a compressed file has. A regular file is decompressed beside that reader, by as many
// cores as its format lets.
func (f *File) beside(c *compression, buffered *bufio.Reader) (io.Reader, error) {
	if f.size >= 0 && c.name == "gzip" {
		return f.staged(func(s *stage) { gunzip(s, buffered) }), nil
	}
	if f.size >= 0 && c.name == "xz" {
		file := io.NewSectionReader(randomCounter{f}, 0, f.size)
		if blocks := xzBlocks(file); blocks != nil {
			return f.staged(func(s *stage) { unxz(s, file, blocks) }), nil
		}
	}
	r, err := c.open(buffered)
	if err != nil {
		return nil, err
	}
	if z, ok := r.(*zstd.Decoder); ok { // it has goroutines of its own
		f.close = z.Close
		return r, nil
	}
	if f.size < 0 {
		return r, nil
	}
	return f.staged(func(s *stage) { s.all(r) }), nil
}

func (f *File) staged(fill func(*stage)) io.Reader {
	s := newStage(f.ctx, fill)
	f.close = s.close
	return s
}
