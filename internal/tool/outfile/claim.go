package outfile

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrClaimed reports a file that another process is changing.
var ErrClaimed = errors.New("is being changed by another process")

// Claim claims the file at a path for a change: for a process that reads it and then replaces it. No other process can
// claim it, by any of its names, until release is called or the process ends. Writers without a claim, and readers, are
// not hindered. If the file system has no locks, nothing is claimed. Error: *Error, of ErrClaimed or of the system.
func Claim(path string) (release func(), err error) {
	for {
		f, err := os.Open(path)
		if err != nil {
			return nil, named(path, err)
		}
		claimed, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, named(path, err)
		}
		release, taken := claim(f)
		if taken {
			return nil, named(path, ErrClaimed)
		}
		now, err := os.Stat(path)
		if err == nil && os.SameFile(claimed, now) {
			return release, nil
		}
		release() // it was replaced before it was locked: claim the new one
		if err != nil {
			return nil, named(path, err)
		}
	}
}

// Await is Claim, but waits for other processes to release the file, until the context ends. Error: *Error, or the
// context's cause.
func Await(ctx context.Context, path string) (release func(), err error) {
	const again = 20 * time.Millisecond
	for {
		if release, err = Claim(path); !errors.Is(err, ErrClaimed) {
			return release, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
