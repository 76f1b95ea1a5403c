package replica

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// Kind is what an operation does.
type Kind uint8

const (
	// Get answers with the value of the key and its deadline. Among other operations it stands in the log, too, so that
	// it sees those before it and none after it.
	Get Kind = iota
	// Set assigns Value and Deadline. The answer has the value before; it is Done unless a flag forbade it.
	Set
	// Add adds the int64 of Value to a value of an integer type; an absent key has 0. The answer has the sum, or is
	// Overflow if the type has no such value, and nothing changed. The deadline stays.
	Add
	// AddFloat is Add for the float64 with the bits of Value, and for values of a float type.
	AddFloat
	// Delete removes the key. The answer is Found if it was there.
	Delete
	// Expire sets the Deadline of a key that is there, or deletes it if the deadline has passed. The answer is then
	// Done.
	Expire
	// Persist removes the deadline of a key. The answer is Done if it had one.
	Persist

	kinds
)

// Flags change what Set does.
type Flags uint8

const (
	IfAbsent     Flags = 1 << iota // set only if the key is absent
	IfPresent                      // set only if the key is there
	KeepDeadline                   // the key keeps its deadline

	hasDeadline // in an entry: a deadline follows
)

// Op is an operation on one key. Keys and values are words (package keytype). The word of a text is its place in a
// slice of texts beside the operations. What Add and AddFloat add is never a text.
type Op struct {
	Kind       Kind
	Flags      Flags
	Key, Value uint64
	Deadline   int64 // of Set and Expire: milliseconds since 1970, after which the key is deleted; 0: none
}

// Answer is the outcome of an operation.
type Answer struct {
	Value     uint64
	Text      string // instead of Value, if values are text
	Deadline  int64  // 0: none
	Found     bool   // the key was there before
	Done      bool
	Overflow  bool
	NotNumber bool // the operation adds to a text that is no number; nothing changed
}

// Types are the types of keys and values.
type Types struct{ Key, Value keytype.Type }

func (t Types) text() bool { return t.Key == keytype.Text || t.Value == keytype.Text }

func (t Types) String() string {
	return fmt.Sprintf("keys of type %v and values of type %v", t.Key, t.Value)
}

// TypesError says that a folder, or another member, has other types than were asked for.
type TypesError struct{ Have, Want Types }

func (e *TypesError) Error() string {
	return fmt.Sprintf("the data has %v, not %v", e.Have, e.Want)
}

// version is the first byte of entries and of snapshots.
const version = 4

// VersionError says that a folder is of another version of the log.
type VersionError struct{ Have byte }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the data is of version %d of the log, and this program reads only version %d", e.Have, version)
}

const headerBytes = 3 + 8 + seedBytes

// entry is what an entry of the log has.
type entry struct {
	now   int64 // the leader's time
	seed  seed  // of the data, if this is the first entry
	ops   []Op
	texts [][]byte
}

// head appends how an entry begins: a version, the types, the leader's time and a seed. All numbers are little-endian.
func (t Types) head(to []byte, now int64, s seed) []byte {
	to = append(to, version, byte(t.Key), byte(t.Value))
	return s.append(binary.LittleEndian.AppendUint64(to, uint64(now)))
}

// encode appends operations to an entry. Each has a byte for its kind and flags, its key, and what its kind needs. A
// text is a length and bytes.
func (t Types) encode(to []byte, ops []Op, texts [][]byte) []byte {
	word := func(of keytype.Type, w uint64) {
		if of == keytype.Text {
			to = binary.AppendUvarint(to, uint64(len(texts[w])))
			to = append(to, texts[w]...)
			return
		}
		to = binary.LittleEndian.AppendUint64(to, w)
	}
	bytes := 17 * len(ops)
	for _, text := range texts {
		bytes += 3 + len(text)
	}
	to = slices.Grow(to, bytes)
	for _, op := range ops {
		flags := op.Flags &^ hasDeadline
		if op.Deadline != 0 {
			flags |= hasDeadline
		}
		to = append(to, byte(op.Kind)|byte(flags)<<4)
		word(t.Key, op.Key)
		if op.Kind.valued() {
			word(t.operand(op.Kind), op.Value)
		}
		if op.Deadline != 0 {
			to = binary.LittleEndian.AppendUint64(to, uint64(op.Deadline))
		}
	}
	return to
}

func (k Kind) valued() bool { return k == Set || k == Add || k == AddFloat }

// operand returns the type of what an operation has beside its key.
func (t Types) operand(k Kind) keytype.Type {
	if k == Set {
		return t.Value
	}
	return keytype.Uint64
}

// decode returns what an entry has. Its texts are parts of data. Errors: *TypesError, and others that say what is
// wrong.
func (t Types) decode(data []byte) (e entry, err error) {
	if len(data) > 0 && data[0] != version {
		return entry{}, &VersionError{data[0]}
	}
	if len(data) < headerBytes {
		return entry{}, fmt.Errorf("%d bytes are too few", len(data))
	}
	if have := (Types{keytype.Type(data[1]), keytype.Type(data[2])}); have != t {
		return entry{}, &TypesError{have, t}
	}
	e.now = int64(binary.LittleEndian.Uint64(data[3:]))
	if e.seed.read(data[3+8:]); e.seed == (seed{}) {
		return entry{}, errSeed
	}
	r := reader{rest: data[headerBytes:]}
	e.ops = make([]Op, 0, len(r.rest)/17+1) // most are Set
	for len(r.rest) > 0 {
		op := Op{Kind: Kind(r.rest[0] & 15), Flags: Flags(r.rest[0] >> 4)}
		if op.Kind >= kinds {
			return entry{}, fmt.Errorf("operation %d has the unknown kind %d", len(e.ops), op.Kind)
		}
		r.rest = r.rest[1:]
		op.Key = r.wordOf(t.Key)
		if op.Kind.valued() {
			op.Value = r.wordOf(t.operand(op.Kind))
		}
		if op.Flags&hasDeadline != 0 {
			op.Flags &^= hasDeadline
			op.Deadline = int64(r.word())
		}
		if r.short {
			return entry{}, fmt.Errorf("operation %d ends too early", len(e.ops))
		}
		e.ops = append(e.ops, op)
	}
	e.texts = r.texts
	if r.short {
		return entry{}, fmt.Errorf("%d bytes are too few", len(data))
	}
	return e, nil
}

// reader reads an entry.
type reader struct {
	rest  []byte
	texts [][]byte
	short bool // it ended too early, or a text is too long
}

func (r *reader) word() (w uint64) {
	if len(r.rest) < 8 {
		r.rest, r.short = nil, true
		return 0
	}
	w, r.rest = binary.LittleEndian.Uint64(r.rest), r.rest[8:]
	return w
}

func (r *reader) wordOf(t keytype.Type) uint64 {
	if t != keytype.Text {
		return r.word()
	}
	length, n := binary.Uvarint(r.rest)
	if n <= 0 || length > keytype.LongestServed || length > uint64(len(r.rest)-n) {
		r.rest, r.short = nil, true
		return 0
	}
	r.texts = append(r.texts, r.rest[n:n+int(length)])
	r.rest = r.rest[n+int(length):]
	return uint64(len(r.texts) - 1)
}
