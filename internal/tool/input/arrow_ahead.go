package input

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowRows reads columns of an Arrow stream. The caller's goroutine reads the record batches, because each may depend
// on those before it. A part has one batch: a record batch, or rows of a large one.
type arrowRows struct {
	*batches
	file     *File
	messages arrowMessages
	reader   *ipc.Reader
	places   []int             // of the columns
	record   arrow.RecordBatch // nil: the next one is still to be read
	at       int64             // the first row of record that is in no part
	size     int64             // of record, in bytes
	ended    bool
}

func newArrowRows(f *File, o *Options) *arrowRows {
	p := &arrowRows{batches: newBatches(o), file: f}
	p.more = p.start
	p.convert = func(_ int, v *values, c *column, into *cells) { v.convertArray(c, into) }
	return p
}

// close ends the goroutines.
func (p *arrowRows) close() {
	p.batches.close()
	p.reader.Release()
}

// start starts the goroutines of the next rows. It waits for a pipe only if there are no rows to wait for, or a record
// batch has begun to arrive.
func (p *arrowRows) start() {
	for !p.ended && len(p.parts) < p.ahead && (len(p.parts) == 0 || p.record != nil || p.file.Comes(0)) {
		b, columns := p.room(p.before, false)
		if b == nil {
			return
		}
		var rows arrow.RecordBatch
		b.err = caught(func() (err error) {
			rows, b.size, err = p.read()
			return err
		})
		if p.ended = b.err != nil; b.err == io.EOF {
			return
		}
		p.batches.start(1, func(of *part) {
			if b.err == nil {
				b.err = p.fill(b, columns, func(i int, v *values) error {
					// An array of its own, because a column may be chosen twice, and arrays change when they are read.
					v.array, v.rows = array.MakeFromData(rows.Column(p.places[i]).Data()), int(rows.NumRows())
					return nil
				})
			}
			p.done(of, b, true)
		})
	}
}

// read returns the next rows and their size in bytes.
func (p *arrowRows) read() (rows arrow.RecordBatch, size int, err error) {
	if p.record == nil {
		if p.record, err = p.reader.Read(); err != nil {
			return nil, 0, err
		}
		p.record.Retain() // else the next Read would free it
		p.at, p.size = 0, sizeOf(p.record)
	}
	all := p.record.NumRows()
	end := min(p.at+int64(p.rows), all)
	if p.encoded() {
		end = all
	}
	rows, size = p.record.NewSlice(p.at, end), int(p.size*(end-p.at)/max(all, 1))
	if p.at = end; end == all {
		p.record = nil
	}
	return rows, size, nil
}

// encoded reports whether the record batch has a dictionary, which is converted once for all of its rows.
func (p *arrowRows) encoded() bool {
	for _, place := range p.places {
		if _, is := p.record.Column(place).(*array.Dictionary); is {
			return true
		}
	}
	return false
}

// sizeOf returns the size of a record batch without its dictionaries, which others have too.
func sizeOf(record arrow.RecordBatch) (bytes int64) {
	for _, column := range record.Columns() {
		data := column.Data()
		if bytes += int64(data.SizeInBytes()); data.Dictionary() != nil {
			bytes -= int64(data.Dictionary().SizeInBytes())
		}
	}
	return bytes
}
