package shader

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

type combinePush struct {
	Operations, Pairs, Statuses, Answers, Values uint64
	Count                                        uint32
}

// operation is one lane's, and combined what becomes of it.
type (
	operation[N number] struct {
		kind       structures.Kind
		key, value N
		enabled    bool
	}
	combined[N number] struct {
		follows bool
		leader  int
		value   N
		status  structures.Status
	}
)

// combine is the model, of one subgroup: up to four times, the first lane whose neighbour (of its pair of lanes) brings
// the same operation on the same key makes a group of all lanes that do. The group's first lane does it for all.
func combine[N number](lanes []operation[N], statuses []structures.Status) []combined[N] {
	combinable := []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd,
		structures.InsertMin, structures.InsertMax}
	result, open := make([]combined[N], len(lanes)), make([]bool, len(lanes))
	for i, o := range lanes {
		result[i] = combined[N]{leader: i, value: o.value, status: statuses[i]}
		open[i] = o.enabled && slices.Contains(combinable, o.kind)
	}
	same := func(i, j int) bool {
		return open[i] && open[j] && lanes[i].kind == lanes[j].kind && lanes[i].key == lanes[j].key
	}
	for range 4 {
		first := 0
		for first < len(lanes) && !same(first, first^1) {
			first++
		}
		if first == len(lanes) {
			break
		}
		var members []int
		for i := range lanes {
			if same(first, i) {
				members = append(members, i)
			}
		}
		leader := members[0]
		value := lanes[leader].value
		for _, i := range members {
			open[i] = false
			result[i].leader = leader
			result[i].follows = i != leader
			if i == leader {
				continue
			}
			switch v := lanes[i].value; lanes[i].kind {
			case structures.Insert:
				value = v // the last of them
			case structures.InsertAdd:
				value += v
			case structures.InsertMin:
				value = min(value, v)
			case structures.InsertMax:
				value = max(value, v)
			}
			switch {
			case statuses[leader] == structures.Pending:
				result[i].status = structures.Pending
			case lanes[i].kind == structures.InsertUnique:
				result[i].status = structures.Found
			default:
				result[i].status = structures.Assigned
			}
		}
		result[leader].value = value
	}
	return result
}

func TestCombine(t *testing.T) {
	t.Run("k32v32", func(t *testing.T) { testCombine[uint32](t, "test/combine.k32v32", 0) })
	t.Run("k64v64", func(t *testing.T) {
		testCombine[uint64](t, "test/combine.k64v64", 0)  // keys that differ in their low words
		testCombine[uint64](t, "test/combine.k64v64", 32) // and in their high ones
	})
}

func testCombine[N number](t *testing.T, module string, shift int) {
	r := newRig(t)
	k := kernel[combinePush](t, r, module, nil)
	rapid.Check(t, func(t *rapid.T) {
		defer r.release()
		const n = 1024
		rnd := random(rapid.Uint64().Draw(t, "seed"))
		keys := rapid.SampledFrom([]uint32{1, 2, 4, 10, 1000}).Draw(t, "keys")
		kinds := rapid.SampledFrom([]uint32{1, 3, uint32(structures.CountAll)}).Draw(t, "kinds")
		enabled := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "enabled")
		lanes, statuses := make([]operation[N], n), make([]structures.Status, n)
		words, statusWords, pairs := make([]uint32, 2*n), make([]uint32, n), make([]N, 2*n)
		first := rnd.Uint32N(uint32(structures.CountAll))
		for i := range lanes {
			o := operation[N]{structures.Kind(1 + (first+rnd.Uint32N(kinds))%uint32(structures.CountAll)),
				N(rnd.Uint32N(keys)) << shift, someNumber[N](rnd), rnd.Float64() < enabled}
			on := uint32(0)
			if o.enabled {
				on = 1
			}
			copy(words[2*i:], []uint32{uint32(o.kind), on})
			copy(pairs[2*i:], []N{o.key, o.value})
			lanes[i], statuses[i] = o, structures.Status(rnd.Uint32N(uint32(structures.Absent)+1))
			statusWords[i] = uint32(statuses[i])
		}
		answers, values := room[uint32](r, 4*n), room[N](r, n)
		run(r, k, n, combinePush{put(r, words).Address(), put(r, pairs).Address(), put(r, statusWords).Address(),
			answers.Address(), values.Address(), n})
		out, outValues := get(r, answers), get(r, values)
		size := r.d.SubgroupSize()
		for base := 0; base < n; base += size {
			for lane, want := range combine(lanes[base:base+size], statuses[base:base+size]) {
				q := out[4*(base+lane):][:4]
				got := combined[N]{q[0] == 1, int(q[1]), outValues[base+lane], structures.Status(q[2])}
				require.Equal(t, want, got, "lane %d of %+v", lane, lanes[base:base+size])
			}
		}
	})
}

// someNumber has words at the edges half of the time.
func someNumber[N number](rnd *rand.Rand) N {
	return N(uint64(interesting(rnd)) | uint64(interesting(rnd))<<32)
}
