package dictfile

import (
	"context"
	"errors"
	"os"

	"github.com/vkds/vkds/internal/outfile"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

// Writer writes one dictionary. Until Close succeeds nothing is at the path: the
// pairs go to a temporary file beside it, which Close moves there and Abort
// removes. It is used from one goroutine at a time.
type Writer struct {
	path  string
	file  *outfile.File
	pairs *saved.Writer
	err   error
	done  bool

	text    bool      // of a dictionary with text, of which are:
	columns [2]column // the block's,
	rows    int       // and how many pairs it has so far
}

// Check tells what would keep Create from writing to a path, as far as that
// shows without writing. An error is an *outfile.Error.
func Check(path string) error { return outfile.CheckBinary(path) }

// Create begins to write a dictionary to path, as outfile.Create does: its
// folder must exist, and a regular file that is there is replaced by Close.
// h.Pairs must be the number of pairs that will be written. An error is an
// *outfile.Error, or an *Error where the header is too large or names a type that there isn't.
func Create(ctx context.Context, path string, h Header) (*Writer, error) {
	w := &Writer{path: path, text: h.HasText()}
	var columns saved.Columns
	var err error
	if w.columns, columns, err = newColumns(h); err != nil {
		return nil, &Error{path, err}
	}
	if w.file, err = outfile.Create(ctx, path); err != nil {
		return nil, err
	}
	if w.pairs, err = saved.NewWriter(w.file, h, columns); err != nil {
		w.file.Abort()
		return nil, w.named(err)
	}
	return w, nil
}

// named names the file in an error, unless it names it already.
func (w *Writer) named(err error) error {
	var ours *outfile.Error
	if errors.As(err, &ours) {
		return err
	}
	return inFile(w.path, err)
}

// Write adds pairs. Slices of two lengths are an *Error that wraps a
// *structures.LengthError, and nothing is written of them; after any other error, an
// *outfile.Error, every later call returns it again.
func (w *Writer) Write(keys, values []uint64) error {
	if w.err != nil {
		return w.err
	}
	err := w.write(keys, values)
	if err == nil {
		return nil
	}
	err = w.named(err)
	var mismatch *structures.LengthError
	if !errors.As(err, &mismatch) {
		w.err = err
	}
	return err
}

func (w *Writer) write(keys, values []uint64) error {
	if w.text {
		return w.writeTexts(keys, values)
	}
	return saved.WriteWords(w.pairs, keys, values)
}

// Bytes is how many bytes the file has so far.
func (w *Writer) Bytes() int64 { return w.pairs.Bytes() }

// Close writes what is left, makes sure that it is on disk and moves the file to
// its path. After an error, an *outfile.Error, or an *Error that wraps a
// *saved.CountError where pairs are missing, nothing is left behind and what was at
// the path is still there.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	for _, step := range []func() error{w.flush, w.pairs.Close, w.file.Commit} {
		if w.err == nil {
			if err := step(); err != nil {
				w.err = w.named(err)
			}
		}
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	w.done = true
	return nil
}

// Abort gives up: it removes the temporary file. After Close it does nothing.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	if w.err == nil {
		w.err = &Error{w.path, os.ErrClosed}
	}
	w.file.Abort()
}
