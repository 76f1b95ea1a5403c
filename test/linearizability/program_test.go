package linearizability

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
)

type programPush struct {
	Hash       slabhash.Device
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
func programKey(i int) uint32 { return uint32(i) * 5 }

// runPrograms has each invocation of a dispatch do several operations in turn, and returns them with what they
// answered, and a time after all of them. Their times are tickets that the invocations take before and after each.
// dispatch has the work done on quads of (kind, key, value, 0), quads of (status, value, ticket, ticket) and the
// counter of tickets.
func (r *rig) runPrograms(rng *rand.Rand, kinds []structures.Kind,
	dispatch func(operations, outcomes, ticket uint64)) (history []porcupine.Operation, end int64) {
	// Programs on the same keys are far from each other in the dispatch, and so in other workgroups.
	operations := make([]operation, programs*length)
	words := make([]uint32, 4*len(operations))
	for i := range operations {
		program := i / length
		operations[i] = random(rng, kinds, programKey(program%(programs/2)*someKeys/(programs/2)+rng.IntN(3)))
		if rng.IntN(10) == 0 {
			operations[i].kind = structures.Mixed // a pause
		}
		copy(words[4*i:], []uint32{uint32(operations[i].kind), operations[i].key, operations[i].value, 0})
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
		w := words[4*i:]
		got := outcome{status: structures.Status(w[0])}
		require.NotEqual(r, structures.Pending, got.status, "the pool suffices")
		if o.kind > structures.Delete && got.status == structures.Found && !r.set {
			got.value = uint64(w[1])
		}
		if o.kind.Ordered() { // whether the key itself is there
			o.kind = structures.Find
		}
		history = append(history, porcupine.Operation{Input: o, Output: got, Call: int64(w[2]), Return: int64(w[3])})
	}
	return history, end
}

// Each invocation does several operations in turn, in one dispatch; the tickets that it took before and after each say
// which of the others' operations came wholly before or after.
func TestPrograms(t *testing.T) {
	for mix, kinds := range mixes {
		t.Run(mix, func(t *testing.T) {
			each(t, 4, func(r *rig) {
				module := "k32v32a64"
				if r.set {
					module = "k32"
				} else if !r.d.Has(vk.Int64Atomics) {
					module = "k32v32a32"
				}
				m, err := shaders.Load("test/slab_hash_program." + module)
				require.NoError(r, err)
				constants := r.table.Constants()
				constants["TILE"] = uint32(r.width)
				k, err := vk.NewKernel[programPush](r.d, m, vk.KernelOptions{Constants: constants})
				require.NoError(r, err)
				defer k.Free()
				s, err := r.d.NewStream()
				require.NoError(r, err)
				defer s.Close()
				rounds(func(seed uint64) {
					rng := rand.New(rand.NewPCG(seed, 3))
					require.NoError(r, r.table.Clear(r.Context()))
					history, end := r.runPrograms(rng, kinds, func(operations, outcomes, ticket uint64) {
						k.Dispatch(s, (programs+k.Workgroup()-1)/k.Workgroup(), programPush{
							r.table.Device(), operations, outcomes, ticket, programs, length, mostRounds,
						})
						require.NoError(r, s.Wait(r.Context()))
					})
					held := map[uint32]uint32{}
					for _, p := range slabcheck.Check(r, r.d, slabcheck.Expect{}, r.table)[0] {
						held[p.Key] = p.Value
					}
					for i := range someKeys + 3 {
						o := outcome{status: structures.Absent}
						if v, ok := held[programKey(i)]; ok {
							o = outcome{structures.Found, uint64(v)}
							if r.set {
								o.value = 0
							}
						}
						history = append(history, porcupine.Operation{Input: operation{structures.Find, programKey(i),
							0}, Output: o, Call: end, Return: end + 1})
					}
					check(r.T, r.set, history)
				})
			})
		})
	}
}
