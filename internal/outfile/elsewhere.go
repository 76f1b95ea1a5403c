//go:build !unix

package outfile

import (
	"errors"
	"io/fs"
	"os"
)

// writable knows nothing beforehand: the writing says it.
func writable(string) error { return nil }

// keepOwner: a new file is its writer's.
func keepOwner(*os.File, fs.FileInfo) {}

// lock: without one no temporary file is taken for an orphan, and no file is claimed.
func lock(*os.File) error { return errors.ErrUnsupported }
