package serve

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// command is one that the server knows. What COMMAND tells of it is in the words of Redis: how many arguments it has,
// its name included, or at least how many if that is negative; and which of them are keys.
type command struct {
	name              string
	arity             int
	flags             string
	first, last, step int
	do                func(c *conn, args [][]byte)
	index             int
}

const (
	reads  = "readonly fast"
	writes = "write denyoom fast"
	scans  = "readonly"
	meta   = "loading stale fast"
)

// known has the commands by name. It is set by init because some of them list it.
var known map[string]*command

var commands []command

func init() {
	commands = []command{
		{name: "GET", arity: 2, flags: reads, first: 1, last: 1, step: 1, do: (*conn).get},
		{name: "MGET", arity: -2, flags: reads, first: 1, last: -1, step: 1, do: (*conn).mget},
		{name: "EXISTS", arity: -2, flags: reads, first: 1, last: -1, step: 1, do: (*conn).exists},
		{name: "TTL", arity: 2, flags: reads, first: 1, last: 1, step: 1, do: ttl(asSeconds)},
		{name: "PTTL", arity: 2, flags: reads, first: 1, last: 1, step: 1, do: ttl(asMilliseconds)},
		{name: "SET", arity: -3, flags: writes, first: 1, last: 1, step: 1, do: (*conn).set},
		{name: "MSET", arity: -3, flags: writes, first: 1, last: -1, step: 2, do: (*conn).mset},
		{name: "DEL", arity: -2, flags: writes, first: 1, last: -1, step: 1, do: (*conn).del},
		{name: "UNLINK", arity: -2, flags: writes, first: 1, last: -1, step: 1, do: (*conn).del},
		{name: "INCR", arity: 2, flags: writes, first: 1, last: 1, step: 1, do: add(1)},
		{name: "DECR", arity: 2, flags: writes, first: 1, last: 1, step: 1, do: add(-1)},
		{name: "INCRBY", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: add(1)},
		{name: "DECRBY", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: add(-1)},
		{name: "INCRBYFLOAT", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: (*conn).addFloat},
		{name: "EXPIRE", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: expire(1000, false)},
		{name: "PEXPIRE", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: expire(1, false)},
		{name: "EXPIREAT", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: expire(1000, true)},
		{name: "PEXPIREAT", arity: 3, flags: writes, first: 1, last: 1, step: 1, do: expire(1, true)},
		{name: "PERSIST", arity: 2, flags: writes, first: 1, last: 1, step: 1, do: (*conn).persist},

		{name: "SCAN", arity: -2, flags: scans, do: (*conn).scan},
		{name: "DBSIZE", arity: 1, flags: reads, do: (*conn).size},
		{name: "VK.RANGE", arity: -3, flags: scans, do: (*conn).keyRange},
		{name: "VK.COUNT", arity: -3, flags: scans, do: (*conn).countRange},
		{name: "VK.FLOOR", arity: -2, flags: reads, first: 1, last: 1, step: 1, do: (*conn).floor},
		{name: "VK.CEIL", arity: -2, flags: reads, first: 1, last: 1, step: 1, do: (*conn).ceil},
		{name: "VK.TOP", arity: -2, flags: scans, do: (*conn).top},
		{name: "VK.CHANGES", arity: -2, flags: scans, do: (*conn).changes},
		{name: "VK.SNAPSHOT", arity: 2, flags: scans, do: (*conn).snapshot},

		{name: "PING", arity: -1, flags: meta, do: (*conn).ping},
		{name: "ECHO", arity: 2, flags: meta, do: (*conn).echo},
		{name: "AUTH", arity: -2, flags: meta, do: (*conn).auth},
		{name: "HELLO", arity: -1, flags: meta, do: (*conn).hello},
		{name: "CLIENT", arity: -2, flags: meta, do: (*conn).client},
		{name: "COMMAND", arity: -1, flags: meta, do: (*conn).command},
		{name: "INFO", arity: -1, flags: meta, do: (*conn).info},
		{name: "CLUSTER", arity: -2, flags: meta, do: (*conn).cluster},
		{name: "READONLY", arity: 1, flags: meta, do: func(c *conn, _ [][]byte) { c.setReadOnly(true) }},
		{name: "READWRITE", arity: 1, flags: meta, do: func(c *conn, _ [][]byte) { c.setReadOnly(false) }},
		{name: "SELECT", arity: 2, flags: meta, do: (*conn).selectDB},
		{name: "QUIT", arity: -1, flags: meta, do: (*conn).end},
	}
	known = make(map[string]*command, len(commands))
	for i := range commands {
		commands[i].index = i
		known[commands[i].name] = &commands[i]
	}
}

// lookUp returns the command of a name in any case, or nil.
func lookUp(name []byte) *command {
	var upper [16]byte
	if len(name) > len(upper) {
		return nil
	}
	for i, b := range name {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		upper[i] = b
	}
	return known[string(upper[:len(name)])]
}

// count adds the last command to those that were counted. Connections count by themselves meanwhile: a number that all
// of them write for each command would be on its way between the cores all the time.
func (c *conn) count() {
	if c.times > 0 {
		c.s.metrics.commands[c.last.index].Add(float64(c.times))
		c.times = 0
	}
}

// do does a command, or puts it among those that are done together.
func (c *conn) do(args [][]byte) {
	x := c.last // most have the name of the one before
	if x == nil || string(args[0]) != x.name {
		x = lookUp(args[0])
	}
	switch {
	case x == nil && (bytes.EqualFold(args[0], []byte("POST")) || bytes.EqualFold(args[0], []byte("HOST:"))):
		// A web page's request, whose body may be commands.
		c.s.o.Log.Warn("a request of HTTP", "from", c.net.RemoteAddr())
		c.quit = true
	case x == nil && bytes.EqualFold(args[0], []byte("MULTI")): // what follows would be done, and one by one
		c.fail("ERR there are no transactions: MULTI ends the connection")
		c.quit = true
	case x == nil:
		c.fail("ERR unknown command '%.64s'", args[0])
	case x.arity > 0 && len(args) != x.arity || len(args) < -x.arity || x.first == 0 && len(args) > mostOps:
		c.fail("ERR wrong number of arguments for '%s' command", strings.ToLower(x.name))
	case !c.authed && x.name != "AUTH" && x.name != "HELLO" && x.name != "QUIT":
		c.fail("NOAUTH Authentication required.")
	default:
		if x != c.last {
			c.count()
			c.last = x
		}
		c.times++
		c.here = false
		if len(args) <= mostOps {
			x.do(c, args[1:])
			return
		}
		c.flush()
		r := room{c: c}
		if x.name == "MGET" { // with a place, it would keep others waiting
			if err := r.take(mostOfOne); err != nil {
				c.refuse(err, nil)
				return
			}
		}
		c.s.large <- struct{}{}
		c.large = true
		x.do(c, args[1:])
		c.flushOps(&r)
		c.leaveLarge()
		c.ops, c.texts, c.keys, c.replies = nil, nil, nil, nil
	}
}

// fail answers with an error, after what was asked before.
func (c *conn) fail(format string, args ...any) {
	c.s.metrics.errors.Inc()
	text := redcon.AppendError(nil, strings.ToValidUTF8(fmt.Sprintf(format, args...), "?"))
	if len(c.queries) > 0 {
		c.flush()
	}
	c.replies = append(c.replies, reply{text: string(text)})
}

// ask puts operations among those that are done together.
func (c *conn) ask(f form, ops ...replica.Op) {
	if len(c.queries) > 0 {
		c.flush()
	}
	c.ops = append(c.ops, ops...)
	c.replies = append(c.replies, reply{form: f, n: len(ops)})
}

// word parses a key or a value of an operation. If it has none of its type, word answers with an error.
func (c *conn) word(what string, t keytype.Type, text []byte) (uint64, bool) {
	if t == keytype.Text {
		if len(text) > keytype.LongestServed {
			c.fail("ERR the %s has %d bytes, more than %d", what, len(text), keytype.LongestServed)
			return 0, false
		}
		c.texts = append(c.texts, text)
		return uint64(len(c.texts) - 1), true
	}
	w, ok := number(t, text)
	if !ok {
		c.fail("ERR the %s %.64q is none of type %v", what, text, t)
	}
	return w, ok
}

// number parses a key or a value that is no text.
func number(t keytype.Type, text []byte) (uint64, bool) {
	w, err := t.ParseBytes(text)
	if err != nil || t.Integer() && bytes.IndexByte(text, '+') >= 0 { // as in Redis, +5 is no integer
		return 0, false
	}
	return w, true
}

// integer parses an integer that isn't a key or a value. As in Redis, +5 is none.
func integer(text []byte) (int64, error) {
	if bytes.HasPrefix(text, []byte("+")) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(string(text), 10, 64)
}

func (c *conn) key(text []byte) (uint64, bool) { return c.word("key", c.s.config.Types.Key, text) }

func (c *conn) get(args [][]byte) {
	if key, ok := c.own(args[0]); ok {
		c.ask(asValue, replica.Op{Key: key})
	}
}

func (c *conn) mget(args [][]byte)   { c.each(asValues, replica.Get, args) }
func (c *conn) exists(args [][]byte) { c.each(asFound, replica.Get, args) }
func (c *conn) del(args [][]byte)    { c.each(asFound, replica.Delete, args) }

// each asks for an operation of each key.
func (c *conn) each(f form, kind replica.Kind, keys [][]byte) {
	c.ops = slices.Grow(c.ops, len(keys))
	ops := c.ops[len(c.ops):][:len(keys)] // where ask puts them
	for i := c.numbers(kind, keys, ops); i < len(keys); i++ {
		key, ok := c.own(keys[i])
		if !ok {
			return
		}
		ops[i] = replica.Op{Kind: kind, Key: key}
	}
	c.ask(f, ops...)
}

// numbers makes operations of keys by all cores, if that pays off. It returns how many: all, or none also if one of the
// keys is a mistake, about which own has to answer.
func (c *conn) numbers(kind replica.Kind, keys [][]byte, ops []replica.Op) int {
	t := c.s.config.Types.Key
	if len(keys) < 2*share || t == keytype.Text || len(c.s.shards) > 1 {
		return 0
	}
	var wrong atomic.Bool
	threads.InShares(len(keys)/share, len(keys), func(_, first, end int) {
		for i := first; i < end; i++ {
			key, ok := number(t, keys[i])
			if !ok {
				wrong.Store(true)
				return
			}
			ops[i] = replica.Op{Kind: kind, Key: key}
		}
	})
	if wrong.Load() {
		return 0
	}
	return len(keys)
}

func ttl(f form) func(*conn, [][]byte) {
	return func(c *conn, args [][]byte) {
		if key, ok := c.own(args[0]); ok {
			c.ask(f, replica.Op{Key: key})
		}
	}
}

func (c *conn) pairOf(args [][]byte) (op replica.Op, ok bool) {
	op.Kind = replica.Set
	if op.Key, ok = c.own(args[0]); ok {
		op.Value, ok = c.word("value", c.s.config.Types.Value, args[1])
	}
	return op, ok
}

func (c *conn) set(args [][]byte) {
	op, ok := c.pairOf(args)
	if !ok {
		return
	}
	f, timed := asOK, false
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		switch option := strings.ToUpper(string(rest[0])); option {
		case "NX":
			op.Flags |= replica.IfAbsent
		case "XX":
			op.Flags |= replica.IfPresent
		case "KEEPTTL":
			op.Flags |= replica.KeepDeadline
		case "GET":
			f = asOld
		case "EX", "PX", "EXAT", "PXAT":
			if len(rest) < 2 || timed {
				c.fail("ERR syntax error")
				return
			}
			unit := int64(1)
			if option[0] == 'E' {
				unit = 1000
			}
			if op.Deadline, ok = c.deadline(rest[1], unit, strings.HasSuffix(option, "AT"), "set"); !ok {
				return
			}
			timed, rest = true, rest[1:]
		default:
			c.fail("ERR syntax error")
			return
		}
	}
	if op.Flags&(replica.IfAbsent|replica.IfPresent) == replica.IfAbsent|replica.IfPresent ||
		timed && op.Flags&replica.KeepDeadline != 0 {
		c.fail("ERR syntax error")
		return
	}
	c.ask(f, op)
}

// deadline returns the moment of a time in some unit of milliseconds. SET takes no time from 0 down.
func (c *conn) deadline(text []byte, unit int64, absolute bool, command string) (int64, bool) {
	n, err := integer(text)
	if err != nil {
		c.fail("ERR value is not an integer or out of range")
		return 0, false
	}
	now := int64(0)
	if !absolute {
		now = c.s.node.Now()
	}
	if n > (math.MaxInt64-now)/unit || n < math.MinInt64/unit || n <= 0 && command == "set" {
		c.fail("ERR invalid expire time in '%s' command", command)
		return 0, false
	}
	return max(1, now+n*unit), true // 0 would be none
}

func (c *conn) mset(args [][]byte) {
	if len(args)%2 != 0 {
		c.fail("ERR wrong number of arguments for 'mset' command")
		return
	}
	ops := make([]replica.Op, 0, len(args)/2)
	for pair := range slices.Chunk(args, 2) {
		op, ok := c.pairOf(pair)
		if !ok {
			return
		}
		ops = append(ops, op)
	}
	c.ask(asAll, ops...)
}

// add returns INCR, INCRBY and their opposites.
func add(sign int64) func(*conn, [][]byte) {
	return func(c *conn, args [][]byte) {
		by := int64(1)
		if len(args) > 1 {
			var err error
			if by, err = integer(args[1]); err != nil {
				c.fail("ERR value is not an integer or out of range")
				return
			}
		}
		if sign < 0 && by == math.MinInt64 {
			c.fail("ERR decrement would overflow")
			return
		}
		if t := c.s.config.Types.Value; !t.Integer() && t != keytype.Text {
			c.fail("ERR values are of type %v, which has no INCRBY (INCRBYFLOAT is for f32 and f64)", t)
			return
		}
		if key, ok := c.own(args[0]); ok {
			c.ask(asSum, replica.Op{Kind: replica.Add, Key: key, Value: uint64(sign * by)})
		}
	}
}

func (c *conn) addFloat(args [][]byte) {
	by, err := strconv.ParseFloat(string(args[1]), 64)
	if err != nil || math.IsNaN(by) || math.IsInf(by, 0) || bytes.IndexByte(args[1], '_') >= 0 {
		c.fail("ERR value is not a valid float")
		return
	}
	if t := c.s.config.Types.Value; t != keytype.Float32 && t != keytype.Float64 && t != keytype.Text {
		c.fail("ERR values are of type %v, which has no INCRBYFLOAT", t)
		return
	}
	if key, ok := c.own(args[0]); ok {
		c.ask(asFloat, replica.Op{Kind: replica.AddFloat, Key: key, Value: math.Float64bits(by)})
	}
}

// expire returns EXPIRE and its relatives.
func expire(unit int64, absolute bool) func(*conn, [][]byte) {
	return func(c *conn, args [][]byte) {
		at, ok := c.deadline(args[1], unit, absolute, "expire")
		if !ok {
			return
		}
		if key, ok := c.own(args[0]); ok {
			c.ask(asDone, replica.Op{Kind: replica.Expire, Key: key, Deadline: at})
		}
	}
}

func (c *conn) persist(args [][]byte) {
	if key, ok := c.own(args[0]); ok {
		c.ask(asDone, replica.Op{Kind: replica.Persist, Key: key})
	}
}
