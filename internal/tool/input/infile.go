package input

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Stdin is the path of standard input.
const Stdin = "-"

// Error reports an error of a whole file: it can't be opened or read, is a directory, is truncated, or is not what its
// name says.
type Error struct {
	File string // the path as given, or "standard input"
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Causes that an Error may wrap, in addition to those of the system (fs.ErrNotExist, syscall.EISDIR and the like).
var (
	ErrTruncated = errors.New("ends too early: the file is truncated")
	ErrName      = errors.New("is not the name of a file")
	ErrSeek      = errors.New("must be an uncompressed regular file")
)

// File is an open input: a regular file, a pipe or standard input, plain or compressed (gzip, bzip2, xz, zstd, by the
// extension). Errors name the file. Only one goroutine may read it; Position
// and ReadAt of Random and Rest are safe for others.
type File struct {
	name   string
	raw    *os.File
	size   int64
	read   atomic.Int64
	ctx    context.Context
	source io.Reader // bytes as stored
	plain  io.Reader // bytes after decompression
	head   []byte    // the decompressed bytes that Peek has read and Read has not returned
	close  func()
	packed string // the name of the compression, or ""
}

// OpenFile opens a file for reading, or standard input if path is Stdin. A file whose name ends in .gz, .bz2, .xz, .zst
// or .zstd is decompressed; standard input never is. When ctx is done, a Read that waits for a pipe or a terminal, and
// every later one, returns the context's cause. Error: *Error, or the context's cause.
func OpenFile(ctx context.Context, path string) (_ *File, err error) {
	f := &File{name: path, ctx: ctx, size: -1, close: func() {}}
	if path == "" {
		return nil, &Error{`""`, ErrName}
	}
	if path == Stdin {
		f.name, f.raw = "standard input", os.Stdin
	} else if f.raw, err = OpenUntil(ctx, path, os.O_RDONLY); err != nil {
		return nil, f.blame(err)
	}
	info, err := f.raw.Stat()
	if err != nil {
		f.Close()
		return nil, f.fail(err)
	}
	switch {
	case info.IsDir():
		f.Close()
		return nil, f.fail(syscall.EISDIR)
	case info.Mode().IsRegular():
		f.size = info.Size()
		f.source = counter{f}
	default:
		f.source = newPump(ctx, counter{f})
	}
	if f.plain, err = f.decompress(path); err != nil {
		f.Close()
		return nil, f.blame(err)
	}
	return f, nil
}

// Check returns an *Error if Open would fail for a path, as far as this can be found without waiting for a pipe.
func Check(path string) error {
	f := &File{name: path}
	switch path {
	case "":
		return &Error{`""`, ErrName}
	case Stdin:
		if ClosedAtStart(0) {
			return &Error{"standard input", syscall.EBADF}
		}
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return f.fail(err)
	case info.IsDir():
		return f.fail(syscall.EISDIR)
	case !info.Mode().IsRegular():
		return nil
	}
	opened, err := os.Open(path)
	if err != nil {
		return f.fail(err)
	}
	return opened.Close()
}

// Again reports whether an opened path can be opened once more and then has the same content.
func Again(path string) bool {
	info, err := os.Stat(path)
	return path != Stdin && err == nil && info.Mode().IsRegular()
}

// OpenUntil is os.OpenFile without creation. It returns the context's cause when ctx is done, because opening a named
// pipe waits for its other end.
func OpenUntil(ctx context.Context, path string, flags int) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.OpenFile(path, flags, 0)
		opened <- result{file, err}
	}()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Name returns the path as given to Open, or "standard input".
func (f *File) Name() string { return f.name }

// Compressed reports whether the file is decompressed while it is read.
func (f *File) Compressed() bool { return f.packed != "" }

// Position returns the number of bytes of the stored (compressed) file read so far, and its size, or -1 if that is not
// known.
func (f *File) Position() (read, size int64) {
	if read = f.read.Load(); f.size >= 0 {
		read = min(read, f.size) // some bytes are read twice
	}
	return read, f.size
}

// Read reads decompressed bytes. An error other than io.EOF is an *Error (which wraps ErrTruncated if compressed data
// end too early) or the context's cause.
func (f *File) Read(p []byte) (int, error) {
	if len(f.head) > 0 {
		n := copy(p, f.head)
		f.head = f.head[n:]
		return n, nil
	}
	n, err := f.plain.Read(p)
	if err != nil && err != io.EOF {
		err = f.blame(err)
	}
	return n, err
}

// Comes reports whether a Read would return within a time, with or without data. It waits only for pipes and terminals.
func (f *File) Comes(within time.Duration) bool {
	p, waits := f.source.(*pump)
	return !waits || len(f.head) > 0 || p.comes(within)
}

// Peek returns the next n decompressed bytes, or fewer at the end of the file. Read returns them again. Errors are
// those of Read.
func (f *File) Peek(n int) ([]byte, error) {
	for have := len(f.head); have < n; have = len(f.head) {
		f.head = append(f.head, make([]byte, n-have)...)
		m, err := f.plain.Read(f.head[have:])
		f.head = f.head[:have+m]
		switch {
		case err == io.EOF:
			return f.head, nil
		case err != nil:
			return nil, f.blame(err)
		}
	}
	return f.head[:n], nil
}

// Rewind makes Read continue at an offset in bytes, until ctx is done. It fails like Random.
func (f *File) Rewind(ctx context.Context, offset int64) error {
	if f.packed != "" || f.size < 0 {
		return f.fail(ErrSeek)
	}
	if _, err := f.raw.Seek(offset, io.SeekStart); err != nil {
		return f.fail(err)
	}
	f.ctx, f.head = ctx, nil
	f.read.Store(offset)
	return nil
}

// Random returns the stored bytes for reading in any order, for formats whose directory is at the end. It fails with
// ErrSeek if the file is compressed or not regular. It does not move Read's position.
func (f *File) Random() (*io.SectionReader, error) {
	if f.packed != "" || f.size < 0 {
		return nil, f.fail(ErrSeek)
	}
	return io.NewSectionReader(randomCounter{f}, 0, f.size), nil
}

// Rest says where the file goes on, for Blocks, after so many bytes of its text. It returns nil if the text was
// read from other bytes, or from fewer, or if others may read the file after it.
func (f *File) Rest(read int64) (io.ReaderAt, int64) {
	taken := f.read.Load()
	mark := taken - read // bytes of a byte order mark
	if f.packed != "" || f.size < 0 || f.raw == os.Stdin || mark != 0 && mark != 3 {
		return nil, 0
	}
	offset, err := f.raw.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, 0
	}
	head := make([]byte, 3)
	n, _ := f.raw.ReadAt(head, offset-taken)
	if marked := string(head[:n]) == "\ufeff"; marked != (mark == 3) || head[0] >= 0xfe {
		return nil, 0
	}
	return blamed{f}, offset
}

// blamed reads the stored file in any order, with errors as those of Read.
type blamed struct{ f *File }

func (b blamed) ReadAt(p []byte, at int64) (int, error) {
	n, err := randomCounter(b).ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = b.f.blame(err)
	}
	return n, err
}

// Close closes the file. Standard input stays open.
func (f *File) Close() error {
	f.close()
	f.close = func() {}
	if f.raw == os.Stdin {
		return nil
	}
	return f.raw.Close()
}

// fail returns an Error of a cause, without the path that os errors repeat.
func (f *File) fail(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &Error{File: f.name, Err: err}
}

// blame returns the context's cause if the context has ended, and otherwise an error of the file.
func (f *File) blame(err error) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	var pe *fs.PathError
	var format *formatError
	switch {
	case errors.As(err, &pe) || errors.As(err, &format):
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		err = ErrTruncated
	case f.packed != "":
		err = &formatError{f.packed, err}
	}
	return f.fail(err)
}

// counter reads the stored file in order and counts the bytes.
type counter struct{ f *File }

func (c counter) Read(p []byte) (int, error) {
	if c.f.ctx.Err() != nil {
		return 0, context.Cause(c.f.ctx)
	}
	n, err := c.f.raw.Read(p)
	c.f.read.Add(int64(n))
	return n, err
}

// randomCounter reads the stored file in any order. The number of bytes read shows the progress well enough.
type randomCounter struct{ f *File }

func (c randomCounter) ReadAt(p []byte, at int64) (int, error) {
	if c.f.ctx.Err() != nil {
		return 0, context.Cause(c.f.ctx)
	}
	n, err := c.f.raw.ReadAt(p, at)
	c.f.read.Add(int64(n))
	return n, err
}
