package saved

import (
	"encoding/binary"

	"github.com/vkds/vkds/structures"
)

// conversion converts a column of a file to words of a column in memory.
type conversion struct {
	from  Column
	width structures.Width // of the numbers in the file
	known bool             // whether the file names the type of from
	to    Column
}

// setTypes sets the columns' types by the header. For earlier versions, it uses the version too.
func (d *Reader) setTypes(version uint32) error {
	h := &d.header
	words, stored := version < typedVersion, structures.Bits32
	switch {
	case !words:
		h.KeysOnly = h.ValueType == ""
	case version >= textVersion:
		stored = structures.Width(version - textVersion)
	default:
		h.KeysOnly = (version-firstVersion)%2 == 1
		stored = structures.Width((version - firstVersion) / 2)
	}
	if words && h.HasText() != (version >= textVersion) || !words && h.KeyType == "" {
		return damaged(structures.ErrCorrupt, "keys of type %q and values of type %q in the format %d", h.KeyType,
			h.ValueType, version)
	}
	if words && h.Structure == Graph { // a graph's types are always the same
		if h.KeyType = Keys[uint64]().Type.Name(); !h.KeysOnly {
			h.ValueType = TypeOf[uint32]().Name()
		}
	}
	known := h.KeyType != "" || h.ValueType != ""
	for i, name := range []string{h.KeyType, h.ValueType} {
		c, ok := keysOf(Type{Width: stored}), true
		if name != "" {
			c, ok = Named(name)
		}
		if !ok || words && c.Type.Width > stored {
			return damaged(structures.ErrCorrupt, "numbers of type %q in %s", name, stored)
		}
		d.columns[i] = conversion{from: c, width: stored, known: known, to: c}
		if !words {
			d.columns[i].from, d.columns[i].width = Column{Type: c.Type}, c.Type.Width
		}
	}
	d.keysOnly = h.KeysOnly
	if h.Width = stored; !words {
		h.Width = Columns{d.columns[0].from, d.columns[1].from, h.KeysOnly}.Width()
	}
	return nil
}

// pairBytes returns the size of a pair in bytes.
func (d *Reader) pairBytes() int {
	if d.header.KeysOnly {
		return d.columns[0].width.Bytes()
	}
	return d.columns[0].width.Bytes() + d.columns[1].width.Bytes()
}

// As makes ReadWords return words of these columns. Without As, they are those of Named. The values are not read for a
// set. If an earlier version saved a dictionary without the names of its types, it is read as these columns if they
// have the same width. Error: *structures.SavedError around structures.ErrText, structures.ErrNotSaved for a
// filter, or a *structures.TypeError.
func (d *Reader) As(to Columns) error {
	switch {
	case d.header.HasText():
		return damaged(structures.ErrText, "")
	case d.header.Structure == Filter:
		return damaged(structures.ErrNotSaved, "a filter does not have its keys")
	}
	d.keysOnly = to.KeysOnly || d.header.KeysOnly
	d.columns[1].to = to.Values
	if err := d.columns[0].as(to.Keys, "keys", keysOf(to.Keys.Type), d.header, to); err != nil {
		return err
	}
	if d.keysOnly {
		return nil
	}
	earlier := Column{Type: to.Values.Type}
	if earlier.Type.Kind == Float {
		earlier = keysOf(earlier.Type)
	}
	return d.columns[1].as(to.Values, "values", earlier, d.header, to)
}

// AsBits makes ReadWords return the bits of the keys' numbers, and no values.
func (d *Reader) AsBits() {
	d.columns[0].to, d.keysOnly = Column{Type: d.columns[0].from.Type}, true
}

// as sets the target of a conversion. If the file does not name the column's type, earlier is the column that an
// earlier version wrote for the type of to.
func (c *conversion) as(to Column, what string, earlier Column, h Header, all Columns) error {
	if c.to = to; !c.known {
		c.from = earlier
		if all.KeysOnly = all.KeysOnly || h.KeysOnly; all.Width() != c.width {
			return &structures.SavedError{Err: &structures.TypeError{What: what, Bits: c.width.Bits(),
				Loaded: to.Type.String()}}
		}
		return nil
	}
	if !to.Type.holds(c.from.Type) {
		return &structures.SavedError{Err: &structures.TypeError{What: what, Saved: c.from.Type.String(),
			Loaded: to.Type.String()}}
	}
	return nil
}

// Words fills to with the numbers at the start of from, a block's keys (column 0) or values (column 1), as words. It
// returns the rest of from. Error: *structures.SavedError if a number is outside its column's type.
func Words[W structures.Word](d *Reader, column int, to []W, from []byte) (rest []byte, err error) {
	c, beyond := &d.columns[column], uint64(0)
	for i := range to {
		var word uint64
		if c.width == structures.Bits64 {
			word = binary.LittleEndian.Uint64(from[8*i:])
		} else {
			word = uint64(binary.LittleEndian.Uint32(from[4*i:]))
		}
		beyond |= word >> (c.from.Type.Width.Bits() - 1) >> 1
		to[i] = W(c.to.word(c.to.Type.wider(c.from.Type, c.from.number(word))))
	}
	if beyond != 0 {
		return nil, damaged(structures.ErrCorrupt, "numbers that are none of type %s", c.from.Type)
	}
	return from[c.width.Bytes()*len(to):], nil
}
