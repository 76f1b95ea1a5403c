package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

const (
	smallBuffer = 16 << 10
	largeBuffer = 1 << 20         // for pipelines; single commands may be larger
	mostBatch   = 1 << 13         // operations or replies of a batch, unless one command has more
	mostOps     = replica.MostOps // arguments of a command that isn't large
	share       = 1 << 10         // keys of a command that one core parses, or whose values it formats
	mostOut     = 1 << 20         // bytes of answers that wait for the end of a batch
)

// conn is a client's connection. One goroutine uses it.
type conn struct {
	s   *Server
	net net.Conn
	id  int64

	opened   time.Time
	name     string
	authed   bool
	resp3    bool
	readOnly bool // followers may answer
	quit     bool

	in   []byte    // read and not yet done
	due  time.Time // when the incomplete command of in must have come; zero: in was not yet looked through
	seen partial   // how far that command was looked through
	calm int       // reads since one has filled a quarter of the buffer
	out  []byte    // not yet sent
	args [][]byte
	text []byte // a value that is about to be sent

	last  *command // the last one that was done
	times int      // so often in a row, and not yet counted

	large   bool // it has one of the places of those who do large commands
	here    bool // this server's shard has a key of the command
	crowded bool // an answer found no room; the others that were asked for with it don't wait

	// What was asked and not yet answered: operations with their replies, or queries. Not both.
	ops     []replica.Op
	texts   [][]byte // of the operations: parts of the buffer
	keys    []uint64
	replies []reply
	queries []query
}

// serve answers commands until the client or the server ends.
func (c *conn) serve() {
	if c.handshake() != nil {
		return
	}
	for !c.quit {
		if err := c.read(); err != nil {
			return
		}
		c.crowded = false
		rest, err := c.commands(c.in)
		c.flush()
		if err != nil {
			c.out = redcon.AppendError(c.out, "ERR Protocol error: "+err.Error())
			c.quit = true
		}
		if c.send() != nil {
			return
		}
		if c.quit {
			c.drain()
		}
		c.keep(rest)
	}
}

// handshake makes sure that a client of TLS does its part in time.
func (c *conn) handshake() error {
	n, ok := c.net.(*tls.Conn)
	if !ok {
		return nil
	}
	_ = n.SetDeadline(c.opened.Add(c.s.o.stalled))
	if c.s.stopping.Load() { // before or after it has set its own deadline
		return net.ErrClosed
	}
	return n.Handshake()
}

// keep moves the incomplete command to the beginning of the buffer, and gives up memory that was needed only once.
func (c *conn) keep(rest []byte) {
	if c.calm++; len(c.in) > cap(c.in)/4 {
		c.calm = 0
	}
	n := len(rest)
	if n < len(c.in) { // otherwise it is at the beginning
		copy(c.in, rest)
		c.in, c.due, c.seen = c.in[:n], time.Time{}, partial{}
	}
	if n > 0 && c.due.IsZero() {
		c.due = time.Now().Add(c.s.o.stalled)
	}
	if n == 0 && (cap(c.in) > largeBuffer || c.calm > 64 && cap(c.in) > smallBuffer) {
		c.in, c.calm = make([]byte, 0, smallBuffer), 0
		c.args, c.texts = nil, nil // parts of the old buffer
	}
	if cap(c.args) > 1<<13 {
		c.args = nil
	}
	if cap(c.out) > 1<<18 {
		c.out = nil
	}
	if max(cap(c.ops), cap(c.keys), cap(c.replies)) > 1<<13 {
		c.ops, c.keys, c.replies = nil, nil, nil
	}
	if cap(c.texts) > 1<<13 {
		c.texts = nil
	}
}

// read reads what the client has sent, at least one byte. The buffer grows if a read fills it: so it has the length of
// the client's pipelines soon.
func (c *conn) read() error {
	most := c.s.o.MaxRequest
	if !c.authed {
		most = stranger
	}
	if len(c.in) >= most {
		c.out = redcon.AppendError(c.out, fmt.Sprintf("ERR the command has more than %d bytes", most))
		if c.send() == nil {
			c.drain()
		}
		return errLong
	}
	if len(c.in) == cap(c.in) {
		c.in = slices.Grow(c.in, cap(c.in))
	}
	deadline := time.Time{}
	switch {
	case !c.authed: // strangers can't hold all places
		deadline = c.opened.Add(c.s.o.stalled)
	case len(c.in) > 0:
		deadline = c.due
	case c.s.o.Idle > 0:
		deadline = time.Now().Add(c.s.o.Idle)
	}
	_ = c.net.SetReadDeadline(deadline)
	if c.s.stopping.Load() { // before or after it has set its own deadline
		return net.ErrClosed
	}
	n, err := c.net.Read(c.in[len(c.in):min(cap(c.in), most)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		if len(c.in) == cap(c.in) && cap(c.in) < largeBuffer && c.authed {
			c.in = slices.Grow(c.in, cap(c.in)) // for the next read
		}
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// drain takes what a client goes on to send after its last answer, for a moment: if a connection is closed with bytes
// that nobody has read, the system may drop the answer.
func (c *conn) drain() {
	if w, ok := c.net.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		_ = c.net.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c.net, 1<<20)
	}
}

var errLong = errors.New("the command is too long")

// commands does the commands of a buffer, and returns the incomplete one at its end. The error is one of the protocol.
func (c *conn) commands(in []byte) (rest []byte, err error) {
	if !c.due.IsZero() && !c.seen.whole(in) {
		return in, nil
	}
	for len(in) > 0 && !c.quit {
		var ok bool
		var after []byte
		if ok, c.args, after, err = next(in, c.args); err != nil || !ok {
			return in, err
		}
		in = after
		if len(c.args) > 0 {
			c.do(c.args)
		}
		if len(c.args) > mostOps { // also of one that was refused: its client may not take the answer
			c.args = nil
		}
		if max(len(c.ops), len(c.replies)) >= mostBatch || len(c.queries) >= mostQueries {
			c.flush()
		}
		if len(c.out) > mostOut && c.send() != nil {
			c.quit = true
		}
	}
	return in, nil
}

const (
	longestLine   = 1 << 10 // of commands without the protocol's lengths, as people type them
	longestLength = 9       // digits: so that it fits an int
)

var (
	errLine     = fmt.Errorf("a line of more than %d bytes", longestLine)
	errQuotes   = errors.New("a line with unbalanced quotes, or with a backslash beside quotes")
	errProtocol = errors.New("not a command of Redis's protocol")
)

// next returns the next command of a buffer: RESP, or a line of words. Its arguments are parts of the buffer.
func next(in []byte, into [][]byte) (ok bool, args [][]byte, rest []byte, err error) {
	args = into[:0]
	switch in[0] {
	case '*':
	case '$':
		return false, args, in, errProtocol
	default:
		return nextLine(in, args)
	}
	n, at, err := length(in, 0, '*')
	if err != nil || at == 0 {
		return false, args, in, err
	}
	if most := (len(in) - at) / len("$0\r\n\r\n"); n <= most {
		args = slices.Grow(args, n)
	}
	for range n {
		size, from, err := length(in, at, '$')
		if err != nil || from == 0 || size > len(in)-from-2 {
			return false, args, in, err
		}
		to := from + size
		if at = to + 2; in[to] != '\r' || in[to+1] != '\n' {
			return false, args, in, errProtocol
		}
		args = append(args, in[from:to])
	}
	return true, args, in[at:], nil
}

// nextLine is next of a line of words.
func nextLine(in []byte, into [][]byte) (ok bool, args [][]byte, rest []byte, err error) {
	if len(in) > longestLine && bytes.IndexByte(in[:longestLine+1], '\n') < 0 {
		return false, into, in, errLine
	}
	ok, args, _, rest, err = redcon.ReadNextCommand(in, into)
	line := in[:len(in)-len(rest)]
	// Redis and redcon differ in what a backslash between quotes does.
	if err != nil || bytes.IndexByte(line, '\\') >= 0 && bytes.ContainsAny(line, `"'`) {
		return false, into, in, errQuotes
	}
	return ok, args, rest, nil
}

// length parses the line at a place: a mark and a length. after is where the next line begins; 0: the line's end has
// not come.
func length(in []byte, at int, mark byte) (n, after int, err error) {
	if at == len(in) {
		return 0, 0, nil
	}
	end := at + 1
	for ; end < min(len(in), at+1+longestLength) && in[end]-'0' <= 9; end++ {
		n = n*10 + int(in[end]-'0')
	}
	switch left := in[end:]; {
	case in[at] != mark:
		return 0, 0, errProtocol
	case len(left) == 0, len(left) == 1 && left[0] == '\r':
		return 0, 0, nil
	case end == at+1, left[0] != '\r', left[1] != '\n':
		return 0, 0, errProtocol
	}
	return n, end + 2, nil
}

// partial is how far an incomplete command was looked through, so that none of its bytes is looked at for each read.
type partial struct {
	at   int // where the next argument begins; 0: the number of arguments is not known
	left int // arguments from there on
}

// whole reports whether the rest of a command has come. It is also true for a line, which is short, and for mistakes,
// which next will find.
func (p *partial) whole(in []byte) bool {
	if p.at == 0 {
		n, after, err := length(in, 0, '*')
		if err != nil || after == 0 {
			return err != nil
		}
		p.at, p.left = after, n
	}
	for ; p.left > 0; p.left-- {
		n, after, err := length(in, p.at, '$')
		if err != nil || after == 0 || n > len(in)-after-2 {
			return err != nil
		}
		p.at = after + n + 2
	}
	return true
}

// send sends the answers. A client has the same time for each part of them.
func (c *conn) send() error {
	if len(c.out) == 0 {
		return nil
	}
	defer func() { c.out = c.out[:0] }()
	for part := range slices.Chunk(c.out, mostOut) {
		_ = c.net.SetWriteDeadline(time.Now().Add(c.s.o.stalled))
		if _, err := c.net.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// flush does what was asked and not yet answered.
func (c *conn) flush() {
	c.count()
	if len(c.replies) > 0 {
		c.flushOps(&room{c: c})
	}
	if len(c.queries) > 0 {
		c.flushQueries()
	}
}

// flushOps does operations, as one read if none of them writes, and otherwise as one write, reads and all. There may be
// room for their answers already.
func (c *conn) flushOps(r *room) {
	started, kind := time.Now(), read
	defer r.leave()
	var answers []replica.Answer
	var err error
	full := false // values are refused
	switch {
	case len(c.ops) == 0:
	case slices.ContainsFunc(c.ops, func(op replica.Op) bool { return op.Kind != replica.Get }):
		kind = write
		if answers, err = c.s.node.Write(c.ops, c.texts); err == nil && !r.fits(c.hold(answers, true)) {
			full = true // it can't ask again, and holds nothing while it waits
			c.hold(answers, false)
		}
	default:
		answers, err = c.look()
		for err == nil && !r.fits(c.hold(answers, true)) {
			if answers = nil; len(c.replies) > 1 { // parts of a pipeline need less
				c.flushHalves()
				return
			}
			if err = r.wait(); err == nil {
				answers, err = c.look()
			}
		}
	}
	c.leaveLarge()
	if len(c.ops) > 0 {
		c.s.metrics.batch(kind, len(c.ops), time.Since(started))
	}
	at := 0
	for _, r := range c.replies {
		switch {
		case r.form == asText:
			c.out = append(c.out, r.text...)
		case err != nil:
			c.refuse(err, c.keyText(c.ops[at].Key))
		case full && r.form.valued() && answers[at].Done:
			c.refuse(errDone, nil)
		case full && r.form.valued():
			c.refuse(errRoom, nil)
		default:
			c.render(r, answers[at:at+r.n])
		}
		at += r.n
		c.sendLarge()
	}
	clear(answers) // of their texts; those of writes share an array with those of other connections
	if kind == read && len(answers) > 0 && cap(answers) <= mostOps {
		c.s.answers.Put(&answers)
	}
	c.ops, c.texts, c.replies = c.ops[:0], c.texts[:0], c.replies[:0]
}

// flushHalves does the earlier replies of operations that only read before the later ones.
func (c *conn) flushHalves() {
	ops, texts, replies := c.ops, c.texts, c.replies
	half, first := len(replies)/2, 0
	for _, r := range replies[:half] {
		first += r.n
	}
	c.ops, c.replies = ops[:first], replies[:half]
	c.flushOps(&room{c: c})
	c.ops, c.texts, c.replies = ops[first:], texts, replies[half:]
	c.flushOps(&room{c: c})
	c.ops, c.replies = ops[:0], replies[:0]
}

// look answers operations that only read.
func (c *conn) look() (answers []replica.Answer, err error) {
	c.keys = slices.Grow(c.keys[:0], len(c.ops))
	for _, op := range c.ops {
		c.keys = append(c.keys, op.Key)
	}
	ctx := context.Background() // it ends soon, and what the Node can't do, it says
	var into []replica.Answer
	if kept, ok := c.s.answers.Get().(*[]replica.Answer); ok {
		into = *kept
	}
	err = c.s.node.Read(ctx, c.readOnly, func(v replica.View) (err error) {
		answers, err = v.Get(ctx, c.keys, c.texts, into)
		return err
	})
	return answers, err
}

// hold gives up the texts that no reply has, also those of values if these are refused. It returns how many bytes of
// answers are left: those of large commands, and texts.
func (c *conn) hold(answers []replica.Answer, values bool) (bytes int64) {
	if len(answers) < mostOps && c.s.config.Types.Value != keytype.Text {
		return 0
	}
	for _, r := range c.replies {
		its := answers[:r.n]
		answers = answers[r.n:]
		if r.form.valued() && r.n >= mostOps {
			bytes += largeBytes * int64(r.n)
		}
		for i := range its {
			if !(r.form.valued() && values) && r.form != asSum && r.form != asFloat {
				its[i].Text = ""
			}
			bytes += int64(len(its[i].Text))
		}
	}
	return bytes
}

// leaveLarge gives the place of a large command back, if the connection has one. What it holds while its answers are
// taken counts elsewhere.
func (c *conn) leaveLarge() {
	if c.large {
		c.large = false
		<-c.s.large
	}
}

// keyText returns the text of an operation's key.
func (c *conn) keyText(word uint64) []byte {
	if c.s.config.Types.Key == keytype.Text {
		return c.texts[word]
	}
	c.text = c.s.config.Types.Key.Append(c.text[:0], word)
	return c.text
}

// refuse answers with an error of the Node. The key is that of the command; nil: it has none, or several.
func (c *conn) refuse(err error, key []byte) {
	c.s.metrics.errors.Inc()
	var not *replica.NotLeaderError
	var full *replica.FullError
	var unknown *replica.UnknownError
	var gone *replica.GoneError
	var ahead *replica.AheadError
	var unreached *unreachedError
	text := "ERR " + err.Error()
	switch {
	case errors.As(err, &not) && not.Leader != "":
		slot, _ := c.s.shards[c.s.own].slots() // a client may take the leader for that of the slot
		if key != nil {
			slot = bulk.Slot(key)
		}
		text = fmt.Sprintf("MOVED %d %s", slot, not.Leader)
	case errors.As(err, &not), errors.Is(err, replica.ErrClosed), errors.As(err, &unreached):
		text = "CLUSTERDOWN " + err.Error()
	case errors.As(err, &full):
		text = "OOM " + err.Error()
	case errors.As(err, &gone):
		text = "GONE " + err.Error()
	case errors.As(err, &ahead):
		text = "AHEAD " + err.Error()
	case errors.As(err, &unknown):
		text = "UNKNOWN " + err.Error()
	}
	c.out = redcon.AppendError(c.out, text)
}
