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

// openFile returns false: on Windows no path names an open file.
func openFile(string) (descriptor int, open bool) { return -1, false }

func descriptorWritable(int) error { return windows.ERROR_INVALID_HANDLE }

func openDescriptor(int, string) (*os.File, error) { return nil, windows.ERROR_INVALID_HANDLE }

// writable returns an error if an existing file can't be written. Whether a folder can get new files shows only when
// one is created.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		return windows.ERROR_ACCESS_DENIED
	}
	return nil
}

// keepOwner does nothing: a new file belongs to its writer.
func keepOwner(*os.File, fs.FileInfo) {}

// newTemporary creates a new file. Nobody can remove or replace it while it is open, but its own handle can rename it.
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

// removeOrphan removes a temporary file. That fails while a writer has it open.
func removeOrphan(name string) { _ = os.Remove(name) }

// patience is how long rename waits for a file that another process has open. Readers, indexers and virus scanners
// close it soon.
const patience = time.Second

// rename moves an open temporary file to its place, and replaces what is there.
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

// claim creates an event that is named after the file and ends with the process. It keeps no handle of the file,
// because the file could not be replaced then.
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
	case errors.Is(err, windows.ERROR_ACCESS_DENIED): // that of another user
		return nil, true
	case err != nil:
		return func() {}, false
	}
	return release, false
}
