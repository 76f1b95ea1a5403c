package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/structures"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// instruction returns what a descriptor says, as a command or as a path of one part.
func instruction(d *flight.FlightDescriptor, otherwise string) string {
	switch {
	case len(d.GetCmd()) > 0:
		return string(d.Cmd)
	case len(d.GetPath()) == 1:
		return d.Path[0]
	case len(d.GetPath()) > 1:
		return fmt.Sprintf("%q", d.Path)
	}
	return otherwise
}

// twoWay is the stream of a call with record batches from the client.
type twoWay interface {
	grpc.ServerStream
	Recv() (*flight.FlightData, error)
}

// incoming reads the record batches of a client.
type incoming struct {
	f      *flights
	stream twoWay
	want   chan struct{} // asks for the next arrival; closed at the end
	next   chan arrival
	weight int64 // of arrived, that the messages since the last arrival have
}

// arrival is a record batch that has come, or an error instead.
type arrival struct {
	columns []bulk.Column
	err     error
	weight  int64 // of flights.arrived
}

// receives begins to read. types returns the types of the columns, which are called key and value.
func (f *flights) receives(stream twoWay, types func(*flight.FlightDescriptor) ([]keytype.Type, error)) *incoming {
	in := &incoming{f: f, stream: stream, want: make(chan struct{}, 1), next: make(chan arrival)}
	go in.read(types)
	return in
}

// end gives up what has come and was not taken. The stream's end then ends the reading.
func (in *incoming) end() { close(in.want) }

func (in *incoming) read(types func(*flight.FlightDescriptor) ([]keytype.Type, error)) {
	first, err := in.receive()
	var columns []keytype.Type
	var records *input.Records
	if err == nil {
		columns, err = types(first.GetFlightDescriptor())
	}
	if err == nil {
		var o input.Options
		for i, t := range columns {
			o.Columns = append(o.Columns, input.Column{Name: []string{"key", "value"}[i], Type: t})
		}
		if records, err = bulk.Read("the stream", first, in.receive, o); err == nil {
			records.Most = mostRows
		}
	}
	rows := int64(0)
	for range in.want {
		a := arrival{err: err}
		if err == nil {
			a.columns, a.err = in.batch(records, columns, rows)
		}
		if _, is := status.FromError(a.err); !is && a.err != io.EOF && a.err != errRoom {
			a.err = status.Error(codes.InvalidArgument, a.err.Error())
		}
		a.weight, in.weight = in.weight, 0
		if len(a.columns) > 0 {
			rows += int64(len(a.columns[0].Words))
		}
		select {
		case in.next <- a:
		case <-in.stream.Context().Done(): // nobody takes it any more
			in.f.arrived.Release(a.weight)
		}
	}
	in.f.arrived.Release(in.weight) // of a schema that nobody asked for
}

// receive receives a message, and waits until there is room for what is made of it.
func (in *incoming) receive() (*flight.FlightData, error) {
	data, err := in.stream.Recv()
	if err != nil {
		return nil, err
	}
	if len(data.DataHeader) == 0 { // nothing is made of it
		return data, nil
	}
	weight := decoded * int64(len(data.DataHeader)+len(data.DataBody))
	ctx, cancel := context.WithTimeout(in.stream.Context(), in.f.s.o.stalled)
	defer cancel()
	if in.f.arrived.Acquire(ctx, weight) != nil {
		return nil, errRoom
	}
	in.weight += weight
	return data, nil
}

// batch reads the next record batch.
func (in *incoming) batch(records *input.Records, types []keytype.Type, before int64) (columns []bulk.Column,
	err error) {
	all, err := records.Read()
	for i, rows := range all {
		columns = append(columns, bulk.Column{Type: types[i], Words: rows.Words, Texts: rows.Texts})
		for at := 0; at < rows.Len() && types[i] == keytype.Text; at++ {
			if n := len(rows.Texts.At(rows.Words[at])); n > keytype.LongestServed {
				return nil, fmt.Errorf("the stream: row %d: a text of %d bytes, more than %d", before+int64(at)+1, n,
					keytype.LongestServed)
			}
		}
	}
	if err == nil {
		err = in.f.foreign(columns[0], before)
	}
	return columns, err
}

// foreign returns an error if another shard has a key. before is the number of rows before them.
func (f *flights) foreign(keys bulk.Column, before int64) error {
	if len(f.s.shards) == 1 {
		return nil
	}
	for row := range keys.Words {
		if x := f.s.shardOf(keys.Slot(row)); x.clients != nil {
			leader := *x.leader.Load()
			return status.Errorf(codes.FailedPrecondition,
				"the stream: row %d: its key is of %v, whose leader is %s, with Flight at %s (GetFlightInfo lists all)",
				before+int64(row)+1, x, leader, f.beside(leader))
		}
	}
	return nil
}

// take returns the next columns and a function that gives their room back, or io.EOF.
func (in *incoming) take() (columns []bulk.Column, release func(), err error) {
	var idle <-chan time.Time
	if d := in.f.s.o.Idle; d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		idle = t.C
	}
	in.want <- struct{}{}
	select {
	case a := <-in.next:
		return a.columns, func() { in.f.arrived.Release(a.weight) }, a.err
	case <-in.stream.Context().Done():
		return nil, func() {}, in.stream.Context().Err()
	case <-idle:
		return nil, func() {}, errIdle
	case <-in.f.ending.Done():
		return nil, func() {}, replica.ErrClosed
	}
}

var errIdle = errors.New("nothing has come for long")

// DoPut sets or deletes keys. Each record batch is done as one, or each part of a large one.
func (f *flights) DoPut(stream flight.FlightService_DoPutServer) error {
	leave, err := f.enter()
	if err != nil {
		return f.failed(err, "", stream.SetTrailer)
	}
	defer leave()
	kind, t := replica.Set, f.s.config.Types
	in := f.receives(stream, func(d *flight.FlightDescriptor) ([]keytype.Type, error) {
		switch x := instruction(d, bulk.Set); x {
		case bulk.Set:
			return []keytype.Type{t.Key, t.Value}, nil
		case bulk.Delete:
			kind = replica.Delete
			return []keytype.Type{t.Key}, nil
		default:
			return nil, fmt.Errorf("the descriptor says %.64q: DoPut takes %q and %q", x, bulk.Set, bulk.Delete)
		}
	})
	defer in.end()
	acks := f.acks(stream)
	var done bulk.Done
	for {
		columns, release, err := in.take()
		part := 0
		for from := 0; err == nil && from < len(columns[0].Words); from += part {
			part = bulk.Part(from, columns...) - from
			var found int
			if found, err = f.write(kind, columns, from, from+part); err == nil {
				done.Rows, done.Found = done.Rows+int64(part), done.Found+int64(found)
				acks.send(done)
			}
		}
		release()
		if err == nil {
			continue
		}
		acks.end()
		if err == io.EOF {
			return nil
		}
		more := bulk.RowsDone(done.Rows)
		var unknown *replica.UnknownError
		if errors.As(err, &unknown) {
			more += fmt.Sprintf("; the %d after them may be or not", part)
		}
		return f.failed(err, more, stream.SetTrailer)
	}
}

// write does an operation on some rows, and returns how many of their keys were there.
func (f *flights) write(kind replica.Kind, columns []bulk.Column, from, to int) (found int, err error) {
	started := time.Now()
	ops := make([]replica.Op, to-from)
	var texts [][]byte
	word := func(c bulk.Column, row int) uint64 {
		if c.Type != keytype.Text {
			return c.Words[row]
		}
		texts = append(texts, c.Texts.At(c.Words[row]))
		return uint64(len(texts) - 1)
	}
	for i := range ops {
		ops[i] = replica.Op{Kind: kind, Key: word(columns[0], from+i)}
		if kind == replica.Set {
			ops[i].Value = word(columns[1], from+i)
		}
	}
	answers, err := f.s.node.Write(ops, texts)
	for _, a := range answers {
		if a.Found {
			found++
		}
	}
	clear(answers) // they share an array with those of other connections
	f.s.metrics.batch(write, len(ops), time.Since(started))
	f.s.metrics.flight.WithLabelValues("put").Add(float64(len(answers)))
	return found, err
}

// acks tells a client how much is done. If it doesn't read that, it gets only the latest.
type acks struct {
	f      *flights
	ctx    context.Context // of the call
	latest chan bulk.Done
	ended  chan struct{}
}

func (f *flights) acks(stream flight.FlightService_DoPutServer) *acks {
	a := &acks{f, stream.Context(), make(chan bulk.Done, 1), make(chan struct{})}
	go func() {
		defer close(a.ended)
		for done := range a.latest {
			text, _ := json.Marshal(done)
			_ = stream.Send(&flight.PutResult{AppMetadata: text})
		}
	}()
	return a
}

func (a *acks) send(done bulk.Done) {
	select {
	case <-a.latest:
	default:
	}
	a.latest <- done
}

// end waits until the latest is sent. Before, a client may send on and on without reading.
func (a *acks) end() {
	close(a.latest)
	_ = a.f.send(a.ctx, func() error { <-a.ended; return nil })
}

// DoExchange looks keys up, and answers with each of them and its value, null if it is absent.
func (f *flights) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	return f.answering(stream.SetTrailer, func() error {
		t := f.s.config.Types
		in := f.receives(stream, func(d *flight.FlightDescriptor) ([]keytype.Type, error) {
			if x := instruction(d, bulk.Get); x != bulk.Get {
				return nil, fmt.Errorf("the descriptor says %.64q: DoExchange takes %q", x, bulk.Get)
			}
			return []keytype.Type{t.Key}, nil
		})
		defer in.end()
		out := f.answers(stream, true)
		for {
			columns, release, err := in.take()
			for from := 0; err == nil && from < len(columns[0].Words); {
				to := bulk.Part(from, columns...)
				to, err = f.find(out, columns[0].Slice(from, to), from)
				from = to
			}
			release()
			if err == io.EOF {
				return out.end()
			}
			if err != nil {
				return err
			}
		}
	})
}

// room returns one for answers that are halved until they fit, so it never waits, and needs no connection of Redis.
func (f *flights) room() room { return room{c: &conn{s: f.s}} }

// answering does a call that only reads.
func (f *flights) answering(trailer func(metadata.MD), do func() error) error {
	leave, err := f.enter()
	if err == nil {
		defer leave()
		err = do()
	}
	if err != nil {
		return f.failed(err, "", trailer)
	}
	return nil
}

// find looks keys up and sends the answers, to fewer of them if there is no room for all. It returns the place of the
// next key; from is that of the first one.
func (f *flights) find(out *outgoing, keys bulk.Column, from int) (next int, err error) {
	started, ctx := time.Now(), context.Background() // it ends soon, and what the Node can't do, it says
	room := f.room()
	defer room.leave()
	var texts [][]byte
	words := keys.Words
	if keys.Type == keytype.Text {
		words = make([]uint64, len(keys.Words))
		for i, w := range keys.Words {
			words[i], texts = uint64(i), append(texts, keys.Texts.At(w))
		}
	}
	var answers []replica.Answer
	for {
		err := f.s.node.Read(ctx, false, func(v replica.View) (err error) {
			answers, err = v.Get(ctx, words, texts, nil)
			return err
		})
		if err != nil {
			return 0, err
		}
		bytes := pairBytes * int64(len(answers))
		for _, a := range answers {
			bytes += int64(len(a.Text))
		}
		if len(words) == 1 || room.fits(bytes) {
			break
		}
		words = words[:len(words)/2]
	}
	f.s.metrics.batch(read, len(answers), time.Since(started))
	f.s.metrics.flight.WithLabelValues("exchange").Add(float64(len(answers)))
	values := bulk.Column{Type: f.s.config.Types.Value, Words: make([]uint64, len(answers)),
		Valid: make([]bool, len(answers))}
	if values.Type == keytype.Text {
		values.Strings = make([]string, len(answers))
	}
	for i, a := range answers {
		if values.Words[i], values.Valid[i] = a.Value, a.Found; values.Strings != nil {
			values.Strings[i] = a.Text
		}
	}
	return from + len(answers), out.send(keys.Slice(0, len(answers)), values)
}

// outgoing sends record batches.
type outgoing struct {
	f      *flights
	ctx    context.Context
	schema *arrow.Schema
	w      *flight.Writer
}

// answers begins to send pairs. nullable: values may be absent.
func (f *flights) answers(stream interface {
	Context() context.Context
	flight.DataStreamWriter
}, nullable bool) *outgoing {
	schema := f.schema(nullable)
	return &outgoing{f, stream.Context(), schema, flight.NewRecordWriter(stream, ipc.WithSchema(schema))}
}

func (f *flights) schema(nullable bool) *arrow.Schema {
	t := f.s.config.Types
	return bulk.Schema(t.Key, &t.Value, nullable)
}

// send sends pairs, in parts.
func (o *outgoing) send(keys, values bulk.Column) error {
	for from, to := 0, 0; from < len(keys.Words); from = to {
		to = bulk.Part(from, keys, values)
		rows, err := bulk.Batch(o.schema, keys.Slice(from, to), values.Slice(from, to))
		if err != nil {
			return err
		}
		err = o.f.send(o.ctx, func() error { return o.w.Write(rows) })
		rows.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// end sends the schema if there was no record batch.
func (o *outgoing) end() error { return o.f.send(o.ctx, o.w.Close) }

// rangeOf returns the range that a ticket or a command says: LO:HI, or all pairs if it is empty.
func (f *flights) rangeOf(text string) (lo, hi uint64, err error) {
	t := f.s.config.Types.Key
	switch {
	case text == "":
		return 0, math.MaxUint64, nil
	case t == keytype.Text:
		return 0, 0, status.Error(codes.InvalidArgument, "keys are text, which has no order here: ask for all pairs")
	}
	from, to, err := t.ParseRange(text)
	if err != nil {
		return 0, 0, status.Error(codes.InvalidArgument, err.Error())
	}
	return from.Word, to.Word, nil
}

// DoGet sends the pairs of a range in their order. They are not all of one moment: as in SCAN, a key that is there all
// the time is not missed.
func (f *flights) DoGet(ticket *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	return f.answering(stream.SetTrailer, func() error {
		lo, hi, err := f.rangeOf(string(ticket.GetTicket()))
		if err != nil {
			return err
		}
		out := f.answers(stream, false)
		for more := lo <= hi; more; {
			if err := stopping(f.ending); err != nil {
				return err
			}
			if lo, more, err = f.page(out, lo, hi); err != nil {
				return err
			}
		}
		return out.end()
	})
}

// page sends the first pairs of a range, and returns where the others begin, if there may be some.
func (f *flights) page(out *outgoing, lo, hi uint64) (next uint64, more bool, err error) {
	ctx := context.Background()
	room := f.room()
	defer room.leave()
	q := []query{{kind: structures.FindRange, lo: lo, hi: hi, limit: bulk.MostRows}}
	for {
		err := f.s.node.Read(ctx, false, func(v replica.View) error {
			if err := answer(ctx, v, q, &room); err != nil {
				return err
			}
			q[0].records = v.Records(q[0].keys)
			return nil
		})
		if err != nil {
			return 0, false, err
		}
		if q[0].limit == 1 || room.fits(q[0].bytes()) {
			break
		}
		q[0].limit /= 2
	}
	n, t := len(q[0].keys), f.s.config.Types
	if n == 0 {
		return 0, false, nil
	}
	f.s.metrics.flight.WithLabelValues("get").Add(float64(n))
	keys, values := bulk.Column{Type: t.Key, Words: q[0].keys}, bulk.Column{Type: t.Value, Words: q[0].values}
	for _, r := range q[0].records {
		keys.Strings, values.Strings = append(keys.Strings, r.Key), append(values.Strings, r.Value)
	}
	last := q[0].keys[n-1]
	return last + 1, n == q[0].limit && last < hi, out.send(keys, values)
}

// GetSchema returns the schema of pairs.
func (f *flights) GetSchema(context.Context, *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return &flight.SchemaResult{Schema: flight.SerializeSchema(f.schema(false), memory.DefaultAllocator)}, nil
}

// GetFlightInfo returns the schema of pairs, how many there are if all are meant, and where they are: an endpoint for
// each shard, with its slots, and with the addresses of its members if there may be several, the leader first.
func (f *flights) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	info, err := f.info(ctx, instruction(d, ""))
	if err != nil {
		return nil, f.failed(err, "", func(m metadata.MD) { _ = grpc.SetTrailer(ctx, m) })
	}
	info.FlightDescriptor = d
	return info, nil
}

func (f *flights) info(ctx context.Context, text string) (*flight.FlightInfo, error) {
	if _, _, err := f.rangeOf(text); err != nil {
		return nil, err
	}
	info := &flight.FlightInfo{Schema: flight.SerializeSchema(f.schema(false), memory.DefaultAllocator),
		TotalRecords: -1, TotalBytes: -1, Ordered: f.s.config.Types.Key != keytype.Text && len(f.s.shards) == 1}
	if text == "" {
		pairs := new(atomic.Int64)
		err := f.s.node.Read(ctx, false, func(v replica.View) error {
			pairs.Store(int64(v.Len()))
			return nil
		})
		if err == nil {
			err = f.s.others(len(f.s.shards), func(x *shard) error {
				n, err := x.askOne(ctx, "DBSIZE")
				more, _ := n.(int64)
				pairs.Add(more)
				return cmp.Or(stopping(f.s.abroad), err)
			})
		}
		if err != nil {
			return nil, err
		}
		info.TotalRecords = pairs.Load()
	}
	all, _ := f.s.led()
	for _, x := range all {
		first, last := x.slots()
		slots, _ := json.Marshal(bulk.Shard{First: first, Last: last})
		e := &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: []byte(text)}, AppMetadata: slots}
		if f.s.clustered() {
			for _, m := range x.order {
				e.Location = append(e.Location, &flight.Location{Uri: f.scheme + f.beside(m)})
			}
		}
		info.Endpoint = append(info.Endpoint, e)
	}
	return info, nil
}
