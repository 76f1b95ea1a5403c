package dictfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

const (
	blockTexts = 4 << 20                        // bytes of a column's texts at which its block is complete
	mostRaw    = blockTexts + keytype.Longest + // the most bytes of a block's texts
		saved.BlockPairs*binary.MaxVarintLen32 // and of their lengths
)

// A block has the lengths of its texts and then the texts, compressed together with zstd.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // valid options give no error
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostRaw))
)

// column is the keys or the values of a block: words, or texts of an arena.
type column struct {
	text  bool
	words saved.Column // if the column is not text
	texts *keytype.Arena

	lengths []byte // of texts
	bytes   []byte // the words or texts
}

// newColumns returns the columns for the types of a header. Error: *enum.UnknownError.
func newColumns(h Header) (c [2]column, words saved.Columns, err error) {
	key, value, err := Types(h)
	words.Keys, _ = saved.Named(key.String())
	words.Values, _ = saved.Named(value.String())
	return [2]column{{text: key == keytype.Text, words: words.Keys, texts: &keytype.Arena{}},
		{text: value == keytype.Text, words: words.Values, texts: &keytype.Arena{}}}, words, err
}

// add adds a word, or its text, and reports whether there is room for another.
func (c *column) add(word uint64) (room bool) {
	if !c.text {
		c.bytes = saved.AppendWords(c.bytes, c.words, []uint64{word})
		return true
	}
	text := c.texts.At(word)
	c.lengths = binary.AppendUvarint(c.lengths, uint64(len(text)))
	c.bytes = append(c.bytes, text...)
	return len(c.bytes) < blockTexts
}

// packed returns the contents of the column in the format of a block, and clears the column.
func (c *column) packed() (block []byte) {
	block = c.bytes
	if c.text {
		block = encoder.EncodeAll(append(c.lengths, c.bytes...), nil)
	}
	c.lengths, c.bytes = c.lengths[:0], c.bytes[:0]
	return block
}

// unpack sets the column to that of a block with that many rows.
func (c *column) unpack(block []byte, rows int) error {
	c.bytes = block
	if !c.text {
		return nil
	}
	raw, err := decoder.DecodeAll(block, nil)
	if err != nil {
		return fmt.Errorf("%w: its texts: %v", structures.ErrCorrupt, err)
	}
	c.lengths = raw
	sum := uint64(0)
	for range rows {
		length, n := binary.Uvarint(raw)
		if n <= 0 || length > keytype.Longest {
			return fmt.Errorf("%w: a text's length", structures.ErrCorrupt)
		}
		sum, raw = sum+length, raw[n:]
	}
	if c.bytes = raw; sum != uint64(len(raw)) {
		return fmt.Errorf("%w: texts of %d bytes, not %d", structures.ErrCorrupt, len(raw), sum)
	}
	return nil
}

// next removes the next word from a reader's column and returns it. For text, it adds the text to the arena and returns
// its number there.
func (d *Reader) next(i int) (word uint64, err error) {
	c := &d.columns[i]
	if !c.text {
		one := [1]uint64{}
		c.bytes, err = saved.Words(d.pairs, i, one[:], c.bytes)
		return one[0], err
	}
	length, n := binary.Uvarint(c.lengths)
	c.lengths = c.lengths[n:]
	word = c.texts.Add(c.bytes[:length])
	c.bytes = c.bytes[length:]
	return word, nil
}

// SetTexts sets the arenas in which the words of keys and values that are text are numbers. The arena of a column that
// is not text is nil.
func (w *Writer) SetTexts(keys, values *keytype.Arena) {
	w.columns[0].texts, w.columns[1].texts = keys, values
}

// writeTexts is Write for a dictionary with text.
func (w *Writer) writeTexts(keys, values []uint64) error {
	if len(keys) != len(values) {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	for i := range keys {
		room := w.columns[0].add(keys[i])
		room = w.columns[1].add(values[i]) && room
		if w.rows++; w.rows == saved.BlockPairs || !room {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the collected rows as a block of a dictionary with text.
func (w *Writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	rows := w.rows
	w.rows = 0
	return w.pairs.WriteBlock(rows, w.columns[0].packed(), w.columns[1].packed())
}

// SetTexts sets the arenas for keys and values that are text. Read clears them, and its words are then numbers in them.
func (d *Reader) SetTexts(keys, values *keytype.Arena) {
	d.columns[0].texts, d.columns[1].texts = keys, values
}

// readTexts is Read for a dictionary with text. It may return fewer pairs than there is room for.
func (d *Reader) readTexts(keys, values []uint64) (n int, err error) {
	if len(keys) != len(values) {
		return 0, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	for i := range d.columns {
		d.columns[i].texts.Reset()
	}
	for n < len(keys) && !d.columns[0].texts.Full() && !d.columns[1].texts.Full() {
		for ; d.rows > 0 && n < len(keys); n++ {
			if keys[n], err = d.next(0); err == nil {
				values[n], err = d.next(1)
			}
			if err != nil {
				return n, err
			}
			d.rows--
		}
		if d.rows > 0 {
			break
		}
		if err = d.block(); err != nil {
			break
		}
	}
	if n > 0 && err == io.EOF {
		return n, nil
	}
	return n, err
}

// block reads the next block.
func (d *Reader) block() error {
	rows, keys, values, err := d.pairs.ReadBlock()
	if err != nil {
		return err
	}
	for i, block := range [][]byte{keys, values} {
		if err := d.columns[i].unpack(block, rows); err != nil {
			return &structures.SavedError{Err: err}
		}
	}
	d.rows = rows
	return nil
}
