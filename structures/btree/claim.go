package btree

import (
	"context"
	"sync"

	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// A pool that a tree shares (Options.Pool) may lose slabs to others at any time. So what makes many nodes at once, a
// batch in key order or a bulk, has as many slabs as it may need allocated for it beforehand, its claim; what is left
// of them goes back behind it, in the same stream. Slabs that go back are all ones, as hash tables expect of what they
// get.

// claim is slabs that were allocated: a word that says how many, and then the slabs.
type claim struct {
	memory  *vk.Buffer[uint32]
	count   int
	dropped bool // with the batch that it was for
}

// claims are those of dropped batches, which are still to be given back.
type claims struct {
	mu      sync.Mutex
	dropped []*claim
}

func (c *claim) address() uint64 {
	if c == nil {
		return 0
	}
	return c.memory.Address()
}

// claim allocates slabs, for which the pool grows if it must. Errors: those of alloc.SlabPool.Grow.
func (t *tree) claim(ctx context.Context, n int) (*claim, error) {
	if err := t.giveBackDropped(); err != nil {
		return nil, err
	}
	memory, err := vk.NewBuffer[uint32](t.d, n+2)
	if err != nil {
		return nil, err
	}
	c := &claim{memory: memory, count: n}
	for {
		refused, err := t.allocate(c)
		if err == nil && refused == 0 {
			return c, nil
		}
		if refused != 0 {
			err = t.giveBack(c)
			if err == nil {
				err = t.grow(ctx, max(1, blocksFor(refused)))
			}
		}
		if err != nil {
			memory.Free()
			return nil, err
		}
	}
}

// allocate tries to fill a claim, and returns how many slabs there were not.
func (t *tree) allocate(c *claim) (refused int, err error) {
	err = recording.Run(t.stream, func() error {
		if _, err := t.taker(t.stream, frees); err != nil { // so that giving back doesn't fail for that
			return err
		}
		k, err := t.taker(t.stream, allocates)
		if err != nil {
			return err
		}
		t.stream.Fill(c.memory, 0, 4, uint32(c.count))
		t.stream.Fill(c.memory, 4*(c.count+1), 4, 0)
		t.take(t.stream, k, takePush{Slabs: c.memory.AddressOf(1), Refused: c.memory.AddressOf(c.count + 1),
			Count: uint32(c.count)})
		return nil
	})
	if err != nil {
		return 0, err
	}
	var words [1]uint32
	err = c.memory.Download(context.Background(), c.count+1, words[:])
	return int(words[0]), err
}

// giveBack frees all slabs of a claim that nothing has used.
func (t *tree) giveBack(c *claim) error {
	return recording.Run(t.stream, func() error { return t.recordGiveBack(t.stream, c, 0, 0) })
}

// abandon gives claims back that are not needed, with their memory. An error is joined to the one why.
func (t *tree) abandon(why error, all ...*claim) error {
	for _, c := range all {
		if c != nil {
			why = joint.Error(why, t.giveBack(c))
			c.memory.Free()
		}
	}
	return why
}

// recordGiveBack records that the slabs of a claim are freed but for the first, as many as a word in device memory says
// and less so many that are not among them.
func (t *tree) recordGiveBack(s *vk.Stream, c *claim, used uint64, beside int) error {
	k, err := t.taker(s, frees)
	if err == nil {
		t.take(s, k, takePush{Slabs: c.memory.AddressOf(1), Used: used, Beside: uint32(beside), Count: uint32(c.count)})
	}
	return err
}

// recorded has a claim end with the batch that a stream is recording: it gives back what is left. If that is dropped,
// all of it is given back by the next call that needs slabs.
func (t *tree) recorded(s *vk.Stream, c *claim) {
	if c == nil {
		return
	}
	s.OnSubmit(func(_ vk.Point, submitted bool) { c.dropped = !submitted })
	s.Finally(func() {
		if !c.dropped {
			c.memory.Free()
			return
		}
		t.claims.mu.Lock()
		defer t.claims.mu.Unlock()
		t.claims.dropped = append(t.claims.dropped, c)
	})
}

func (t *tree) giveBackDropped() error {
	t.claims.mu.Lock()
	all := t.claims.dropped
	t.claims.dropped = nil
	t.claims.mu.Unlock()
	return t.abandon(nil, all...)
}

// claimsFor claims what a batch of n insertions takes at most, of each part of it that is done at a time.
func (t *tree) claimsFor(ctx context.Context, n, part int) (all []*claim, err error) {
	if err := t.reserve(ctx, n, Batched); err != nil {
		return nil, err
	}
	for {
		part = min(part, n)
		c, err := t.claim(ctx, int(t.known.most(part)-t.known.nodes))
		if err != nil {
			return nil, t.abandon(err, all...)
		}
		t.known.inserted += uint64(part)
		all = append(all, c)
		if n -= part; n == 0 {
			return all, nil
		}
	}
}

// replacement is what is needed to make a tree in a shared pool anew: slabs for its nodes, and the old nodes, which go.
type replacement struct {
	claim *claim
	old   listed
}

// replacing is the replacement of the tree by one of so many nodes; none of a tree that has its pool for itself.
func (t *tree) replacing(ctx context.Context, nodes int) (r replacement, err error) {
	if !t.shared {
		return r, nil
	}
	if t.planted {
		if r.old, err = t.list(ctx); err != nil {
			return r, err
		}
	}
	if r.claim, err = t.claim(ctx, nodes); err != nil {
		r.old.free()
	}
	return r, err
}

// recordReplaced records, behind the making of the new nodes, that the old ones and what was not needed go back.
func (t *tree) recordReplaced(s *vk.Stream, r replacement) error {
	if r.claim == nil {
		return nil
	}
	if err := t.recordFree(s, r.old, 1); err != nil {
		return err
	}
	return t.recordGiveBack(s, r.claim, t.state.AddressOf(planAt), 1) // the plan's number of nodes, with the root
}

// recordFree records that the nodes which were listed go back to a shared pool, but for the first inner ones.
func (t *tree) recordFree(s *vk.Stream, l listed, but int) error {
	if l.memory == nil {
		return nil
	}
	k, err := t.taker(s, clears)
	if err != nil {
		return err
	}
	t.take(s, k, takePush{Slabs: l.Inner + uint64(4*but), Count: uint32(l.inner() - but)})
	t.take(s, k, takePush{Slabs: l.Leaves, Count: uint32(l.leafCount())})
	return nil
}

// replaced has a replacement end with the batch that a stream is recording.
func (t *tree) replaced(s *vk.Stream, r replacement) {
	if r.claim != nil {
		s.Finally(r.old.free)
		t.recorded(s, r.claim)
	}
}

// replacedNot ends a replacement of which nothing has come, and will.
func (t *tree) replacedNot(r replacement, why error) error {
	r.old.free()
	return t.abandon(why, r.claim)
}

// free frees the memory of a replacement that is done.
func (r *replacement) free() {
	r.old.free()
	if r.claim != nil {
		r.claim.memory.Free()
	}
}

// plant takes the root's slab from a shared pool.
func (t *tree) plant(ctx context.Context) error {
	c, err := t.claim(ctx, 1)
	if err != nil {
		return err
	}
	var words [1]uint32
	if err := c.memory.Download(ctx, 1, words[:]); err != nil {
		return t.abandon(err, c)
	}
	t.root, t.seed = words[0], c
	return nil
}

// uproot gives all nodes of the tree back to a shared pool. After an error nothing was done.
func (t *tree) uproot(ctx context.Context) error {
	if err := t.giveBackDropped(); err != nil {
		return err
	}
	if t.seed == nil {
		return nil
	}
	if t.planted {
		l, err := t.list(ctx)
		if err != nil {
			return err
		}
		defer l.free()
		if err := recording.Run(t.stream, func() error { return t.recordFree(t.stream, l, 0) }); err != nil {
			return err
		}
		t.seed.memory.Free()
	} else if err := t.abandon(nil, t.seed); err != nil {
		return err
	}
	t.seed = nil
	return nil
}
