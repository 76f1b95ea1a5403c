//go:build unix

package replica

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps other servers from a file until it is closed.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}
