package input

import (
	"cmp"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/vkds/vkds/internal/tool/keytype"
)

const (
	// batchRows is the number of rows that are decoded at a time.
	batchRows = 64 << 10
	// aheadBytes is the size of the batches that may wait, for each part that is decoded.
	aheadBytes = 16 << 20
)

// batches decodes the rows of a columnar file by several goroutines, while the caller uses them in order. Each of the
// next parts of the file has a goroutine that decodes its batches.
type batches struct {
	// more starts the next parts. It is called by load, without the mutex.
	more func()
	// convert converts the values of column i, whose type is that of c.
	convert func(i int, v *values, c *column, into *cells)

	rows   int     // the greatest number in a batch
	ahead  int     // the number of parts that are decoded
	bytes  int     // the greatest size of all batches, unless a single one is larger
	before int64   // the number of batches before the next part
	parts  []*part // those that were started; the first one is in use
	now    *batch  // the one in use

	running sync.WaitGroup
	mutex   sync.Mutex // of what follows
	changed *sync.Cond
	columns []column // as they are for the next batches
	used    int64    // the number of batches that were used up
	largest int      // bytes of a batch so far; 0: there is none
	free    []*batch
	closed  bool
}

// part is a part of a file that is decoded. The mutex of its batches protects batches and ended.
type part struct {
	before  int64 // the number of batches before its own
	batches []*batch
	ended   bool // there are no more batches
}

// batch has rows of all columns.
type batch struct {
	values []values
	cells  []cells
	size   int   // bytes of the file that are in memory for them
	err    error // instead of them
}

// values are rows of one column as the file has them, so that they can be converted again for another type. Those of
// Arrow are an array; those of Parquet that are not null are numbers or texts.
type values struct {
	array      arrow.Array
	rows       int
	nulls      []bool // of the rows; nil: none is null
	numbers    []int64
	words      []uint64       // of texts: their numbers
	long       bool           // a text is longer than keytype.Longest
	texts      *keytype.Arena // own, or others after those of a dictionary
	own        *keytype.Arena
	dictionary *keytype.Arena // the first texts; nil: none of them are a dictionary's
}

func newValues() values {
	own := &keytype.Arena{}
	return values{texts: own, own: own}
}

func (v *values) reset() {
	v.array, v.rows, v.nulls, v.numbers, v.words, v.long = nil, 0, nil, v.numbers[:0], v.words[:0], false
	v.own.Reset()
	v.texts, v.dictionary = v.own, nil
}

// bytes returns how much memory values and their words take, about. A dictionary is its row group's, and counts with
// none of the group's batches.
func (v *values) bytes() int {
	const word = 8
	texts, bytes := v.texts.Len(), v.texts.Bytes()
	if v.dictionary != nil {
		texts, bytes = texts-v.dictionary.Len(), bytes-v.dictionary.Bytes()
	}
	return (v.rows+len(v.numbers)+len(v.words)+texts)*word + bytes
}

// add adds a text.
func (v *values) add(text []byte) {
	if len(text) > keytype.Longest {
		v.long = true
		text = text[:keytype.Longest+1] // an error of its row
	}
	v.words = append(v.words, v.texts.Add(text))
}

// text returns the text of a value.
func (v *values) text(at int) []byte { return v.texts.At(v.words[at]) }

func newBatches(o *Options) *batches {
	p := &batches{rows: cmp.Or(o.block, batchRows), ahead: cmp.Or(o.parts, runtime.GOMAXPROCS(0)+1)}
	p.bytes = p.ahead * aheadBytes
	p.changed = sync.NewCond(&p.mutex)
	return p
}

// close ends the goroutines.
func (p *batches) close() {
	p.mutex.Lock()
	p.closed = true
	p.mutex.Unlock()
	p.changed.Broadcast()
	p.running.Wait()
}

// load returns the rows of the next batch. They are valid until the next call.
func (p *batches) load(columns []*column) ([]cells, error) {
	p.release(columns)
	for p.now == nil {
		p.more()
		if len(p.parts) == 0 {
			return nil, io.EOF
		}
		p.take()
	}
	if p.now.err != nil {
		return nil, p.now.err
	}
	wider := false
	for i, c := range columns {
		v := &p.now.values[i]
		if p.now.cells[i].typ != c.Type { // it has become wider since
			p.convert(i, v, c, &p.now.cells[i])
			wider = true
		}
		c.use(v.texts, v.dictionary)
	}
	if wider {
		p.mutex.Lock()
		p.columns = copies(columns)
		p.mutex.Unlock()
	}
	return p.now.cells, nil
}

// release makes room for another batch than the one in use.
func (p *batches) release(columns []*column) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.columns == nil {
		p.columns = copies(columns)
	}
	if p.now != nil {
		for i := range p.now.values {
			p.now.values[i].reset() // now, because an array has the memory of a record batch
		}
		p.free, p.now = append(p.free, p.now), nil
		p.used++
		p.changed.Broadcast()
	}
}

// take takes the next batch of the first part, or removes the part if it has none, or waits for either.
func (p *batches) take() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch first := p.parts[0]; {
	case len(first.batches) > 0:
		p.now, first.batches = first.batches[0], first.batches[1:]
	case first.ended:
		p.parts = p.parts[1:]
	default:
		p.changed.Wait()
	}
}

// copies returns columns for other goroutines.
func copies(columns []*column) (all []column) {
	for _, c := range columns {
		all = append(all, *c)
	}
	return all
}

// start starts a goroutine that decodes a part of so many batches.
func (p *batches) start(batches int64, decode func(*part)) {
	next := &part{before: p.before}
	p.parts = append(p.parts, next)
	p.before += batches
	p.running.Go(func() { decode(next) })
}

// room returns an empty batch, and the columns, if there is room for a batch that has that many before it in the file.
// Otherwise it waits until there is, or returns nil. It also returns nil after close.
func (p *batches) room(before int64, wait bool) (*batch, []column) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	// The batch that is used next always has room. The first one shows how large they are.
	for before > p.used && !p.closed && (p.largest == 0 || before-p.used >= int64(p.bytes/p.largest)) {
		if !wait {
			return nil, nil
		}
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

// done adds a batch to those that the caller may use. ended: it is the part's last one.
func (p *batches) done(of *part, b *batch, ended bool) {
	bytes := 1 + b.size
	for i := range b.values {
		bytes += b.values[i].bytes()
	}
	p.mutex.Lock()
	of.batches, of.ended = append(of.batches, b), ended
	p.largest = max(p.largest, bytes)
	p.mutex.Unlock()
	p.changed.Broadcast()
}

// fill reads the values of all columns into a batch and converts them, all columns at the same time. The error is that
// of the first column that has one.
func (p *batches) fill(b *batch, columns []column, read func(i int, v *values) error) error {
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
				if err := read(i, v); err != nil {
					return err
				}
				c.batch = v.texts
				p.convert(i, v, &c, &b.cells[i])
				return nil
			})
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}
