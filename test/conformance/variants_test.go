package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// protocol is one of the two that structures have, and a device to run it on: nil where there is none.
type protocol struct {
	name string
	d    *vk.Device
}

// openDevices opens a device for each protocol: with 64-bit atomics, where there are, and without, unless other runs
// have that.
func openDevices(t *testing.T) []protocol {
	d := testdevice.Open(t)
	if !d.Has(vk.Int64Atomics) {
		return []protocol{{"with 64-bit atomics", nil}, {"without", d}}
	}
	if testdevice.OneProtocol(d) {
		return []protocol{{"with 64-bit atomics", d}, {"without", nil}}
	}
	without := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}})
	return []protocol{{"with 64-bit atomics", d}, {"without", without}}
}

// tiles returns the widths of tiles that are tried with a protocol: 0, with 64-bit atomics, or 1, without. A run takes
// those that its device has. Of "make test" the passes have them together, as whole subgroups and as parts of one: most
// of their time is compilers'. Keys of 64 bits have one pass.
func tiles[W structures.Word](protocol int) []int {
	pass := os.Getenv("VKDS_PASS")
	switch {
	case stress.Level > 0 || pass == "":
		return []int{1, 4, 8}
	case protocol == 1:
		return []int{4}
	case structures.WidthOf[W]() == structures.Bits64:
		return []int{4, 8}
	case pass == "8":
		return []int{1, 8}
	}
	return []int{4}
}

// fills are the least that nodes may have, that by default, and all.
var fills = []float64{1e-9, 0, 1}

// variant is a subject in one of its shapes, open. Those with one name differ in what need not be named.
type variant[W structures.Word] struct {
	name       string
	d          *vk.Device
	dictionary Dictionary[W]
	ran        bool
}

type variants[W structures.Word] struct {
	t   *testing.T
	s   subject[W]
	all []*variant[W]
}

// openVariants opens a subject in all shapes that this run has, until the test's end. Then it logs what the run has
// left out, and why, and notes all for "make test", of whose runs one has to have taken it. few: of the widths, the
// narrowest where there are no 64-bit atomics and the widest that the device has where there are.
func openVariants[W structures.Word](t *testing.T, s subject[W], protocols []protocol, few bool) *variants[W] {
	vs := &variants[W]{t: t, s: s}
	out := map[string]string{} // what is left out: why
	for p, protocol := range protocols {
		if !s.protocols && p > 0 && vs.all != nil {
			break
		}
		if protocol.d == nil && !s.protocols {
			continue
		}
		each := tiles[W](p)
		if !s.tiles {
			each = []int{1}
		}
		widest := each[0]
		if protocol.d != nil {
			widest = min(slices.Max(each), protocol.d.SubgroupSize())
		}
		for _, width := range each {
			name := s.name
			if s.protocols {
				name += ", " + protocol.name
			}
			if s.tiles && !few {
				name += fmt.Sprintf(", tiles of %d", width)
			}
			switch {
			case s.tiles && few && width != []int{widest, each[0]}[p]:
			case protocol.d == nil:
				out[name] = "this run has no such device"
			case width > widest:
				out[name] = fmt.Sprintf("the device has subgroups of %d", widest)
			default:
				vs.open(name, protocol.d, width)
			}
		}
	}
	t.Cleanup(func() { vs.account(out) })
	return vs
}

// open opens the subject at one width.
func (vs *variants[W]) open(name string, d *vk.Device, width int) {
	shapes := []shape{{size: 4}, {size: 61}}
	if vs.s.fills {
		shapes = nil
		for _, fill := range fills {
			shapes = append(shapes, shape{size: 4, fill: fill})
		}
	}
	var pool *alloc.SlabPool
	if vs.s.shares {
		var err error
		pool, err = alloc.NewSlabPool(vs.t.Context(), d, alloc.PoolOptions{})
		require.NoError(vs.t, err, name)
		vs.t.Cleanup(func() {
			stats, err := pool.Stats(context.Background())
			require.NoError(vs.t, err)
			require.Zero(vs.t, stats.Allocated, "slabs that nobody gave back")
			require.NoError(vs.t, pool.Close())
		})
	}
	for _, shape := range shapes {
		shape.tile, shape.seed, shape.pool = width, uint32(width*shape.size), pool
		dictionary, err := vs.s.open(vs.t.Context(), d, shape)
		require.NoError(vs.t, err, name)
		vs.t.Cleanup(func() { require.NoError(vs.t, dictionary.Close()) })
		vs.all = append(vs.all, &variant[W]{name: name, d: d, dictionary: dictionary})
	}
}

// both are the variant by its calls with Go slices and, until the test's end, by those on device buffers.
func (v *variant[W]) both(t *testing.T, s subject[W], turn int) []Dictionary[W] {
	streams, end := onStreams(t, v.d, s, v.dictionary, turn)
	t.Cleanup(end)
	return []Dictionary[W]{v.dictionary, streams}
}

// account says what was left out. VKDS_CONFORMED is a file to which that is added, and what was not.
func (vs *variants[W]) account(out map[string]string) {
	for _, v := range vs.all {
		if !v.ran {
			out[v.name] = "the test came by it in no or not every shape"
		}
	}
	var notes strings.Builder
	for name, why := range out {
		vs.t.Logf("left out: %s: %s", name, why)
		fmt.Fprintf(&notes, "left out\t%s: %s\n", topOf(vs.t), name)
	}
	for _, v := range vs.all {
		if _, left := out[v.name]; !left && !vs.t.Failed() {
			fmt.Fprintf(&notes, "ran\t%s: %s\n", topOf(vs.t), v.name)
		}
	}
	path := os.Getenv("VKDS_CONFORMED")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(vs.t, err)
	_, err = f.WriteString(notes.String())
	require.NoError(vs.t, err)
	require.NoError(vs.t, f.Close())
}

// topOf is the name of the test that a test is part of.
func topOf(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// check runs sequences of acts on the variants. Three take turns at one sequence and no others have it, so that each
// variant gets its share of sequences whatever is drawn: chance alone would now and then leave one out.
func check[W structures.Word](vs *variants[W], sequence func(*rapid.T) []act[W]) {
	sequences := sequencesOf[W]()
	for some := range slices.Chunk(vs.all, 3) {
		share := (sequences*len(some) + len(vs.all) - 1) / len(vs.all)
		require.NoError(vs.t, flag.Set("rapid.checks", strconv.Itoa(share)))
		rapid.Check(vs.t, func(rt *rapid.T) {
			acts := sequence(rt)
			for _, v := range some {
				vs.try(rt, v, func(s subject[W], dictionary Dictionary[W]) {
					run(adapter{vs.t, rt}, v.d, s, dictionary, acts)
				})
			}
		})
	}
}

// try has something done to a variant, which is empty, either by its calls with Go slices or by those on device
// buffers; the subject given is that of these calls.
func (vs *variants[W]) try(rt *rapid.T, v *variant[W], do func(s subject[W], dictionary Dictionary[W])) {
	streams := rapid.IntRange(-1, 59).Draw(rt, "turn on streams")
	require.NoError(rt, v.dictionary.Clear(vs.t.Context()))
	if streams%2 != 0 {
		do(vs.s, v.dictionary)
	} else {
		s := vs.s
		s.mixed = false // insertions come first
		dictionary, end := onStreams(adapter{vs.t, rt}, v.d, s, v.dictionary, streams)
		do(s, dictionary)
		end()
	}
	v.ran = true
}
