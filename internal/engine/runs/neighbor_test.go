package runs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// neighbor returns the result of the model.
func (m *model) neighbor(kind Kind, key uint64) (uint64, uint64, structures.Status) {
	i, there := slices.BinarySearch(m.order, key)
	switch {
	case kind == Successor && there:
		i++
	case kind == Predecessor || kind == Floor && !there:
		i--
	}
	if i < 0 || i >= len(m.order) {
		return 0, 0, structures.Absent
	}
	return m.order[i], m.live[m.order[i]], structures.Found
}

func TestNeighbor(t *testing.T) { eachWidth(t, testNeighbor) }

func testNeighbor(t *testing.T, r *rig) {
	kinds := map[string]Kind{"successor": Successor, "predecessor": Predecessor, "ceil": Ceil, "floor": Floor}
	eachShape(r, func(t *testing.T, m *model) {
		for name, kind := range kinds {
			for _, n := range []int{0, 1, 6, 1003} {
				g := random(uint64(n) + uint64(kind))
				keys := r.probes(m, g, n)
				wantKeys, wantValues, want := make([]uint64, n), make([]uint64, n), make([]uint8, n)
				for i, key := range keys {
					k, v, s := m.neighbor(kind, key)
					wantKeys[i], wantValues[i], want[i] = k, v, uint8(s)
				}
				for _, visits := range []int{0, 1, 3} {
					what := fmt.Sprintf("%s of %d keys, %d keys a dispatch", name, n, visits)
					gotKeys, gotValues, status := room(r, r.size(n)), room(r, r.size(n)), room(r, (n+3)/4)
					left := upload(r, []uint32{0})
					a := NeighborArgs{
						Keys: r.numbers(keys).Address(), OutKeys: gotKeys.Address(), OutValues: gotValues.Address(),
						Status: status.Address(),
						N:      n, Left: left.Address(), Visits: visits,
					}
					r.run(r.q.Neighbor(r.s, m.Stack, kind, a))
					a.Resume = true
					for before := uint32(n) + 1; ; {
						var pending [1]uint32
						require.NoError(t, left.Download(t.Context(), 0, pending[:]))
						unfinished := 0
						for _, s := range downloadBytes(r, status, n) {
							if s == uint8(structures.Pending) {
								unfinished++
							}
						}
						require.EqualValues(t, unfinished, pending[0], "the number left: %s", what)
						if unfinished == 0 {
							break
						}
						require.LessOrEqual(t, pending[0], before, what)
						before = pending[0]
						r.s.Fill(left, 0, 1, 0)
						r.run(r.q.Neighbor(r.s, m.Stack, kind, a))
					}
					r.requireNumbers(wantKeys, gotKeys, "keys: %s", what)
					r.requireNumbers(wantValues, gotValues, "values: %s", what)
					require.True(t, slices.Equal(want, downloadBytes(r, status, n)), "status: %s", what)
				}
			}
		}
	})
}
