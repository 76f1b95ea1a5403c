package input

import (
	"cmp"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/file"
)

const (
	// batchRows is the number of rows that are decoded at a time.
	batchRows = 64 << 10
	// aheadBytes is the size of the batches that may wait, for each row group that is decoded.
	aheadBytes = 16 << 20
)

// parquetRows reads columns of a Parquet file. Each of the next row groups has a goroutine that decodes its batches,
// while the caller uses the batches in order. It reads the pages itself, because programs that import arrow-go's
// conversion from Parquet to Arrow link gRPC.
type parquetRows struct {
	file   *file.Reader // does not change when it is open, so that goroutines may share it
	fields []parquetField
	rows   int         // of a batch
	ahead  int         // the number of row groups that are decoded
	bytes  int         // the greatest size of all batches, unless a single one is larger
	next   int         // the first row group without a goroutine
	before int64       // the number of batches before it
	groups []*rowGroup // those with a goroutine; the first one is in use
	now    *batch      // the one in use

	running sync.WaitGroup
	mutex   sync.Mutex // of what follows
	changed *sync.Cond
	columns []column // as they are for the next batches
	used    int64    // the number of batches that were used up
	largest int      // bytes of a batch so far; 0: there is none
	free    []*batch
	closed  bool
}

// rowGroup is a row group that is decoded. The mutex of parquetRows protects batches and ended.
type rowGroup struct {
	before  int64 // the number of batches before its own
	batches []*batch
	ended   bool // there are no more batches
}

// batch has rows of all columns.
type batch struct {
	values []values
	cells  []cells
	err    error // instead of them
}

func newParquetRows(o *Options) *parquetRows {
	p := &parquetRows{rows: cmp.Or(o.block, batchRows), ahead: runtime.GOMAXPROCS(0) + 1}
	p.bytes = p.ahead * aheadBytes
	p.changed = sync.NewCond(&p.mutex)
	return p
}

// close ends the goroutines.
func (p *parquetRows) close() {
	p.mutex.Lock()
	p.closed = true
	p.mutex.Unlock()
	p.changed.Broadcast()
	p.running.Wait()
	_ = p.file.Close()
}

// load returns the rows of the next batch. They are valid until the next call.
func (p *parquetRows) load(columns []*column) ([]cells, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.columns == nil {
		p.columns = copies(columns)
	}
	if p.now != nil {
		p.free, p.now = append(p.free, p.now), nil
		p.used++
		p.changed.Broadcast()
	}
	for p.now == nil {
		p.start()
		if len(p.groups) == 0 {
			return nil, io.EOF
		}
		switch g := p.groups[0]; {
		case len(g.batches) > 0:
			p.now, g.batches = g.batches[0], g.batches[1:]
		case g.ended:
			p.groups = p.groups[1:]
		default:
			p.changed.Wait()
		}
	}
	if p.now.err != nil {
		return nil, p.now.err
	}
	for i, c := range columns {
		c.use(p.now.values[i].texts, p.now.values[i].dictionary)
		if p.now.cells[i].typ != c.Type { // it has become wider since
			p.fields[i].convert(&p.now.values[i], c, &p.now.cells[i])
			p.columns = copies(columns)
		}
	}
	return p.now.cells, nil
}

// copies returns columns for other goroutines.
func copies(columns []*column) (all []column) {
	for _, c := range columns {
		all = append(all, *c)
	}
	return all
}

// start starts the goroutines of the next row groups.
func (p *parquetRows) start() {
	for p.next < p.file.NumRowGroups() && len(p.groups) < p.ahead {
		group := p.file.RowGroup(p.next)
		g, rows := &rowGroup{before: p.before}, max(group.NumRows(), 1)
		p.groups = append(p.groups, g)
		p.before += (rows-1)/int64(p.rows) + 1
		p.next++
		p.running.Go(func() { p.decode(g, group) })
	}
}

// decode decodes a row group, as one batch if it is empty.
func (p *parquetRows) decode(g *rowGroup, group *file.RowGroupReader) {
	var leaves []leaf
	for at, left := g.before, max(group.NumRows(), 0); ; at++ {
		b, columns := p.room(at)
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
			b.err = p.fill(b, int(n), leaves, columns)
		}
		ended := left == 0 || b.err != nil
		p.done(g, b, ended)
		if ended {
			return
		}
	}
}

// room waits until there is room for a batch that has that many before it in the file. It returns an empty one, or nil
// after close, and the columns.
func (p *parquetRows) room(before int64) (*batch, []column) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	// The batch that is used next always has room. The first one shows how large they are.
	for before > p.used && !p.closed && (p.largest == 0 || before-p.used >= int64(p.bytes/p.largest)) {
		p.changed.Wait()
	}
	if p.closed {
		return nil, nil
	}
	b := &batch{}
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
	}
	return b, p.columns
}

// done adds a batch to those that the caller may use. ended: it is the last one.
func (p *parquetRows) done(g *rowGroup, b *batch, ended bool) {
	bytes := 1
	for i := range b.values {
		bytes += b.values[i].bytes()
	}
	p.mutex.Lock()
	g.batches, g.ended = append(g.batches, b), ended
	p.largest = max(p.largest, bytes)
	p.mutex.Unlock()
	p.changed.Broadcast()
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

// fill decodes that many rows into a batch, all columns at the same time. The error is that of the first column that
// has one.
func (p *parquetRows) fill(b *batch, rows int, leaves []leaf, columns []column) error {
	if b.values == nil {
		b.cells = make([]cells, len(columns))
		for range columns {
			b.values = append(b.values, newValues())
		}
	}
	errs := make([]error, len(columns))
	var wait sync.WaitGroup
	for i, c := range columns {
		wait.Go(func() {
			errs[i] = caught(func() error {
				v := &b.values[i]
				v.reset()
				if err := leaves[i].read(rows, v); err != nil {
					return err
				}
				c.batch = v.texts
				p.fields[i].convert(v, &c, &b.cells[i])
				return nil
			})
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}
