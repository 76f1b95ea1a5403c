//go:build windows

package replica

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock keeps other servers from a file until it is closed. Nobody could read what is locked, so that is a byte after
// any end.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|
		windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errBusy
	}
	return err
}
