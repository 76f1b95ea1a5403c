package graph

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// A saved Named is this magic, then its names as a saved dictionary in frames, then the saved graph. A frame is a
// length of 4 bytes and that many bytes of the dictionary. A frame of length 0 ends the names.
const namedMagic = "VKDS\r\n\x1aN"

// Save writes the graph and its names to w, and returns the number of bytes. Updates wait until Save ends, and w must
// not use the graph. Errors: those of Graph.Save, and *vk.LimitError if a text has more than 16 MiB.
func (n *Named[ID]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := n.turns().EnterShared(ctx); err != nil {
		return 0, err
	}
	defer n.gate.LeaveShared()
	if w == nil {
		return 0, &vk.OptionError{Option: "io.Writer", Reason: "nil"}
	}
	out := &counted{w: transfer.Whole(w)}
	_, err := out.Write([]byte(namedMagic))
	if err == nil {
		names, numbers := n.all()
		err = n.dense.save(ctx, framed{out}, names, numbers)
	}
	if err == nil {
		_, err = out.Write(make([]byte, 4))
	}
	if err == nil {
		_, err = n.graph.Save(ctx, out)
	}
	return out.n, err
}

// all returns the names of the vertices, and their numbers.
func (n *Named[ID]) all() (names []ID, numbers []uint32) {
	free := make([]bool, len(n.names))
	for _, number := range n.free {
		free[number] = true
	}
	for number, name := range n.names {
		if !free[number] {
			names, numbers = append(names, name), append(numbers, uint32(number))
		}
	}
	return names, numbers
}

// LoadNamed makes a Named from the file of Named.Save. It reads r to its end. The names must be numbers. Directions,
// weights, self loops and numbers are those of the saved graph, whatever the options say. Errors:
// *structures.SavedError, also if the file has no Named or its names do not fit ID; r's own; those of Load and of
// slabhash.Load.
func LoadNamed[ID structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Named[ID], error) {
	return loadNamed(ctx, d, r, o, loadNumberNames[ID])
}

// LoadNamedByText is LoadNamed for names that are texts.
func LoadNamedByText(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Named[string], error) {
	return loadNamed(ctx, d, r, o, loadTextNames)
}

// loadNames reads the names of the vertices, and their numbers.
type loadNames[ID comparable] func(ctx context.Context, d *vk.Device, r io.Reader, o Options) (
	dense names[ID], all []ID, numbers []uint32, err error)

func loadNamed[ID comparable](ctx context.Context, d *vk.Device, r io.Reader, o Options,
	load loadNames[ID]) (*Named[ID], error) {
	if r == nil {
		return nil, &vk.OptionError{Option: "io.Reader", Reason: "nil"}
	}
	if o.Vertices != 0 {
		return nil, errNoNames
	}
	magic := make([]byte, len(namedMagic))
	if _, err := io.ReadFull(r, magic); err == io.EOF || err == io.ErrUnexpectedEOF || string(magic) != namedMagic {
		if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
			err = &structures.SavedError{Err: fmt.Errorf("%w of a graph of names", structures.ErrNotSaved)}
		}
		return nil, err
	} else if err != nil {
		return nil, err
	}
	dense, all, numbers, err := load(ctx, d, &frames{r: r}, o)
	if err != nil {
		return nil, err
	}
	g, err := loadBehind(ctx, dense, d, r, o)
	if err != nil {
		return nil, err
	}
	n := newNamedOf(g, dense)
	if err := transfer.Filled(n, func() error { return n.fill(ctx, all, numbers) }); err != nil {
		return nil, err
	}
	return n, nil
}

// loadBehind loads the graph after its names. It closes the names if that fails.
func loadBehind(ctx context.Context, names io.Closer, d *vk.Device, r io.Reader, o Options) (g *Graph, err error) {
	err = transfer.Filled(names, func() (err error) {
		g, err = Load(ctx, d, r, o)
		return err
	})
	return g, err
}

// allVertices returns the vertices, and a number that is greater than all of them.
func (g *Graph) allVertices(ctx context.Context) (vertices []uint32, extent int, err error) {
	for v, err := range g.AllVertices(ctx) {
		if err != nil {
			return nil, 0, err
		}
		vertices, extent = append(vertices, v), int(v)+1
	}
	return vertices, extent, nil
}

// fill sets the names of the loaded graph, or returns an error unless each vertex has one name.
func (n *Named[ID]) fill(ctx context.Context, all []ID, numbers []uint32) error {
	vertices, extent, err := n.graph.allVertices(ctx)
	if err != nil {
		return err
	}
	wrong := &structures.SavedError{Err: fmt.Errorf("%w: %d names do not match %d vertices",
		structures.ErrCorrupt, len(all), len(vertices))}
	if len(all) != len(vertices) {
		return wrong
	}
	named := make([]bool, extent)
	n.names = make([]ID, extent)
	for i, number := range numbers {
		if int64(number) >= int64(extent) || named[number] {
			return wrong
		}
		named[number], n.names[number] = true, all[i]
	}
	for _, v := range vertices {
		if !named[v] {
			return wrong
		}
	}
	for number := range named {
		if !named[number] {
			n.free = append(n.free, uint32(number))
		}
	}
	return nil
}

// counted counts the bytes written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// framed writes frames.
type framed struct{ w io.Writer }

func (f framed) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := f.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(p)))); err != nil {
		return 0, err
	}
	return f.w.Write(p)
}

// frames reads what framed has written, up to the frame of length 0.
type frames struct {
	r    io.Reader
	left uint32
	end  bool
}

func (f *frames) Read(p []byte) (n int, err error) {
	if f.left == 0 && !f.end {
		var head [4]byte
		if _, err := io.ReadFull(f.r, head[:]); err != nil {
			return 0, cut(err)
		}
		f.left = binary.LittleEndian.Uint32(head[:])
		f.end = f.left == 0
	}
	if f.end {
		return 0, io.EOF
	}
	n, err = f.r.Read(p[:min(len(p), int(f.left))])
	if f.left -= uint32(n); f.left == 0 && err == io.EOF {
		err = nil // the frame of length 0 is still to come
	}
	return n, cut(err)
}

// cut returns the error of an input that ends too early.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (n numberNames[ID]) save(ctx context.Context, w io.Writer, _ []ID, _ []uint32) error {
	_, err := n.Save(ctx, w)
	return err
}

func loadNumberNames[ID structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (
	dense names[ID], all []ID, numbers []uint32, err error) {
	m, err := slabhash.Load[ID, uint32](ctx, d, r, mapOptions(o))
	if err != nil {
		return nil, nil, nil, err
	}
	next, stop := iter.Pull2(m.Chunks(ctx)) // a range-over-func body would be a closure
	defer stop()
	for pairs, err, more := next(); more; pairs, err, more = next() {
		if err != nil {
			return nil, nil, nil, joint.Error(err, m.Close())
		}
		all, numbers = append(all, pairs.Keys...), append(numbers, pairs.Values...)
	}
	return numberNames[ID]{m}, all, numbers, nil
}

const (
	savedNames  = "names" // saved.Header.Structure of texts
	longestName = 16 << 20
)

// save writes the texts, each after its length.
func (n *textNames) save(ctx context.Context, w io.Writer, texts []string, numbers []uint32) error {
	h := saved.Header{Structure: savedNames, Pairs: int64(len(texts)), KeyType: saved.Text,
		ValueType: saved.TypeOf[uint32]().Name()}
	out, err := saved.NewWriter(w, h, saved.Columns{})
	if err != nil {
		return err
	}
	var packed, values []byte
	count := 0
	for i, text := range texts {
		if len(text) > longestName {
			return &vk.LimitError{What: "bytes of a name", Want: uint64(len(text)), Most: longestName}
		}
		if count == saved.BlockPairs || len(packed)+len(text) > longestName {
			if err := cmp.Or(out.WriteBlock(count, packed, values), context.Cause(ctx)); err != nil {
				return err
			}
			packed, values, count = packed[:0], values[:0], 0
		}
		packed = append(binary.AppendUvarint(packed, uint64(len(text))), text...)
		values = binary.LittleEndian.AppendUint32(values, numbers[i])
		count++
	}
	if count != 0 {
		if err := out.WriteBlock(count, packed, values); err != nil {
			return err
		}
	}
	return out.Close()
}

func loadTextNames(ctx context.Context, d *vk.Device, r io.Reader, o Options) (
	dense names[string], all []string, numbers []uint32, err error) {
	if all, numbers, err = readTexts(ctx, r); err != nil {
		return nil, nil, nil, err
	}
	if dense, err = newTextNames(ctx, d, o); err != nil {
		return nil, nil, nil, err
	}
	if err := dense.insert(ctx, all, numbers); err != nil {
		return nil, nil, nil, joint.Error(err, dense.Close())
	}
	return dense, all, numbers, nil
}

// readTexts reads texts and their numbers. It returns an error if a text comes twice.
func readTexts(ctx context.Context, r io.Reader) (texts []string, numbers []uint32, err error) {
	in, err := saved.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	if h := in.Header(); h.Structure != savedNames || h.KeyType != saved.Text ||
		h.ValueType != saved.TypeOf[uint32]().Name() {
		return nil, nil, &structures.SavedError{Err: &structures.TypeError{What: "names",
			Saved: saved.GoName(h.KeyType), Loaded: saved.Text}}
	}
	seen := map[string]bool{}
	for {
		pairs, packed, values, err := in.ReadBlock()
		if err == io.EOF {
			return texts, numbers, nil
		}
		if err := cmp.Or(err, context.Cause(ctx)); err != nil {
			return nil, nil, err
		}
		for i := range pairs {
			length, head := binary.Uvarint(packed)
			if head <= 0 || length > uint64(len(packed)-head) {
				return nil, nil, &structures.SavedError{Err: fmt.Errorf("%w: a name that is longer than what there is",
					structures.ErrCorrupt)}
			}
			text := string(packed[head : head+int(length)])
			if packed = packed[head+int(length):]; seen[text] {
				return nil, nil, &structures.SavedError{Err: fmt.Errorf("%w: the name %.40q twice",
					structures.ErrCorrupt, text)}
			}
			seen[text] = true
			texts, numbers = append(texts, text), append(numbers, binary.LittleEndian.Uint32(values[4*i:]))
		}
	}
}
