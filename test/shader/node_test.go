package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type nodePush struct {
	Nodes, Enabled, Outputs uint64
	Count                   uint32
}

const (
	nodeLoad = iota
	nodeLoadCoherent
	nodeClear
	nodeHolders
)

const nodeWords, nodePairs = 32, 16

// lanePairs is NODE_LANE_PAIRS.
func lanePairs(width int) int { return nodePairs / width }

// nodes are random nodes, of which every other one or so is enabled.
func nodes(seed uint64, n int) (words, enabled []uint32) {
	rnd := random(seed)
	words, enabled = make([]uint32, n*nodeWords), make([]uint32, n)
	for i := range words {
		words[i] = rnd.Uint32()
	}
	for i := range enabled {
		enabled[i] = rnd.Uint32N(2)
	}
	return words, enabled
}

func TestNodeLoad(t *testing.T) {
	r := newRig(t)
	for name, function := range map[string]uint32{"plain": nodeLoad, "coherent": nodeLoadCoherent} {
		t.Run(name, func(t *testing.T) {
			r := &rig{t: t, d: r.d, s: r.s}
			defer r.release()
			r.eachWidth(func(t *testing.T, width int) {
				const n = 130
				k := kernel[nodePush](t, r, "test/node", map[string]uint32{"TILE": uint32(width), "FUNCTION": function})
				words, enabled := nodes(1, n)
				outputs := put(r, make([]uint32, n*width*16*4))
				in := put(r, words)
				run(r, k, n*width, nodePush{Nodes: in.Address(), Enabled: put(r, enabled).Address(),
					Outputs: outputs.Address(), Count: n})
				out := get(r, outputs)
				for tile := range n {
					var seen [nodePairs]int
					for lane := range width {
						for m := range 16 {
							q := out[((tile*width+lane)*16+m)*4:][:4]
							require.Equal(t, m < lanePairs(width), q[3] == 1, "pairs that a lane holds")
							if q[3] == 0 {
								continue
							}
							seen[q[0]]++
							want := []uint32{0, 0}
							if enabled[tile] == 1 {
								want = words[tile*nodeWords+int(q[0])*2:][:2]
							}
							require.Equal(t, want, q[1:3], "tile %d, lane %d, pair %d", tile, lane, m)
						}
					}
					for pair, times := range seen {
						require.Equal(t, 1, times, "pair %d of tile %d is held once", pair, tile)
					}
				}
				require.Equal(t, words, get(r, in), "loading changes nothing")
			})
		})
	}
}

func TestNodeClear(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		const n = 130
		k := kernel[nodePush](t, r, "test/node", map[string]uint32{"TILE": uint32(width), "FUNCTION": nodeClear})
		words, enabled := nodes(2, n+1)
		in := put(r, words)
		run(r, k, n*width, nodePush{Nodes: in.Address(), Enabled: put(r, enabled).Address(), Count: n})
		for i := range n * nodeWords {
			if enabled[i/nodeWords] == 1 {
				words[i] = ^uint32(0)
			}
		}
		require.Equal(t, words, get(r, in))
	})
}

// Which lane holds a pair, and as which of its own, is said right of the pairs that it holds; and a tile may visit all
// nodes of a pool in halves for each of its lanes, whatever the number of blocks.
func TestNodeHolders(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		const n = 70
		k := kernel[nodePush](t, r, "test/node", map[string]uint32{"TILE": uint32(width), "FUNCTION": nodeHolders})
		outputs, enabled := put(r, make([]uint32, n*width*16*4)), put(r, make([]uint32, n))
		run(r, k, n*width, nodePush{Nodes: outputs.Address(), Enabled: enabled.Address(), Outputs: outputs.Address(),
			Count: n})
		out := get(r, outputs)
		for lane := range n * width {
			for m := range lanePairs(width) {
				q := out[(lane*16+m)*4:][:4]
				require.Equal(t, []uint32{uint32(lane % width), uint32(m)}, q[:2], "pair %d of lane %d", m, lane)
				require.Greater(t, int(q[2]), 2*width*m*1024, "visits of %d blocks", m)
				require.EqualValues(t, 1, q[3])
			}
		}
	})
}
