package pipeline

import (
	"context"
	"encoding/binary"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Column is one array of a batch that goes to the device, comes back, or both. From and To may be the same memory,
// because a chunk is read completely before any of its results is written.
type Column struct {
	From  []byte // of the whole batch, goes to the device; nil: nothing
	To    []byte // the results of the whole batch; nil: results stay on the device
	Width int    // bytes of an operation on the device; 0: no column, its address is 0

	code   code
	zeroed bool // To is set to 0 for chunks that were not finished
	lookup bool // To is set to 0 for operations that found nothing, by the last column of the batch
	counts bool // words that come back are numbers of pairs
	founds bool // statuses that come back become bools: whether they are structures.Found

	kinds   []structures.Kind // of a mixed batch: lookup and counts apply to operations of such kinds only
	numbers []uint32          // of a mixed batch, the numbers of pairs that come back; nil: not wanted
}

// In returns a column that goes to the device, of words or structs of words. A nil slice has no column; the same for
// Out.
func In[T any](s []T) Column { return some(Through(s, nil)) }

// Out returns a column that the device fills. For a []bool, the device must write only bytes 0 and 1.
func Out[T any](s []T) Column { return some(Through(nil, s)) }

// Result is Out for a column that the device always fills. For a nil slice, nothing comes back.
func Result[T any](s []T) Column { return Through(nil, s) }

// Statuses is Result for the statuses of operations. Those of chunks that were not finished are Pending.
func Statuses(s []structures.Status) Column {
	c := Result(s)
	c.zeroed = true
	return c
}

// Founds is Statuses for a caller that needs only whether each status is structures.Found.
func Founds(found []bool) Column {
	c := Result(found)
	c.zeroed, c.founds = true, true
	return c
}

// Through returns a column that goes to the device from one slice and comes back to another, which may be the same
// slice. For a nil slice, nothing goes or comes back.
func Through[T any](from, to []T) Column {
	return Column{From: Bytes(from), To: Bytes(to), Width: int(unsafe.Sizeof(*new(T)))}
}

// Keys returns a column of keys that go to the device as words of a width. A nil slice has no column.
func Keys[K structures.Number](keys []K, w structures.Width) Column {
	return some(coded(keys, nil, structures.KeyCode[K](), w))
}

// Values is Keys for values.
func Values[V structures.Number](values []V, w structures.Width) Column {
	return some(coded(values, nil, valueCode[V](w), w))
}

// KeyResults returns a column that the device fills with words of a width, which are converted to keys. The last column
// of the batch tells what the operations found, as bytes 0 and 1 or as statuses; keys of operations that found nothing
// are 0. For a nil slice, nothing comes back.
func KeyResults[K structures.Number](keys []K, w structures.Width) Column {
	c := coded(nil, keys, structures.KeyCode[K](), w)
	c.lookup = true
	return c
}

// ValueResults is KeyResults for values.
func ValueResults[V structures.Number](values []V, w structures.Width) Column {
	c := coded(nil, values, valueCode[V](w), w)
	c.lookup = true
	return c
}

// Counts returns a column that the device fills with numbers of pairs, as words of a width. They are converted to the
// same numbers of any type. For a nil slice, nothing comes back.
func Counts[V structures.Number](counts []V, w structures.Width) Column {
	c := coded(nil, counts, valueCode[V](w), w)
	c.code.shift, c.counts = 0, true
	return c
}

// Mixed returns a column of a mixed batch: values that go to the device, and the results of operations of the given
// kinds, like ValueResults and Counts. The last column of the batch is the statuses. For a nil slice, nothing goes or
// comes back.
func Mixed[V structures.Number](kinds []structures.Kind, values, results []V, w structures.Width) Column {
	c := coded(values, results, valueCode[V](w), w)
	c.lookup, c.counts, c.kinds = true, true, kinds
	return c
}

// Counting returns the column of a mixed batch with additional memory for the numbers of pairs among its results, one
// for each operation, because a float32 cannot hold every number exactly.
func (c Column) Counting(numbers []uint32) Column {
	c.numbers = numbers
	return c
}

// Ranges returns a column of ranges that go to the device as two words of a width each.
func Ranges(ranges []structures.Range[uint64], w structures.Width) Column {
	c := In(ranges)
	if c.Width != 0 {
		c.Width, c.code = 2*w.Bytes(), code{number: structures.Bits64, word: w}
	}
	return c
}

// Unwanted returns a Result column of words of a width that stay on the device.
func Unwanted(w structures.Width) Column { return Column{Width: w.Bytes()} }

// valueCode returns the code of values that are stored as words of a width.
func valueCode[V structures.Number](w structures.Width) structures.Code[V] {
	if w == structures.Bits64 {
		return structures.ValueCode[uint64, V]()
	}
	return structures.ValueCode[uint32, V]()
}

func coded[T structures.Number](from, to []T, c structures.Code[T], w structures.Width) Column {
	column := Through(from, to)
	column.Width = w.Bytes()
	column.code = code{number: structures.WidthOf[T](), word: w, shift: c.Shift()}
	column.code.negative, column.code.positive = c.Flips()
	return column
}

func some(c Column) Column {
	if c.From == nil && c.To == nil {
		return Column{}
	}
	return c
}

// Bytes returns the bytes of a slice, or nil if it is empty.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// sizes returns how many bytes an element takes in From and To, and on the device.
func (c Column) sizes() (number, word int) {
	if c.code.plain() && !c.lookup {
		return 1, 1 // copied as bytes
	}
	return c.code.number.Bytes(), c.code.word.Bytes()
}

// host returns how many bytes an operation takes in From and To.
func (c Column) host() int {
	number, word := c.sizes()
	return c.Width / word * number
}

// words returns how many bytes numbers take on the device.
func (c Column) words(numbers []byte) int {
	number, word := c.sizes()
	return len(numbers) / number * word
}

// asks reports whether results depend on the outcomes in the last column.
func (c Column) asks() bool { return c.lookup && c.To != nil && c.code.flips() }

// Part returns the column of some of the operations.
func (c Column) Part(first, count int) Column {
	host := c.host()
	if c.From != nil {
		c.From = c.From[first*host : (first+count)*host]
	}
	if c.To != nil {
		c.To = c.To[first*host : (first+count)*host]
	}
	c.kinds, c.numbers = Cut(c.kinds, first, first+count), Cut(c.numbers, first, first+count)
	return c
}

// Encode writes the data for the device to memory, with as many threads as are worthwhile.
func (c *Column) Encode(to []byte) {
	number, word := c.sizes()
	n := len(c.From) / number
	if threads.One(n * word) { // without a closure, whose variables would be allocated
		c.encode(to, 0, n)
		return
	}
	threads.Each(n, n*word, func(first, end int) { c.encode(to, first, end) })
}

// encode writes the data of some elements.
func (c *Column) encode(to []byte, first, end int) {
	number, word := c.sizes()
	to, from := to[word*first:word*end], c.From[number*first:number*end]
	if c.code.plain() {
		copy(to, from)
	} else {
		c.code.encode(to, from)
	}
}

// decode reads the results from memory, with as many threads as are worthwhile. of is the last column of the batch, if
// it came back. partly says that some operations are pending; their results are what the device needs to continue them.
func (c *Column) decode(from, of []byte, partly bool) {
	number, word := c.sizes()
	n := len(c.To) / number
	if c.numbers != nil {
		code{word: c.code.word}.count(Bytes(c.numbers), from[:word*len(c.numbers)], c.kinds)
	}
	if threads.One(n * word) {
		c.decodeSome(from, of, partly, 0, n)
		return
	}
	threads.Each(n, n*word, func(first, end int) { c.decodeSome(from, of, partly, first, end) })
}

// decodeSome is decode for some elements.
func (c *Column) decodeSome(from, of []byte, partly bool, first, end int) {
	number, word := c.sizes()
	to, from, kinds := c.To[number*first:number*end], from[word*first:word*end], Cut(c.kinds, first, end)
	if c.code.plain() {
		copy(to, from)
	} else {
		c.code.decode(to, from)
	}
	if c.lookup && of != nil && (partly || c.code.flips()) {
		c.code.clear(to, of[first:end], kinds)
	}
	if c.counts && (c.code.flips() || c.code.shift != 0) { // numbers of pairs and values have different words
		c.code.count(to, from, kinds)
	}
	if c.founds {
		decodeFounds(to)
	}
}

// back reports whether anything comes back.
func (c Column) back() bool { return c.To != nil || c.numbers != nil }

// decodeFounds sets statuses to 1 if they are structures.Found, and to 0 otherwise. Of the statuses of lookups, only
// Found has this bit.
func decodeFounds(statuses []byte) {
	const bit, ones = 1, 0x0101010101010101
	for ; len(statuses) >= 8; statuses = statuses[8:] {
		binary.NativeEndian.PutUint64(statuses, binary.NativeEndian.Uint64(statuses)>>bit&ones)
	}
	for i, s := range statuses {
		statuses[i] = s >> bit & 1
	}
}

// Numbers returns the numbers that go to the device, before they are encoded.
func Numbers[N structures.Word](c Column) []N { return numbersOf[N](c.From) }

// Words returns the data for the device as words of the width W, whatever the width of the column.
func Words[W structures.Word](c Column) []W {
	c.code.word = structures.WidthOf[W]()
	words := make([]W, len(c.From)/c.code.number.Bytes())
	c.Encode(Bytes(words))
	return words
}

// Order returns how the keys of some of the operations are ordered.
func (c Column) Order(first, count int) Order {
	from := c.Part(first, count).From
	if c.code.number == structures.Bits64 {
		return order(words64(from), c.code)
	}
	return order(words32(from), c.code)
}

// Brought returns the column without its results. If nothing goes to the device, it returns no column.
func (c Column) Brought() Column {
	c.To = nil
	return some(c)
}

// Pick returns the column of the operations at some places, in the order of the places. It has its own memory for
// results, if they are wanted.
func (c Column) Pick(places []int) Column {
	c = c.Room(len(places))
	if c.kinds != nil {
		c.kinds = Pick(c.kinds, places)
	}
	if c.From == nil {
		return c
	}
	host := c.host()
	some := make([]byte, 0, host*len(places))
	for _, i := range places {
		some = append(some, c.From[host*i:host*(i+1)]...)
	}
	c.From = some
	return c
}

// Room returns the column with its own memory for the results of n other operations, if results are wanted.
func (c Column) Room(n int) Column {
	if c.To != nil {
		c.To = Bytes(make([]uint64, (n*c.host()+7)/8))[:n*c.host()]
	}
	return c
}

// Spread copies the results of another column to the operations at some places.
func (c Column) Spread(some Column, places []int) {
	if host := c.host(); c.To != nil {
		for j, i := range places {
			copy(c.To[host*i:host*(i+1)], some.To[host*j:])
		}
	}
}

// Put decodes words that came back in another way into the results of the operations from first on.
func (c Column) Put(first int, words []byte) {
	number, word := c.sizes()
	if to := c.To[number*first:]; c.code.plain() {
		copy(to, words)
	} else {
		c.code.decode(to[:len(words)/word*number], words)
	}
}

// PutCount sets the result of an operation to a number of pairs, if results are wanted.
func (c Column) PutCount(i int, n uint64) {
	if c.To != nil {
		number, of := c.code.number.Bytes(), c.code
		of.word = structures.Bits64
		of.count(c.To[number*i:number*(i+1)], Bytes([]uint64{n}), nil)
	}
}

// Upload writes the data for the device to a buffer, from a 32-bit word on, and returns when it is there.
func (c Column) Upload(ctx context.Context, b *vk.Buffer[uint32], at int) error {
	if c.code.plain() {
		return b.Upload(ctx, at, words32(c.From))
	}
	return c.aside(len(c.From), func(first, end, word int, words []byte) error {
		part := c
		part.From = c.From[first:end]
		part.Encode(words)
		return b.Upload(ctx, at+word, words32(words))
	})
}

// Download reads the results from a buffer, from a 32-bit word on.
func (c Column) Download(ctx context.Context, b *vk.Buffer[uint32], at int) error {
	if c.code.plain() {
		return b.Download(ctx, at, words32(c.To))
	}
	return c.aside(len(c.To), func(first, end, word int, words []byte) error {
		part := c
		part.To = c.To[first:end]
		err := b.Download(ctx, at+word, words32(words))
		part.decode(words, nil, false)
		return err
	})
}

// aside calls do for parts of the given bytes of numbers. do gets memory for the words of a part, and the 32-bit word
// at which they begin on the device.
func (c Column) aside(bytes int, do func(first, end, word int, words []byte) error) error {
	const most = 1 << 18 // words
	number, word := c.sizes()
	words := Bytes(make([]uint64, min(most, bytes/number)))
	for first := 0; first < bytes; first += most * number {
		end := min(first+most*number, bytes)
		if err := do(first, end, first/number*word/4, words[:(end-first)/number*word]); err != nil {
			return err
		}
	}
	return nil
}
