package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// What replacements and reads of slabs are measured as.
const (
	freedAtOnce = "freed at once"
	retired     = "retired"
	launch      = "retired, with the pass behind"
	plainReads  = "without epochs"
	epochReads  = "in epochs"
)

// operationsAThread are how many operations a thread makes, each in an epoch of its own.
var operationsAThread = []int{1, 16}

// replaceSlabs measures what the reclaimer costs those who retire: each of n slabs is replaced by a copy, and the old
// one freed at once, since nobody else is there, or retired.
func (s *session) replaceSlabs(ctx context.Context) error {
	return s.measureCells(ctx, false, freedAtOnce, retired, launch)
}

// readSlabs measures what the reclaimer costs those who only read: n slabs, in random order.
func (s *session) readSlabs(ctx context.Context) error {
	return s.measureCells(ctx, true, plainReads, epochReads)
}

// measureCells measures the forms of an operation, the first of which is without a reclaimer.
func (s *session) measureCells(ctx context.Context, reads bool, forms ...string) error {
	for _, rounds := range operationsAThread {
		if s.n < rounds {
			continue
		}
		c := cells{workload: s.workload, n: s.n / rounds * rounds, rounds: rounds, reads: reads}
		times, err := c.measure(ctx)
		if err != nil {
			return err
		}
		without := s.measurement(c.n, c.n)
		for i, form := range forms {
			m := s.measurement(c.n, c.n)
			m.Form, m.Device = fmt.Sprintf("%s, %d a thread", form, rounds), times[form]
			if i == 0 {
				without = m
			} else {
				ratio := float64(m.time()) / float64(without.time())
				m.Ratios = append(m.Ratios, Ratio{"time of " + without.Form, ratio})
			}
			if err := s.add(m, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// cells are slabs that are replaced and read, each in a cell of its own.
type cells struct {
	*workload
	n, rounds int
	reads     bool

	pool            *alloc.SlabPool
	reclaimer       *alloc.Reclaimer
	at              *vk.Buffer[uint32] // the slab of each cell
	wrong           *vk.Buffer[uint32]
	begin           *vk.Kernel[cellsPush]
	without, within *vk.Kernel[cellsPush]
	further         uint32 // how often each slab was replaced
}

type cellsPush struct {
	Pool                   alloc.DevicePool
	Reclaimer              alloc.DeviceReclaimer
	Cells, Wrong           uint64
	Count, Rounds, Further uint32
}

// measure returns the times of each form.
func (c *cells) measure(ctx context.Context) (map[string][]time.Duration, error) {
	defer c.close()
	if err := c.init(ctx); err != nil {
		return nil, err
	}
	for start, first := time.Now(), true; first || time.Since(start) < c.o.WarmUp; first = false {
		if err := errors.Join(c.run(), c.wait(ctx)); err != nil {
			return nil, err
		}
	}
	c.stream.Timings()
	for range c.o.Repeat {
		if err := c.run(); err != nil {
			return nil, errors.Join(err, c.wait(ctx))
		}
	}
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	times := map[string][]time.Duration{}
	for _, t := range c.stream.Timings() {
		times[t.Label] = append(times[t.Label], t.Duration)
	}
	return times, c.check(ctx)
}

// init makes a pool of four times as many slabs, so that there is room while some are in limbo.
func (c *cells) init(ctx context.Context) (err error) {
	blocks := (4*c.n + alloc.BlockSlabs - 1) / alloc.BlockSlabs
	if c.pool, err = alloc.NewSlabPool(ctx, c.d, alloc.PoolOptions{Blocks: blocks}); err != nil {
		return err
	}
	if c.reclaimer, err = alloc.NewReclaimer(ctx, c.pool, alloc.ReclaimerOptions{}); err != nil {
		return err
	}
	if c.at, err = vk.NewBuffer[uint32](c.d, c.n); err != nil {
		return err
	}
	if c.wrong, err = vk.NewBuffer[uint32](c.d, 1); err != nil {
		return err
	}
	if c.begin, err = c.kernel("bench/slab_cells", nil); err != nil {
		return err
	}
	_, tile, _ := slabhash.Tiles(c.d)
	own := map[string]uint32{"TILE": uint32(tile), "READS": 0, "EPOCHS": 0}
	if c.reads {
		own["READS"] = 1
	}
	if c.without, err = c.kernel("bench/slab_replace", own); err != nil {
		return err
	}
	own["EPOCHS"] = 1
	if c.within, err = c.kernel("bench/slab_replace", own); err != nil {
		return err
	}
	c.stream.Fill(c.wrong, 0, 4, 0)
	c.dispatch(c.begin, c.n, c.push(c.pool.Device(), alloc.DeviceReclaimer{}, 0))
	return c.wait(ctx)
}

func (c *cells) kernel(name string, own map[string]uint32) (*vk.Kernel[cellsPush], error) {
	m, err := shaders.Load(name)
	if err != nil {
		return nil, err
	}
	constants := c.pool.Constants()
	maps.Copy(constants, own)
	return vk.NewKernel[cellsPush](c.d, m, vk.KernelOptions{Constants: constants})
}

func (c *cells) push(p alloc.DevicePool, r alloc.DeviceReclaimer, rounds int) cellsPush {
	return cellsPush{p, r, c.at.Address(), c.wrong.Address(), uint32(c.n), uint32(rounds), c.further}
}

func (c *cells) dispatch(k *vk.Kernel[cellsPush], invocations int, push cellsPush) {
	k.Dispatch(c.stream, (invocations+k.Workgroup()-1)/k.Workgroup(), push)
}

// run records a run of each form.
func (c *cells) run() (err error) {
	first, second := freedAtOnce, retired
	if c.reads {
		first, second = plainReads, epochReads
	}
	threads := c.n / c.rounds
	c.stream.Timed(first, func() {
		c.dispatch(c.without, threads, c.push(c.pool.Device(), alloc.DeviceReclaimer{}, c.rounds))
	})
	c.stream.Timed(launch, func() {
		err = c.reclaimer.On(c.stream, func(p alloc.DevicePool, r alloc.DeviceReclaimer) error {
			c.stream.Timed(second, func() { c.dispatch(c.within, threads, c.push(p, r, c.rounds)) })
			return nil
		})
	})
	if !c.reads {
		c.further += 2
	}
	return err
}

// wait waits to the end: what is under way uses memory that is freed with the session.
func (c *cells) wait(ctx context.Context) error {
	return errors.Join(c.stream.Wait(context.WithoutCancel(ctx)), ctx.Err())
}

// check looks whether each cell has a slab that was replaced in every run, whether what was read was right, and whether
// the pool holds the cells' slabs and no others.
func (c *cells) check(ctx context.Context) error {
	c.dispatch(c.begin, c.n, c.push(c.pool.Device(), alloc.DeviceReclaimer{}, 1))
	if err := c.wait(ctx); err != nil {
		return err
	}
	var wrong [1]uint32
	if err := c.wrong.Download(ctx, 0, wrong[:]); err != nil {
		return err
	}
	if wrong[0] != 0 {
		return &WrongError{retired, fmt.Sprintf("%d words of slabs are wrong", wrong[0])}
	}
	held, err := c.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if held.Allocated != c.n {
		return &WrongError{retired, fmt.Sprintf("%d slabs are held, by %d cells", held.Allocated, c.n)}
	}
	stats, err := c.reclaimer.Stats(ctx)
	if err == nil && (stats.Stuck != 0 || stats.Retired() != c.further/2*uint32(c.n)) {
		err = &WrongError{retired, fmt.Sprintf("of %d slabs: %+v", c.further/2*uint32(c.n), stats)}
	}
	return err
}

func (c *cells) close() {
	c.stream.Wait(context.Background())
	for _, k := range []*vk.Kernel[cellsPush]{c.begin, c.without, c.within} {
		if k != nil {
			k.Free()
		}
	}
	for _, b := range []*vk.Buffer[uint32]{c.at, c.wrong} {
		if b != nil {
			b.Free()
		}
	}
	if c.reclaimer != nil {
		c.reclaimer.Close()
	}
	if c.pool != nil {
		c.pool.Close()
	}
}
