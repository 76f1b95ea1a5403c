//go:build unix

package outfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

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

// lock locks a file until it is closed; syscall.EWOULDBLOCK where somebody else has.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

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
func rename(f *os.File, to string) error { return os.Rename(f.Name(), to) }

// claim locks a file until release closes it. Where a file system has no locks, it is nobody's.
func claim(f *os.File) (release func(), taken bool) {
	if errors.Is(lock(f), syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, true
	}
	return func() { _ = f.Close() }, false
}
