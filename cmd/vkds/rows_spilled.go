package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"os"
	"sync"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// spilledParts is how many files the rows that have no room are divided among.
const spilledParts = 32

// spill has rows that wait in temporary files until there is memory for them. Rows with equal hashes are in one file.
type spill struct {
	files [spilledParts]struct {
		*os.File
		to     *bufio.Writer
		blocks int
	}
}

// add writes the rows for which left is set.
func (s *spill) add(r *rows) error {
	var parts [spilledParts][]int
	for i, left := range r.left[:r.n] {
		if left {
			part := r.hashes[i] % spilledParts
			parts[part] = append(parts[part], i)
		}
	}
	var wait sync.WaitGroup
	var errs [spilledParts]error
	for part, some := range parts {
		if len(some) > 0 {
			wait.Go(func() { errs[part] = s.addTo(part, r, some) })
		}
	}
	wait.Wait()
	return cmp.Or(errs[:]...)
}

// addTo adds some rows to a file.
func (s *spill) addTo(part int, r *rows, some []int) error {
	f := &s.files[part]
	if f.File == nil {
		var err error
		if f.File, err = temporaryFile(); err != nil {
			return err
		}
		f.to = bufio.NewWriterSize(f, 256<<10)
	}
	f.blocks++
	return writeBlock(f.to, r, some)
}

// writeBlock writes some rows: the types of their columns, their number, and their cells.
func writeBlock(to *bufio.Writer, r *rows, some []int) error {
	var block []byte
	for _, t := range r.types {
		block = append(block, byte(t))
	}
	block = binary.AppendUvarint(block, uint64(len(some)))
	for _, i := range some {
		for c, t := range r.types {
			block = appendCell(block, t, r.cell(c, t, i))
		}
		if len(block) > 64<<10 {
			if _, err := to.Write(block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	_, err := to.Write(block)
	return err
}

// take calls use with the rows of a file, a block at a time, and removes the file. r has the types that the rows' words
// get.
func (s *spill) take(ctx context.Context, part int, r *rows, use func(*rows) error) error {
	f := &s.files[part]
	if f.File == nil {
		return nil
	}
	if err := f.to.Flush(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	from := bufio.NewReaderSize(f, 256<<10)
	for range f.blocks {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.readBlock(from); err != nil {
			return err
		}
		if err := use(r); err != nil {
			return err
		}
	}
	removeFile(f.File)
	f.File = nil
	return nil
}

// empty reports whether no rows wait.
func (s *spill) empty() bool {
	for i := range s.files {
		if s.files[i].File != nil {
			return false
		}
	}
	return true
}

// readBlock reads what writeBlock has written.
func (r *rows) readBlock(from *bufio.Reader) error {
	were := make([]byte, len(r.types))
	if _, err := io.ReadFull(from, were); err != nil {
		return err
	}
	n, err := binary.ReadUvarint(from)
	if err != nil {
		return err
	}
	if int(n) > len(r.hashes) {
		r.words = nil
		r.ready(len(r.types), int(n))
	}
	r.n, r.nulls, r.by = int(n), make([][]bool, len(r.types)), division{}
	for c := range r.types {
		r.texts[c].Reset()
	}
	var x cell
	for i := range r.n {
		for c, t := range r.types {
			if err := readCell(from, &x); err != nil {
				return err
			}
			if x.null {
				if r.nulls[c] == nil {
					r.nulls[c] = make([]bool, r.n)
				}
				r.nulls[c][i] = true
			}
			if r.words[c][i] = x.word; t == keytype.Text {
				if x.null {
					x.text = x.text[:0]
				}
				r.words[c][i] = r.texts[c].Add(x.text)
			}
		}
	}
	for c, t := range r.types {
		t.Widen(keytype.Type(were[c]), r.words[c][:r.n])
	}
	return nil
}

// close removes the files.
func (s *spill) close() {
	for i := range s.files {
		if f := s.files[i].File; f != nil {
			removeFile(f)
		}
	}
	*s = spill{}
}
