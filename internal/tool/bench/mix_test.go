package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

func TestMixesHaveTheirShares(t *testing.T) {
	type sort struct {
		kind   structures.Kind
		status structures.Status
	}
	for _, c := range []struct {
		mix  Mix
		want map[sort]float64
	}{
		{gammas[0].mix, map[sort]float64{{structures.Insert, structures.Inserted}: 0.5,
			{structures.Delete, structures.Deleted}: 0.5}},
		{gammas[1].mix, map[sort]float64{
			{structures.Insert, structures.Inserted}: 0.2, {structures.Delete, structures.Deleted}: 0.2,
			{structures.Find, structures.Found}: 0.3, {structures.Find, structures.Absent}: 0.3}},
		{gammas[2].mix, map[sort]float64{
			{structures.Insert, structures.Inserted}: 0.1, {structures.Delete, structures.Deleted}: 0.1,
			{structures.Find, structures.Found}: 0.4, {structures.Find, structures.Absent}: 0.4}},
	} {
		const n, there = 30_011, 40_000
		space := keySpace{77}
		inTable := map[uint32]bool{}
		for i := range there {
			inTable[space.key(i)] = true
		}
		x := newMixer(space, there, n, c.mix)
		got := map[sort]int{}
		keys := map[uint32]bool{}
		lanes := 0 // operations whose neighbour is of the same sort
		for i := range n {
			o := x.at(i)
			got[sort{o.kind, o.status}]++
			require.False(t, keys[o.key], "the key %#x comes twice", o.key)
			keys[o.key] = true
			wantsPresent := o.status == structures.Deleted || o.status == structures.Found
			require.Equal(t, wantsPresent, inTable[o.key], "%v of the key %#x", o.kind, o.key)
			if i > 0 && x.at(i-1).kind == o.kind && x.at(i-1).status == o.status {
				lanes++
			}
		}
		same := 0.0
		for sort, share := range c.want {
			require.InDelta(t, share*n, got[sort], 1, "%v", sort)
			same += share * share
		}
		require.Len(t, got, len(c.want))
		require.InDelta(t, same, float64(lanes)/n, 0.02, "the operations are not dealt at random")
	}
}

func TestSkewedKeys(t *testing.T) {
	const n = 10_000
	s := &session{n: n}
	s.at.Share = 0.25
	times := map[int]int{}
	for i := range n {
		times[newSkew(s).number(i)]++
	}
	require.Equal(t, n/4, times[0])
	require.Len(t, times, n-n/4+1)
}
