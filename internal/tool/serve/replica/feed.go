package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// feed writes changes to a file as they are applied: CSV with the number of the change, the operation (set or
// delete), the key, and the value that is set. A file begins with a line of number 0 and operation begin; its value is
// the name of the file, a number made by chance. If the file lacks changes that are no longer in the log, the same line
// comes again: all before it is void. Then come all pairs, each set with number 0, and a line of operation last, with
// the number of the last change that they have. A text stands in quotes, because it may have any bytes.
//
// The log's store has the name, and how long the file was when the disk last had all of it. At the start the file is
// cut there, and the log has what comes next. The file is locked while it is written.
type feed struct {
	types Types
	log   *log
	file  *os.File
	w     *bufio.Writer
	name  uint64
	last  uint64 // the last change in the file; 0: none
	line  []byte
}

// feedKey is where the folder remembers the file's name, its length, and the number of its last change.
var feedKey = []byte("vkds.changes")

// feedBegin is the line before which all is void.
func feedBegin(name uint64) string { return fmt.Sprintf("0,begin,,%d\n", name) }

func feedHead(name uint64) string { return "change,op,key,value\n" + feedBegin(name) }

// openFeed opens the file, or makes it. A file that has something is refused unless it is the one that this folder has
// written last.
func openFeed(path string, types Types, log *log) (*feed, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &feed{types: types, log: log, file: file, w: bufio.NewWriterSize(file, 1<<16)}
	if err := f.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("--changes %s: %w", path, err), file.Close())
	}
	return f, nil
}

// begin finds the place where the file goes on.
func (f *feed) begin() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	if err := lock(f.file); err != nil {
		return err
	}
	if info, err = f.file.Stat(); err != nil { // another one may have written it before the lock
		return err
	}
	if info.Size() == 0 {
		f.name = rand.Uint64N(1 << 53) // every reader of CSV has such integers
		if _, err := f.w.WriteString(feedHead(f.name)); err != nil {
			return err
		}
		return f.sync()
	}
	known, err := f.log.recall(feedKey)
	if err != nil {
		return err
	}
	if len(known) == 24 {
		f.name = binary.LittleEndian.Uint64(known)
		head := []byte(feedHead(f.name))
		have := make([]byte, len(head))
		if _, err := f.file.ReadAt(have, 0); err == nil && string(have) == string(head) {
			return f.resume(info.Size(), int64(binary.LittleEndian.Uint64(known[8:])),
				binary.LittleEndian.Uint64(known[16:]))
		}
	}
	return errors.New("it is not empty, and not the file that this folder has written last: move it away")
}

func (f *feed) resume(size, synced int64, last uint64) error {
	if size < synced {
		return fmt.Errorf("it has %d bytes of the %d that were written: move it away", size, synced)
	}
	f.last = last
	_, err := f.file.Seek(synced, io.SeekStart)
	return errors.Join(f.file.Truncate(synced), err)
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
	text := Record{}
	if c.Text != nil {
		text = *c.Text
	}
	op := ",set,"
	if c.Deleted {
		op = ",delete,"
	}
	f.line = appendField(append(f.line, op...), f.types.Key, c.Key, text.Key)
	if f.line = append(f.line, ','); !c.Deleted {
		f.line = appendField(f.line, f.types.Value, c.Value, text.Value)
	}
	_, err := f.w.Write(append(f.line, '\n'))
	return err
}

// appendField appends a word, or a text in quotes, of which those inside are doubled.
func appendField(line []byte, t keytype.Type, word uint64, text string) []byte {
	if t != keytype.Text {
		return t.Append(line, word)
	}
	line = append(line, '"')
	for i := range len(text) {
		if text[i] == '"' {
			line = append(line, '"')
		}
		line = append(line, text[i])
	}
	return append(line, '"')
}

// restored writes all pairs if the file lacks changes that the state has already. After an error, the next start cuts
// off what was written of them.
func (f *feed) restored(ctx context.Context, s *state) error {
	last := s.changes.last()
	if f.last >= last {
		return nil
	}
	if _, err := f.w.WriteString(feedBegin(f.name)); err != nil {
		return err
	}
	pairs, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	defer pairs.Close()
	for chunk, err := range pairs.Chunks(ctx) {
		if err != nil {
			return err
		}
		for i, k := range chunk.Keys {
			r := pairs.Record(k)
			if err := f.put(0, Change{Key: k, Value: chunk.Values[i], Text: &r}); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(f.w, "%d,last,,\n", last); err != nil {
		return err
	}
	f.last = last
	return f.sync()
}

// sync waits until the disk has the file, and remembers how long it is. The log may be cut then.
func (f *feed) sync() error {
	if err := errors.Join(f.w.Flush(), f.file.Sync()); err != nil {
		return err
	}
	length, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	place := binary.LittleEndian.AppendUint64(nil, f.name)
	place = binary.LittleEndian.AppendUint64(place, uint64(length))
	place = binary.LittleEndian.AppendUint64(place, f.last)
	return f.log.BoltStore.Set(feedKey, place) // the caller ends the server if it fails
}

// end closes the file after all was written.
func (f *feed) end() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.sync(), f.close())
}

// close closes the file as it is. The next start cuts off what was not synced.
func (f *feed) close() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}
