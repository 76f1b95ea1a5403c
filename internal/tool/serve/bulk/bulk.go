// Package bulk moves keys and pairs between vkds's server and its clients as record batches of Arrow, by Arrow Flight.
// It has what both sides need, and the client. The service is in package serve.
package bulk

import (
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
	"google.golang.org/grpc/grpclog"
)

// The commands of a descriptor.
const (
	Set    = "set"    // of DoPut: keys and values
	Delete = "delete" // of DoPut: keys
	Get    = "get"    // of DoExchange
)

const (
	// MostRows and MostBytes are how many rows and bytes of texts a record batch has at most, unless one text has more.
	// A server does rows of larger ones in such parts.
	MostRows  = 1 << 16
	MostBytes = 1 << 20

	// LeaderKey is the key of the address of the leader, beside an error of a server that doesn't lead, or is about to
	// stop. It is empty if no leader is known. Only what was acknowledged is then done.
	LeaderKey = "vkds-leader"
	typeKey   = "vkds.type" // of a column's metadata: the name of its type
)

// rowsDone begins what RowsDone returns.
const rowsDone = "; rows that are done: "

// RowsDone returns how an error of DoPut ends: how many rows are done.
func RowsDone(rows int64) string { return rowsDone + strconv.FormatInt(rows, 10) }

// Done is what PutResult has as JSON: how many rows are done so far, and how many of their keys were there before.
type Done struct {
	Rows  int64 `json:"rows"`
	Found int64 `json:"found"`
}

// Plus returns the sums.
func (d Done) Plus(more Done) Done { return Done{d.Rows + more.Rows, d.Found + more.Found} }

// Shard is what an endpoint has as JSON: the slots of the keys there.
type Shard struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Column has rows of one column.
type Column struct {
	Type    keytype.Type
	Words   []uint64
	Texts   *keytype.Arena // of text: the words are numbers of these texts
	Strings []string       // of text: the texts instead of Texts
	Valid   []bool         // which rows are not null; nil: all
}

// length returns the number of bytes of a row's text.
func (c Column) length(row int) int {
	switch {
	case c.Type != keytype.Text || c.Valid != nil && !c.Valid[row]:
		return 0
	case c.Strings != nil:
		return len(c.Strings[row])
	}
	return len(c.Texts.At(c.Words[row]))
}

// Slot returns the slot of a key: that of its own text.
func (c Column) Slot(row int) int {
	var text [64]byte
	switch {
	case c.Type != keytype.Text:
		return Slot(c.Type.Append(text[:0], c.Words[row]))
	case c.Strings != nil:
		return Slot([]byte(c.Strings[row]))
	}
	return Slot(c.Texts.At(c.Words[row]))
}

// pick returns some of the rows, which are words or have Texts.
func (c Column) pick(rows []int) Column {
	words := make([]uint64, len(rows))
	for i, row := range rows {
		words[i] = c.Words[row]
	}
	c.Words = words
	return c
}

// Slice returns the rows from one to before another.
func (c Column) Slice(from, to int) Column {
	c.Words = c.Words[from:to]
	if c.Strings != nil {
		c.Strings = c.Strings[from:to]
	}
	if c.Valid != nil {
		c.Valid = c.Valid[from:to]
	}
	return c
}

// Schema returns that of keys, and of values unless these are nil. Texts are bytes, because they need not be UTF-8.
func Schema(key keytype.Type, value *keytype.Type, nullable bool) *arrow.Schema {
	field := func(name string, t keytype.Type, nullable bool) arrow.Field {
		of := arrow.DataType(arrow.BinaryTypes.Binary)
		if t != keytype.Text {
			of = outfile.ArrowType(t)
		}
		return arrow.Field{Name: name, Type: of, Nullable: nullable,
			Metadata: arrow.NewMetadata([]string{typeKey}, []string{t.String()})}
	}
	fields := []arrow.Field{field("key", key, false)}
	if value != nil {
		fields = append(fields, field("value", *value, nullable))
	}
	return arrow.NewSchema(fields, nil)
}

// typesOf returns the types that a server's schema names.
func typesOf(s *arrow.Schema) (types [2]keytype.Type, err error) {
	for i, name := range []string{"key", "value"} {
		fields, _ := s.FieldsByName(name)
		if len(fields) != 1 {
			return types, fmt.Errorf("its schema has %d columns %q", len(fields), name)
		}
		text, _ := fields[0].Metadata.GetValue(typeKey)
		if types[i], err = keytype.Types.Parse(text); err != nil {
			return types, fmt.Errorf("the type of its column %q: %w", name, err)
		}
	}
	return types, nil
}

// Batch returns a record batch of columns. Release it.
func Batch(s *arrow.Schema, columns ...Column) (arrow.RecordBatch, error) {
	rows := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer rows.Release()
	for i, c := range columns {
		b, is := rows.Field(i).(*array.BinaryBuilder)
		if !is {
			if err := outfile.AppendArrow(rows.Field(i), c.Type, c.Words, c.Valid); err != nil {
				return nil, err
			}
			continue
		}
		for row := range c.Words {
			switch {
			case c.Valid != nil && !c.Valid[row]:
				b.AppendNull()
			case c.Strings != nil:
				b.AppendString(c.Strings[row])
			default:
				b.Append(c.Texts.At(c.Words[row]))
			}
		}
	}
	return rows.NewRecordBatch(), nil
}

// Part returns the end of the rows of columns, from one on, that have at most MostRows and MostBytes, but at least one.
func Part(from int, columns ...Column) (to int) {
	bytes := 0
	for to = from; to < len(columns[0].Words) && to-from < MostRows; to++ {
		for _, c := range columns {
			bytes += c.length(to)
		}
		if bytes > MostBytes && to > from {
			break
		}
	}
	return to
}

// Read begins to read what comes on a stream. first is what came already, or nil. The columns are as in
// input.NewRecords.
func Read(name string, first *flight.FlightData, receive func() (*flight.FlightData, error), o input.Options) (
	*input.Records, error) {
	next := func() ([]byte, []byte, error) {
		for {
			data, err := first, error(nil)
			if first = nil; data == nil {
				data, err = receive()
			}
			if err != nil {
				return nil, nil, err
			}
			if len(data.DataHeader) > 0 { // others only say something about the stream
				return data.DataHeader, data.DataBody, nil
			}
		}
	}
	return input.NewRecords(name, next, o)
}

// Quiet keeps gRPC from writing to standard error.
var Quiet = sync.OnceFunc(func() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) })
