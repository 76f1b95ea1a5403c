package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// flown serves Flight until the test ends, and returns a stock client.
func flown(t testing.TB, r replica.Options, o Options) (f *flights, c flight.Client, address string) {
	s, _ := started(t, r, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f, stop := s.flights(l, nil)
	t.Cleanup(stop)
	return f, stock(t, l.Addr().String()), l.Addr().String()
}

func stock(t testing.TB, address string) flight.Client {
	c, err := flight.NewClientWithMiddleware(address, nil, nil,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// rowsOf returns a record batch of columns in JSON.
func rowsOf(t testing.TB, text string, fields ...arrow.Field) arrow.RecordBatch {
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(text))
	require.NoError(t, err)
	return rows
}

func keyField(t arrow.DataType) arrow.Field { return arrow.Field{Name: "key", Type: t, Nullable: true} }
func valueField(t arrow.DataType) arrow.Field {
	return arrow.Field{Name: "value", Type: t, Nullable: true}
}

// put does DoPut, and returns the last that the server has acknowledged.
func put(ctx context.Context, c flight.Client, what string, batches ...arrow.RecordBatch) (done bulk.Done, err error) {
	stream, err := c.DoPut(ctx)
	if err != nil {
		return done, err
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(batches[0].Schema()))
	if what != "" {
		w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{what}})
	}
	for _, b := range batches {
		if w.Write(b) != nil {
			break // Recv says more
		}
	}
	_ = stream.CloseSend()
	return acknowledged(stream)
}

// acknowledged reads what a DoPut answers to its end.
func acknowledged(stream flight.FlightService_DoPutClient) (done bulk.Done, err error) {
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		if err := json.Unmarshal(r.AppMetadata, &done); err != nil {
			return done, err
		}
	}
}

// listed reads all that a stream has, as JSON.
func listed(t testing.TB, stream flight.DataStreamReader) (text string, schema *arrow.Schema, err error) {
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	for r.Next() {
		require.NoError(t, array.RecordToJSON(r.RecordBatch(), &b))
	}
	if text = strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", ","); text != "" {
		text = "[" + text + "]"
	}
	return text, r.Schema(), r.Err()
}

func exchange(t testing.TB, c flight.Client, keys ...arrow.RecordBatch) (string, error) {
	stream, err := c.DoExchange(t.Context())
	require.NoError(t, err)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(keys[0].Schema()))
	for _, b := range keys {
		if w.Write(b) != nil {
			break
		}
	}
	require.NoError(t, stream.CloseSend())
	text, _, err := listed(t, stream)
	return text, err
}

func get(t testing.TB, c flight.Client, ticket string) (string, *arrow.Schema, error) {
	stream, err := c.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(ticket)})
	require.NoError(t, err)
	return listed(t, stream)
}

// A stock client puts, finds, lists and deletes pairs of each kind of type; columns are of any type that a file of
// Arrow may have, too.
func TestFlight(t *testing.T) {
	second := &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}
	for _, x := range []struct {
		types      replica.Types
		key, value arrow.DataType
		pairs      string // of which the last key is deleted
		all        string
	}{
		{integers, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64,
			`[{"key":-7,"value":70},{"key":8,"value":-80},{"key":9,"value":1}]`,
			`[{"key":-7,"value":70},{"key":8,"value":-80}]`},
		{replica.Types{Key: keytype.Uint32, Value: keytype.Float64}, arrow.PrimitiveTypes.Int16,
			arrow.PrimitiveTypes.Float32, `[{"key":7,"value":0.5},{"key":8,"value":-2},{"key":9,"value":1}]`,
			`[{"key":7,"value":0.5},{"key":8,"value":-2}]`},
		{replica.Types{Key: keytype.Time, Value: keytype.Int32}, second, arrow.PrimitiveTypes.Uint8,
			`[{"key":"2014-07-01 00:30:00Z","value":3},{"key":"2014-07-02 00:00:00Z","value":4},` +
				`{"key":"2014-07-03 00:00:00Z","value":1}]`,
			`[{"key":"2014-07-01T00:30:00Z","value":3},{"key":"2014-07-02T00:00:00Z","value":4}]`},
		{replica.Types{Key: keytype.IPv4, Value: keytype.Hex64}, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Uint64,
			`[{"key":"0.0.0.7","value":3},{"key":"0.0.1.0","value":4},{"key":"1.0.0.0","value":1}]`,
			`[{"key":7,"value":3},{"key":256,"value":4}]`},
		{replica.Types{Key: keytype.Text, Value: keytype.Text}, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
			`[{"key":"a","value":"YQ=="},{"key":"","value":""},{"key":"ab","value":"/w=="}]`, ``},
		{replica.Types{Key: keytype.Int64, Value: keytype.Text}, arrow.PrimitiveTypes.Int64,
			arrow.BinaryTypes.StringView,
			`[{"key":1,"value":"a long text that isn't in the view"},{"key":2,"value":""},{"key":3,"value":"x"}]`,
			`[{"key":1,"value":"YSBsb25nIHRleHQgdGhhdCBpc24ndCBpbiB0aGUgdmlldw=="},{"key":2,"value":""}]`},
	} {
		t.Run(x.types.String(), func(t *testing.T) {
			_, c, _ := flown(t, replica.Options{Types: x.types}, Options{})
			rows := rowsOf(t, x.pairs, keyField(x.key), valueField(x.value))
			done, err := put(t.Context(), c, "", rows.NewSlice(0, 2), rows.NewSlice(1, 3))
			require.NoError(t, err)
			require.Equal(t, bulk.Done{Rows: 4, Found: 1}, done)
			keys := array.NewRecordBatch(arrow.NewSchema(rows.Schema().Fields()[:1], nil), rows.Columns()[:1], 3)
			done, err = put(t.Context(), c, bulk.Delete, keys.NewSlice(2, 3), keys.NewSlice(2, 3))
			require.NoError(t, err)
			require.Equal(t, bulk.Done{Rows: 2, Found: 1}, done)

			all, schema, err := get(t, c, "")
			require.NoError(t, err)
			if x.all != "" { // texts have no order
				require.Equal(t, x.all, all)
			}
			found, err := exchange(t, c, keys)
			require.NoError(t, err)
			if x.all != "" {
				require.True(t, strings.HasPrefix(found, strings.TrimSuffix(x.all, "]")+","), found)
			} else {
				require.Equal(t, `[{"key":"YQ==","value":"YQ=="},{"key":"","value":""},{"key":"YWI=","value":null}]`,
					found)
			}
			require.True(t, strings.HasSuffix(found, `"value":null}]`), found)
			info, err := c.GetFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorCMD})
			require.NoError(t, err)
			require.EqualValues(t, 2, info.TotalRecords)
			said, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
			require.NoError(t, err)
			require.True(t, said.Equal(schema), "%v, %v", said, schema)
		})
	}
}

// Ranges, and a dump of more pairs than a page has, are in order and whole.
func TestFlightRanges(t *testing.T) {
	f, c, _ := flown(t, replica.Options{}, Options{})
	const n = 2*bulk.MostRows + 5
	ops := make([]replica.Op, n)
	for i := range ops {
		ops[i] = replica.Op{Kind: replica.Set, Key: uint64(i) ^ 1<<63, Value: uint64(2*i) ^ 1<<63}
	}
	_, err := f.s.node.Write(ops, nil)
	require.NoError(t, err)
	stream, err := c.DoGet(t.Context(), &flight.Ticket{})
	require.NoError(t, err)
	r, err := flight.NewRecordReader(stream)
	require.NoError(t, err)
	next := int64(0)
	for r.Next() {
		for i, k := range r.RecordBatch().Column(0).(*array.Int64).Int64Values() {
			require.Equal(t, next, k)
			require.Equal(t, 2*next, r.RecordBatch().Column(1).(*array.Int64).Value(i))
			next++
		}
	}
	require.NoError(t, r.Err())
	require.EqualValues(t, n, next)
	for ticket, want := range map[string]string{"3:4": `[{"key":3,"value":6},{"key":4,"value":8}]`, "4:3": "",
		fmt.Sprint(n-1, ":"): fmt.Sprintf(`[{"key":%d,"value":%d}]`, n-1, 2*n-2)} {
		text, schema, err := get(t, c, strings.ReplaceAll(ticket, " ", ""))
		require.NoError(t, err, ticket)
		require.Equal(t, want, text)
		require.Equal(t, 2, schema.NumFields())
	}
	_, _, err = get(t, c, "x")
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// What the dictionary can't have is refused by one line that names the column and the row. Record batches before it are
// done, and it says so.
func TestFlightRefusals(t *testing.T) {
	_, c, _ := flown(t, replica.Options{Types: replica.Types{Key: keytype.Int32, Value: keytype.Int64}},
		Options{MaxRequest: 1 << 17})
	i64, str := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	good := rowsOf(t, `[{"key":1,"value":1},{"key":2,"value":2}]`, keyField(i64), valueField(i64))
	bad := func(text string) []arrow.RecordBatch {
		return []arrow.RecordBatch{good, rowsOf(t, text, keyField(i64), valueField(i64))}
	}
	flags := array.NewBooleanBuilder(memory.DefaultAllocator)
	flags.AppendValues(make([]bool, mostRows+8), nil)
	many := array.NewInt64Builder(memory.DefaultAllocator)
	many.AppendValues(make([]int64, 1<<16), nil) // 2^19 bytes
	for _, x := range []struct {
		what    string
		batches []arrow.RecordBatch
		want    string
		code    codes.Code
	}{
		{"", bad(`[{"key":3,"value":3},{"key":4}]`), `row 4: column "value": is null; rows that are done: 2`,
			codes.InvalidArgument},
		{"", bad(`[{"value":3}]`), `row 3: column "key": is null; rows that are done: 2`, codes.InvalidArgument},
		{"", bad(`[{"key":3000000000,"value":3}]`), `row 3: column "key": 3000000000 is out of range ` +
			`(-2147483648 to 2147483647); rows that are done: 2`, codes.InvalidArgument},
		{"", []arrow.RecordBatch{rowsOf(t, `[{"key":1,"value":1}]`, keyField(i64),
			valueField(arrow.PrimitiveTypes.Float64))},
			`column "value" is of type float64, which doesn't hold i64 values`, codes.InvalidArgument},
		{"", []arrow.RecordBatch{rowsOf(t, `[{"key":1}]`, keyField(i64))}, `it has 0 columns with the name "value"`,
			codes.InvalidArgument},
		{bulk.Delete, []arrow.RecordBatch{good}, `it has 2 columns, not only 1`, codes.InvalidArgument},
		{"add", []arrow.RecordBatch{good}, `the descriptor says "add": DoPut takes "set" and "delete"`,
			codes.InvalidArgument},
		{"", []arrow.RecordBatch{rowsOf(t, `[{"key":"x","value":1}]`, keyField(str), valueField(i64))},
			`row 1: column "key": "x" is not an integer`, codes.InvalidArgument},
		{"", []arrow.RecordBatch{rowsOf(t, `[{"key":1,"value":"x"}]`, keyField(i64),
			valueField(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}))},
			`which isn't read`, codes.InvalidArgument},
		{bulk.Delete, []arrow.RecordBatch{array.NewRecordBatch(arrow.NewSchema([]arrow.Field{keyField(i64)}, nil),
			[]arrow.Array{many.NewArray()}, 1<<16)}, "message larger than max", codes.ResourceExhausted},
		{bulk.Delete, []arrow.RecordBatch{array.NewRecordBatch(arrow.NewSchema([]arrow.Field{
			keyField(arrow.FixedWidthTypes.Boolean)}, nil), []arrow.Array{flags.NewArray()}, mostRows+8)},
			"a record batch of 524296 rows, more than 524288; rows that are done: 0", codes.InvalidArgument},
	} {
		_, err := put(t.Context(), c, x.what, x.batches...)
		require.ErrorContains(t, err, x.want)
		require.Equal(t, x.code, status.Code(err), "%v", err)
		require.NotContains(t, err.Error(), "\n")
	}
	all, _, err := get(t, c, "")
	require.NoError(t, err)
	require.Equal(t, `[{"key":1,"value":1},{"key":2,"value":2}]`, all)

	stream, err := c.DoPut(t.Context())
	require.NoError(t, err)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(good.Schema()), ipc.WithZstd())
	require.NoError(t, w.Write(good))
	_, err = stream.Recv()
	require.ErrorContains(t, err, "a compressed record batch, which isn't read here")

	_, c, _ = flown(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, Options{})
	long := rowsOf(t, fmt.Sprintf(`[{"key":"","value":1},{"key":"%065537d","value":1}]`, 0), keyField(str),
		valueField(i64))
	_, err = put(t.Context(), c, "", long)
	require.ErrorContains(t, err, "row 2: a text of 65537 bytes, more than 65536; rows that are done: 0")
	_, _, err = get(t, c, "a:b")
	require.ErrorContains(t, err, "keys are text, which has no order here")
}

// Messages with lengths and offsets of chance end their call with an error, or not, and nothing else.
func TestFlightMistakes(t *testing.T) {
	_, c, _ := flown(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, Options{})
	var messages []*flight.FlightData
	value := keytype.Int64
	schema := bulk.Schema(keytype.Text, &value, false)
	w := flight.NewRecordWriter(collect(func(d *flight.FlightData) {
		messages = append(messages, &flight.FlightData{DataHeader: slices.Clone(d.DataHeader),
			DataBody: slices.Clone(d.DataBody)})
	}), ipc.WithSchema(schema))
	rows, err := bulk.Batch(schema,
		bulk.Column{Type: keytype.Text, Words: make([]uint64, 3), Strings: []string{"a", "bc", "def"}},
		bulk.Column{Type: keytype.Int64, Words: make([]uint64, 3)})
	require.NoError(t, err)
	require.NoError(t, w.Write(rows))
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		stream, err := c.DoPut(t.Context())
		require.NoError(t, err)
		for _, m := range messages {
			d := &flight.FlightData{DataHeader: slices.Clone(m.DataHeader), DataBody: slices.Clone(m.DataBody)}
			for range r.IntN(4) {
				at := &d.DataHeader
				if r.IntN(4) == 0 && len(d.DataBody) > 0 {
					at = &d.DataBody
				}
				(*at)[r.IntN(len(*at))] = byte(r.Uint32() >> (8 * r.UintN(4)))
			}
			_ = stream.Send(d)
		}
		_ = stream.CloseSend()
		for err == nil {
			_, err = stream.Recv()
		}
		require.Contains(t, []codes.Code{codes.InvalidArgument, codes.Unknown}, status.Code(err), "%v", err) // io.EOF
	}
	_, err = put(t.Context(), c, "", rows)
	require.NoError(t, err)
}

type collect func(*flight.FlightData)

func (c collect) Send(d *flight.FlightData) error {
	c(d)
	return nil
}

// With a password, each call needs it or the token that a handshake gives for it.
func TestFlightPassword(t *testing.T) {
	_, c, address := flown(t, replica.Options{}, Options{Password: "secret"})
	calls := map[string]func(ctx context.Context) error{
		"put": func(ctx context.Context) error {
			_, err := put(ctx, c, bulk.Delete, rowsOf(t, `[{"key":1}]`, keyField(arrow.PrimitiveTypes.Int64)))
			return err
		},
		"exchange": func(ctx context.Context) error {
			stream, err := c.DoExchange(ctx)
			require.NoError(t, err)
			_ = stream.CloseSend()
			if _, err = stream.Recv(); status.Code(err) == codes.Unauthenticated {
				return err
			}
			return nil
		},
		"get": func(ctx context.Context) error {
			stream, err := c.DoGet(ctx, &flight.Ticket{})
			require.NoError(t, err)
			_, err = stream.Recv()
			return err
		},
		"schema": func(ctx context.Context) error {
			_, err := c.GetSchema(ctx, &flight.FlightDescriptor{})
			return err
		},
		"info": func(ctx context.Context) error {
			_, err := c.GetFlightInfo(ctx, &flight.FlightDescriptor{})
			return err
		},
	}
	for name, call := range calls {
		require.Equal(t, codes.Unauthenticated, status.Code(call(t.Context())), name)
	}
	for _, x := range [][2]string{{"default", "wrong"}, {"root", "secret"}, {"default", ""}} {
		_, err := c.AuthenticateBasicToken(t.Context(), x[0], x[1])
		require.Equal(t, codes.Unauthenticated, status.Code(err))
	}
	ctx, err := c.AuthenticateBasicToken(t.Context(), "default", "secret")
	require.NoError(t, err)
	for name, call := range calls {
		require.NoError(t, call(ctx), name)
	}
	for _, password := range []string{"", "wrong"} {
		_, err = bulk.Dial(t.Context(), bulk.Options{Addresses: []string{address}, Password: password})
		require.ErrorContains(t, err, address+": the password is missing or wrong")
	}
	own, err := bulk.Dial(t.Context(), bulk.Options{Addresses: []string{address}, Password: "secret"})
	require.NoError(t, err)
	defer own.Close()
	done, err := own.Put(t.Context(), bulk.Delete, bulk.Column{Type: keytype.Int64, Words: []uint64{1}})
	require.NoError(t, err)
	require.Equal(t, bulk.Done{Rows: 1}, done)

	_, c, _ = flown(t, replica.Options{}, Options{}) // one without a password takes any
	ctx, err = c.AuthenticateBasicToken(t.Context(), "default", "any")
	require.NoError(t, err)
	require.NoError(t, calls["info"](ctx))
}

// Connections that don't give the password are closed, also those that try again and again. Others stay.
func TestFlightStrangers(t *testing.T) {
	const within = 300 * time.Millisecond
	ends := func(address string) error {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.SetReadDeadline(time.Now().Add(2*within)))
		_, err = io.Copy(io.Discard, c)
		return err
	}
	keys := rowsOf(t, `[{"key":1}]`, keyField(arrow.PrimitiveTypes.Int64))
	stays := func(ctx context.Context, c flight.Client) {
		stream, err := c.DoExchange(ctx)
		require.NoError(t, err)
		w := flight.NewRecordWriter(stream, ipc.WithSchema(keys.Schema()))
		time.Sleep(2 * within)
		require.NoError(t, w.Write(keys))
		require.NoError(t, stream.CloseSend())
		text, _, err := listed(t, stream)
		require.NoError(t, err)
		require.Equal(t, `[{"key":1,"value":null}]`, text)
	}
	f, _, address := flown(t, replica.Options{}, Options{Password: "secret", admitWithin: within})
	require.NoError(t, ends(address), "it is closed")
	var addresses []string // of the connections of one that has a wrong password
	stranger := stock(t, address)
	for began := time.Now(); time.Since(began) < 3*within; time.Sleep(within / 10) {
		_, err := stranger.GetSchema(t.Context(), &flight.FlightDescriptor{})
		require.Contains(t, []codes.Code{codes.Unauthenticated, codes.Unavailable}, status.Code(err))
		f.mu.Lock()
		for at := range f.conns {
			if !slices.Contains(addresses, at) {
				addresses = append(addresses, at)
			}
		}
		f.mu.Unlock()
	}
	require.Greater(t, len(addresses), 1)
	c := stock(t, address)
	ctx, err := c.AuthenticateBasicToken(t.Context(), "default", "secret")
	require.NoError(t, err)
	stays(ctx, c)
	stays(ctx, stock(t, address)) // by the token alone
	stays(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Basic OnNlY3JldA=="), stock(t, address))

	_, _, open := flown(t, replica.Options{}, Options{admitWithin: within})
	require.ErrorIs(t, ends(open), os.ErrDeadlineExceeded, "there is no password")
}

// This project's client moves many rows, in parts, and texts.
func TestFlightClient(t *testing.T) {
	_, _, address := flown(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Text}}, Options{})
	c, err := bulk.Dial(t.Context(), bulk.Options{Addresses: []string{"127.0.0.1:1", address}})
	require.NoError(t, err)
	defer c.Close()
	require.Equal(t, replica.Types{Key: keytype.Text, Value: keytype.Text}, replica.Types{Key: c.Key, Value: c.Value})
	const n = bulk.MostRows + 100
	key, value := bulk.Column{Type: keytype.Text, Texts: &keytype.Arena{}}, bulk.Column{Type: keytype.Text,
		Texts: &keytype.Arena{}}
	for i := range n {
		key.Words = append(key.Words, key.Texts.AddString(fmt.Sprint("key ", i)))
		value.Words = append(value.Words, value.Texts.AddString(strings.Repeat("v", i%300)))
	}
	done, err := c.Put(t.Context(), bulk.Set, key.Slice(0, n-50), value.Slice(0, n-50))
	require.NoError(t, err)
	require.Equal(t, bulk.Done{Rows: n - 50}, done)
	rows, err := c.Find(t.Context(), key)
	require.NoError(t, err)
	for i := range n {
		require.Equal(t, i >= n-50, rows.Nulls[i])
		if i < n-50 {
			require.Equal(t, i%300, len(rows.Texts.At(rows.Words[i])))
		}
	}
	pairs, err := c.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, n-50, pairs)
	rows, err = c.Find(t.Context(), key.Slice(0, 0))
	require.NoError(t, err)
	require.Empty(t, rows.Words)
	_, err = bulk.Dial(t.Context(), bulk.Options{Addresses: []string{"127.0.0.1:1"}})
	require.EqualError(t, err, "127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused")
}

// A client that doesn't read what is acknowledged can send on and on.
func TestFlightUnreadAcks(t *testing.T) {
	f, c, _ := flown(t, replica.Options{}, Options{})
	stream, err := c.DoPut(t.Context())
	require.NoError(t, err)
	schema := bulk.Schema(keytype.Int64, nil, false)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(bulk.Delete)})
	const rows, batches = 500, 5000 // more than buffers hold, and more than those of what is acknowledged
	part, err := bulk.Batch(schema, bulk.Column{Type: keytype.Int64, Words: make([]uint64, rows)})
	require.NoError(t, err)
	for range batches {
		require.NoError(t, w.Write(part))
	}
	require.NoError(t, stream.CloseSend())
	done, err := acknowledged(stream)
	require.NoError(t, err)
	require.EqualValues(t, rows*batches, done.Rows)
	requireFree(t, f)
}

// If there is no room for new keys, batches that were sent after the last one that is done are given up.
func TestFlightFull(t *testing.T) {
	f, c, _ := flown(t, replica.Options{MaxKeys: 2}, Options{})
	i64 := arrow.PrimitiveTypes.Int64
	rows := rowsOf(t, `[{"key":1,"value":1},{"key":2,"value":2}]`, keyField(i64), valueField(i64))
	for range 20 {
		_, err := put(t.Context(), c, "", slices.Repeat([]arrow.RecordBatch{rows}, 50)...)
		require.Equal(t, codes.ResourceExhausted, status.Code(err))
		require.ErrorContains(t, err, "there are 2 keys, the most allowed; rows that are done: ")
	}
	requireFree(t, f)
}

// requireFree waits until nobody has memory that is counted.
func requireFree(t testing.TB, f *flights) {
	require.Eventually(t, func() bool {
		free := len(f.streams) == 0 && f.arrived.TryAcquire(mostArrived)
		if free {
			f.arrived.Release(mostArrived)
		}
		held := f.s.held.TryAcquire(mostHeld)
		if held {
			f.s.held.Release(mostHeld)
		}
		return free && held
	}, 10*time.Second, 5*time.Millisecond)
}

// A client that takes no answers loses its connection, and what was held for it is free again. Others are answered
// meanwhile.
func TestFlightSlowReader(t *testing.T) {
	f, c, address := flown(t, replica.Options{}, Options{stalled: 500 * time.Millisecond})
	keys, err := bulk.Batch(bulk.Schema(keytype.Int64, nil, false),
		bulk.Column{Type: keytype.Int64, Words: make([]uint64, 1<<18)})
	require.NoError(t, err)
	slow, err := c.DoExchange(t.Context())
	require.NoError(t, err)
	w := flight.NewRecordWriter(slow, ipc.WithSchema(keys.Schema()))
	require.NoError(t, w.Write(keys))
	require.Eventually(t, func() bool { return len(f.streams) == 1 }, 10*time.Second, time.Millisecond)
	found, err := exchange(t, stock(t, address), rowsOf(t, `[{"key":1}]`, keyField(arrow.PrimitiveTypes.Int64)))
	require.NoError(t, err)
	require.Equal(t, `[{"key":1,"value":null}]`, found)
	require.Eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.conns) == 1 }, 10*time.Second,
		5*time.Millisecond, "its connection goes on")
	requireFree(t, f)
	for err == nil {
		_, err = slow.Recv()
	}
	require.Equal(t, codes.Unavailable, status.Code(err))
}

// Clients that wait for answers, or for their own keys, don't keep the server from stopping.
func TestFlightStops(t *testing.T) {
	s, _ := started(t, replica.Options{}, Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f, stop := s.flights(l, nil)
	c := stock(t, l.Addr().String())
	idle, err := c.DoExchange(t.Context())
	require.NoError(t, err)
	waiting, err := c.DoPut(t.Context())
	require.NoError(t, err)
	w := flight.NewRecordWriter(waiting, ipc.WithSchema(bulk.Schema(keytype.Int64, nil, false)))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(bulk.Delete)})
	rows, err := bulk.Batch(bulk.Schema(keytype.Int64, nil, false),
		bulk.Column{Type: keytype.Int64, Words: make([]uint64, 5)})
	require.NoError(t, err)
	require.NoError(t, w.Write(rows))
	r, err := waiting.Recv()
	require.NoError(t, err)
	require.JSONEq(t, `{"rows":5,"found":0}`, string(r.AppMetadata))
	require.Eventually(t, func() bool { return len(f.streams) == 2 }, 10*time.Second, time.Millisecond)
	began := time.Now()
	stop()
	require.Less(t, time.Since(began), grace/2)
	_, err = idle.Recv()
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
	_, err = waiting.Recv()
	require.ErrorContains(t, err, "the server is stopping; rows that are done: 5")
}

// More calls than there is memory for are refused, and those that come later aren't.
func TestFlightManyCalls(t *testing.T) {
	f, _, address := flown(t, replica.Options{}, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var all []flight.FlightService_DoExchangeClient
	for range mostStreams/ofOneFlight + 1 {
		c := stock(t, address)
		for range ofOneFlight {
			s, err := c.DoExchange(ctx)
			require.NoError(t, err)
			all = append(all, s)
		}
	}
	refused := make(chan error, len(all))
	for _, s := range all {
		go func() {
			_, err := s.Recv()
			refused <- err
		}()
	}
	for range ofOneFlight {
		err := <-refused
		require.Equal(t, codes.ResourceExhausted, status.Code(err), "%v", err)
		require.ErrorContains(t, err, "32 calls are under way, the most at a time")
	}
	require.Len(t, f.streams, mostStreams)
	cancel()
	requireFree(t, f)
	_, err := exchange(t, stock(t, address), rowsOf(t, `[{"key":1}]`, keyField(arrow.PrimitiveTypes.Int64)))
	require.NoError(t, err)
}

// Keys of other shards are refused by a line that says where they are. This project's client sends each key to its
// shard.
func TestFlightShards(t *testing.T) {
	for _, types := range []replica.Types{integers, {Key: keytype.Text, Value: keytype.Text}} {
		t.Run(types.String(), func(t *testing.T) { testFlightShards(t, types) })
	}
}

func testFlightShards(t *testing.T, types replica.Types) {
	var o Options
	all, apart := beside(t, 3)
	for _, l := range all {
		o.Shards = append(o.Shards, []string{l[0].Addr().String()})
	}
	var address string
	for i, l := range all {
		s, err := Open(t.Context(), replica.Options{Dir: t.TempDir(), Types: types, Name: l[0].Addr().String(),
			Shard: replica.Shard{Number: uint16(i + 1), Of: uint16(len(all))}}, o)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- s.Serve(ctx, l[0]) }()
		f, stop := s.flights(l[1], nil)
		require.Equal(t, apart, f.base)
		address = l[1].Addr().String()
		t.Cleanup(func() {
			cancel()
			require.NoError(t, <-done)
			stop()
			require.NoError(t, s.Close())
		})
	}
	stranger := stock(t, address)
	info, err := stranger.GetFlightInfo(t.Context(), &flight.FlightDescriptor{})
	require.NoError(t, err)
	require.Len(t, info.Endpoint, 3)

	c, err := bulk.Dial(t.Context(), bulk.Options{Addresses: []string{address}})
	require.NoError(t, err)
	defer c.Close()
	const n = 1000
	key := bulk.Column{Type: types.Key, Texts: &keytype.Arena{}}
	value := bulk.Column{Type: types.Value, Texts: &keytype.Arena{}}
	for i := range uint64(n) {
		key.Words, value.Words = append(key.Words, i), append(value.Words, 2*i)
		key.Texts.AddString(fmt.Sprint("key ", i))
		value.Texts.AddString(fmt.Sprint("value ", i))
		if types.Value == keytype.Text {
			value.Words[i] = i
		}
	}
	done, err := c.Put(t.Context(), bulk.Set, key.Slice(0, n-9), value.Slice(0, n-9))
	require.NoError(t, err)
	require.Equal(t, bulk.Done{Rows: n - 9}, done)
	pairs, err := c.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, n-9, pairs)
	rows, err := c.Find(t.Context(), key)
	require.NoError(t, err)
	for i := range n {
		require.Equal(t, i >= n-9, rows.Nulls[i])
		if i < n-9 && types.Value == keytype.Text {
			require.Equal(t, fmt.Sprint("value ", i), string(rows.Texts.At(rows.Words[i])))
		} else if i < n-9 {
			require.EqualValues(t, 2*i, rows.Words[i])
		}
	}
	listedPairs := 0
	for i, e := range info.Endpoint {
		require.Equal(t, "grpc://"+all[i][1].Addr().String(), e.Location[0].Uri)
		text, _, err := get(t, stock(t, all[i][1].Addr().String()), string(e.Ticket.Ticket))
		require.NoError(t, err)
		listedPairs += strings.Count(text, `"key"`)
	}
	require.Equal(t, n-9, listedPairs)

	batch, err := bulk.Batch(bulk.Schema(types.Key, &types.Value, false), key, value)
	require.NoError(t, err)
	_, err = put(t.Context(), stranger, "", batch)
	require.ErrorContains(t, err, "its key is of shard")
	require.ErrorContains(t, err, "with Flight at 127.0.0.1:")
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}

// beside returns n listeners for Redis and n for Flight, whose ports are as far apart.
func beside(t *testing.T, n int) (all [][2]net.Listener, apart int) {
	port := func(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
	for len(all) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		if len(all) == 0 {
			other, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			all, apart = append(all, [2]net.Listener{l, other}), port(other)-port(l)
			continue
		}
		if other, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port(l)+apart)); err == nil {
			all = append(all, [2]net.Listener{l, other})
		} else {
			_ = l.Close()
		}
	}
	return all, apart
}

// A client that reads no acknowledgement until it has sent all may take longer than one that must take answers.
func TestFlightUnreadAcksForLong(t *testing.T) {
	const stalled = 300 * time.Millisecond
	_, _, address := flown(t, replica.Options{}, Options{stalled: stalled})
	c, err := flight.NewClientWithMiddleware(address, nil, nil, grpc.WithInitialWindowSize(1<<16),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer c.Close()
	stream, err := c.DoPut(t.Context())
	require.NoError(t, err)
	schema := bulk.Schema(keytype.Int64, nil, false)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(bulk.Delete)})
	const batches = 10_000 // whose acknowledgements are more than buffers hold
	part, err := bulk.Batch(schema, bulk.Column{Type: keytype.Int64, Words: make([]uint64, 1)})
	require.NoError(t, err)
	for i := range batches + 10 {
		if i >= batches {
			time.Sleep(stalled / 4)
		}
		require.NoError(t, w.Write(part))
	}
	require.NoError(t, stream.CloseSend())
	done, err := acknowledged(stream)
	require.NoError(t, err)
	require.EqualValues(t, batches+10, done.Rows)
}

// Views of texts that share their bytes take no more memory than other texts of messages.
func TestFlightSharedViews(t *testing.T) {
	f, c, _ := flown(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, Options{})
	shared := strings.Repeat("x", keytype.LongestServed)
	keys := array.NewStringViewBuilder(memory.DefaultAllocator)
	keys.Append(shared)
	one := keys.NewArray().Data()
	const rows = 1 << 14 // of 64 KiB: 1 GiB
	views := bytes.Repeat(one.Buffers()[1].Bytes()[:16], rows)
	of := func(rows int) arrow.Array {
		return array.NewStringViewData(array.NewData(arrow.BinaryTypes.StringView, rows, []*memory.Buffer{nil,
			memory.NewBufferBytes(views[:16*rows]), one.Buffers()[2]}, nil, 0, 0))
	}
	schema := arrow.NewSchema([]arrow.Field{keyField(arrow.BinaryTypes.StringView)}, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := put(t.Context(), c, bulk.Delete, array.NewRecordBatch(schema, []arrow.Array{of(rows)}, rows))
	runtime.ReadMemStats(&after)
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	require.ErrorContains(t, err, "the stream: views of texts that share bytes")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	requireFree(t, f)

	few := of(1)
	done, err := put(t.Context(), c, bulk.Delete, array.NewRecordBatch(schema, []arrow.Array{few}, 1))
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Rows)
}

// Messages without a record batch hold no room.
func TestFlightMessagesOfNothing(t *testing.T) {
	_, c, address := flown(t, replica.Options{}, Options{stalled: time.Second})
	stream, err := c.DoPut(t.Context())
	require.NoError(t, err)
	body := make([]byte, mostMessage/2)
	for range 2 * mostArrived / len(body) / decoded {
		require.NoError(t, stream.Send(&flight.FlightData{DataBody: body}))
	}
	i64 := arrow.PrimitiveTypes.Int64
	_, err = put(t.Context(), stock(t, address), "", rowsOf(t, `[{"key":1,"value":1}]`, keyField(i64), valueField(i64)))
	require.NoError(t, err)
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	require.ErrorContains(t, err, "it ends before its schema")
}

// A record batch of which all rows are wrong takes no memory for the errors of them all.
func TestFlightManyMistakes(t *testing.T) {
	_, c, _ := flown(t, replica.Options{}, Options{})
	keys := array.NewStringBuilder(memory.DefaultAllocator)
	for range 1 << 18 {
		keys.Append("x")
	}
	wrong := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{keyField(arrow.BinaryTypes.String)}, nil),
		[]arrow.Array{keys.NewArray()}, 1<<18)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := put(t.Context(), c, bulk.Delete, wrong)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "the stream: row 1: ")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// lost is a server that says of itself that it leads, and that it doesn't.
type lost struct {
	flight.BaseFlightServer
	at    string
	calls atomic.Int64
}

func (l *lost) GetSchema(context.Context, *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	value := keytype.Int64
	return &flight.SchemaResult{Schema: flight.SerializeSchema(bulk.Schema(keytype.Int64, &value, false),
		memory.DefaultAllocator)}, nil
}

func (l *lost) GetFlightInfo(ctx context.Context, _ *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	l.calls.Add(1)
	_ = grpc.SetTrailer(ctx, metadata.Pairs(bulk.LeaderKey, l.at))
	return nil, status.Error(codes.FailedPrecondition, "another one leads")
}

// A client doesn't ask servers that name each other as the leader as often as it can.
func TestFlightLost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, f := grpc.NewServer(), &lost{at: l.Addr().String()}
	flight.RegisterFlightServiceServer(server, f)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	_, err = bulk.Dial(t.Context(), bulk.Options{Addresses: []string{f.at}, Patience: 400 * time.Millisecond})
	require.ErrorContains(t, err, "another one leads")
	require.LessOrEqual(t, f.calls.Load(), int64(12))
}
