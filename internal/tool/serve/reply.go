package serve

import (
	"math"
	"slices"
	"strconv"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// form is how answers become a reply.
type form uint8

const (
	asText         form = iota // no operation: the reply is there already
	asOK                       // of SET: null if it was not done
	asOld                      // of SET with GET
	asAll                      // of MSET
	asValue                    // of GET
	asValues                   // of MGET
	asFound                    // how many keys were there
	asDone                     // how many operations were done
	asSum                      // an integer
	asFloat                    // a sum of floats
	asSeconds                  // the time that is left
	asMilliseconds             // the same
)

// valued reports whether a reply has the values of its answers.
func (f form) valued() bool { return f == asOld || f == asValue || f == asValues }

// reply is the reply to one command, which has n operations.
type reply struct {
	form form
	n    int
	text string // of asText
}

// render appends the reply.
func (c *conn) render(r reply, answers []replica.Answer) {
	switch r.form {
	case asOK:
		if !answers[0].Done {
			c.null()
			return
		}
		c.out = redcon.AppendOK(c.out)
	case asAll:
		c.out = redcon.AppendOK(c.out)
	case asOld, asValue:
		c.value(answers[0])
	case asValues:
		c.out = redcon.AppendArray(c.out, len(answers))
		c.values(answers)
	case asFound, asDone:
		n := int64(0)
		for _, a := range answers {
			if r.form == asFound && a.Found || r.form == asDone && a.Done {
				n++
			}
		}
		c.out = redcon.AppendInt(c.out, n)
	case asSum, asFloat:
		c.sum(r.form, answers[0])
	case asSeconds, asMilliseconds:
		c.out = redcon.AppendInt(c.out, c.left(r.form, answers[0]))
	}
}

func (c *conn) null() { c.out = c.appendNull(c.out) }

func (c *conn) appendNull(out []byte) []byte {
	if c.resp3 {
		return append(out, "_\r\n"...)
	}
	return redcon.AppendNull(out)
}

// value appends the value of an answer, as it was before the operation.
func (c *conn) value(a replica.Answer) { c.out = c.appendValue(c.out, a) }

func (c *conn) appendValue(out []byte, a replica.Answer) []byte {
	if !a.Found {
		return c.appendNull(out)
	}
	return appendField(out, c.s.config.Types.Value, a.Value, a.Text)
}

// values appends the values of answers. If they are many numbers, all cores format them.
func (c *conn) values(answers []replica.Answer) {
	if len(answers) < 2*share || c.s.config.Types.Value == keytype.Text {
		for _, a := range answers {
			c.value(a)
			c.sendLarge()
		}
		return
	}
	for some := range slices.Chunk(answers, 16*share) { // so that few bytes wait for the client
		parts := make([][]byte, max(1, len(some)/share))
		threads.InShares(len(parts), len(some), func(part, first, end int) {
			out := make([]byte, 0, 32*(end-first))
			for _, a := range some[first:end] {
				out = c.appendValue(out, a)
			}
			parts[part] = out
		})
		for _, p := range parts {
			c.out = append(c.out, p...)
			c.sendLarge()
		}
	}
}

// field appends a key or a value: the word, or the text if the type is that.
func (c *conn) field(t keytype.Type, word uint64, text string) {
	c.out = appendField(c.out, t, word, text)
}

func appendField(out []byte, t keytype.Type, word uint64, text string) []byte {
	if t == keytype.Text {
		return redcon.AppendBulkString(out, text)
	}
	out = append(out, "$0\r\n"...)
	at := len(out)
	out = t.Append(out, word)
	n := len(out) - at
	if n > 9 { // all have fewer than 100 bytes
		out = append(out, 0)
		copy(out[at+1:], out[at:])
		out[at-3], out[at-2], out[at-1], out[at] = byte('0'+n/10), byte('0'+n%10), '\r', '\n'
	} else {
		out[at-3] = byte('0' + n)
	}
	return append(out, "\r\n"...)
}

// bulk appends a string. text may be c.text.
func (c *conn) bulk(text []byte) {
	c.text = text
	c.out = redcon.AppendBulk(c.out, text)
}

func (c *conn) sum(f form, a replica.Answer) {
	switch {
	case a.NotNumber && f == asSum:
		c.out = redcon.AppendError(c.out, "ERR value is not an integer or out of range")
	case a.NotNumber:
		c.out = redcon.AppendError(c.out, "ERR value is not a valid float")
	case a.Overflow && f == asSum:
		c.out = redcon.AppendError(c.out, "ERR increment or decrement would overflow")
	case a.Overflow:
		c.out = redcon.AppendError(c.out, "ERR increment would produce NaN or Infinity")
	case f == asSum && c.s.config.Types.Value == keytype.Text:
		c.out = append(append(append(c.out, ':'), a.Text...), "\r\n"...)
	case f == asFloat, c.s.config.Types.Value == keytype.Uint64 && a.Value > math.MaxInt64: // RESP's integers end there
		c.field(c.s.config.Types.Value, a.Value, a.Text)
	default:
		c.out = append(c.out, ':')
		c.out = c.s.config.Types.Value.Append(c.out, a.Value)
		c.out = append(c.out, "\r\n"...)
	}
}

// left returns how long a key has left, or -1 if it has no deadline, or -2 if it isn't there.
func (c *conn) left(f form, a replica.Answer) int64 {
	switch {
	case !a.Found:
		return -2
	case a.Deadline == 0:
		return -1
	}
	ms := max(0, a.Deadline-c.s.node.Now())
	if f == asMilliseconds {
		return ms
	}
	return ms/1000 + ms%1000/500 // to the nearest second
}

// pair appends a key and its value.
func (c *conn) pair(key, value uint64, r replica.Record) {
	c.field(c.s.config.Types.Key, key, r.Key)
	c.field(c.s.config.Types.Value, value, r.Value)
}

// mapOf appends the head of a map of n keys, which is an array before RESP3.
func (c *conn) mapOf(n int) {
	if c.resp3 {
		c.out = append(strconv.AppendInt(append(c.out, '%'), int64(n), 10), "\r\n"...)
		return
	}
	c.out = redcon.AppendArray(c.out, 2*n)
}
