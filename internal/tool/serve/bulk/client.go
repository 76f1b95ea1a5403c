package bulk

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Options say which servers a Client asks, and how.
type Options struct {
	Addresses []string // of some servers of one dictionary; the leader is found by them
	Password  string
	TLS       *tls.Config   // nil: in the clear
	Patience  time.Duration // how long a Client looks for a leader without getting on; 0: 30 s
}

const (
	longestMessage = 64 << 20 // bytes
	retryWait      = 50 * time.Millisecond

	connecting = 5 * time.Second // to one server
	// A server that says nothing for so long must answer a ping in the time after it. If it was paused or cut off,
	// another may lead. gRPC has no shorter time for the first.
	silent, answering = 10 * time.Second, 10 * time.Second

	// PingWait is how seldom clients send pings; others lose their connection.
	PingWait = silent / 2
)

// Client asks a server for many keys at a time, or the leaders of its shards. Only one goroutine at a time may use it.
// Make it by Dial.
type Client struct {
	Key, Value keytype.Type
	shards     []*peer
}

// peer is the leader of a shard, or a single server.
type peer struct {
	key, value keytype.Type
	slots      Shard

	o       Options
	at      string // the address of service
	conn    *grpc.ClientConn
	service flight.FlightServiceClient
}

// ServerError is an error of a server, or of the way to it.
type ServerError struct {
	Address string
	Err     error // with a status

	leader string // where the leader is, if lost is set
	lost   bool   // the server doesn't lead, and only what was acknowledged is done
	before bool   // nothing was sent
}

func (e *ServerError) Unwrap() error { return e.Err }

func (e *ServerError) Error() string {
	text := status.Convert(e.Err).Message()
	if at := strings.LastIndex(text, `desc = "`); at >= 0 { // gRPC nests errors of connections
		text = strings.TrimSuffix(text[at+len(`desc = "`):], `"`)
	}
	text, _, _ = strings.Cut(text, rowsDone) // of one call; the caller knows of all
	text = strings.TrimPrefix(strings.TrimPrefix(text, "transport: "), "Error while dialing: ")
	return e.Address + ": " + strings.Join(strings.Fields(text), " ")
}

// Dial asks a server for its types and its shards. Close the Client. Error: *ServerError.
func Dial(ctx context.Context, o Options) (*Client, error) {
	Quiet()
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	p := &peer{o: o}
	defer p.close()
	var schema *arrow.Schema
	var err error
	for _, p.at = range o.Addresses { // each of them knows
		if schema, err = p.schema(ctx); err == nil {
			break
		}
		p.close()
	}
	var types [2]keytype.Type
	if err == nil {
		types, err = typesOf(schema)
	}
	if err != nil {
		return nil, &ServerError{Address: p.at, Err: err}
	}
	info, err := p.info(ctx)
	if err != nil {
		return nil, err
	}
	c := &Client{Key: types[0], Value: types[1]}
	for _, e := range info.Endpoint {
		x := &peer{key: c.Key, value: c.Value, o: o, at: p.at}
		if err := json.Unmarshal(e.AppMetadata, &x.slots); err != nil {
			return nil, &ServerError{Address: p.at, Err: err}
		}
		if len(e.Location) > 0 {
			x.o.Addresses = nil
		}
		for _, l := range e.Location {
			_, address, _ := strings.Cut(l.Uri, "://")
			x.o.Addresses = append(x.o.Addresses, address)
		}
		if len(e.Location) > 0 {
			x.at = x.o.Addresses[0]
		}
		c.shards = append(c.shards, x)
	}
	return c, nil
}

// Close ends the connections.
func (c *Client) Close() {
	for _, x := range c.shards {
		x.close()
	}
}

// Addresses returns those of all servers that may be asked.
func (c *Client) Addresses() (all []string) {
	for _, x := range c.shards {
		all = append(all, x.o.Addresses...)
	}
	return all
}

// Len returns the number of pairs. Error: *ServerError.
func (c *Client) Len(ctx context.Context) (int64, error) {
	info, err := c.shards[0].info(ctx)
	return info.GetTotalRecords(), err
}

// Find looks keys up. Values of absent keys are null. Error: *ServerError.
func (c *Client) Find(ctx context.Context, keys Column) (values input.Rows, err error) {
	if err := short(keys); err != nil {
		return values, err
	}
	if len(c.shards) == 1 {
		return c.shards[0].find(ctx, keys)
	}
	n := len(keys.Words)
	values = input.Rows{Words: make([]uint64, n), Nulls: make([]bool, n), Texts: &keytype.Arena{}}
	parts := make([]input.Rows, len(c.shards))
	rows := c.divided(keys)
	err = c.each(func(i int, x *peer) (err error) {
		parts[i], err = x.find(ctx, keys.pick(rows[i]))
		return err
	})
	if err != nil {
		return values, err
	}
	for i, part := range parts {
		for at, row := range rows[i] {
			if values.Words[row], values.Nulls[row] = part.Words[at], part.Nulls[at]; c.Value == keytype.Text {
				values.Words[row] = values.Texts.Add(part.Texts.At(part.Words[at]))
			}
		}
	}
	return values, nil
}

// Put does what Set and Delete name with some rows, whose first column has the keys. After an error, the first
// done.Rows of them are done, and others may be. Error: *ServerError.
func (c *Client) Put(ctx context.Context, what string, columns ...Column) (done Done, err error) {
	if err := short(columns...); err != nil {
		return done, err
	}
	if len(c.shards) == 1 {
		return c.shards[0].put(ctx, what, columns...)
	}
	all := make([]Done, len(c.shards))
	rows := c.divided(columns[0])
	err = c.each(func(i int, x *peer) (err error) {
		part := slices.Clone(columns)
		for k := range part {
			part[k] = part[k].pick(rows[i])
		}
		all[i], err = x.put(ctx, what, part...)
		return err
	})
	if err != nil {
		return Done{}, err // what is done are not the first rows
	}
	for _, d := range all {
		done = done.Plus(d)
	}
	return done, nil
}

// divided returns which keys each shard has.
func (c *Client) divided(keys Column) [][]int {
	rows := make([][]int, len(c.shards))
	for row := range keys.Words {
		slot := keys.Slot(row)
		i := slices.IndexFunc(c.shards, func(x *peer) bool { return slot <= x.slots.Last })
		rows[max(i, 0)] = append(rows[max(i, 0)], row)
	}
	return rows
}

// each calls f for each shard, all at the same time, and returns an error if one did.
func (c *Client) each(f func(i int, x *peer) error) error {
	var all errgroup.Group
	for i, x := range c.shards {
		all.Go(func() error { return f(i, x) })
	}
	return all.Wait()
}

func (p *peer) schema(ctx context.Context) (*arrow.Schema, error) {
	if err := p.connect(); err != nil {
		return nil, err
	}
	s, err := p.service.GetSchema(p.header(ctx), &flight.FlightDescriptor{})
	if err != nil {
		return nil, err
	}
	return flight.DeserializeSchema(s.Schema, memory.DefaultAllocator)
}

// connect has a connection to p.at made when it is needed.
func (p *peer) connect() (err error) {
	if p.conn != nil {
		return nil
	}
	by := insecure.NewCredentials()
	if p.o.TLS != nil {
		by = credentials.NewTLS(p.o.TLS.Clone()) // the name of each server is its own
	}
	p.conn, err = grpc.NewClient("passthrough:///"+p.at, grpc.WithTransportCredentials(by), grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: connecting}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silent, Timeout: answering}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longestMessage)))
	if err == nil {
		p.service = flight.NewFlightServiceClient(p.conn)
	}
	return err
}

// close ends the connection.
func (p *peer) close() {
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn = nil
	}
}

// header adds the password to a call.
func (p *peer) header(ctx context.Context) context.Context {
	if p.o.Password == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization",
		"Basic "+base64.StdEncoding.EncodeToString([]byte("default:"+p.o.Password)))
}

// led calls do until the leader has done it. If do has returned an error, but got on, it is to do the rest. again says
// that it may be called even if a call whose connection was lost may have done something.
func (p *peer) led(ctx context.Context, again bool, do func(ctx context.Context) (got bool, err *ServerError)) error {
	since := time.Now()
	for try := 0; ; try++ {
		got, err := false, (*ServerError)(nil)
		if e := p.connect(); e != nil {
			err = &ServerError{Err: e}
		} else {
			one, cancel := context.WithCancel(ctx)
			got, err = do(p.header(one))
			cancel()
		}
		if err == nil {
			return nil
		}
		err.Address = p.at
		if got {
			since = time.Now()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		unavailable := status.Code(err.Err) == codes.Unavailable
		if !err.lost && !(unavailable && (again || err.before)) || time.Since(since) > p.o.Patience {
			return err
		}
		p.close()
		if p.at = err.leader; p.at == "" {
			p.at = p.o.Addresses[try%len(p.o.Addresses)]
		}
		if err.leader == "" || try > 0 { // servers may name each other
			time.Sleep(retryWait)
		}
	}
}

// failed makes an error of a call's. trailer returns the call's.
func failed(err error, trailer func() metadata.MD) *ServerError {
	e := &ServerError{Err: err}
	if _, came := status.FromError(err); !came { // the call has not ended
		return e
	}
	if leader := trailer().Get(LeaderKey); len(leader) > 0 {
		e.leader, e.lost = leader[0], true
	}
	return e
}

// info asks for the number of pairs and for all shards.
func (p *peer) info(ctx context.Context) (info *flight.FlightInfo, err error) {
	err = p.led(ctx, true, func(ctx context.Context) (bool, *ServerError) {
		var trailer metadata.MD
		info, err = p.service.GetFlightInfo(ctx, &flight.FlightDescriptor{}, grpc.Trailer(&trailer))
		if err != nil {
			return false, failed(err, func() metadata.MD { return trailer })
		}
		return true, nil
	})
	return info, err
}

// find is Find at one shard.
func (p *peer) find(ctx context.Context, keys Column) (values input.Rows, err error) {
	values.Texts, values.Nulls = &keytype.Arena{}, []bool{}
	want := len(keys.Words)
	o := input.Options{KeepNull: true, Columns: []input.Column{{Name: "key", Type: p.key},
		{Name: "value", Type: p.value}}}
	err = p.led(ctx, true, func(ctx context.Context) (got bool, _ *ServerError) {
		if len(values.Words) == want {
			return false, nil
		}
		stream, err := p.service.DoExchange(ctx)
		if err != nil {
			return false, &ServerError{Err: err, before: true}
		}
		sent := make(chan error, 1)
		go func() { sent <- sendAll(stream, Get, keys.Slice(len(values.Words), want)) }()
		records, err := Read(p.at, nil, stream.Recv, o)
		for err == nil {
			var rows []input.Rows
			if rows, err = records.Read(); err == nil {
				add(&values, rows[1], p.value)
				got = true
			}
		}
		if err != io.EOF {
			return got, failed(err, stream.Trailer)
		}
		return got, sentAll(<-sent, len(values.Words), want)
	})
	return values, err
}

// short returns an error if a text is too long for a server.
func short(columns ...Column) error {
	for _, c := range columns {
		for row := range c.Words {
			if n := c.length(row); n > keytype.LongestServed {
				return fmt.Errorf("%.40q… has %d bytes, more than %d", c.Texts.At(c.Words[row])[:40], n,
					keytype.LongestServed)
			}
		}
	}
	return nil
}

// add appends rows to others.
func add(to *input.Rows, rows input.Rows, t keytype.Type) {
	nulls := rows.Nulls
	if nulls == nil {
		nulls = make([]bool, len(rows.Words))
	}
	to.Nulls = append(to.Nulls, nulls...)
	if t != keytype.Text {
		to.Words = append(to.Words, rows.Words...)
		return
	}
	for _, w := range rows.Words {
		to.Words = append(to.Words, to.Texts.Add(rows.Texts.At(w)))
	}
}

// put is Put at one shard.
func (p *peer) put(ctx context.Context, what string, columns ...Column) (done Done, err error) {
	want := len(columns[0].Words)
	err = p.led(ctx, false, func(ctx context.Context) (bool, *ServerError) {
		stream, err := p.service.DoPut(ctx)
		if err != nil {
			return false, &ServerError{Err: err, before: true}
		}
		before := done
		rest := slices.Clone(columns)
		for i := range rest {
			rest[i] = rest[i].Slice(int(before.Rows), want)
		}
		sent := make(chan error, 1)
		go func() { sent <- sendAll(stream, what, rest...) }()
		for err == nil {
			var result *flight.PutResult
			var now Done
			if result, err = stream.Recv(); err != nil {
				break
			}
			if err = json.Unmarshal(result.AppMetadata, &now); err == nil {
				done = before.Plus(now)
			}
		}
		got := done.Rows > before.Rows
		if err != io.EOF {
			return got, failed(err, stream.Trailer)
		}
		return got, sentAll(<-sent, int(done.Rows), want)
	})
	return done, err
}

// sentAll returns an error if not all rows were sent, or answered.
func sentAll(err error, rows, want int) *ServerError {
	switch {
	case err != nil:
		return &ServerError{Err: err}
	case rows != want:
		return &ServerError{Err: status.Errorf(codes.Internal, "it has answered %d rows of %d", rows, want)}
	}
	return nil
}

// sendAll sends rows in parts, and then ends the sending. The end of the stream, which the receiver hears more about,
// is no error.
func sendAll(stream interface {
	flight.DataStreamWriter
	CloseSend() error
}, what string, columns ...Column) (err error) {
	defer func() { err = cmp.Or(err, stream.CloseSend()) }()
	var value *keytype.Type
	if len(columns) > 1 {
		value = &columns[1].Type
	}
	schema := Schema(columns[0].Type, value, false)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(what)})
	for from, to := 0, 0; from < len(columns[0].Words); from = to {
		to = Part(from, columns...)
		part := slices.Clone(columns)
		for i := range part {
			part[i] = part[i].Slice(from, to)
		}
		rows, err := Batch(schema, part...)
		if err != nil {
			return err
		}
		err = w.Write(rows)
		rows.Release()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != io.EOF {
		return err
	}
	return nil
}
