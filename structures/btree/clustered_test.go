package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
)

// Batches whose keys meet in leaves are told from those whose keys are spread over a large tree.
func TestClustered(t *testing.T) {
	pass.OneWidth(t, "the host looks at keys")
	t.Run("32", testClustered[uint32])
	t.Run("64", testClustered[uint64])
}

func testClustered[W structures.Word](t *testing.T) {
	const nodes = 1 << 18
	w := structures.WidthOf[W]()
	leaf := ^W(0) / nodes
	rng := rand.New(rand.NewPCG(38, 2))
	random := func(i int) W { return W(rng.Uint64()) }
	for _, n := range []int{63, 64, 65, 1000, 1024, 1 << 14, 1 << 17} {
		is := func(key func(i int) W) bool {
			keys := make([]W, n)
			for i := range keys {
				keys[i] = key(i)
			}
			return clustered(n, pipeline.Keys(keys, w), nodes, w)
		}
		some := random(0)
		many := n >= 64 // fewer are never asked about
		require.False(t, is(random), n)
		require.False(t, is(func(i int) W { return ^W(0) / W(n) * W(i) }), n) // ascending, far from each other
		require.False(t, is(func(i int) W { return W(i%1009) * leaf * 2 }), n)
		require.Equal(t, many, is(func(int) W { return some }), n)
		require.Equal(t, many, is(func(i int) W { return some + W(i) }), n)
		require.Equal(t, many, is(func(i int) W { return ^W(i) }), n)
		require.Equal(t, many, is(func(int) W { return leaf * W(rng.IntN(30)) }), n)
		require.Equal(t, many, is(func(i int) W {
			if i%4 == 0 {
				return some
			}
			return random(i)
		}), n)
	}
}

func BenchmarkClustered(b *testing.B) {
	keys := make([]uint32, 1024)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	for b.Loop() {
		clustered(len(keys), pipeline.Keys(keys, structures.Bits32), 1<<18, structures.Bits32)
	}
}
