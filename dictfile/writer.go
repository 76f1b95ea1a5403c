package dictfile

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Writer writes one dictionary. Until Close succeeds nothing is at the path: the
// pairs go to a temporary file beside it, which Close moves there and Abort
// removes.
type Writer struct {
	path    string
	temp    *os.File
	out     *bufio.Writer
	header  Header
	written int64
	block   uint64
	buffer  []byte // the block being filled: head, keys, then values from the middle
	keys    []uint32
	values  []uint32
	err     error
	done    bool
}

// Check tells what would keep Create from writing to a path, as far as that
// shows without writing: a missing folder, or something at the path that is no
// regular file. An error is an *Error.
func Check(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return named(path, err)
	} else if !info.IsDir() {
		return named(path, syscall.ENOTDIR)
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return named(path, syscall.EISDIR)
	case err == nil && !info.Mode().IsRegular():
		return named(path, errors.New("is no regular file, so it can't be replaced"))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return named(path, err)
	}
	return nil
}

// named makes an Error without the names that errors of the system bring: they
// may be the temporary file's, which says nothing to anybody.
func named(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	return &Error{File: path, Err: err}
}

// Create begins to write a dictionary to path, whose folder must exist; a
// regular file that is there is replaced by Close. h.Pairs must be the number
// of pairs that will be written. An error is an *Error.
func Create(path string, h Header) (*Writer, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	description, err := json.Marshal(h)
	if err != nil {
		return nil, named(path, err)
	}
	if len(description) > longestHeader {
		return nil, named(path, fmt.Errorf("a description of %d bytes is too long", len(description)))
	}
	w := &Writer{path: path, header: h, buffer: make([]byte, blockHead+8*blockPairs+checksumBytes)}
	if w.temp, err = createBeside(path); err != nil {
		return nil, named(path, err)
	}
	w.out = bufio.NewWriterSize(w.temp, 256<<10)
	w.keys = make([]uint32, 0, blockPairs)
	w.values = make([]uint32, 0, blockPairs)
	head := []byte(Magic)
	head = binary.LittleEndian.AppendUint32(head, Version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(description)))
	head = append(head, description...)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	w.emit(head)
	if w.err != nil {
		_ = w.Abort()
		return nil, w.err
	}
	return w, nil
}

// createBeside makes a new hidden file in path's folder, with the permissions
// that a file made by name would have (os.CreateTemp's are narrower).
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for attempt := 0; ; attempt++ {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && attempt < 100 {
			continue
		}
		return f, err
	}
}

// Write adds pairs; the two slices have one length. An error is an *Error, and
// every later call returns it again.
func (w *Writer) Write(keys, values []uint32) error {
	if len(keys) != len(values) {
		panic(fmt.Sprintf("dictfile: %d keys and %d values", len(keys), len(values)))
	}
	for len(keys) > 0 && w.err == nil {
		n := min(len(keys), blockPairs-len(w.keys))
		w.keys = append(w.keys, keys[:n]...)
		w.values = append(w.values, values[:n]...)
		keys, values = keys[n:], values[n:]
		if len(w.keys) == blockPairs {
			w.flush()
		}
	}
	return w.err
}

// flush writes the pairs collected so far as one block.
func (w *Writer) flush() {
	b := binary.LittleEndian.AppendUint32(w.buffer[:0], uint32(len(w.keys)))
	for _, words := range [][]uint32{w.keys, w.values} {
		for _, x := range words {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	b = binary.LittleEndian.AppendUint32(b, blockChecksum(w.block, b))
	w.buffer = b
	w.block++
	w.written += int64(len(w.keys))
	w.keys, w.values = w.keys[:0], w.values[:0]
	w.emit(b)
}

// blockChecksum covers a block's place in the file and its bytes.
func blockChecksum(number uint64, block []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], number)
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, block)
}

func (w *Writer) emit(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.out.Write(b); err != nil {
		w.fail(err)
	}
}

func (w *Writer) fail(err error) { w.err = named(w.path, err) }

// Close writes what is left, makes sure that it is on disk and moves the file to
// its path. After an error, an *Error, which wraps a *CountError where pairs are
// missing, nothing is left behind and what was at the path is still there.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if len(w.keys) > 0 {
		w.flush()
	}
	if w.written != w.header.Pairs && w.err == nil {
		w.fail(&CountError{w.written, w.header.Pairs})
	}
	w.flush() // the block of no pairs
	for _, step := range []func() error{
		w.out.Flush,
		w.temp.Sync,
		w.temp.Close,
		func() error { return os.Rename(w.temp.Name(), w.path) },
	} {
		if w.err != nil {
			break
		}
		if err := step(); err != nil {
			w.fail(err)
		}
	}
	if w.err != nil {
		_ = w.Abort()
		return w.err
	}
	w.done = true
	syncFolder(filepath.Dir(w.path))
	return nil
}

// syncFolder puts the new name on disk, as far as the file system can: some
// can't sync a folder, and the file is whole under either name.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// Abort gives up: it removes the temporary file. After Close it does nothing.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	if w.err == nil {
		w.fail(os.ErrClosed)
	}
	_ = w.temp.Close() // closed already where Close came that far
	if err := os.Remove(w.temp.Name()); err != nil {
		return named(w.path, err)
	}
	return nil
}
