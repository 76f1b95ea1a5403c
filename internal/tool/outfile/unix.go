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

// openFile tells whether a path is a name of a file that a process has open, such as /dev/fd/3, or of anything else of
// a process. If it is this process that has it open, descriptor is its number, and else -1.
func openFile(path string) (descriptor int, open bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return -1, false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil || dir != "/dev/fd" && !strings.HasPrefix(dir, "/proc/") {
		return -1, false
	}
	self, _ := filepath.EvalSymlinks("/proc/self") // whose number is another one in a namespace
	if number, err := strconv.Atoi(filepath.Base(path)); err == nil && (dir == "/dev/fd" || dir == self+"/fd") {
		return number, true
	}
	return -1, true
}

// descriptorWritable says why nothing may be written to an open file. What this process has opened itself is nobody's
// output.
func descriptorWritable(descriptor int) error {
	if input.ClosedAtStart(descriptor) {
		return syscall.EBADF // and Go has put something else there
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

// openDescriptor gives an open file a descriptor of its own.
func openDescriptor(descriptor int, name string) (*os.File, error) {
	own, err := unix.FcntlInt(uintptr(descriptor), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), name), nil
}

// writable says why nothing may be written at a path: to a file that is there, or into a folder.
func writable(path string) error {
	const write = 2 // W_OK
	return syscall.Access(path, write)
}

// keepOwner gives a file the owner of an old one, for whoever may.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}

// lock locks a file until unlock, or until it is closed; syscall.EWOULDBLOCK where somebody else has.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlock ends a lock. Closing the file may end it later: a process that is being started has a copy of the descriptor
// until it runs its program.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// newTemporary makes a file that is not there yet, and locks it: the lock ends with its process however that ends. It
// has the permissions that a file made by name would have (os.CreateTemp's are narrower).
func newTemporary(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	// Another writer may have taken it for an orphan before it was locked. Where a file system has no locks, nothing is
	// taken for one.
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

// rename gives an open temporary file its name, in the place of what is there.
func rename(f *os.File, to string) error {
	err := os.Rename(f.Name(), to)
	if err == nil {
		unlock(f) // it may be claimed from now on
	}
	return err
}

// claim locks a file until release closes it. Where a file system has no locks, it is nobody's.
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
