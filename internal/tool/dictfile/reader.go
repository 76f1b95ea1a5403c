package dictfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures"
)

// Reader reads one saved dictionary. Only one goroutine at a time may use it.
type Reader struct {
	name   string
	pairs  *saved.Reader
	file   *input.File // nil for NewReader
	broken error       // the error that all later calls of Read return

	columns [2]column // of a dictionary with text: the columns of the block
	rows    int       // number of pairs of the block that were not read yet
}

// Open opens a saved dictionary and reads its header. Errors: *Error, *input.Error, or the context's cause.
func Open(ctx context.Context, path string) (*Reader, error) {
	file, err := input.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := NewFileReader(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// NewFileReader is Open for a file that is already open and from which nothing was read. Close closes the file. If the
// size of the data is known and does not fit the header's number of pairs, it returns an *Error.
func NewFileReader(file *input.File) (*Reader, error) {
	r, err := newReader(file.Name(), file, file)
	if err != nil {
		return nil, err
	}
	if _, size := file.Position(); size >= 0 && !file.Compressed() {
		if err := r.pairs.CheckSize(size); err != nil {
			return nil, r.named(err)
		}
	}
	return r, nil
}

// NewReader returns a Reader for a saved dictionary in r, and reads the header. name is the name of the file in errors.
// The header's number of pairs may be wrong: don't allocate memory by it before the pairs are read.
func NewReader(name string, r io.Reader) (*Reader, error) { return newReader(name, r, nil) }

func newReader(name string, r io.Reader, file *input.File) (*Reader, error) {
	d := &Reader{name: name, file: file}
	var err error
	if d.pairs, err = saved.NewReader(r); err != nil {
		return nil, d.named(err)
	}
	if d.columns, _, err = newColumns(d.Header()); err != nil {
		return nil, &Error{name, fmt.Errorf("%w: %v", structures.ErrCorrupt, err)}
	}
	return d, nil
}

// named adds the file's name to an error, unless the error has it already or is the context's.
func (d *Reader) named(err error) error {
	var damaged *structures.SavedError
	var ours *input.Error
	if !errors.As(err, &damaged) && (d.file != nil || errors.As(err, &ours)) {
		return err
	}
	return inFile(d.name, err)
}

// Rewind makes the Reader of a file read all pairs again, until ctx is done. The file must be a regular one that is not
// compressed. Errors: *input.Error if seeking fails, *Error if the Reader has no file.
func (d *Reader) Rewind(ctx context.Context) error {
	if d.file == nil {
		return &Error{d.name, input.ErrSeek}
	}
	if err := d.file.Rewind(ctx, d.pairs.Start()); err != nil {
		return err
	}
	d.pairs.Restart()
	d.broken, d.rows = nil, 0
	return nil
}

// Header returns the dictionary's description.
func (d *Reader) Header() Header { return d.pairs.Header() }

// Position returns the number of bytes of the file that were read, and the size of the file, which is -1 if it is not
// known.
func (d *Reader) Position() (read, size int64) {
	if d.file == nil {
		return 0, -1
	}
	return d.file.Position()
}

// Read is saved.ReadWords, with the file's name in errors: *Error, *input.Error, or the context's cause. For keys and
// values that are text, the words are numbers in the arenas of SetTexts. If there is text, Read may return fewer pairs
// than fit the slices.
func (d *Reader) Read(keys, values []uint64) (int, error) {
	if d.broken != nil {
		return 0, d.broken
	}
	n, err := d.read(keys, values)
	if err == nil || err == io.EOF {
		return n, err
	}
	var mismatch *structures.LengthError
	if errors.As(err, &mismatch) {
		return n, &Error{d.name, err}
	}
	d.broken = d.named(err)
	return n, d.broken
}

func (d *Reader) read(keys, values []uint64) (int, error) {
	if d.Header().HasText() {
		return d.readTexts(keys, values)
	}
	return saved.ReadWords(d.pairs, keys, values)
}

// Close closes the file.
func (d *Reader) Close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
