package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/structures"
	"golang.org/x/sync/errgroup"
)

// Questions about the order of keys concern all shards. The server that is asked answers for its own shard, asks the
// others with the word LOCAL, and merges the answers. Each shard answers at a moment of its own.

// local is the last word of a question that concerns the asked shard alone.
const local = "LOCAL"

// everywhere reports whether a question concerns all shards. It removes the word that says otherwise.
func (c *conn) everywhere(args [][]byte) (rest [][]byte, all bool) {
	if n := len(args); n > 0 && bytes.EqualFold(args[n-1], []byte(local)) {
		return args[:n-1], false
	}
	return args, len(c.s.shards) > 1
}

// unreachedError says that a shard does not answer.
type unreachedError struct {
	shard *shard
	err   error
}

func (e *unreachedError) Error() string { return fmt.Sprintf("%v: %v", e.shard, e.err) }
func (e *unreachedError) Unwrap() error { return e.err }

// said is what a shard answers to a question, or why it doesn't.
type said struct {
	reply any
	err   error
}

// ask asks the leader of another shard some questions at once, and follows it if it has changed. The error is an
// *unreachedError.
func (x *shard) ask(ctx context.Context, questions ...[]any) (answers []said, err error) {
	if !x.met.Load() { // it may have keys of this server's slots
		if err := x.learn(ctx); err != nil {
			return nil, &unreachedError{x, err}
		}
	}
	for moves, ended := 0, 0; moves < len(x.members); {
		answers, err = x.try(ctx, questions)
		lost := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		moved, is := strings.CutPrefix(fmt.Sprint(err), "MOVED ")
		_, leader, _ := strings.Cut(moved, " ")
		switch {
		case err == nil:
			return answers, nil
		case lost && ended < places: // it was of before a start of that server; asking again changes nothing there
			ended++
		case is && slices.Contains(x.members, leader):
			x.leader.Store(&leader)
			moves++
		default:
			return nil, &unreachedError{x, err}
		}
	}
	return nil, &unreachedError{x, err}
}

// askOne asks a single question.
func (x *shard) askOne(ctx context.Context, question ...any) (any, error) {
	answers, err := x.ask(ctx, question)
	if err != nil {
		return nil, err
	}
	return answers[0].reply, answers[0].err
}

// try asks the last known leader. The error is why the questions were not answered.
func (x *shard) try(ctx context.Context, questions [][]any) (answers []said, err error) {
	p := x.clients[*x.leader.Load()].Pipeline()
	var asked []*redis.Cmd
	for _, q := range questions {
		asked = append(asked, p.Do(ctx, q...))
	}
	var other redis.Error
	if _, err = p.Exec(ctx); err != nil && !errors.As(err, &other) { // the commands themselves may not have it
		return nil, err
	}
	for _, a := range asked {
		reply, err := a.Result()
		switch text, is := strings.CutPrefix(fmt.Sprint(err), "ERR "); {
		case err == nil, errors.Is(err, redis.Nil):
			answers = append(answers, said{reply: reply})
		case is && errors.As(err, &other):
			answers = append(answers, said{err: errors.New(text)})
		default:
			return nil, err
		}
	}
	return answers, nil
}

// others calls f for each other shard, most of them at a time, and returns an error if one did.
func (s *Server) others(most int, f func(x *shard) error) error {
	var all errgroup.Group
	all.SetLimit(most)
	for i, x := range s.shards {
		if i != s.own {
			all.Go(func() error { return f(x) })
		}
	}
	return all.Wait()
}

// pairs are those of a shard, with what of them is text.
type pairs struct {
	keys, values []uint64
	records      []replica.Record
}

// parsed reads the pairs of an answer: keys and values by turns.
func (s *Server) parsed(reply any) (p pairs, err error) {
	list, _ := reply.([]any)
	t := s.config.Types
	for i, x := range list {
		text, ok := x.(string)
		if !ok {
			return p, fmt.Errorf("part %d of an answer is no text", i)
		}
		of, into := t.Key, &p.keys
		if i%2 != 0 {
			of, into = t.Value, &p.values
		}
		word := uint64(0)
		switch {
		case of != keytype.Text:
			if word, err = of.Parse(text); err != nil {
				return p, err
			}
		case i%2 == 0:
			p.records = append(p.records, replica.Record{Key: text})
		default:
			if t.Key != keytype.Text {
				p.records = append(p.records, replica.Record{})
			}
			p.records[i/2].Value = text
		}
		*into = append(*into, word)
	}
	if len(p.keys) != len(p.values) {
		return p, errors.New("an answer has a key without a value")
	}
	return p, nil
}

// gather adds to the answers of queries what other shards have: those of a batch by one question to each. It returns an
// error if there is no room for all; that of one query is its own.
func (s *Server) gather(ctx context.Context, all []query, r *room) error {
	var some []*query
	var questions [][]any
	most := len(s.shards)
	for i := range all {
		if q := &all[i]; q.all {
			some, questions = append(some, q), append(questions, q.words(s.config.Types.Key))
			if q.kind == structures.FindRange && (q.limit == 0 || q.limit > fewPairs) {
				most = 1 // so that long answers are in memory one at a time
			}
		}
	}
	if len(some) == 0 {
		return nil
	}
	var mu sync.Mutex
	return s.others(most, func(x *shard) error {
		answers, err := x.ask(ctx, questions...)
		mu.Lock()
		defer mu.Unlock()
		for i, q := range some {
			switch {
			case q.err != nil:
			case err != nil:
				q.err = cmp.Or(stopping(ctx), err)
			default:
				q.err = s.add(q, x, answers[i])
			}
		}
		bytes := int64(0)
		for i := range all {
			bytes += all[i].bytes()
		}
		if !r.fits(bytes) {
			return errFull
		}
		return nil
	})
}

// add adds what another shard has answered to a query.
func (s *Server) add(q *query, x *shard, a said) error {
	if a.err != nil {
		return a.err
	}
	if q.kind == structures.CountRange {
		n, _ := a.reply.(int64)
		q.n += uint64(n)
		return nil
	}
	p, err := s.parsed(a.reply)
	if err != nil {
		return &unreachedError{x, err}
	}
	if q.merge(p); len(q.keys) > mostPairs {
		return errWide(len(q.keys))
	}
	return nil
}

// gatherTop adds the best pairs of other shards to those of this one. cut leaves the best of all. args are those of
// VK.TOP.
func (s *Server) gatherTop(ctx context.Context, list []ranked, args [][]byte, cut func([]ranked) []ranked) ([]ranked,
	error) {
	words := []any{"VK.TOP"}
	for _, a := range args {
		words = append(words, a)
	}
	words = append(words, local)
	var mu sync.Mutex
	err := s.others(len(s.shards), func(x *shard) error {
		reply, err := x.askOne(ctx, words...)
		if err != nil {
			return cmp.Or(stopping(ctx), err)
		}
		p, err := s.parsed(reply)
		if err != nil {
			return &unreachedError{x, err}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, key := range p.keys {
			r := ranked{Pair: structures.Pair[uint64, uint64]{Key: key, Value: p.values[i]}}
			if p.records != nil {
				r.Record = p.records[i]
			}
			list = append(list, r)
		}
		list = cut(list)
		return nil
	})
	return list, err
}

// words returns the command that asks another shard.
func (q *query) words(t keytype.Type) []any {
	lo, hi := "-", "+" // the words of these are none of each type
	if q.lo > 0 {
		lo = string(t.Append(nil, q.lo))
	}
	if q.hi < math.MaxUint64 {
		hi = string(t.Append(nil, q.hi))
	}
	switch q.kind {
	case structures.FindFloor:
		return []any{"VK.FLOOR", string(t.Append(nil, q.lo)), local}
	case structures.FindCeil:
		return []any{"VK.CEIL", string(t.Append(nil, q.lo)), local}
	}
	if q.kind == structures.CountRange {
		return []any{"VK.COUNT", lo, hi, local}
	}
	words := []any{"VK.RANGE", lo, hi}
	if q.limit > 0 {
		words = append(words, "LIMIT", strconv.Itoa(q.limit))
	}
	return append(words, local)
}

// merge adds pairs of another shard, in order, and leaves as many as are asked for: the first ones, and of neighbors
// the nearest.
func (q *query) merge(p pairs) {
	own := pairs{q.keys, q.values, q.records}
	n := len(own.keys) + len(p.keys)
	first := func(i, j int) bool { return own.keys[i] < p.keys[j] }
	switch q.kind {
	case structures.FindFloor:
		n = min(n, 1)
		first = func(i, j int) bool { return own.keys[i] > p.keys[j] }
	case structures.FindCeil:
		n = min(n, 1)
	default:
		if q.limit > 0 {
			n = min(n, q.limit)
		}
	}
	var all pairs
	for i, j := 0, 0; i+j < n; {
		from, at := &p, &j
		if j == len(p.keys) || i < len(own.keys) && first(i, j) {
			from, at = &own, &i
		}
		all.keys, all.values = append(all.keys, from.keys[*at]), append(all.values, from.values[*at])
		if from.records != nil {
			all.records = append(all.records, from.records[*at])
		}
		*at++
	}
	q.keys, q.values, q.records = all.keys, all.values, all.records
	q.found = len(q.keys) > 0
}

// bytes returns what the pairs of a query count in a room.
func (q *query) bytes() int64 {
	n := pairBytes * int64(len(q.keys))
	for _, x := range q.records[:min(len(q.records), len(q.keys))] {
		n += int64(len(x.Key) + len(x.Value))
	}
	return n
}
