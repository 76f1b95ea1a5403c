package replica

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dchest/siphash"
	"github.com/tidwall/btree"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// Record has what of a pair is text. The rest of the pair is in words.
type Record struct{ Key, Value string }

var errSeed = errors.New("its seed is 0")

// texts has the Record of each pair, by the word of its key, if keys or values are text. The dictionary has the words.
//
// The word of a key that is text is its hash. If another key has that word when the key comes, the key gets the next
// free word, and keeps it. A key is compared with that of its word, so answers are exact, whatever collides. All
// members have the same words, because the first entry of the log brings the seed of the hash: so a cursor of SCAN is
// of use on each of them. SCAN tells clients the words of their keys. The hash is keyed, so that words don't tell the
// seed, and nobody can prepare keys that collide.
type texts struct {
	keys   bool // keys are text
	hashes func(seed) keytype.Hash
	hash   keytype.Hash // nil: no entry was applied, or keys are no text
	of     *btree.Map[uint64, Record]
	odd    map[string]uint64 // the words of keys that have another one than their hash
	bytes  int
	gone   int // bytes that were replaced or removed since the map was last tidied

	copying sync.Mutex // a map is copied by one at a time
}

// seed is what one dictionary has and no other one: chance that the first entry brings. It is the key of the hash of
// texts, and never zero.
type seed [2]uint64

const seedBytes = 16

func newSeed() (s seed) {
	for s == (seed{}) {
		var random [seedBytes]byte
		rand.Read(random[:]) // never fails
		s.read(random[:])
	}
	return s
}

func (s *seed) read(from []byte) {
	s[0], s[1] = binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
}

func (s seed) append(to []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(to, s[0]), s[1])
}

// keyed returns SipHash-2-4.
func keyed(s seed) keytype.Hash {
	return func(text []byte) uint64 { return siphash.Hash(s[0], s[1], text) }
}

func newTexts(types Types) *texts {
	return &texts{keys: types.Key == keytype.Text, hashes: keyed, of: new(btree.Map[uint64, Record]),
		odd: map[string]uint64{}}
}

// begin takes the seed of the first entry.
func (t *texts) begin(s seed) {
	if t.keys && s != (seed{}) {
		t.hash = t.hashes(s)
	}
}

// find returns the word of a key that is there, and its Record.
func (t *texts) find(key []byte) (word uint64, r Record, there bool) {
	if t.hash == nil {
		return 0, Record{}, false
	}
	word, odd := t.odd[string(key)]
	if !odd {
		word = t.hash(key)
	}
	r, there = t.of.Get(word)
	return word, r, there && r.Key == string(key)
}

// word returns the word of a key, which is its own if it is there, and otherwise a free one, which fresh then has.
func (t *texts) word(key []byte, fresh map[uint64]string) uint64 {
	if word, odd := t.odd[string(key)]; odd {
		return word
	}
	for word := t.hash(key); ; word++ {
		r, there := t.of.Get(word)
		if !there {
			r.Key, there = fresh[word]
		}
		switch {
		case !there:
			fresh[word] = string(key)
			return word
		case r.Key == string(key):
			return word
		}
	}
}

// set sets the Record of a word.
func (t *texts) set(word uint64, r Record) {
	was, there := t.of.Set(word, r)
	t.gone += len(was.Value)
	t.bytes += len(r.Key) + len(r.Value) - len(was.Key) - len(was.Value)
	if !there {
		t.named(word, r.Key)
	}
}

// named notes a key that has another word than its hash.
func (t *texts) named(word uint64, key string) {
	if t.hash != nil && t.hash([]byte(key)) != word {
		t.odd[key] = word
	}
}

// remove removes the Record of a word.
func (t *texts) remove(word uint64) {
	was, _ := t.of.Delete(word)
	t.bytes -= len(was.Key) + len(was.Value)
	t.gone += len(was.Key) + len(was.Value)
	delete(t.odd, was.Key)
}

// copy returns the Records as they are. Others may read meanwhile.
func (t *texts) copy() *btree.Map[uint64, Record] {
	t.copying.Lock()
	defer t.copying.Unlock()
	return t.of.Copy()
}

const (
	// mostGone is how many bytes of texts that are gone may stay in memory, beside as many as the Records have.
	mostGone = 16 << 20
	// recordBytes is what copying a Record costs, in bytes, besides those of its texts, which aren't copied.
	recordBytes = 64
)

// tidied returns a map that holds nothing but its Records, or nil if it isn't worth the time. Nodes that come from a
// split share an array, which keeps the texts that one of them has lost.
func (t *texts) tidied() *btree.Map[uint64, Record] {
	if t.gone <= t.bytes+recordBytes*t.of.Len()+mostGone {
		return nil
	}
	all := t.copy()
	all.ScanMut(func(uint64, Record) bool { return true }) // it copies each node
	return all
}

// writeTexts writes Records: how many, and each with its word and both texts.
func writeTexts(w *bufio.Writer, of *btree.Map[uint64, Record]) (err error) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(of.Len()))
	_, err = w.Write(b)
	of.Scan(func(word uint64, r Record) bool {
		b = binary.LittleEndian.AppendUint64(b[:0], word)
		b = append(binary.AppendUvarint(b, uint64(len(r.Key))), r.Key...)
		b = append(binary.AppendUvarint(b, uint64(len(r.Value))), r.Value...)
		_, err = w.Write(b)
		return err == nil
	})
	return err
}

// read reads what writeTexts has written into texts that are empty.
func (t *texts) read(r *bufio.Reader, s seed) error {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	t.begin(s)
	n := binary.LittleEndian.Uint64(head[:])
	if n > 0 && s == (seed{}) {
		return errSeed
	}
	for range n {
		var word [8]byte
		if _, err := io.ReadFull(r, word[:]); err != nil {
			return err
		}
		key, err := readText(r)
		if err != nil {
			return err
		}
		value, err := readText(r)
		if err != nil {
			return err
		}
		w := binary.LittleEndian.Uint64(word[:])
		t.of.Load(w, Record{key, value})
		t.bytes += len(key) + len(value)
		t.named(w, key)
	}
	return nil
}

func readText(r *bufio.Reader) (string, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return "", err
	}
	if n > keytype.LongestServed {
		return "", fmt.Errorf("a text has %d bytes", n)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r, text)
	return string(text), err
}
