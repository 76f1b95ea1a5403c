package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
)

// sizes are the subgroups that are tried: those that CPU drivers have, too, which say that this package is right.
var sizes = []int{4, 8, 16, 32, 64, 128}

func load(t *testing.T, name string) *Module {
	code, err := kernels.Load(name)
	require.NoError(t, err)
	m, err := Parse(code)
	require.NoError(t, err)
	return m
}

// checkTiles runs test/tile in tiles of a width, and compares what tile.glsl answers to each lane with what it should.
func checkTiles(m *Module, size, width int) error {
	const groups = 3
	n := groups * size
	rnd := rand.New(rand.NewPCG(uint64(size), uint64(width)))
	r := Run{Subgroup: size, Groups: groups, Constants: map[string]uint32{"TILE": uint32(width)},
		Push: []uint32{Base, 0, Base + 16*uint32(n), 0, uint32(n)}, Memory: make([]uint32, 12*n)}
	in := r.Memory[:4*n]
	for i := range n {
		copy(in[4*i:], []uint32{rnd.Uint32(), rnd.Uint32(), rnd.Uint32N(uint32(width)), rnd.Uint32N(2)})
	}
	if err := m.Do(r); err != nil {
		return err
	}
	for i := range n {
		inTile := i % width
		tile := i - inTile
		var ballot uint32
		for lane := range width {
			ballot |= in[4*(tile+lane)+3] << lane
		}
		from := in[4*(tile+int(in[4*i+2])):]
		want := []uint32{uint32(inTile), uint32(tile % size), ballot, from[0], from[0], from[1], uint32(size), 0}
		if got := r.Memory[4*n+8*i:][:8]; !slices.Equal(want, got) {
			return fmt.Errorf("lane %d in tiles of %d of subgroups of %d: %d, not %d", i, width, size, got, want)
		}
	}
	return nil
}

// widths are those of tiles in a subgroup.
func widths(size int) (all []int) {
	for width := 1; width <= min(size, 32); width *= 2 {
		all = append(all, width)
	}
	return all
}

// Lane, base, ballot and shuffles of every tile are right in subgroups of every size that Vulkan has.
func TestTiles(t *testing.T) {
	m := load(t, "test/tile")
	for _, size := range sizes {
		for _, width := range widths(size) {
			require.NoError(t, checkTiles(m, size, width))
		}
	}
}

// Whichever constant of the tile's arithmetic is another one, and whichever word of the ballot is read in the place of
// another, the test above says so at 64 lanes or at 128.
func TestBrokenTilesAreFound(t *testing.T) {
	m := load(t, "test/tile")
	require.NoError(t, tryAll(m, 64, 128))
	found := 0
	for function, constants := range map[string][]uint32{
		"tile_ballot(b1;":     {1, 2, 3, 5, 31}, // 32 only spares small subgroups a choice
		"tile_lane(":          {1},
		"tile_shuffle(u1;u1;": {1},
	} {
		for _, constant := range constants {
			for _, instead := range []uint32{0, 1, 4, 31} {
				for nth := 0; ; nth++ {
					broken, ok := m.replaced(function, m.Constant(constant), m.Constant(instead), nth)
					if !ok {
						break
					}
					require.Error(t, tryAll(broken, 64, 128), "%s: %d for %d, number %d", function, instead,
						constant, nth)
					found++
				}
			}
		}
	}
	require.Greater(t, found, 25, "broken variants")

	// A tile that takes every ballot for one of 32 lanes: none is larger than the workgroup's size, which stands for
	// 32.
	narrow, ok := m.replaced("tile_ballot(b1;", m.Constant(32), m.named("WORKGROUP"), 0)
	require.True(t, ok)
	require.Error(t, tryAll(narrow, 64, 128))
	require.NoError(t, tryAll(narrow, 4, 8, 16, 32), "what CPU drivers have don't find it")
}

// tryAll is the first error of tiles at some sizes.
func tryAll(m *Module, sizes ...int) error {
	for _, size := range sizes {
		for _, width := range widths(size) {
			if err := checkTiles(m, size, width); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaced is the module with another constant, by id, in the nth place of a function that has it.
func (m *Module) replaced(function string, of, by uint32, nth int) (*Module, bool) {
	if of == 0 || by == 0 || of == by {
		return nil, false
	}
	return m.Change(func(in, name string, args []uint32) bool {
		at := slices.Index(args, of)
		if in != function || at < 0 || name == opSelectionMerge.String() {
			return false
		}
		if nth--; nth >= 0 {
			return false
		}
		args[at] = by
		return true
	})
}

// named is the id of what has a name.
func (m *Module) named(name string) uint32 {
	for id, other := range m.names {
		if other == name {
			return id
		}
	}
	return 0
}

// A subgroup operation that some lanes don't come to is an error, which the other tests trust in: here those behind the
// count go to the end at once.
func TestLanesElsewhere(t *testing.T) {
	m := load(t, "test/tile")
	end := uint32(0)
	_, _ = m.Change(func(function, name string, args []uint32) bool {
		if function == "main" && name == opSelectionMerge.String() {
			end = args[0] // of the last one
		}
		return false
	})
	broken, ok := m.Change(func(function, name string, args []uint32) bool {
		if function != "main" || name != opBranchIf.String() {
			return false
		}
		args[2] = end
		return true
	})
	require.True(t, ok)
	r := Run{Subgroup: 64, Groups: 1, Push: []uint32{Base, 0, Base + 16*64, 0, 61}, Memory: make([]uint32, 12*64)}
	require.NoError(t, m.Do(r))
	require.ErrorContains(t, broken.Do(r), "lane 61 is elsewhere")
}
