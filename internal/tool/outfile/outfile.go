// Package outfile writes output files. A regular file is there whole or not at all: it is written to a temporary file
// beside its place, which is moved there when all is written. A device, a pipe and an open file of this process
// (/dev/stdout, /dev/fd/3) are written to as they are. A Writer writes pairs as Parquet or Arrow into any of them.
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
	ErrCompressed = errors.New("files are written uncompressed, and under a name that ends so could not be read")
	ErrStdout     = errors.New("is not the name of a file here (./- would be one)")
	ErrEmpty      = errors.New("the name of an output file is empty")
	ErrTerminal   = errors.New("is a terminal, which shows text only")
)

// File is an output file that is being written. It is used from one goroutine at a time.
type File struct {
	path string // as asked for
	goal
	file *os.File  // the temporary file, or what is written to as it is
	to   io.Writer // writes to it
	done bool
}

// goal is what a path leads to.
type goal struct {
	place string      // symbolic links followed
	old   fs.FileInfo // what is there now, or nil

	asItIs     bool // it is written to, and not replaced
	descriptor int  // of an open file of this process; -1 of anything else
}

// Check tells what would keep Create from writing to a path, as far as that
// shows without writing. An error is an *Error.
func Check(path string) error {
	_, err := locate(path)
	return err
}

// CheckBinary is Check for a file that is not text. It refuses a terminal.
func CheckBinary(path string) error {
	g, err := locate(path)
	if err == nil && g.terminal() {
		err = named(path, ErrTerminal)
	}
	return err
}

// Replaces tells whether Create and Commit would replace a file at a path.
func Replaces(path string) bool {
	g, err := locate(path)
	return err == nil && g.old != nil && !g.asItIs
}

// locate follows a path's symbolic links, and says what is there now.
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

// follow finds what a path's last symbolic link points to, also if nothing is there yet. A link to an open file is not
// followed: whoever opened the file writes to it wherever its name leads by now.
func (g *goal) follow(path string) error {
	g.place = path
	for range 40 { // as many as Linux follows
		if g.descriptor, g.asItIs = openFile(g.place); g.asItIs {
			return nil
		}
		target, err := os.Readlink(g.place)
		if err != nil {
			return nil // no link, or nothing
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(g.place), target)
		}
		g.place = target
	}
	return syscall.ELOOP
}

// terminal tells whether a person would see what is written.
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

// Create begins to write a file, whose folder must exist. An error is an *Error, or the context's cause.
//
// A regular file is replaced by Commit: the new one gets its permissions, and its owner where that may be. If the path
// is a symbolic link, its target is replaced. Files that killed writers of the same file left behind are removed.
//
// Devices and pipes are written to as they are, and so are open files, by names such as /dev/stdout: at the position
// that they have. A write to a pipe that nobody reads ends when the context does.
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

// open opens what is written to as it is. Regular files that another process has open are appended to.
func (g *goal) open(ctx context.Context) (*os.File, error) {
	switch {
	case g.descriptor == 1: // of which writes end the process when its reader is gone, as is usual
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

// Write writes bytes. An error is an *Error, or the context's cause.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
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

// close closes what is written to as it is, unless all of the process has it.
func (f *File) close() error {
	if f.file == os.Stdout {
		return nil
	}
	return f.file.Close()
}

// Abort gives up and removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	if f.asItIs {
		_ = f.close()
		return
	}
	_ = f.file.Close()           // first: Windows removes nothing that is open
	_ = os.Remove(f.file.Name()) // what stays is an orphan, which the next writer removes
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
