package input

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Records reads record batches of Arrow whose messages come one by one, as those of Arrow Flight do. Columns are
// converted as those of files are, and those of bytes are text, too. It takes no messages that are larger in memory
// than on their way: none that are compressed, no dictionaries, and no views that share their bytes so much.
type Records struct {
	Most int // rows of a batch; 0: any number

	name     string
	messages *singleMessages
	reader   *ipc.Reader
	columns  []*column
	places   []int
	row      int64 // rows so far
}

// Rows are rows of one column.
type Rows struct {
	Words []uint64
	Nulls []bool         // which of them are null; nil: none
	Texts *keytype.Arena // of words that are text
}

// Len returns the number of rows.
func (r Rows) Len() int { return len(r.Words) }

// NewRecords reads the schema. next returns the metadata and the body of the next message, or io.EOF. The stream must
// have the columns of o, whose names are not empty, and no others. Of o, only Columns and KeepNull count. Errors:
// *ColumnError, those of next, and others that say what is wrong with a message. The name of the stream begins some.
func NewRecords(name string, next func() (metadata, body []byte, err error), o Options) (*Records, error) {
	r := &Records{name: name, messages: &singleMessages{next: next}, columns: chosen(o.Columns, nil)}
	err := caught(func() (err error) {
		r.reader, err = ipc.NewReaderFromMessageReader(r.messages)
		return err
	})
	var came *cameError
	if errors.Is(err, io.EOF) && !errors.As(err, &came) {
		err = errNoSchema
	}
	if err != nil {
		return nil, r.error(err)
	}
	schema := r.reader.Schema()
	for _, c := range r.columns {
		c.keepNull = o.KeepNull
		places := schema.FieldIndices(c.Name)
		if len(places) != 1 {
			return nil, &ColumnError{name, c.Name, fmt.Sprintf("it has %d columns with the name %s", len(places),
				quote(c.Name))}
		}
		have := schema.Field(places[0]).Type
		if err := (&columnar{file: name}).check(c, recordKind(have, c.Type), false, have.String()); err != nil {
			return nil, err
		}
		r.places = append(r.places, places[0])
	}
	if n := schema.NumFields(); n != len(r.columns) {
		return nil, &ColumnError{name, "", fmt.Sprintf("it has %d columns, not only %d", n, len(r.columns))}
	}
	return r, nil
}

// recordKind is arrowKind for columns of record batches.
func recordKind(have arrow.DataType, want keytype.Type) kind {
	switch have.(type) {
	case *arrow.DictionaryType:
		return other
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		if want == keytype.Text {
			return text
		}
	}
	return arrowKind(have)
}

// Read returns the rows of the next record batch, for each column. After the last batch, the error is io.EOF. The rows
// stay as they are. Errors: *RowError, those of next, and others that say what is wrong with a message.
func (r *Records) Read() (columns []Rows, err error) {
	n := 0
	err = caught(func() error {
		batch, err := r.reader.Read()
		if err != nil {
			return err
		}
		if n = int(batch.NumRows()); r.Most > 0 && n > r.Most {
			return fmt.Errorf("a record batch of %d rows, more than %d", n, r.Most)
		}
		for i, c := range r.columns {
			a := batch.Column(r.places[i])
			if a.Len() != n {
				return fmt.Errorf("columns of %d and %d rows", a.Len(), n)
			}
			rows, err := r.convert(c, a)
			if err != nil {
				return err
			}
			columns = append(columns, rows)
		}
		return nil
	})
	if err != nil {
		return nil, r.error(err)
	}
	r.row += int64(n)
	return columns, nil
}

func (r *Records) convert(c *column, a arrow.Array) (Rows, error) {
	if views, is := a.(*array.StringView); is && bytesOf(views) > int64(r.messages.body) {
		return Rows{}, errShared
	}
	v := newValues()
	v.array = a
	c.batch = v.texts
	all := cells{first: true}
	v.convertArray(c, &all)
	if len(all.bad) > 0 {
		return Rows{}, &RowError{r.name, r.row + int64(all.bad[0].row) + 1, c.Name, all.bad[0].err}
	}
	return Rows{Words: all.words, Nulls: all.nulls, Texts: v.texts}, nil
}

// bytesOf returns the number of bytes of all texts.
func bytesOf(a *array.StringView) (n int64) {
	for i := range a.Len() {
		if !a.IsNull(i) {
			n += int64(max(0, a.ValueLen(i))) // a negative length is an error later
		}
	}
	return n
}

// error returns an error with the name of the stream, unless it has that already or comes from elsewhere.
func (r *Records) error(err error) error {
	var came *cameError
	var row *RowError
	switch {
	case errors.As(err, &came):
		return came.error
	case err == io.EOF, errors.As(err, &row):
		return err
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// cameError is an error that came instead of a message.
type cameError struct{ error }

// singleMessages passes messages on if the lengths in them are those of something that they have.
type singleMessages struct {
	next func() (metadata, body []byte, err error)
	body int // bytes of the last message's body
}

// Retain and Release are for arrow-go's reference counts. There is one reference.
func (m *singleMessages) Retain()  {}
func (m *singleMessages) Release() {}

var (
	errNoSchema   = errors.New("it ends before its schema")
	errBody       = errors.New("a message whose body has another length")
	errCompressed = errors.New("a compressed record batch, which isn't read here")
	errDictionary = errors.New("a dictionary, which isn't read here")
	errShared     = errors.New("views of texts that share bytes, with more of them than the message has")
)

// Message returns the next message, or io.EOF.
func (m *singleMessages) Message() (*ipc.Message, error) {
	metadata, body, err := m.next()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, &cameError{err}
	}
	length, err := checkMessage(metadata)
	switch {
	case err != nil:
		return nil, err
	case length != int64(len(body)):
		return nil, errBody
	}
	if err := checkSingle(metadata); err != nil {
		return nil, err
	}
	m.body = len(body)
	return ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body)), nil
}

// checkSingle returns an error if a message that checkMessage has let through would need more memory than it has.
func checkSingle(metadata []byte) (err error) {
	defer func() { // an index may be out of range
		if recover() != nil {
			err = errFlat
		}
	}()
	const dictionary, batch = 2, 3 // kinds of headers
	m := flatTable{metadata, u32(metadata, 0)}
	kind, header := m.field(1), m.field(2)
	switch {
	case kind == 0 || header == 0:
	case metadata[kind] == dictionary:
		return errDictionary
	case metadata[kind] == batch && m.follow(header).field(3) != 0:
		return errCompressed
	}
	return nil
}
