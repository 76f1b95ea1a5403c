// Package outfile writes output files. A regular file is replaced atomically: a temporary file in the same folder is
// moved to its place when it is complete. Devices, pipes and open files of this process (/dev/stdout, /dev/fd/3) are
// written directly. A Writer writes pairs to any of these, as Parquet or Arrow.
package outfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vkds/vkds/internal/tool/input"
	"golang.org/x/term"
)

// Error reports an error of an output file. It names the requested file, not a temporary one.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Reasons why a file is not written, in addition to the system's.
var (
	ErrCompressed = errors.New("files are written uncompressed, and under a name that ends so could not be read")
	ErrStdout     = errors.New("is not the name of a file here (./- would be one)")
	ErrEmpty      = errors.New("the name of an output file is empty")
	ErrTerminal   = errors.New("is a terminal, which shows text only")
)

// File is an output file that is being written. Only one goroutine at a time may use it.
type File struct {
	path string // as the caller names it
	goal
	file *os.File  // the temporary file, or the file that is written directly
	to   io.Writer // writes to it
	done bool
}

// goal is the target of a path.
type goal struct {
	place string      // the path after symbolic links
	old   fs.FileInfo // the existing file, or nil

	asItIs     bool // it is written directly, and not replaced
	descriptor int  // of an open file of this process; otherwise -1
}

// Check returns an *Error if Create would fail for a path, as far as this can be found without writing.
func Check(path string) error {
	_, err := locate(path)
	return err
}

// CheckBinary is Check for a file that is not text. A terminal is an error.
func CheckBinary(path string) error {
	g, err := locate(path)
	if err == nil && g.terminal() {
		err = named(path, ErrTerminal)
	}
	return err
}

// Replaces reports whether Create and Commit would replace a file at a path.
func Replaces(path string) bool {
	g, err := locate(path)
	return err == nil && g.old != nil && !g.asItIs
}

// locate follows a path's symbolic links, and finds the existing file.
func locate(path string) (g goal, err error) {
	switch {
	case path == "":
		return g, ErrEmpty
	case path == input.Stdin:
		return g, named(path, ErrStdout)
	case input.TrimCompression(path) != path:
		return g, named(path, ErrCompressed)
	}
	if err := g.find(path); err != nil {
		return g, named(path, err)
	}
	return g, nil
}

func (g *goal) find(path string) (err error) {
	if err := g.follow(path); err != nil {
		return err
	}
	switch g.old, err = os.Stat(g.place); {
	case g.descriptor >= 0:
		return descriptorWritable(g.descriptor)
	case errors.Is(err, fs.ErrNotExist) && !g.asItIs:
		g.old = nil
	case err != nil:
		return err
	case g.old.IsDir():
		return syscall.EISDIR
	default:
		if err := writable(g.place); err != nil {
			return err
		}
		if g.asItIs = g.asItIs || !g.old.Mode().IsRegular(); g.asItIs {
			return nil
		}
	}
	dir := filepath.Dir(g.place)
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return syscall.ENOTDIR
	}
	if err := writable(dir); err != nil {
		return fmt.Errorf("can't be written beside its place, in %s: %w", dir, err)
	}
	return nil
}

// follow follows symbolic links to the last target, also if nothing is there yet. It does not follow a link to an open
// file, because the process that has opened the file writes to it even if its name has changed.
func (g *goal) follow(path string) error {
	g.place = path
	for range 40 { // as many as Linux follows
		if g.descriptor, g.asItIs = openFile(g.place); g.asItIs {
			return nil
		}
		target, err := os.Readlink(g.place)
		if err != nil {
			return nil // not a link, or nothing
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(g.place), target)
		}
		g.place = target
	}
	return syscall.ELOOP
}

// terminal reports whether the target is a terminal.
func (g *goal) terminal() bool {
	switch {
	case g.descriptor >= 0:
		return term.IsTerminal(g.descriptor)
	case g.old == nil || g.old.Mode()&fs.ModeCharDevice == 0:
		return false
	}
	f, err := os.OpenFile(g.place, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return term.IsTerminal(int(f.Fd()))
}

// named returns an Error without the file names of the system's errors, which may be temporary.
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

// Create begins to write a file, whose folder must exist. Error: *Error, or the context's cause.
//
// Commit replaces a regular file. The new one gets the permissions of the old one, and its owner if allowed. If the
// path is a symbolic link, Commit replaces its target. Create removes temporary files that killed writers of the same
// file have left.
//
// Devices, pipes and open files, with names like /dev/stdout, are written directly, at their position. A write to a
// pipe that nobody reads returns when the context ends.
func Create(ctx context.Context, path string) (*File, error) {
	g, err := locate(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, goal: g}
	if f.asItIs {
		if f.file, err = g.open(ctx); err != nil && ctx.Err() == nil {
			err = named(path, err)
		}
		f.to = Until(ctx, f.file)
		return f, err
	}
	removeOrphans(f.place)
	if f.file, err = createBeside(f.place); err != nil {
		return nil, named(path, err)
	}
	f.to = f.file
	if err := f.keepPermissions(); err != nil {
		f.Abort()
		return nil, named(path, err)
	}
	return f, nil
}

// open opens a file that is written directly. It appends to a regular file that another process has open.
func (g *goal) open(ctx context.Context) (*os.File, error) {
	switch {
	case g.descriptor == 1: // a write without a reader ends the process, as usual
		return os.Stdout, nil
	case g.descriptor >= 0:
		return openDescriptor(g.descriptor, g.place)
	}
	flags := os.O_WRONLY
	if g.old.Mode().IsRegular() {
		flags |= os.O_APPEND
	}
	return input.OpenUntil(ctx, g.place, flags)
}

func (f *File) keepPermissions() error {
	if f.old == nil {
		return nil
	}
	keepOwner(f.file, f.old)
	return f.file.Chmod(f.old.Mode().Perm())
}

// Write writes bytes. Error: *Error, or the context's cause.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = named(f.path, err)
	}
	return n, err
}

// Commit syncs the file to disk and moves it to its path. If it fails, it returns an *Error, removes the temporary
// file, and leaves what was at the path unchanged.
func (f *File) Commit() error {
	if f.done {
		return named(f.path, os.ErrClosed)
	}
	var err error
	if f.asItIs {
		err = f.close()
	} else if err = f.file.Sync(); err == nil {
		err = rename(f.file, f.place)
	}
	if err != nil {
		f.Abort()
		return named(f.path, err)
	}
	if f.done = true; !f.asItIs {
		_ = f.file.Close() // it is on disk
		syncFolder(filepath.Dir(f.place))
	}
	return nil
}

// close closes a file that is written directly, unless it is the process's standard output.
func (f *File) close() error {
	if f.file == os.Stdout {
		return nil
	}
	return f.file.Close()
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	if f.asItIs {
		_ = f.close()
		return
	}
	_ = f.file.Close()           // first, because Windows can't remove an open file
	_ = os.Remove(f.file.Name()) // the next writer removes an orphan
}

// Replace writes a whole file, as Create, Write and Commit do.
func Replace(ctx context.Context, path string, content []byte) error {
	f, err := Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Commit()
}

// syncFolder syncs the new name to disk. Some file systems can't sync a folder; the file is complete under either name.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// Temporary files have names like .NAME.XXXXXXXX.tmp, and belong to their writer while it runs.

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

// removeOrphans removes temporary files of a place whose writers no longer run. It ignores errors.
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
