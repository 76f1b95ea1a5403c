//go:build glfw

package draw

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

//go:embed spv/*.spv
var spirv embed.FS

func module(name string) shaders.Module {
	code, err := spirv.ReadFile("spv/" + name + ".spv")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return shaders.Module{Name: "window/" + name, Code: code}
}

// widths are the names of modules' variants.
var widths = [2]string{structures.Bits32: "k32v32", structures.Bits64: "k64v64"}

// The pipelines that draw, by structure and width.
const (
	drawTree = iota
	drawTable
	drawings
)

// Format is how the window writes a number.
type Format uint32

const (
	Unsigned Format = iota // FORMAT_… of scene.glsl
	Signed32               // the sign bit of the number's 32 bits is flipped
	Signed64
	Hex
)

// Look says how a structure is shown.
type Look struct {
	Width      structures.Width // of its keys and values
	Key, Value Format
}

// Scene is what a window shows of a structure: its nodes in order, in device memory. It refers to the structure's own
// memory until keep copies the nodes, and is valid as long as the structure doesn't change.
type Scene struct {
	about      string // one line
	pipeline   int
	wide, high float64
	stretched  bool
	closest    float64

	header *vk.Buffer[uint32]
	rows   []row
	bytes  uint64 // of the copies; 0: there are none
	all    []interface{ Free() }
}

// row is Row of scene.glsl.
type row struct {
	cells, firsts, starts, sums *vk.Buffer[uint32]
	count                       int
}

// address is where the shaders find the scene; 0: there is none.
func (s *Scene) address() uint64 {
	if s == nil {
		return 0
	}
	return s.header.Address()
}

// free frees the scene's memory.
func (s *Scene) free() {
	for _, b := range s.all {
		b.Free()
	}
}

// room is memory of the scene.
func (s *Scene) room(d *vk.Device, words int) (*vk.Buffer[uint32], error) {
	b, err := vk.NewBuffer[uint32](d, words)
	if err == nil {
		s.all = append(s.all, b)
	}
	return b, err
}

// form is a kernel's specialization.
type form struct{ light, shift, write uint32 }

// maker makes scenes. One goroutine at a time may use it.
type maker struct {
	d      *vk.Device
	s      *vk.Stream
	bulk   *primitives.Primitives
	trees  map[form]*vk.Kernel[treePush]
	tables map[form]*vk.Kernel[tablePush]
	starts *vk.Kernel[startsPush]
	keeps  *vk.Kernel[keepPush]

	before           *Scene // before the last step, with copies of its nodes; nil: none is known
	buckets, columns int    // of the last table: buckets stay where they are while there are as many
}

type treePush struct {
	Tree                          btree.Description
	Parents, Firsts, Cells, Fills uint64
	Before                        uint64
	Count                         uint32
}

type tablePush struct {
	Hash                 slabhash.Description
	Firsts, Cells, Fills uint64
	Before               uint64
}

type startsPush struct {
	Firsts, Below, Starts uint64
	Count                 uint32
}

type keepPush struct {
	Cells, Copies uint64
	Count         uint32
}

func newMaker(d *vk.Device) (*maker, error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	return &maker{d: d, s: s, bulk: primitives.New(d, primitives.Options{}), trees: map[form]*vk.Kernel[treePush]{},
		tables: map[form]*vk.Kernel[tablePush]{}}, nil
}

// close frees what scenes were made with.
func (m *maker) close() error {
	for _, k := range m.trees {
		k.Free()
	}
	for _, k := range m.tables {
		k.Free()
	}
	m.starts.Free()
	m.keeps.Free()
	return errors.Join(m.s.Close(), m.bulk.Close())
}

const workgroup = 64

func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// listing returns the kernel that counts or writes nodes. Its constants are the structure's.
func listing[P any](m *maker, cache map[form]*vk.Kernel[P], name string, c map[string]uint32,
	write uint32) (*vk.Kernel[P], error) {
	f := form{c["POOL_LIGHT"], c["POOL_SUPER_SHIFT"], write}
	if cache[f] != nil {
		return cache[f], nil
	}
	k, err := vk.NewKernel[P](m.d, module(name), vk.KernelOptions{Workgroup: workgroup, Constants: map[string]uint32{
		"TILE": 1, "POOL_LIGHT": f.light, "POOL_SUPER_SHIFT": f.shift, "WRITE": write}})
	if err == nil {
		cache[f] = k
	}
	return k, err
}

// scan records the prefix sums of n numbers and of a 0 after them, in place.
func (m *maker) scan(of *vk.Buffer[uint32], n int) error {
	a := primitives.ScanArgs{In: of.Address(), Out: of.Address(), Length: primitives.Length{N: n + 1}}
	scratch, err := vk.NewBuffer[byte](m.d, max(m.bulk.Scratch(a), 1))
	if err != nil {
		return err
	}
	m.s.Finally(scratch.Free)
	a.Scratch = scratch.Address()
	return m.bulk.Scan(m.s, a)
}

// children makes the row after a row of so many cells. count and write record the kernel's dispatches: the first one
// writes the number of each cell's children to firsts, the second one writes the children. longest is the greatest of
// these numbers.
func (m *maker) children(ctx context.Context, s *Scene, cells int, count func(firsts *vk.Buffer[uint32]) error,
	write func(to row) error) (firsts *vk.Buffer[uint32], next row, longest int, err error) {
	if firsts, err = s.room(m.d, cells+1); err != nil {
		return nil, row{}, 0, err
	}
	most, err := vk.NewBuffer[uint32](m.d, 1)
	if err != nil {
		return nil, row{}, 0, err
	}
	defer most.Free()
	m.s.Fill(firsts, cells, 1, 0)
	if err := count(firsts); err != nil {
		return nil, row{}, 0, err
	}
	a := primitives.ReduceArgs{In: firsts.Address(), Out: most.Address(), Length: primitives.Length{N: cells},
		Op: primitives.Max}
	scratch, err := vk.NewBuffer[byte](m.d, max(m.bulk.Scratch(a), 1))
	if err != nil {
		return nil, row{}, 0, err
	}
	m.s.Finally(scratch.Free)
	a.Scratch = scratch.Address()
	if err := m.bulk.Reduce(m.s, a); err != nil {
		return nil, row{}, 0, err
	}
	if err := m.scan(firsts, cells); err != nil {
		return nil, row{}, 0, err
	}
	if err := m.s.Wait(ctx); err != nil {
		return nil, row{}, 0, err
	}
	var answer [2]uint32
	if err := firsts.Download(ctx, cells, answer[:1]); err != nil {
		return nil, row{}, 0, err
	}
	if err := most.Download(ctx, 0, answer[1:]); err != nil {
		return nil, row{}, 0, err
	}
	if answer[0] == 0 {
		return firsts, row{}, 0, nil
	}
	next, err = m.row(s, int(answer[0]), func(to row) error { to.firsts = firsts; return write(to) })
	return firsts, next, int(answer[1]), err
}

// row makes a row of so many cells, which write records.
func (m *maker) row(s *Scene, count int, write func(to row) error) (r row, err error) {
	r.count = count
	if r.cells, err = s.room(m.d, 4*count); err != nil {
		return r, err
	}
	if r.sums, err = s.room(m.d, count+1); err != nil {
		return r, err
	}
	m.s.Fill(r.sums, count, 1, 0)
	if err := write(r); err != nil {
		return r, err
	}
	return r, m.scan(r.sums, count)
}

const mostRows = 16 // levels of a tree

// tree makes the scene of a tree as it is. The tree must not change meanwhile.
func (m *maker) tree(ctx context.Context, t btree.InShaders, l Look) (s *Scene, err error) {
	slots := btree.SlotsAt(l.Width)
	s = &Scene{pipeline: drawTree, stretched: true, closest: 1 / float64(200*slots)}
	defer func() { m.end(s, err) }()
	tree, name := t.Description(), "tree."+widths[l.Width]
	write, err := listing(m, m.trees, name, t.Constants(), 1)
	if err != nil {
		return s, err
	}
	count, err := listing(m, m.trees, name, t.Constants(), 0)
	if err != nil {
		return s, err
	}
	root, err := m.row(s, 1, func(to row) error {
		write.Dispatch(m.s, 1, treePush{Tree: tree, Cells: to.cells.Address(), Fills: to.sums.Address(),
			Count: 1})
		return nil
	})
	if err != nil {
		return s, err
	}
	for s.rows = []row{root}; len(s.rows) < mostRows; {
		above := &s.rows[len(s.rows)-1]
		p := treePush{Tree: tree, Parents: above.cells.Address(), Before: m.before.address(),
			Count: uint32(above.count)}
		firsts, next, _, err := m.children(ctx, s, above.count, func(firsts *vk.Buffer[uint32]) error {
			p.Firsts = firsts.Address()
			count.Dispatch(m.s, groups(above.count), p)
			return nil
		}, func(to row) error {
			p.Cells, p.Fills = to.cells.Address(), to.sums.Address()
			write.Dispatch(m.s, groups(above.count), p)
			return nil
		})
		if err != nil {
			return s, err
		}
		if next.count == 0 {
			break // the row above is the leaves
		}
		above.firsts = firsts
		s.rows = append(s.rows, next)
	}
	if err := m.measure(s); err != nil {
		return s, err
	}
	leaves := s.rows[len(s.rows)-1].count
	s.wide, s.high = float64(leaves), float64(len(s.rows))
	return s, m.describe(ctx, s, [7]uint32{uint32(slots)}, l)
}

// measure records the index of the first leaf below each node.
func (m *maker) measure(s *Scene) (err error) {
	if m.starts == nil {
		m.starts, err = vk.NewKernel[startsPush](m.d, module("starts"), vk.KernelOptions{Workgroup: workgroup})
		if err != nil {
			return err
		}
	}
	below := uint64(0)
	for i := len(s.rows) - 1; i >= 0; i-- {
		r := &s.rows[i]
		if r.starts, err = s.room(m.d, r.count); err != nil {
			return err
		}
		m.starts.Dispatch(m.s, groups(r.count),
			startsPush{r.firsts.Address(), below, r.starts.Address(), uint32(r.count)})
		below = r.starts.Address()
	}
	return nil
}

// table makes the scene of a table as it is. The table must not change meanwhile.
func (m *maker) table(ctx context.Context, t structures.InShaders[slabhash.Description], l Look) (s *Scene, err error) {
	slots := slabhash.SlotsAt(l.Width, false)
	s = &Scene{pipeline: drawTable, closest: 1.0 / 72}
	defer func() { m.end(s, err) }()
	hash, name := t.Description(), "table."+widths[l.Width]
	write, err := listing(m, m.tables, name, t.Constants(), 1)
	if err != nil {
		return s, err
	}
	count, err := listing(m, m.tables, name, t.Constants(), 0)
	if err != nil {
		return s, err
	}
	buckets, p := int(hash.Buckets), tablePush{Hash: hash}
	if m.before != nil && m.before.rows[0].count == buckets {
		p.Before = m.before.address()
	}
	firsts, slabs, longest, err := m.children(ctx, s, buckets, func(firsts *vk.Buffer[uint32]) error {
		p.Firsts = firsts.Address()
		count.Dispatch(m.s, groups(buckets), p)
		return nil
	}, func(to row) error {
		p.Cells, p.Fills = to.cells.Address(), to.sums.Address()
		write.Dispatch(m.s, groups(buckets), p)
		return nil
	})
	if err != nil {
		return s, err
	}
	wide, high := bucketSize(slots, longest)
	if m.buckets != buckets {
		m.buckets, m.columns = buckets, columnsOf(buckets, wide, high)
	}
	lines := (buckets + m.columns - 1) / m.columns
	s.wide, s.high = wide*float64(m.columns), high*float64(lines)
	s.rows = []row{{firsts: firsts, count: buckets}, slabs}
	return s, m.describe(ctx, s, [7]uint32{uint32(slots), uint32(m.columns), uint32(longest), hash.Mask,
		hash.SpecialOnes, hash.SpecialZero, t.Constants()["SLAB_SHARED"] * 4 << 16}, l)
}

// describe writes the scene's header, and waits for all that was recorded.
func (m *maker) describe(ctx context.Context, s *Scene, words [7]uint32, l Look) (err error) {
	if s.header, err = s.room(m.d, 8+12*len(s.rows)); err != nil {
		return err
	}
	words[6] |= uint32(l.Key) | uint32(l.Value)<<8
	all := append([]uint32{uint32(len(s.rows))}, words[:]...)
	s.pipeline += drawings * int(l.Width)
	for _, r := range s.rows {
		for _, b := range []*vk.Buffer[uint32]{r.cells, r.firsts, r.starts, r.sums} {
			all = append(all, uint32(b.Address()), uint32(b.Address()>>32))
		}
		all = append(all, uint32(r.count), 0, 0, 0)
	}
	if err := m.s.Wait(ctx); err != nil {
		return err
	}
	return s.header.Upload(ctx, 0, all)
}

// end frees a scene that could not be made, and what was recorded of it.
func (m *maker) end(s *Scene, err error) {
	if err != nil {
		m.s.Discard()
		s.free()
	}
}

// keep copies the nodes, so that the scene stays valid when the structure changes.
func (m *maker) keep(ctx context.Context, s *Scene) (err error) {
	if m.keeps == nil {
		m.keeps, err = vk.NewKernel[keepPush](m.d, module("keep"), vk.KernelOptions{Workgroup: workgroup})
		if err != nil {
			return err
		}
	}
	for _, r := range s.rows {
		if r.cells == nil {
			continue
		}
		copies, err := s.room(m.d, 32*r.count)
		if err != nil {
			return fmt.Errorf("a copy of the structure, which is shown while it changes: %w", err)
		}
		m.keeps.Dispatch(m.s, groups(r.count), keepPush{r.cells.Address(), copies.Address(), uint32(r.count)})
		s.bytes += copies.Bytes()
	}
	return m.s.Wait(ctx)
}
