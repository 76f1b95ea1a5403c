package linearizability

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
)

type programPush struct {
	Hash       slabhash.Description
	Operations uint64
	Outcomes   uint64
	Ticket     uint64
	Programs   uint32
	Length     uint32
	Rounds     uint32
}

const (
	programs = 256 // invocations
	length   = 6   // operations of each
	someKeys = 96  // and two more

	// mostRounds bounds an operation: none may be given up. Without 64-bit atomics one waits for what another has
	// begun, and on a busy machine the thread that is to end it may be off its processor for a tenth of a second.
	mostRounds = 1 << 22
)

// programKey is a key that programs work on.
func (r *rig) programKey(i int) uint64 {
	if r.near != nil {
		return r.near[i]
	}
	return r.key(uint32(i) * 5)
}

// words are an operation as shaders/test/program.glsl has it.
func (o operation) words() []uint32 {
	return append([]uint32{uint32(o.kind), 0, 0, 0}, numbers.Words([]uint64{o.key, o.value})...)
}

// module is the variant of a kernel that changes tables of this form on the device.
func (r *rig) module() string {
	bits, atomics := "32", "a32"
	if r.wide {
		bits = "64"
	}
	if r.d.Has(vk.Int64Atomics) {
		atomics = "a64"
	}
	switch {
	case !r.set:
		return "k" + bits + "v" + bits + atomics
	case r.wide:
		return "k64" + atomics
	}
	return "k32"
}

// runPrograms has each invocation of a dispatch do several operations in turn, and returns them with what they
// answered, and a time after all of them. Their times are tickets that the invocations take before and after each.
// dispatch has the work done on operations and outcomes as shaders/test/program.glsl has them, and the counter of
// tickets.
func (r *rig) runPrograms(rng *rand.Rand, kinds []structures.Kind,
	dispatch func(operations, outcomes, ticket uint64)) (history []porcupine.Operation, end int64) {
	// Programs on the same keys are far from each other in the dispatch, and so in other workgroups.
	operations := make([]operation, programs*length)
	words := make([]uint32, 0, 8*len(operations))
	duplicates := slices.Contains(kinds, structures.InsertDuplicate)
	for i := range operations {
		program := i / length
		operations[i] = r.random(rng, kinds, r.programKey(program%(programs/2)*someKeys/(programs/2)+rng.IntN(3)))
		if duplicates {
			// Else a state is any order of the values of a key, and some histories take minutes to check.
			operations[i].value = []uint64{0, 1, r.ones()}[rng.IntN(3)]
		}
		if rng.IntN(10) == 0 {
			operations[i].kind = structures.Mixed // a pause
		}
		words = append(words, operations[i].words()...)
	}
	in, out, ticket := put(r, words), put(r, make([]uint32, len(words))), put(r, []uint32{0})
	dispatch(in.Address(), out.Address(), ticket.Address())
	words = get(r, out)
	end = int64(get(r, ticket)[0])
	in.Free()
	out.Free()
	ticket.Free()
	for i, o := range operations {
		if o.kind == structures.Mixed {
			continue
		}
		w := words[8*i:]
		got := outcome{status: structures.Status(w[0])}
		require.NotEqual(r, structures.Pending, got.status, "the pool suffices")
		counts := o.kind == structures.DeleteAll || o.kind == structures.CountAll
		if counts || o.kind > structures.Delete && got.status == structures.Found && !r.set {
			got.value = numbers.From[uint64](w[4:6])[0] & r.ones()
		}
		if o.kind.Ordered() { // whether the key itself is there
			o.kind = structures.Find
		}
		history = append(history, porcupine.Operation{Input: o, Output: got, Call: int64(w[2]), Return: int64(w[3])})
	}
	return history, end
}

// holds is what a table holds of a key at last, as operations that see it: its first value, and the number of its
// pairs.
func (r *rig) holds(key uint64, values []uint64, end int64) []porcupine.Operation {
	first := outcome{status: structures.Absent}
	if len(values) != 0 {
		first.status = structures.Found
		if !r.set {
			first.value = values[0]
		}
	}
	return []porcupine.Operation{
		{Input: operation{structures.Find, key, 0}, Output: first, Call: end, Return: end + 1},
		{Input: operation{structures.DeleteAll, key, 0}, Output: outcome{value: uint64(len(values))},
			Call: end + 2, Return: end + 3},
	}
}

// Each invocation does several operations in turn, in one dispatch; the tickets that it took before and after each say
// which of the others' operations came wholly before or after.
func TestPrograms(t *testing.T) {
	mixes := maps.Clone(mixes)
	mixes["duplicates"] = []structures.Kind{structures.InsertDuplicate, structures.InsertDuplicate,
		structures.InsertDuplicate, structures.DeleteAll, structures.Delete, structures.Find}
	// There is a copy of most keys all the time, although each is deleted soon.
	mixes["copies"] = []structures.Kind{structures.InsertDuplicate, structures.InsertDuplicate, structures.Delete,
		structures.Find, structures.CountAll}
	for mix, kinds := range mixes {
		t.Run(mix, func(t *testing.T) { testPrograms(t, slabhash.Options{Buckets: 4}, kinds) })
		t.Run(mix+", shared slabs", func(t *testing.T) {
			testPrograms(t, slabhash.Options{Buckets: 64, Load: 1}, kinds)
		})
	}
}

func testPrograms(t *testing.T, o slabhash.Options, kinds []structures.Kind) {
	eachTable(t, o, func(r *rig) {
		if pass.Delayed() && r.near != nil && r.width == 1 {
			r.Skip("wide tiles have this protocol with delays; make stress has all widths")
		}
		m, err := kernels.Load("test/slab_hash_program." + r.module())
		require.NoError(r, err)
		constants := r.table.InShaders().Constants()
		constants["TILE"] = uint32(r.width)
		k, err := vk.NewKernel[programPush](r.d, m, vk.KernelOptions{Constants: constants})
		require.NoError(r, err)
		defer k.Free()
		s, err := r.d.NewStream()
		require.NoError(r, err)
		defer s.Close()
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 3))
			require.NoError(r, r.table.Clear(r.Context()))
			history, end := r.runPrograms(rng, kinds, func(operations, outcomes, ticket uint64) {
				k.Dispatch(s, (programs+k.Workgroup()-1)/k.Workgroup(), programPush{
					r.table.InShaders().Description(), operations, outcomes, ticket, programs, length,
					mostRounds,
				})
				require.NoError(r, s.Wait(r.Context()))
			})
			held := map[uint64][]uint64{}
			duplicates := slabcheck.Expect{Duplicates: slices.Contains(kinds, structures.InsertDuplicate)}
			for _, p := range slabcheck.Check(r, r.d, duplicates, r.table)[0] {
				held[p.Key] = append(held[p.Key], p.Value)
			}
			for i := range someKeys + 3 {
				history = append(history, r.holds(r.programKey(i), held[r.programKey(i)], end)...)
			}
			check(r.T, r.form, history)
		})
	})
}
