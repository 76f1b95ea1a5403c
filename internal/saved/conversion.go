package saved

import (
	"encoding/binary"

	"github.com/vkds/vkds/structures"
)

// conversion makes words of a column in memory of what a file has of it.
type conversion struct {
	from  Column
	width structures.Width // of what stands in the file
	known bool             // whether the file says what type from is
	to    Column
}

// setTypes takes the columns' types from the header, and from the version what earlier ones had there.
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
	if words && h.Structure == Graph { // whose types are always the same
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

// pairBytes is how many bytes a pair takes.
func (d *Reader) pairBytes() int {
	if d.header.KeysOnly {
		return d.columns[0].width.Bytes()
	}
	return d.columns[0].width.Bytes() + d.columns[1].width.Bytes()
}

// As has ReadWords return words of these columns; without it, they are those of Named. Values aren't read for a set.
// What an earlier version saved without the names of its types is read as these columns if they take as much room.
// Error: *structures.SavedError around structures.ErrText or a *structures.TypeError.
func (d *Reader) As(to Columns) error {
	if d.header.HasText() {
		return damaged(structures.ErrText, "")
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

// as sets what a column becomes; earlier is what it was in a dictionary of an earlier version's, if that was of the
// same types.
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

// Words fills words with the numbers at the front of a block's keys (column 0) or values (column 1), and returns the
// rest. Error: *structures.SavedError, if one of them is none of its column's type.
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
