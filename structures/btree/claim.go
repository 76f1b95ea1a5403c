package btree

import (
	"context"
	"sync"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// If a tree shares its pool (Options.Pool), others may take slabs at any time. So a call that makes many nodes at once,
// a batch of the batched path or a bulk build, first allocates as many slabs as it may need: its claim. Unused slabs go
// back after the call's work, on the same stream. Slabs that go back are filled with ones, because hash tables expect
// that of the slabs that they get.

// claim is a list of allocated slabs: a word with their number, and then the slabs.
type claim struct {
	memory  *vk.Buffer[uint32]
	count   int
	dropped bool // with the batch for which it was made
}

// claims are the claims of dropped batches that are not given back yet.
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

// claim allocates slabs. The pool grows if it must. Errors are those of alloc.SlabPool.Grow.
func (t *tree) claim(ctx context.Context, n int) (*claim, error) {
	if err := t.giveBackDropped(); err != nil {
		return nil, err
	}
	memory, err := vk.NewBuffer[uint32](t.Device, n+2)
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

// allocate tries to fill a claim, and returns the number of slabs that the pool did not have.
func (t *tree) allocate(c *claim) (refused int, err error) {
	err = recording.Run(t.Stream, func() error {
		// giveBack's kernel comes first, so that it can't be missing then.
		if _, err := t.takeKernel(frees).Kernel(t.Kernels, t.Stream); err != nil {
			return err
		}
		k, err := t.takeKernel(allocates).Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		t.Stream.Fill(c.memory, 0, 1, uint32(c.count))
		t.Stream.Fill(c.memory, c.count+1, 1, 0)
		t.take(t.Stream, k, takePush{Slabs: c.memory.AddressOf(1), Refused: c.memory.AddressOf(c.count + 1),
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

// giveBack frees all slabs of an unused claim.
func (t *tree) giveBack(c *claim) error {
	return recording.Run(t.Stream, func() error { return t.recordGiveBack(t.Stream, c, 0, 0) })
}

// abandon gives unused claims back, and frees their memory. It joins errors to why.
func (t *tree) abandon(why error, all ...*claim) error {
	for _, c := range all {
		if c != nil {
			why = joint.Error(why, t.giveBack(c))
			c.memory.Free()
		}
	}
	return why
}

// recordGiveBack records that the unused slabs of a claim are freed. The claim's first used-beside slabs are in use:
// used is the address of a number of nodes, of which beside are not from the claim.
func (t *tree) recordGiveBack(s *vk.Stream, c *claim, used uint64, beside int) error {
	k, err := t.takeKernel(frees).Kernel(t.Kernels, s)
	if err == nil {
		t.take(s, k, takePush{Slabs: c.memory.AddressOf(1), Used: used, Beside: uint32(beside), Count: uint32(c.count)})
	}
	return err
}

// recorded makes a claim end with the batch that a stream is recording. If the batch is dropped, the next call that
// needs slabs gives all of the claim back.
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

// claimsFor makes a claim for each part of a batch of n insertions. part is the number of insertions done at once.
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

// replacement is what is needed to rebuild a tree in a shared pool: slabs for its nodes, and the list of the old nodes
// to free.
type replacement struct {
	claim *claim
	old   listed
}

// replacing makes the replacement of a tree that will have so many nodes. It is empty if the tree has its own pool.
func (t *tree) replacing(ctx context.Context, nodes int) (r replacement, err error) {
	if !t.Shares {
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

// recordReplaced records that the old nodes and unused slabs go back, after the new nodes were made.
func (t *tree) recordReplaced(s *vk.Stream, r replacement) error {
	if r.claim == nil {
		return nil
	}
	if err := t.recordFree(s, r.old, 1); err != nil {
		return err
	}
	return t.recordGiveBack(s, r.claim, t.state.AddressOf(planAt), 1) // the plan's number of nodes, with the root
}

// recordFree records that the listed nodes go back to a shared pool, except for the first but inner nodes.
func (t *tree) recordFree(s *vk.Stream, l listed, but int) error {
	if l.memory == nil {
		return nil
	}
	k, err := t.takeKernel(clears).Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	t.take(s, k, takePush{Slabs: l.Inner + uint64(4*but), Count: uint32(l.inner() - but)})
	t.take(s, k, takePush{Slabs: l.Leaves, Count: uint32(l.leafCount())})
	return nil
}

// replaced makes a replacement end with the batch that a stream is recording.
func (t *tree) replaced(s *vk.Stream, r replacement) {
	if r.claim != nil {
		s.Finally(r.old.free)
		t.recorded(s, r.claim)
	}
}

// replacedNot ends a replacement that was not recorded.
func (t *tree) replacedNot(r replacement, why error) error {
	r.old.free()
	return t.abandon(why, r.claim)
}

// free frees the memory of a replacement whose work is done.
func (r *replacement) free() {
	r.old.free()
	if r.claim != nil {
		r.claim.memory.Free()
	}
}

// plant takes the slab of the root from a shared pool.
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

// uproot gives all nodes of the tree back to a shared pool. After an error nothing was freed.
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
		if err := recording.Run(t.Stream, func() error { return t.recordFree(t.Stream, l, 0) }); err != nil {
			return err
		}
		t.seed.memory.Free()
	} else if err := t.abandon(nil, t.seed); err != nil {
		return err
	}
	t.seed = nil
	return nil
}
