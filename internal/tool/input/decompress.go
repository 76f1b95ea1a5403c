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
	open     func(io.Reader) (io.Reader, func(), error)
}

// gzip and zstd come from klauspost/compress, which is about twice as fast as the standard library. That has no zstd.
var compressions = []compression{
	{"gzip", []string{".gz", ".gzip"}, []byte{0x1f, 0x8b}, false, func(r io.Reader) (io.Reader, func(), error) {
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	}},
	{"bzip2", []string{".bz2"}, []byte("BZh"), false, func(r io.Reader) (io.Reader, func(), error) {
		return bzip2.NewReader(r), func() {}, nil
	}},
	{"xz", []string{".xz"}, []byte("\xfd7zXZ\x00"), false, newXZReader},
	{"zstd", []string{".zst", ".zstd"}, []byte{0x28, 0xb5, 0x2f, 0xfd}, true,
		func(r io.Reader) (io.Reader, func(), error) {
			z, err := zstd.NewReader(r)
			if err != nil {
				return nil, func() {}, err
			}
			return z, z.Close, nil
		}},
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
	r, free, err := c.open(buffered)
	f.close = free
	return r, err
}
