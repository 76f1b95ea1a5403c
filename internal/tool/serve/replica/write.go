package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// write is a call of Write.
type write struct {
	ops     int
	inserts bool   // it may insert a pair
	body    []byte // of an entry
	answers []Answer
	err     error
	done    chan struct{}
}

// stage is an entry on its way, with the writes that it is of.
type stage struct {
	future  raft.ApplyFuture
	writes  []*write
	ops     int
	bytes   int // of the operations
	started time.Time
}

// Write does operations, one after the other and nobody else's in between, and returns their answers once a majority of
// the members has stored them and this one has applied them. Texts are those of the operations. Errors:
//   - *NotLeaderError, *FullError and ErrClosed, if nothing was done
//   - *UnknownError, if they may have been done or not
func (n *Node) Write(ops []Op, texts [][]byte) ([]Answer, error) {
	if n.leads() == 0 {
		return nil, n.notLeader()
	}
	w := &write{ops: len(ops), inserts: inserts(ops), body: n.o.Types.encode(nil, ops, texts),
		done: make(chan struct{})}
	select {
	case n.writes <- w:
	case <-n.closing:
		return nil, ErrClosed
	case <-n.failed:
		return nil, n.err
	}
	select {
	case <-w.done:
		return w.answers, w.err
	case <-n.failed:
		return nil, &UnknownError{n.err}
	case <-n.ended: // all that was taken is done
		select {
		case <-w.done:
			return w.answers, w.err
		default:
		}
		if err := n.Err(); err != nil { // Close has not waited for what was taken
			return nil, &UnknownError{err}
		}
		return nil, ErrClosed
	}
}

// gather puts the writes of all callers that wait into one entry. While one entry is being stored and the one before is
// being applied, the next gathers. It is not begun earlier: members get one message at a time, so it would only wait,
// with few writes, and the later ones would wait for a third entry.
func (n *Node) gather() {
	defer close(n.stored)
	for {
		s := stage{}
		select {
		case w := <-n.writes:
			n.admit(&s, w)
		case <-n.closing:
			n.refuse()
			return
		}
		for more := true; more && s.ops < MostOps && s.bytes < mostEntry; {
			select {
			case w := <-n.writes:
				n.admit(&s, w)
			default:
				more = false
			}
		}
		if len(s.writes) == 0 {
			continue
		}
		if err := n.Err(); err != nil { // the callers have left
			for _, w := range s.writes {
				w.finish(nil, &UnknownError{err})
			}
			continue
		}
		entry := make([]byte, 0, headerBytes+s.bytes)
		entry = n.o.Types.head(entry, n.o.clock().UnixMilli(), n.seed)
		for _, w := range s.writes {
			entry = append(entry, w.body...)
			w.body = nil
		}
		s.started = time.Now()
		done := make(chan struct{})
		n.storing.Store(&done)
		s.future = n.raft.Apply(entry, 0)
		n.stored <- s
		<-done
	}
}

// endStoring notes that a majority has stored the entry under way, or that the library has given it up.
func (n *Node) endStoring() {
	if done := n.storing.Swap(nil); done != nil {
		close(*done)
	}
}

// admit adds a write to an entry. It refuses one that may insert a pair for which there is no room.
func (n *Node) admit(s *stage, w *write) {
	if w.inserts && n.o.MaxKeys != 0 && n.state.count.Load() >= n.o.MaxKeys {
		w.finish(nil, &FullError{n.o.MaxKeys})
		return
	}
	s.writes = append(s.writes, w)
	s.ops += w.ops
	s.bytes += len(w.body)
}

func inserts(ops []Op) bool {
	for _, op := range ops {
		if op.Kind.valued() {
			return true
		}
	}
	return false
}

// refuse answers the writes that came too late.
func (n *Node) refuse() {
	for {
		select {
		case w := <-n.writes:
			w.finish(nil, ErrClosed)
		default:
			return
		}
	}
}

// answer gives the callers their answers, entry by entry.
func (n *Node) answer() {
	for s := range n.stored {
		answers, err := n.outcome(s.future)
		if err != nil {
			n.endStoring()
		}
		if err == nil && n.o.OnEntry != nil {
			n.o.OnEntry(s.ops, time.Since(s.started))
		}
		for _, w := range s.writes {
			if err != nil {
				w.finish(nil, err)
				continue
			}
			w.finish(answers[:w.ops:w.ops], nil)
			answers = answers[w.ops:]
		}
	}
}

// outcome waits for an entry.
func (n *Node) outcome(f raft.ApplyFuture) ([]Answer, error) {
	switch err := f.Error(); {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return nil, n.notLeader() // the library has not taken it
	case err != nil:
		return nil, &UnknownError{err}
	}
	if err, failed := f.Response().(error); failed {
		return nil, &UnknownError{err}
	}
	return f.Response().([]Answer), nil
}

func (w *write) finish(answers []Answer, err error) {
	w.answers, w.err = answers, err
	close(w.done)
}

// ticks puts entries without operations into the log: when a deadline has passed, so that its key is deleted, and often
// enough for followers to know how old their state is.
func (n *Node) ticks() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-n.closing:
			return
		case <-t.C:
			if n.o.Stale > 0 && n.Age() > n.o.Stale/4 && n.storing.Load() == nil && n.leads() != 0 {
				_, _ = n.Write(nil, nil) // the next tick comes anyway
			}
			for n.expired() && n.leads() != 0 {
				if _, err := n.Write(nil, nil); err != nil {
					break
				}
			}
		}
	}
}

// expired reports whether there is a key whose deadline has passed.
func (n *Node) expired() bool {
	first := n.state.first.Load()
	return first != 0 && first <= n.o.clock().UnixMilli()
}

// verify lets callers that come at the same time share one question to the members.
type verify struct {
	mu   sync.Mutex
	next *round // the one that begins after the one under way; nil: nobody waits
	busy bool
}

type round struct {
	done chan struct{}
	err  error
}

// verified returns nil if this member was the leader at some moment during the call, and has applied all that was
// stored before it.
func (n *Node) verified(ctx context.Context) error {
	v := &n.verify
	v.mu.Lock()
	if v.next == nil {
		v.next = &round{done: make(chan struct{})}
	}
	r := v.next
	if !v.busy {
		v.busy = true
		go n.ask()
	}
	v.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.closing:
		return ErrClosed
	case <-n.failed:
		return n.err
	}
}

// ask asks the members, as long as callers wait.
func (n *Node) ask() {
	v := &n.verify
	for {
		v.mu.Lock()
		r := v.next
		v.next = nil
		v.busy = r != nil
		v.mu.Unlock()
		if r == nil {
			return
		}
		// VerifyLeader would count answers to messages that were sent before it was called. If the process was paused
		// between, another leader may have taken writes since. What a majority has stored after the call can't be.
		if n.raft.Barrier(0).Error() != nil {
			r.err = n.notLeader()
		}
		close(r.done)
	}
}
