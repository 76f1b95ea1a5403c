// Package rows makes compressed sparse rows on the device, from edges in any order or from sorted arcs.
package rows

import (
	"cmp"
	"context"
	"errors"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Arrays are the buffers of compressed sparse rows.
type Arrays struct {
	Vertices, Arcs            int
	Offsets, Targets, Weights *vk.Buffer[uint32] // Weights may be nil
}

// Free frees the buffers.
func (a Arrays) Free() {
	a.Offsets.Free()
	a.Targets.Free()
	a.Weights.Free()
}

// MaxArcs is the greatest number of arcs in rows.
const MaxArcs = primitives.MaxLength

// CheckSizes returns an error if rows cannot have that many vertices and arcs.
func CheckSizes(vertices, arcs int) error {
	if vertices < 0 || vertices > edgelist.MaxVertices {
		return &structures.CountError{What: "vertices", N: vertices, Most: edgelist.MaxVertices}
	}
	if arcs < 0 || arcs > MaxArcs {
		return &structures.CountError{What: "arcs", N: arcs, Most: MaxArcs}
	}
	return nil
}

// Edges are edges in device buffers.
type Edges struct {
	Count             int
	From, To, Weights *vk.Buffer[uint32] // Weights may be nil
}

// Options say how rows are made of edges.
type Options struct {
	Vertices             int
	DropLoops, Symmetric bool
}

// arcs returns the number of arcs before duplicates are removed.
func (o Options) arcs(edges int) int {
	if o.Symmetric {
		return 2 * edges
	}
	return edges
}

// ErrVertex reports that an edge has a vertex that is Options.Vertices or more.
var ErrVertex = errors.New("rows: a vertex beyond the last one")

// Builder makes rows once, with temporary memory.
type Builder struct {
	d       *vk.Device
	s       *vk.Stream
	kernels *recording.Kernels
	bulk    *primitives.Primitives
	buffers []*vk.Buffer[uint32]
}

// New returns a Builder that works on a stream.
func New(s *vk.Stream) *Builder {
	d := s.Device()
	return &Builder{d: d, s: s, kernels: recording.NewKernels(d), bulk: primitives.New(d, primitives.Options{})}
}

// Room allocates words that Free frees.
func (b *Builder) Room(words int) (*vk.Buffer[uint32], error) {
	buffer, err := vk.NewBuffer[uint32](b.d, words)
	if err == nil {
		b.buffers = append(b.buffers, buffer)
	}
	return buffer, err
}

// Free frees the temporary memory after the work on the stream.
func (b *Builder) Free() {
	b.s.Finally(func() {
		for _, buffer := range b.buffers {
			buffer.Free()
		}
	})
}

// Build makes rows of edges. Error also: ErrVertex.
func (b *Builder) Build(ctx context.Context, e Edges, o Options) (Arrays, error) {
	width := max(1, bits.Len(uint(max(0, o.Vertices-1))))
	sorted, err := b.sort(ctx, e, o, width)
	if err != nil {
		return Arrays{}, err
	}
	return b.Rows(ctx, sorted, o.Vertices, width)
}

// Transpose makes rows of the reversed arcs.
func (b *Builder) Transpose(ctx context.Context, a Arrays) (Arrays, error) {
	sources, err := b.sources(a)
	if err != nil {
		return Arrays{}, err
	}
	return b.Build(ctx, Edges{a.Arcs, a.Targets, sources, a.Weights}, Options{Vertices: a.Vertices})
}

// Rebuild makes rows of the same arcs with other options.
func (b *Builder) Rebuild(ctx context.Context, a Arrays, o Options) (Arrays, error) {
	sources, err := b.sources(a)
	if err != nil {
		return Arrays{}, err
	}
	return b.Build(ctx, Edges{a.Arcs, sources, a.Targets, a.Weights}, o)
}

func (b *Builder) sources(a Arrays) (*vk.Buffer[uint32], error) {
	sources, err := b.Room(a.Arcs)
	if err != nil {
		return nil, err
	}
	return sources, RecordSources(b.kernels, b.s, a, sources)
}

// RecordSources records a kernel that writes the source of each arc.
func RecordSources(kernels *recording.Kernels, s *vk.Stream, a Arrays, sources *vk.Buffer[uint32]) error {
	k, err := sourcesKernel().Kernel(kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups((a.Arcs+7)/8), sourcesPush{a.Offsets.Address(), a.Targets.Address(), a.Weights.Address(),
		uint32(a.Vertices), uint32(a.Arcs), sources.Address()})
	return nil
}

// Sorted are arcs in the order of rows, without duplicates: keys of 64 bits, and weights, if there are any. The weights
// are words, or in Wide the upper halves of numbers of 64 bits.
type Sorted struct {
	Keys, Weights, Wide *vk.Buffer[uint32]
	Arcs                int

	Export func() error             // records, before all other work, a copy of the arcs to here; nil: not needed
	Alone  func(func() error) error // runs a function that records and submits, alone; nil: not needed
}

// widths are the widths of arcs and weights.
var widths = primitives.Widths{Key: structures.Bits64, Value: structures.Bits32}

// sort makes arcs of the edges, sorts them, and removes duplicates and unwanted loops. width is the number of bits of a
// vertex.
func (b *Builder) sort(ctx context.Context, e Edges, o Options, width int) (out Sorted, err error) {
	arcs := o.arcs(e.Count)
	if arcs == 0 {
		out.Keys, err = b.Room(2)
		return out, cmp.Or(err, b.s.Wait(ctx))
	}
	weighted := e.Weights != nil
	sort, weights := primitives.SortArgs{Length: primitives.Length{N: arcs}, Widths: widths}, 0
	if weighted {
		sort.Values, weights = recording.Align, arcs
	}
	scratch := max(b.bulk.Scratch(sort), b.bulk.Scratch(primitives.CompactArgs{}))
	var room [7]*vk.Buffer[uint32]
	for i, words := range []int{2 * arcs, 2 * arcs, weights, weights, (arcs + 31) / 32, 2, (scratch + 3) / 4} {
		if room[i], err = b.Room(words); err != nil {
			return out, err
		}
	}
	keys, sorted, values, sortedValues, flags, counts := room[0], room[1], room[2], room[3], room[4], room[5]
	from := values // of the arcs
	if !o.Symmetric {
		from = e.Weights
	}
	err = b.s.Whole(func() error {
		push := keysPush{e.From.Address(), e.To.Address(), e.Weights.Address(), keys.Address(), values.Address(),
			counts.Address(), uint32(e.Count), uint32(o.Vertices), uint32(width), word(o.Symmetric)}
		mark := markPush{sorted.Address(), flags.Address(), uint32(arcs), uint32(width), word(!o.DropLoops)}
		sort := primitives.SortArgs{Keys: keys.Address(), OutKeys: sorted.Address(),
			Length: primitives.Length{N: arcs}, Widths: widths, Bits: 2 * width, Scratch: room[6].Address()}
		compact := primitives.CompactArgs{Keys: sorted.Address(), Flags: flags.Address(), OutKeys: keys.Address(),
			OutCount: counts.AddressOf(1), Length: sort.Length, Widths: widths, Scratch: sort.Scratch}
		if weighted {
			sort.Values, sort.OutValues = from.Address(), sortedValues.Address()
			compact.Values, compact.OutValues = sort.OutValues, values.Address()
		}
		return cmp.Or(recording.Clear(b.kernels, b.s, counts.Address(), counts.Len()),
			dispatch(b, keysKernel(), e.Count, push), b.bulk.Sort(b.s, sort), dispatch(b, markKernel(), arcs, mark),
			b.bulk.Compact(b.s, compact))
	})
	if err == nil {
		err = b.s.Wait(ctx)
	}
	var words [2]uint32
	if err == nil {
		err = counts.Download(ctx, 0, words[:])
	}
	if err == nil && words[0] != 0 {
		err = ErrVertex
	}
	out = Sorted{Keys: keys, Arcs: int(words[1])}
	if weighted {
		out.Weights = values
	}
	return out, err
}

// Rows makes rows of sorted arcs. width is the number of bits of the target in a key.
func (b *Builder) Rows(ctx context.Context, sorted Sorted, vertices, width int) (a Arrays, err error) {
	a = Arrays{Vertices: vertices, Arcs: sorted.Arcs}
	defer func() {
		if failed := a; err != nil {
			b.s.Finally(failed.Free)
			a = Arrays{}
		}
	}()
	if a.Offsets, err = vk.NewBuffer[uint32](b.d, a.Vertices+1); err != nil {
		return a, err
	}
	if a.Targets, err = vk.NewBuffer[uint32](b.d, a.Arcs); err != nil {
		return a, err
	}
	if sorted.Weights != nil || sorted.Wide != nil {
		if a.Weights, err = vk.NewBuffer[uint32](b.d, a.Arcs); err != nil {
			return a, err
		}
	}
	submit := func() error {
		if err := b.s.Whole(func() error { return b.recordRows(sorted, a, width) }); err != nil {
			return err
		}
		_, err := b.s.Submit()
		return err
	}
	if sorted.Alone != nil {
		err = sorted.Alone(submit)
	} else {
		err = submit()
	}
	if err == nil {
		err = b.s.Wait(ctx)
	}
	return a, err
}

func (b *Builder) recordRows(sorted Sorted, a Arrays, width int) error {
	if sorted.Export != nil {
		if err := sorted.Export(); err != nil {
			return err
		}
	}
	if sorted.Weights != nil && a.Arcs > 0 {
		b.s.Copy(a.Weights, 0, sorted.Weights, 0, a.Arcs)
	}
	push := rowsPush{Keys: sorted.Keys.Address(), Offsets: a.Offsets.Address(), Targets: a.Targets.Address(),
		Arcs: uint32(a.Arcs), Vertices: uint32(a.Vertices), Bits: uint32(width)}
	if sorted.Wide != nil {
		push.Wide, push.Weights = sorted.Wide.Address(), a.Weights.Address()
	}
	return dispatch(b, rowsKernel(), max(a.Arcs, a.Vertices+1), push)
}

// dispatch records a kernel of this package with that many invocations.
func dispatch[P any](b *Builder, of recording.Spec[P], invocations int, push P) error {
	return of.Dispatch(b.kernels, b.s, groups(invocations), push)
}

func groups(n int) int { return (n + workgroup - 1) / workgroup }

func word(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}
