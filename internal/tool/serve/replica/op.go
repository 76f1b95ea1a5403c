package replica

import (
	"encoding/binary"
	"fmt"

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

// Op is an operation on one key. Keys and values are words (package keytype).
type Op struct {
	Kind       Kind
	Flags      Flags
	Key, Value uint64
	Deadline   int64 // of Set and Expire: milliseconds since 1970, after which the key is deleted; 0: none
}

// Answer is the outcome of an operation.
type Answer struct {
	Value    uint64
	Deadline int64 // 0: none
	Found    bool  // the key was there before
	Done     bool
	Overflow bool
}

// Types are the types of keys and values.
type Types struct{ Key, Value keytype.Type }

func (t Types) String() string {
	return fmt.Sprintf("keys of type %v and values of type %v", t.Key, t.Value)
}

// TypesError says that a folder, or another member, has other types than were asked for.
type TypesError struct{ Have, Want Types }

func (e *TypesError) Error() string {
	return fmt.Sprintf("the data has %v, not %v", e.Have, e.Want)
}

// version is the first byte of entries and of snapshots.
const version = 2

const headerBytes = 3 + 8

// encode appends an entry of the log: a version, the types, the leader's time and operations. Each operation has a byte
// for its kind and flags, its key, and what its kind needs. All numbers are little-endian.
func (t Types) encode(to []byte, now int64, ops []Op) []byte {
	to = append(to, version, byte(t.Key), byte(t.Value))
	to = binary.LittleEndian.AppendUint64(to, uint64(now))
	for _, op := range ops {
		flags := op.Flags &^ hasDeadline
		if op.Deadline != 0 {
			flags |= hasDeadline
		}
		to = append(to, byte(op.Kind)|byte(flags)<<4)
		to = binary.LittleEndian.AppendUint64(to, op.Key)
		if op.Kind.valued() {
			to = binary.LittleEndian.AppendUint64(to, op.Value)
		}
		if op.Deadline != 0 {
			to = binary.LittleEndian.AppendUint64(to, uint64(op.Deadline))
		}
	}
	return to
}

func (k Kind) valued() bool { return k == Set || k == Add || k == AddFloat }

// decode returns the time and the operations of an entry. Errors: *TypesError, and others that say what is wrong.
func (t Types) decode(entry []byte) (now int64, ops []Op, err error) {
	if len(entry) < headerBytes {
		return 0, nil, fmt.Errorf("%d bytes are too few", len(entry))
	}
	if entry[0] != version {
		return 0, nil, fmt.Errorf("it has version %d, not %d", entry[0], version)
	}
	if have := (Types{keytype.Type(entry[1]), keytype.Type(entry[2])}); have != t {
		return 0, nil, &TypesError{have, t}
	}
	now = int64(binary.LittleEndian.Uint64(entry[3:]))
	rest := entry[headerBytes:]
	ops = make([]Op, 0, len(rest)/17+1) // most are Set
	word := func() (w uint64) {
		if len(rest) < 8 {
			rest, err = nil, fmt.Errorf("operation %d ends too early", len(ops))
			return 0
		}
		w, rest = binary.LittleEndian.Uint64(rest), rest[8:]
		return w
	}
	for len(rest) > 0 {
		op := Op{Kind: Kind(rest[0] & 15), Flags: Flags(rest[0] >> 4)}
		if op.Kind >= kinds {
			return 0, nil, fmt.Errorf("operation %d has the unknown kind %d", len(ops), op.Kind)
		}
		rest = rest[1:]
		op.Key = word()
		if op.Kind.valued() {
			op.Value = word()
		}
		if op.Flags&hasDeadline != 0 {
			op.Flags &^= hasDeadline
			op.Deadline = int64(word())
		}
		if err != nil {
			return 0, nil, err
		}
		ops = append(ops, op)
	}
	return now, ops, nil
}
