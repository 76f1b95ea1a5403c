package linearizability

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/slabcheck"
)

// Three operations on each of many keys, at the same time but in three workgroups: few enough to try all orders, and
// many enough to meet at every point of each other.
func TestDuels(t *testing.T) {
	const workgroup, groups, duelists = 128, 16, 3
	const keys = workgroup * groups
	everything := []structures.Kind{}
	for k := structures.Insert; k <= structures.CountAll; k++ {
		everything = append(everything, k)
	}
	eachTable(t, slabhash.Options{Buckets: keys / 8}, func(r *rig) {
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 2))
			require.NoError(r, r.table.Clear(r.Context()))
			kinds := everything
			if seed%2 == 1 {
				// Only those that change a value in place, and what looks at it.
				kinds = []structures.Kind{structures.Insert, structures.InsertAdd, structures.InsertMin,
					structures.InsertMax, structures.Find, structures.Delete}
			}
			history := make([][]operation, keys)
			outcomes := make([][]outcome, keys)
			before := make([]values, keys)
			// Every third key is absent, every third has one pair, every third has two.
			var first []operation
			for key := range keys {
				for range key % 3 {
					first = append(first,
						operation{structures.InsertDuplicate, r.key(uint32(key)), r.value(uint32(10 + key))})
				}
			}
			b := r.batch(first)
			r.dispatch(structures.Mixed, b)
			r.free(b)
			for key := range keys {
				for range key % 3 {
					v := r.value(uint32(10 + key))
					if r.set {
						v = 0
					}
					before[key] = before[key].push(v)
				}
			}
			var operations []operation
			for group := range groups {
				for range duelists {
					for lane := range workgroup {
						key := r.key(uint32(group*workgroup + lane))
						operations = append(operations,
							operation{kinds[rng.IntN(len(kinds))], key, r.value(rng.Uint32N(1 << 12))})
					}
				}
			}
			b = r.batch(operations)
			r.dispatch(structures.Mixed, b)
			for i, out := range r.outcomes(b) {
				key := i/(duelists*workgroup)*workgroup + i%workgroup
				ins, outs := moments(operations[i], out)
				history[key] = append(history[key], ins...)
				outcomes[key] = append(outcomes[key], outs...)
			}
			r.free(b)
			after, number := make([]values, keys), map[uint64]int{}
			for key := range keys {
				number[r.key(uint32(key))] = key
			}
			for _, p := range slabcheck.Check(r, r.d, slabcheck.Expect{Duplicates: true}, r.table)[0] {
				key := number[p.Key]
				after[key] = after[key].push(p.Value)
			}
			for key := range keys {
				if !ordered(r.form, before[key], after[key], history[key], outcomes[key]) {
					r.Fatalf("seed %d, key %d had %v, has %v, and no sequential order of the operations has these "+
						"outcomes:\n%v\n%v",
						seed, key, before[key], after[key], history[key], outcomes[key])
				}
			}
		})
	})
}

// ordered says whether some order of the operations leads from a state to another with these outcomes.
func ordered(f form, from, to values, history []operation, outcomes []outcome) bool {
	if len(history) == 0 {
		return from == to
	}
	for i := range history {
		ok, next := step(f, from, history[i], outcomes[i])
		if !ok {
			continue
		}
		rest := append(append([]operation{}, history[:i]...), history[i+1:]...)
		restOut := append(append([]outcome{}, outcomes[:i]...), outcomes[i+1:]...)
		if ordered(f, next, to, rest, restOut) {
			return true
		}
	}
	return false
}
