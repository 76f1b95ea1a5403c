package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

type tilePush struct {
	Inputs, Outputs uint64
	Count           uint32
}

func TestTile(t *testing.T) {
	r := newRig(t)
	const n = 1024
	r.eachWidthTo(32, func(t *testing.T, width int) {
		k := kernel[tilePush](t, r, "test/tile", map[string]uint32{"TILE": uint32(width)})
		rapid.Check(t, func(t *rapid.T) {
			defer r.release()
			rnd := random(rapid.Uint64().Draw(t, "seed"))
			density := rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.9, 1}).Draw(t, "density")
			in := make([]uint32, 4*n)
			for i := range n {
				in[4*i], in[4*i+1], in[4*i+2] = rnd.Uint32(), rnd.Uint32(), rnd.Uint32N(uint32(width))
				if rnd.Float64() < density {
					in[4*i+3] = 1
				}
			}
			outputs := room[uint32](r, 8*n)
			run(r, k, n, tilePush{put(r, in).Address(), outputs.Address(), n})
			out := get(r, outputs)
			for i := range n {
				inTile := i % width
				tile := i - inTile
				var ballot uint32
				for lane := range width {
					ballot |= in[4*(tile+lane)+3] << lane
				}
				from := 4 * (tile + int(in[4*i+2]))
				want := []uint32{
					uint32(inTile), uint32(tile % r.d.SubgroupSize()), ballot, in[from],
					in[from], in[from+1], uint32(r.d.SubgroupSize()), 0,
				}
				require.Equal(t, want, out[8*i:8*i+8], "invocation %d", i)
			}
		})
	})
}

type invocationPush struct {
	Counts, Beyond uint64
	Count          uint32
}

// Every index comes once, on both sides of the 65,535 workgroups that one dimension takes.
func TestInvocationIndex(t *testing.T) {
	r := newRig(t)
	workgroup := max(32, r.d.SubgroupSize())
	m, err := kernels.Load("test/invocation")
	require.NoError(t, err)
	k, err := vk.NewKernel[invocationPush](r.d, m, vk.KernelOptions{Workgroup: workgroup})
	require.NoError(t, err)
	defer k.Free()
	for _, groups := range []int{1, 65535, 65536, 70001} {
		n := groups*workgroup - 5
		counts := put(r, make([]uint32, n))
		beyond := put(r, make([]uint32, 1))
		run(r, k, n, invocationPush{counts.Address(), beyond.Address(), uint32(n)})
		for i, count := range get(r, counts) {
			if count != 1 {
				require.Failf(t, "index", "%d came %d times in %d workgroups", i, count, groups)
			}
		}
		require.GreaterOrEqual(t, get(r, beyond)[0], uint32(5))
		r.release()
	}
}
