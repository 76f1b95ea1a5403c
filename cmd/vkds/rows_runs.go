package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// temporaryFile makes a temporary file for rows that the memory has no room for.
func temporaryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "vkds-")
	if err != nil {
		err = fmt.Errorf("a temporary file is needed, because the rows need more than --memory: %w", err)
	}
	return f, err
}

func removeFile(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// A cell in a file begins with one of these bytes. A word of 8 bytes follows, or a length and a text.
const (
	cellNull = iota
	cellWord
	cellText
)

func appendCell(to []byte, t keytype.Type, x cell) []byte {
	switch {
	case x.null:
		return append(to, cellNull)
	case t == keytype.Text:
		return append(binary.AppendUvarint(append(to, cellText), uint64(len(x.text))), x.text...)
	}
	return binary.LittleEndian.AppendUint64(append(to, cellWord), x.word)
}

// readCell reads a cell over another one, whose memory it keeps.
func readCell(from *bufio.Reader, x *cell) error {
	kind, err := from.ReadByte()
	if err != nil {
		return err
	}
	switch x.null = kind == cellNull; kind {
	case cellNull:
		x.word = 0 // Widen expects a word of the type
	case cellText:
		x.text, err = readBytes(from, x.text)
	case cellWord:
		var word [8]byte
		_, err = io.ReadFull(from, word[:])
		x.word = binary.LittleEndian.Uint64(word[:])
	}
	return err
}

// readBytes reads a length and that many bytes.
func readBytes(from *bufio.Reader, into []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(from)
	if err != nil {
		return into, err
	}
	into = slices.Grow(into[:0], int(n))[:n]
	_, err = io.ReadFull(from, into)
	return into, err
}

// runFile is a temporary file with a sorted run.
type runFile struct {
	*os.File
	types []keytype.Type
	rows  int
}

// writeRun writes a sorted run. all calls write with its rows, in their order, some at a time, as appendRow makes them.
func writeRun(types []keytype.Type, all func(write func(rows int, blocks ...[]byte) error) error) (runFile, error) {
	f := runFile{types: types}
	var err error
	if f.File, err = temporaryFile(); err != nil {
		return f, err
	}
	to := bufio.NewWriterSize(f, 1<<20)
	err = all(func(rows int, blocks ...[]byte) error {
		f.rows += rows
		for _, block := range blocks {
			if _, err := to.Write(block); err != nil {
				return err
			}
		}
		return nil
	})
	if err = cmp.Or(err, to.Flush()); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		removeFile(f.File)
	}
	return f, err
}

func appendRow(to []byte, types []keytype.Type, cells []cell, line []byte) []byte {
	for c, x := range cells {
		to = appendCell(to, types[c], x)
	}
	return append(binary.AppendUvarint(to, uint64(len(line))), line...)
}

// spill writes the rows to a temporary file, sorted. All cores encode them.
func (u *sortRun) spill(ctx context.Context, order rowOrder) (f runFile, err error) {
	const atATime = 1 << 18 // rows
	return writeRun(u.types, func(write func(int, ...[]byte) error) error {
		blocks := make([][]byte, runtime.GOMAXPROCS(0))
		for some := range slices.Chunk(u.sorted(order), atATime) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var wait sync.WaitGroup
			for k := range blocks {
				wait.Go(func() {
					block, cells := blocks[k][:0], make([]cell, len(order))
					for _, i := range some[k*len(some)/len(blocks) : (k+1)*len(some)/len(blocks)] {
						for c := range cells {
							cells[c] = u.cell(c, i)
						}
						block = appendRow(block, u.types, cells, u.lines.at(i))
					}
					blocks[k] = block
				})
			}
			wait.Wait()
			if err := write(len(some), blocks...); err != nil {
				return err
			}
		}
		return nil
	})
}

// runSource has the rows of a sorted run, one after the other.
type runSource struct {
	number int // runs that were read earlier have lesser ones
	cells  []cell
	line   []byte
	next   func() (bool, error) // reports whether there is another row, which cells and line then hold
}

// runBlock has some rows of a file.
type runBlock struct {
	rows  int
	cells []cell // of one row after the other
	lines [][]byte
	err   error
}

const rowsOfBlock = 512

// read reads the next rows, with cells of the types that columns have become.
func (b *runBlock) read(from *bufio.Reader, were, types []keytype.Type) error {
	if b.lines == nil {
		b.cells, b.lines = make([]cell, rowsOfBlock*len(types)), make([][]byte, rowsOfBlock)
	}
	for i := range b.rows {
		for c, of := range types {
			x := &b.cells[i*len(types)+c]
			if err := readCell(from, x); err != nil {
				return err
			}
			if of != were[c] {
				one := []uint64{x.word}
				of.Widen(were[c], one)
				x.word = one[0]
			}
		}
		var err error
		if b.lines[i], err = readBytes(from, b.lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// source returns the rows of a file. A goroutine reads them ahead, until ctx ends.
func (f runFile) source(ctx context.Context, wait *sync.WaitGroup, types []keytype.Type) *runSource {
	full, empty := make(chan *runBlock, 1), make(chan *runBlock, 2)
	empty <- &runBlock{}
	empty <- &runBlock{}
	wait.Go(func() {
		defer close(full)
		from := bufio.NewReaderSize(f, 256<<10)
		for left := f.rows; left > 0; {
			var b *runBlock
			select {
			case b = <-empty:
			case <-ctx.Done():
				return
			}
			b.rows = min(left, rowsOfBlock)
			b.err = b.read(from, f.types, types)
			left -= b.rows
			select {
			case full <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	})
	s, b, at, left := &runSource{}, &runBlock{}, 0, f.rows
	s.next = func() (bool, error) {
		if left == 0 {
			return false, nil
		}
		if at == b.rows {
			if b.lines != nil {
				empty <- b
			}
			if b, at = <-full, 0; b == nil {
				return false, context.Cause(ctx)
			}
			if b.err != nil {
				return false, b.err
			}
		}
		s.cells, s.line = b.cells[at*len(types):][:len(types)], b.lines[at]
		at, left = at+1, left-1
		return true, nil
	}
	return s
}

// source returns the rows in memory.
func (u *sortRun) source(order rowOrder) *runSource {
	s := &runSource{cells: make([]cell, len(order))}
	numbers := u.sorted(order)
	s.next = func() (bool, error) {
		if len(numbers) == 0 {
			return false, nil
		}
		for c := range s.cells {
			s.cells[c] = u.cell(c, numbers[0])
		}
		s.line, numbers = u.lines.at(numbers[0]), numbers[1:]
		return true, nil
	}
	return s
}

// before reports whether the row of one source comes before that of another.
func (s *runSource) before(other *runSource, order rowOrder, types []keytype.Type) bool {
	for c := range order {
		if by := order.compare(c, types[c], s.cells[c], other.cells[c]); by != 0 {
			return by < 0
		}
	}
	return s.number < other.number
}

// sortedRuns are runs in temporary files, and one in memory whose rows came after them.
type sortedRuns struct {
	order rowOrder
	files []runFile
	last  *sortRun
}

// mostRunFiles is how many files are open at a time. Tests change it.
var mostRunFiles = 128

// spill moves the run in memory to a file.
func (s *sortedRuns) spill(ctx context.Context) error {
	if s.last.lines.starts == nil {
		return nil
	}
	file, err := s.last.spill(ctx, s.order)
	if err != nil {
		return err
	}
	s.files, s.last = append(s.files, file), newSortRun(len(s.order))
	if len(s.files) < mostRunFiles {
		return nil
	}
	types := file.types
	file, err = writeRun(types, func(write func(int, ...[]byte) error) error {
		var row []byte
		return s.merge(ctx, types, func(s *runSource) error {
			row = appendRow(row[:0], types, s.cells, s.line)
			return write(1, row)
		})
	})
	if err == nil {
		s.close()
		s.files = []runFile{file}
	}
	return err
}

// merge calls use with all rows in their order, until it returns an error.
func (s *sortedRuns) merge(ctx context.Context, types []keytype.Type, use func(*runSource) error) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	var all []*runSource
	for _, f := range s.files {
		all = append(all, f.source(ctx, &wait, types))
	}
	all = append(all, s.last.source(s.order))
	var waiting []*runSource // in the order of their rows
	take := func(from *runSource) error {
		more, err := from.next()
		if more {
			at := sort.Search(len(waiting), func(i int) bool { return from.before(waiting[i], s.order, types) })
			waiting = slices.Insert(waiting, at, from)
		}
		return err
	}
	for i, from := range all {
		from.number = i
		if err := take(from); err != nil {
			return err
		}
	}
	for n := 0; len(waiting) > 0; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first := waiting[0]
		if err := use(first); err != nil {
			return err
		}
		waiting = slices.Delete(waiting, 0, 1)
		if err := take(first); err != nil {
			return err
		}
	}
	return nil
}

// linesAtATime is how many bytes of lines are merged before they are printed.
const linesAtATime = 4 << 20

// print prints all rows.
func (s *sortedRuns) print(ctx context.Context, a *answer) error {
	if len(s.files) == 0 {
		lines := s.last.sorted(s.order)
		return a.rows(len(lines), func(out *row, i int) {
			if i%rowsAhead == 0 {
				s.last.lines.ahead(lines[i:min(i+rowsAhead, len(lines))])
			}
			out.text = append(out.text, s.last.lines.at(lines[i])...)
		})
	}
	types := s.last.types
	if types == nil { // there are no rows
		types = s.files[len(s.files)-1].types
	}
	var text []byte
	var ends []int
	send := func() error {
		err := a.rows(len(ends), func(out *row, i int) {
			begin := 0
			if i > 0 {
				begin = ends[i-1]
			}
			out.text = append(out.text, text[begin:ends[i]]...)
		})
		text, ends = text[:0], ends[:0]
		return err
	}
	err := s.merge(ctx, types, func(s *runSource) error {
		text = append(text, s.line...)
		if ends = append(ends, len(text)); len(text) < linesAtATime {
			return nil
		}
		return send()
	})
	if err != nil {
		return err
	}
	return send()
}

// close removes the temporary files.
func (s *sortedRuns) close() {
	for _, f := range s.files {
		removeFile(f.File)
	}
	s.files = nil
}
