package input

import "github.com/apache/arrow-go/v18/parquet/file"

// parquetRows reads columns of a Parquet file. Each row group is a part. It reads the pages itself, because programs
// that import arrow-go's conversion from Parquet to Arrow link gRPC.
type parquetRows struct {
	*batches
	file   *file.Reader // does not change when it is open, so that goroutines may share it
	fields []parquetField
	next   int // the first row group without a goroutine
}

func newParquetRows(o *Options) *parquetRows {
	p := &parquetRows{batches: newBatches(o)}
	p.more = p.start
	p.convert = func(i int, v *values, c *column, into *cells) { p.fields[i].convert(v, c, into) }
	return p
}

// close ends the goroutines.
func (p *parquetRows) close() {
	p.batches.close()
	_ = p.file.Close()
}

// start starts the goroutines of the next row groups.
func (p *parquetRows) start() {
	for p.next < p.file.NumRowGroups() && len(p.parts) < p.ahead {
		group := p.file.RowGroup(p.next)
		p.next++
		p.batches.start((max(group.NumRows(), 1)-1)/int64(p.rows)+1, func(g *part) { p.decode(g, group) })
	}
}

// decode decodes a row group, as one batch if it is empty.
func (p *parquetRows) decode(g *part, group *file.RowGroupReader) {
	var leaves []leaf
	for at, left := g.before, max(group.NumRows(), 0); ; at++ {
		b, columns := p.room(at, true)
		if b == nil {
			return
		}
		if leaves == nil { // not before there is room, because they have buffers
			b.err = caught(func() (err error) {
				leaves, err = p.open(group)
				return err
			})
		}
		n := min(left, int64(p.rows))
		if left -= n; b.err == nil {
			b.err = p.fill(b, columns, func(i int, v *values) error { return leaves[i].read(int(n), v) })
		}
		ended := left == 0 || b.err != nil
		p.done(g, b, ended)
		if ended {
			return
		}
	}
}

// open returns the leaves of a row group.
func (p *parquetRows) open(group *file.RowGroupReader) (leaves []leaf, err error) {
	for _, f := range p.fields {
		l, err := f.open(group)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, l)
	}
	return leaves, nil
}
