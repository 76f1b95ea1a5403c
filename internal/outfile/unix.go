//go:build unix

package outfile

import (
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
