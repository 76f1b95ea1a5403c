package replica

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// feed writes changes to a file as they are applied: CSV with the number of the change, the key, and the value,
// which is empty if the key was deleted. If a file lacks changes that are no longer in the log, it gets all pairs: a
// line with number 0 alone, which says that what was before is void, the pairs, each with number 0, and a line with
// only the number of the last change that they have.
type feed struct {
	types Types
	file  *os.File
	w     *bufio.Writer
	last  uint64 // the last change in the file; 0: none, or the pairs were not written to their end
	line  []byte
}

// feedKey is where the folder remembers the file that it has begun.
var feedKey = []byte("vkds.feed")

const feedHead = "change,key,value\n"

// openFeed opens the file, or makes it. A file that has something is refused unless this folder has written it.
func openFeed(path string, types Types, log *log) (*feed, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	known, err := log.recall(feedKey)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &feed{types: types, file: file, w: bufio.NewWriterSize(file, 1<<16)}
	size, err := file.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
	case size == 0:
		if err = log.Set(feedKey, []byte(path)); err == nil {
			_, err = f.w.WriteString(feedHead)
			err = errors.Join(err, f.sync())
		}
	case string(known) != path:
		err = fmt.Errorf("%s is not empty, and no changes of this server are in it", path)
	default:
		err = f.resume(size)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// resume finds the last whole line, and removes what is after it.
func (f *feed) resume(size int64) error {
	from := max(0, size-1<<16)
	tail := make([]byte, size-from)
	if _, err := f.file.ReadAt(tail, from); err != nil {
		return err
	}
	for {
		end := bytes.LastIndexByte(tail, '\n')
		if end < 0 {
			return &DamagedError{f.file.Name(), errors.New("it has no line")}
		}
		begin := bytes.LastIndexByte(tail[:end], '\n') + 1
		number, ok := f.parse(tail[begin:end])
		if ok || from == 0 && begin == 0 && string(tail[:end+1]) == feedHead {
			f.last = number
			whole := from + int64(end) + 1
			_, err := f.file.Seek(whole, io.SeekStart)
			return errors.Join(err, f.file.Truncate(whole))
		}
		tail = tail[:begin]
	}
}

// parse returns the number of a line, and whether it is one.
func (f *feed) parse(line []byte) (number uint64, ok bool) {
	parts := bytes.Split(line, []byte{','})
	if len(parts) != 3 {
		return 0, false
	}
	number, err := strconv.ParseUint(string(parts[0]), 10, 64)
	if err == nil && len(parts[1]) > 0 {
		_, err = f.types.Key.ParseBytes(parts[1])
	}
	if err == nil && len(parts[2]) > 0 {
		_, err = f.types.Value.ParseBytes(parts[2])
	}
	return number, err == nil
}

// write writes the changes of an entry, of which the last has a number. Those that the file has are left out.
func (f *feed) write(changes []Change, last uint64) error {
	for i, c := range changes {
		if number := last - uint64(len(changes)-1-i); number > f.last {
			if err := f.put(number, c); err != nil {
				return err
			}
			f.last = number
		}
	}
	return f.w.Flush()
}

func (f *feed) put(number uint64, c Change) error {
	f.line = strconv.AppendUint(f.line[:0], number, 10)
	f.line = f.types.Key.Append(append(f.line, ','), c.Key)
	if f.line = append(f.line, ','); !c.Deleted {
		f.line = f.types.Value.Append(f.line, c.Value)
	}
	_, err := f.w.Write(append(f.line, '\n'))
	return err
}

// restored writes all pairs if the file lacks changes that the state has already.
func (f *feed) restored(ctx context.Context, s *state) error {
	last := s.changes.last()
	if f.last >= last {
		return nil
	}
	f.last = 0
	if _, err := f.w.WriteString("0,,\n"); err != nil {
		return err
	}
	pairs, err := s.pairs.snapshot(ctx)
	if err != nil {
		return err
	}
	defer pairs.Close()
	for chunk, err := range pairs.Chunks(ctx) {
		if err != nil {
			return err
		}
		for i, k := range chunk.Keys {
			if err := f.put(0, Change{Key: k, Value: chunk.Values[i]}); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(f.w, "%d,,\n", last); err != nil {
		return err
	}
	f.last = last
	return f.w.Flush()
}

// sync waits until the disk has the file. The log may be cut then.
func (f *feed) sync() error { return errors.Join(f.w.Flush(), f.file.Sync()) }

func (f *feed) close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.sync(), f.file.Close())
}
