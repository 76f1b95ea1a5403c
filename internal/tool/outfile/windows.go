//go:build windows

package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// openFile tells whether a path is a name of an open file, of which Windows has none.
func openFile(string) (descriptor int, open bool) { return -1, false }

func descriptorWritable(int) error { return windows.ERROR_INVALID_HANDLE }

func openDescriptor(int, string) (*os.File, error) { return nil, windows.ERROR_INVALID_HANDLE }

// writable says why nothing may be written at a path: to a file that is there. What keeps one out of a folder shows
// when a file is made in it.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		return windows.ERROR_ACCESS_DENIED
	}
	return nil
}

// keepOwner: a new file is its writer's.
func keepOwner(*os.File, fs.FileInfo) {}

// newTemporary makes a file that is not there yet. Nobody can remove or replace it while it is open, but its own handle
// may rename it.
func newTemporary(name string) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(path, windows.GENERIC_WRITE|windows.DELETE, windows.FILE_SHARE_READ, nil,
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

// removeOrphan removes a temporary file unless a writer is at work on it.
func removeOrphan(name string) { _ = os.Remove(name) }

// patience is how long a file that somebody else has open is waited for: readers, indexers and virus scanners have
// done with it after a moment.
const patience = time.Second

// rename gives an open temporary file its name, in the place of what is there.
func rename(f *os.File, to string) error {
	path, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	name, err := windows.UTF16FromString(path)
	if err != nil {
		return err
	}
	// FILE_RENAME_INFO
	type renaming struct {
		replace uint32
		folder  windows.Handle
		bytes   uint32
		name    [windows.MAX_LONG_PATH]uint16
	}
	info := renaming{replace: 1, bytes: uint32(len(name)-1) * 2}
	if copy(info.name[:], name) < len(name) {
		return windows.ERROR_FILENAME_EXCED_RANGE
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileRenameInfo,
			(*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
		inUse := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !inUse || time.Now().After(end) {
			return err
		}
	}
}

// claim makes an event that is named after the file and ends with its process. It keeps no handle of the file, which
// could not be replaced then.
func claim(f *os.File) (release func(), taken bool) {
	defer f.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return func() {}, false
	}
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`Global\vkds-claim-%08x-%08x%08x`, info.VolumeSerialNumber,
		info.FileIndexHigh, info.FileIndexLow))
	if err != nil {
		return func() {}, false
	}
	event, err := windows.CreateEvent(nil, 1, 0, name)
	release = func() { _ = windows.CloseHandle(event) }
	switch {
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS):
		release()
		return nil, true
	case errors.Is(err, windows.ERROR_ACCESS_DENIED): // another user's
		return nil, true
	case err != nil:
		return func() {}, false
	}
	return release, false
}
