//go:build unix

package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/vkds/vkds/internal/tool/input"
	"golang.org/x/sys/unix"
)

// openFile reports whether a path names an open file of a process, such as /dev/fd/3, or another file in /proc. If the
// file is open in this process, descriptor is its number, otherwise -1.
func openFile(path string) (descriptor int, open bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return -1, false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil || dir != "/dev/fd" && !strings.HasPrefix(dir, "/proc/") {
		return -1, false
	}
	self, _ := filepath.EvalSymlinks("/proc/self") // in a namespace its number differs from os.Getpid
	if number, err := strconv.Atoi(filepath.Base(path)); err == nil && (dir == "/dev/fd" || dir == self+"/fd") {
		return number, true
	}
	return -1, true
}

// descriptorWritable returns an error if an open file can't be written. A file that this process has opened itself is
// not an output.
func descriptorWritable(descriptor int) error {
	if input.ClosedAtStart(descriptor) {
		return syscall.EBADF // Go has opened another file in its place
	}
	flags, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0)
	if err == nil && flags&unix.FD_CLOEXEC != 0 {
		err = syscall.EBADF
	}
	if err != nil {
		return err
	}
	mode, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFL, 0)
	if err == nil && mode&unix.O_ACCMODE == unix.O_RDONLY {
		err = syscall.EBADF
	}
	return err
}

// openDescriptor returns an open file with a new descriptor.
func openDescriptor(descriptor int, name string) (*os.File, error) {
	own, err := unix.FcntlInt(uintptr(descriptor), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), name), nil
}

// writable returns an error if a file can't be written, or if a folder can't get new files.
func writable(path string) error {
	const write = 2 // W_OK
	return syscall.Access(path, write)
}

// keepOwner gives a file the owner of an old one, if allowed.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}

// lock locks a file until unlock or Close. It returns syscall.EWOULDBLOCK if another process has locked it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlock ends a lock. After Close alone it may last longer, because a process that is being started has a copy of the
// descriptor until it runs its program.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// newTemporary creates a new file and locks it. The lock ends with the process. The file has the permissions of a file
// created by name (those of os.CreateTemp are narrower).
func newTemporary(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	// Another writer may have taken it for an orphan before it was locked. If the file system has no locks, no file is
	// taken for an orphan.
	taken := errors.Is(lock(f), syscall.EWOULDBLOCK)
	if _, err := os.Stat(name); taken || errors.Is(err, fs.ErrNotExist) {
		_ = f.Close()
		return nil, fs.ErrExist
	}
	return f, nil
}

// removeOrphan removes a temporary file unless a process has locked it.
func removeOrphan(name string) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	if lock(f) == nil {
		_ = os.Remove(name)
	}
	_ = f.Close()
}

// rename moves an open temporary file to its place, and replaces what is there.
func rename(f *os.File, to string) error {
	err := os.Rename(f.Name(), to)
	if err == nil {
		unlock(f) // so that others can claim it
	}
	return err
}

// claim locks a file until release closes it. If the file system has no locks, it is never taken.
func claim(f *os.File) (release func(), taken bool) {
	if errors.Is(lock(f), syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, true
	}
	return func() {
		unlock(f)
		_ = f.Close()
	}, false
}
