package analytics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// side is the half of the vertices that one is in, by the bits of hash_mix of hash.glsl.
func side(v uint32, iteration int) uint32 {
	v ^= v >> 16
	v *= 0x21f0aaad
	v ^= v >> 15
	v *= 0xd35a2d97
	v ^= v >> 15
	return v >> (iteration % 32) & 1
}

// propagate has communities by the rule that Communities documents, in Go: of each vertex the least one of its
// community.
func propagate(rows [][]neighbor, most int) (labels []uint32, iterations int, settled bool) {
	labels = make([]uint32, len(rows))
	for v := range labels {
		labels[v] = uint32(v)
	}
	for ; iterations < most && !settled; iterations++ {
		settled = true
		for half := range uint32(2) {
			next := append([]uint32(nil), labels...)
			for v, row := range rows {
				if side(uint32(v), iterations) != half || len(row) == 0 {
					continue
				}
				counts, best := map[uint32]int{}, labels[row[0].to]
				for _, n := range row {
					counts[labels[n.to]]++
				}
				for label, n := range counts {
					if n > counts[best] || n == counts[best] && label < best {
						best = label
					}
				}
				settled = settled && best == labels[v]
				next[v] = best
			}
			labels = next
		}
	}
	least := map[uint32]uint32{}
	for v, label := range labels {
		if _, there := least[label]; !there {
			least[label] = uint32(v)
		}
		labels[v] = least[label]
	}
	return labels, iterations, settled
}

func requireCommunities(t *testing.T, e *edges, a *Analyzer, most int) CommunitiesResult {
	t.Helper()
	labels, iterations, settled := propagate(e.rows(), most)
	r, err := a.Communities(t.Context(), CommunitiesOptions{Iterations: most})
	require.NoError(t, err)
	require.Equal(t, labels, r.Labels)
	require.Equal(t, iterations, r.Iterations)
	require.Equal(t, settled, r.Settled)
	size, largest := map[uint32]int{}, 0
	for _, label := range labels {
		size[label]++
		largest = max(largest, size[label])
	}
	require.Equal(t, []int{len(size), largest}, []int{r.Count, r.Largest})
	return r
}

func TestCommunities(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		if !e.undirected {
			_, err := a.Communities(t.Context(), CommunitiesOptions{})
			require.ErrorIs(t, err, ErrDirected)
			return
		}
		for _, most := range []int{1, 2, 3, 40} {
			requireCommunities(t, e, a, most)
		}
	})
}

// Cliques that few edges join are the communities. A star, whose hub and leaves would exchange their labels for ever if
// all took them at once, is one.
func TestCommunitiesAreFound(t *testing.T) {
	d := testdevice.Open(t)
	rng := rand.New(rand.NewPCG(2, 9))
	const n, each = 30, 12
	e := &edges{vertices: n * each, undirected: true}
	want := make([]uint32, n*each)
	at := rng.Perm(n * each)
	for c := range n {
		least := uint32(n * each)
		for i := range each {
			least = min(least, uint32(at[c*each+i]))
			for j := range i {
				e.add(at[c*each+i], at[c*each+j], 1)
			}
		}
		for i := range each {
			want[at[c*each+i]] = least
		}
		e.add(at[c*each], at[(c+1)%n*each], 1)
	}
	r := requireCommunities(t, e, e.analyzer(t, d), 100)
	require.True(t, r.Settled)
	require.Equal(t, want, r.Labels)
	star := stars(1, 900)
	r = requireCommunities(t, star, star.analyzer(t, d), 100)
	require.True(t, r.Settled)
	require.Equal(t, 1, r.Count)
	var option *vk.OptionError
	_, err := star.analyzer(t, d).Communities(t.Context(), CommunitiesOptions{Iterations: -1})
	require.ErrorAs(t, err, &option)
}

// The greatest number of iterations takes no memory for them.
func TestCommunitiesOfManyIterations(t *testing.T) {
	pass.OneWidth(t, "the host records iterations")
	d := testdevice.Open(t)
	e := graph.Edges{}
	for i := range uint32(50) {
		e.From, e.To = append(e.From, i), append(e.To, i+1)
	}
	rows, err := graph.BuildCSR(t.Context(), d, e, graph.CSROptions{Symmetric: true})
	require.NoError(t, err)
	defer rows.Close()
	a := New(rows)
	defer a.Close()
	few, err := a.Communities(t.Context(), CommunitiesOptions{Iterations: 100})
	require.NoError(t, err)
	require.True(t, few.Settled)
	many, err := a.Communities(t.Context(), CommunitiesOptions{Iterations: math.MaxInt})
	require.NoError(t, err)
	require.Equal(t, few.Labels, many.Labels)
	require.Equal(t, few.Iterations, many.Iterations)
}
