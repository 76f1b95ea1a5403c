package dictfile

import (
	"context"
	"errors"
	"os"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/structures"
)

// Writer writes one dictionary to a file. The pairs go to a temporary file in the same folder. Close moves that file to
// the path, and Abort removes it. Only one goroutine at a time may use a Writer.
type Writer struct {
	path  string
	file  *outfile.File
	pairs *saved.Writer
	err   error
	done  bool

	text    bool      // the dictionary has text
	columns [2]column // the columns of the current block
	rows    int       // number of pairs in the block so far
}

// Check returns an *outfile.Error if it is certain, without writing, that Create could not write to the path.
func Check(path string) error { return outfile.CheckBinary(path) }

// Create begins to write a dictionary to path, like outfile.Create: the folder must exist, and Close replaces an
// existing regular file. h.Pairs must be the number of pairs that will be written. Errors: *outfile.Error, and *Error
// if the header is too large or names an unknown type.
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

// named adds the file's name to an error, unless the error has it already.
func (w *Writer) named(err error) error {
	var ours *outfile.Error
	if errors.As(err, &ours) {
		return err
	}
	return inFile(w.path, err)
}

// Write writes pairs. If the slices differ in length, it returns an *Error that wraps a *structures.LengthError, and
// writes nothing. After any other error, an *outfile.Error, each later call returns the same error.
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

// Bytes returns the number of bytes in the file so far.
func (w *Writer) Bytes() int64 { return w.pairs.Bytes() }

// Close writes the remaining pairs, syncs the file to disk and moves it to its path. If it fails, it removes the
// temporary file, and a file that was at the path is unchanged. Errors: *outfile.Error, and an *Error that wraps a
// *saved.CountError if the number of pairs differs from the header's.
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

// Abort removes the temporary file. After Close it does nothing.
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
