package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type nodePush struct {
	Nodes, Enabled, Masks, Outputs uint64
	Count                          uint32
}

const (
	nodeLoad = iota
	nodeLoadCoherent
	nodeClear
	nodeFirstLane
)

const nodeWords, nodePairs = 32, 16

// lanePairs is NODE_LANE_PAIRS.
func lanePairs(width int) int { return max(1, nodePairs/width) }

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
				run(r, k, n*width, nodePush{Nodes: in.Address(), Enabled: put(r, enabled).Address(), Outputs: outputs.Address(), Count: n})
				out := get(r, outputs)
				for tile := range n {
					var seen [nodePairs]int
					for lane := range width {
						for m := range 16 {
							q := out[((tile*width+lane)*16+m)*4:][:4]
							require.Equal(t, m < lanePairs(width), q[3] == 1, "pairs that a lane holds")
							if q[3] == 0 || q[0] >= nodePairs {
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

// nodePair is the place in the node of a lane's pair m, as node.glsl's comment says.
func nodePair(width, lane, m int) int {
	if width >= 16 {
		return lane
	}
	quad := m/2*width + lane
	return 2*quad + m%2
}

func TestNodeFirstLane(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		k := kernel[nodePush](t, r, "test/node", map[string]uint32{"TILE": uint32(width), "FUNCTION": nodeFirstLane})
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			const n = 64
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			density := rapid.SampledFrom([]float64{0, 0.02, 0.1, 0.5, 1}).Draw(t, "density")
			masks, enabled := make([]uint32, n*width), make([]uint32, n)
			want := make([]uint32, n*width)
			for tile := range n {
				first, lane := nodePairs, ^uint32(0)
				for l := range width {
					for m := range lanePairs(width) {
						if pair := nodePair(width, l, m); pair < nodePairs && rnd.Float64() < density {
							masks[tile*width+l] |= 1 << m
							if pair < first {
								first, lane = pair, uint32(l)
							}
						}
					}
				}
				for l := range width {
					want[tile*width+l] = lane
				}
			}
			outputs := room[uint32](r, n*width)
			run(r, k, n*width, nodePush{
				Enabled: put(r, enabled).Address(), Masks: put(r, masks).Address(), Outputs: outputs.Address(), Count: n,
			})
			require.Equal(t, want, get(r, outputs))
		})
	})
}
