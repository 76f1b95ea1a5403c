package outfile

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrClaimed reports a file that another process is changing.
var ErrClaimed = errors.New("is being changed by another process")

// Claim claims the file at a path for a change: for who reads it, and then puts another one in its place. Nobody else
// can claim it until release is called or the process ends, however it does, and also under other names it is the same
// file. Who writes it without a claim, and who only reads it, is not hindered. Where a file system has no locks,
// nothing is claimed. An error is an *Error, of ErrClaimed or of the system.
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
		release() // replaced between opening and locking it: the next one then
		if err != nil {
			return nil, named(path, err)
		}
	}
}

// Await is Claim that waits for other processes to release the file, until the context ends. An error is an *Error, or
// the context's cause.
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
