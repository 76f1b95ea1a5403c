// Package outfile writes output files whole or not at all: to a temporary file
// beside their place, which is moved there when all is written.
package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vkds/vkds/internal/input/infile"
)

// Error reports what is wrong with an output file. It names the file that was
// asked for, never a temporary one.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Why a file isn't written, beside what the system says.
var (
	ErrNotRegular = errors.New("is no regular file, so it can't be replaced")
	ErrCompressed = errors.New("files are written uncompressed, and under a name that ends so could not be read")
	ErrStdout     = errors.New("is no name of a file here (./- would be one)")
	ErrEmpty      = errors.New("the name of an output file is empty")
)

// File is an output file that is being written. Until Commit succeeds nothing is
// at its path. It is used from one goroutine at a time.
type File struct {
	path  string      // as asked for
	place string      // where it goes, symbolic links followed
	old   fs.FileInfo // what is there now, or nil
	temp  *os.File
	done  bool
}

// Check tells what would keep Create from writing to a path, as far as that
// shows without writing. An error is an *Error.
func Check(path string) error {
	_, _, err := locate(path)
	return err
}

// CheckReplace is Check for Replace.
func CheckReplace(path string) error {
	if err := Check(path); !errors.Is(err, ErrNotRegular) {
		return err
	}
	return nil
}

// locate follows a path's symbolic links, and says what is there now.
func locate(path string) (place string, old fs.FileInfo, err error) {
	switch {
	case path == "":
		return "", nil, ErrEmpty
	case path == infile.Stdin:
		return "", nil, named(path, ErrStdout)
	case infile.TrimCompression(path) != path:
		return "", nil, named(path, ErrCompressed)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "", nil, named(path, ErrNotRegular) // /dev/stdout of a pipe is a link to what has no name
	}
	if place, err = follow(path); err != nil {
		return "", nil, named(path, err)
	}
	switch old, err = os.Stat(place); {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return "", nil, named(path, err)
	case old.IsDir():
		return "", nil, named(path, syscall.EISDIR)
	default:
		if err := writable(place); err != nil {
			return "", nil, named(path, err)
		}
	}
	dir := filepath.Dir(place)
	if info, err := os.Stat(dir); err != nil {
		return "", nil, named(path, err)
	} else if !info.IsDir() {
		return "", nil, named(path, syscall.ENOTDIR)
	}
	if err := writable(dir); err != nil {
		return "", nil, named(path, fmt.Errorf("can't be written beside its place, in %s: %w", dir, err))
	}
	return place, old, nil
}

// follow returns what a path's last symbolic link points to, also where nothing
// is there yet.
func follow(path string) (string, error) {
	for range 40 { // as many as Linux follows
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or nothing
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", syscall.ELOOP
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

// Create begins to write a file, whose folder must exist. A regular file that is
// there is replaced by Commit: the new one gets its permissions, and its owner
// where that may be; where the path is a symbolic link, what it points to is
// replaced. What killed writers of the same file left behind is removed. An
// error is an *Error.
func Create(path string) (*File, error) {
	place, old, err := locate(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, place: place, old: old}
	removeOrphans(place)
	if f.temp, err = createBeside(place); err != nil {
		return nil, named(path, err)
	}
	if err := f.keepPermissions(); err != nil {
		f.Abort()
		return nil, named(path, err)
	}
	return f, nil
}

func (f *File) keepPermissions() error {
	if f.old == nil {
		return nil
	}
	keepOwner(f.temp, f.old)
	return f.temp.Chmod(f.old.Mode().Perm())
}

// Write writes bytes to the temporary file. An error is an *Error.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.temp.Write(p)
	if err != nil {
		err = named(f.path, err)
	}
	return n, err
}

// Commit makes sure that all is on disk and moves the file to its path. After an
// error, an *Error, nothing is left behind and what was at the path is still
// there.
func (f *File) Commit() error {
	if f.done {
		return named(f.path, os.ErrClosed)
	}
	err := f.temp.Sync()
	if err == nil {
		err = rename(f.temp, f.place)
	}
	if err != nil {
		f.Abort()
		return named(f.path, err)
	}
	f.done = true
	_ = f.temp.Close() // it is on disk
	syncFolder(filepath.Dir(f.place))
	return nil
}

// Abort gives up and removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.temp.Close()           // first: Windows removes nothing that is open
	_ = os.Remove(f.temp.Name()) // what stays is an orphan, which the next writer removes
}

// Replace writes a whole file. What is no regular file (a terminal, a pipe) is
// written to. An error is an *Error.
func Replace(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		if err := writeTo(path, content); err != nil {
			return named(path, err)
		}
		return nil
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Commit()
}

// writeTo writes to what is there, which is neither made nor cut: not every system lets a device be cut.
func writeTo(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return cmp.Or(err, f.Close())
}

// syncFolder puts the new name on disk, as far as the file system can: some
// can't sync a folder, and the file is whole under either name.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// Temporary files are called .NAME.XXXXXXXX.tmp, and are their writer's while it is alive.

// createBeside makes a new temporary file.
func createBeside(place string) (*os.File, error) {
	dir, base := filepath.Split(place)
	for attempt := 0; ; attempt++ {
		f, err := newTemporary(filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32())))
		if errors.Is(err, fs.ErrExist) && attempt < 100 {
			continue
		}
		return f, err
	}
}

// removeOrphans removes the temporary files of a place that no process is at work on. What can't be removed stays.
func removeOrphans(place string) {
	dir, base := filepath.Split(place)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), "."+base+".")
		middle, tmp := strings.CutSuffix(middle, ".tmp")
		if !ok || !tmp || len(middle) != 8 || strings.Trim(middle, "0123456789abcdef") != "" || !e.Type().IsRegular() {
			continue
		}
		removeOrphan(filepath.Join(dir, e.Name()))
	}
}
