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

// ask asks the leader of another shard, and follows it if it has changed.
func (x *shard) ask(ctx context.Context, args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if !x.met.Load() { // it may have keys of this server's slots
		if err := x.learn(ctx); err != nil {
			return nil, &unreachedError{x, err}
		}
	}
	var err error
	for moves, ended := 0, 0; moves < len(x.members); {
		var reply any
		if reply, err = x.clients[*x.leader.Load()].Do(ctx, args...).Result(); err == nil || errors.Is(err, redis.Nil) {
			return reply, nil
		}
		lost := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		if lost && ended < places { // it was of before a start of that server; asking again changes nothing there
			ended++
			continue
		}
		moved, is := strings.CutPrefix(err.Error(), "MOVED ")
		if !is {
			break
		}
		_, leader, _ := strings.Cut(moved, " ")
		if !slices.Contains(x.members, leader) {
			break
		}
		x.leader.Store(&leader)
		moves++
	}
	var said redis.Error
	if text, is := strings.CutPrefix(err.Error(), "ERR "); is && errors.As(err, &said) {
		return nil, errors.New(text)
	}
	return nil, &unreachedError{x, err}
}

// others calls f for each other shard, most of them at a time, and returns an error if one did.
func (s *Server) others(most int, f func(x *shard) error) error {
	var all sync.WaitGroup
	errs := make([]error, len(s.shards))
	places := make(chan struct{}, most)
	for i, x := range s.shards {
		if i == s.own {
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			errs[i] = f(x)
		})
	}
	all.Wait()
	return cmp.Or(errs...)
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

// gather adds to the answers of queries what other shards have. It returns an error if there is no room for all; that
// of one query is its own. After a shard wasn't reached, queries don't wait for it one after the other.
func (s *Server) gather(ctx context.Context, all []query, r *room) error {
	var away *unreachedError
	for i := range all {
		q := &all[i]
		if !q.all {
			continue
		}
		if away != nil {
			q.err = away
			continue
		}
		q.err = s.gatherOne(ctx, q, func() error {
			bytes := int64(0)
			for i := range all {
				bytes += all[i].bytes()
			}
			if !r.fits(bytes) {
				return errFull
			}
			return nil
		})
		if q.err == errFull {
			return errFull
		}
		errors.As(q.err, &away)
	}
	return nil
}

func (s *Server) gatherOne(ctx context.Context, q *query, fits func() error) error {
	most := len(s.shards)
	if q.kind == structures.FindRange && (q.limit == 0 || q.limit > fewPairs) {
		most = 1 // so that long answers are in memory one at a time
	}
	var mu sync.Mutex
	return s.others(most, func(x *shard) error {
		reply, err := x.ask(ctx, q.words(s.config.Types.Key)...)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if q.kind == structures.CountRange {
			n, _ := reply.(int64)
			q.n += uint64(n)
			return nil
		}
		p, err := s.parsed(reply)
		if err != nil {
			return &unreachedError{x, err}
		}
		if q.merge(p); len(q.keys) > mostPairs {
			return errWide(len(q.keys))
		}
		return fits()
	})
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
		reply, err := x.ask(ctx, words...)
		if err != nil {
			return err
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
