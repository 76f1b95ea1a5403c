package bench

import (
	"context"
	"math"
	"math/bits"

	"github.com/vkds/vkds/internal/tool/bench/kernels"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/vk"
)

// bloom has the methods of a filter of either width.
type bloom interface {
	On(*vk.Stream) filter.OnStream
	Inspect() filter.Inspection
	ExpectedFalsePositives(keys int) float64
	Clear(context.Context) error
	Close() error
}

// onFilter returns a cell of a filter for n keys, which must be inserted, beside a batch of them.
func onFilter(cell func(s *session, f bloom, keys structures.DeviceBatch)) func(*session) {
	return func(s *session) {
		f := open[bloom](s, filter.Options{Capacity: s.n}, filter.New[uint32], filter.New[uint64])
		defer f.Close()
		defer s.ending()
		cell(s, f, structures.DeviceBatch{Count: s.n, Keys: s.elements("keys "+s.keys.order, s.keys.key)})
	}
}

func filterInsert(s *session, f bloom, keys structures.DeviceBatch) {
	s.measure(s.measurement(s.n, s.n), task{
		prepare: func() { ok(f.Clear(s.ctx)) },
		record:  func() error { return f.On(s.stream).Insert(keys) },
		check: func() {
			ok(f.On(s.stream).Contains(structures.DeviceLookups{Count: s.n, Keys: keys.Keys, Found: s.status}))
			s.wait()
			s.checkFiltered(f, true)
		},
	})
}

// filterContains measures lookups of keys that are all there, or of which none is.
func filterContains(present bool) func(*session) {
	return onFilter(func(s *session, f bloom, keys structures.DeviceBatch) {
		ok(f.On(s.stream).Insert(keys))
		queries, _ := s.asked(func(i int) uint32 {
			if present {
				return s.query(i)
			}
			return s.keys.absent(s.order.at(i))
		})
		s.measure(s.measurement(s.n, s.n), task{
			record: func() error {
				return f.On(s.stream).Contains(structures.DeviceLookups{Count: s.n, Keys: queries, Found: s.status})
			},
			check: func() { s.checkFiltered(f, present) },
		})
	})
}

// checkFiltered checks the last answers: all n keys are found, or as many as a filter of n keys finds wrongly.
func (s *session) checkFiltered(f bloom, present bool) {
	ok(s.status.Download(s.ctx, 0, s.bytes[:s.n]))
	found := 0
	for _, byte := range s.bytes[:s.n] {
		found += int(byte)
	}
	s.checkAnswers(f, present, found)
}

// checkAnswers checks the number of keys that were found.
func (s *session) checkAnswers(f bloom, present bool, found int) {
	rate, share := f.ExpectedFalsePositives(s.n), float64(found)/float64(s.n)
	blocks := float64(must(f.Inspect().Stats(s.ctx)).Blocks)
	deviation := math.Sqrt(rate/float64(s.n) + rate/blocks) // at most
	switch {
	case present && found != s.n:
		s.fail("%d of %d keys are not there", s.n-found, s.n)
	case !present && math.Abs(share-rate) > 6*deviation:
		s.fail("%g of the absent keys are found, and %g are expected", share, rate)
	}
}

type readsPush struct {
	Blocks, Sums  uint64
	Within, Count uint32
}

// randomReads measures reads of blocks at random places in as much memory as the filter of n keys takes.
func randomReads(s *session, f bloom, _ structures.DeviceBatch) {
	blocks := uint32(must(f.Inspect().Stats(s.ctx)).Blocks)
	memory := s.words("blocks", int(blocks)*8, func(i int) uint32 { return scramble(uint32(i)) })
	size := s.d.SubgroupSize()
	groups := (s.n + size - 1) / size
	sums := s.room("sums", groups)
	k := must(vk.NewKernel[readsPush](s.d, kernels.Load("random_reads"), vk.KernelOptions{}))
	defer k.Free()
	defer s.ending()
	push := readsPush{memory.Address(), sums.Address(), blocks, uint32(s.n)}
	m := s.measurement(s.n, s.n)
	m.Bytes = 32 * uint64(s.n)
	s.measure(m, task{
		record: func() error {
			k.Dispatch(s.stream, (s.n+k.Workgroup()-1)/k.Workgroup(), push)
			return nil
		},
		check: func() {
			got := s.download(sums, groups)
			each(groups, func(g int) {
				for i := g * size; i < min((g+1)*size, s.n); i++ {
					at, _ := bits.Mul32(mix(uint32(i)), blocks)
					for w := range uint32(8) {
						got[g] ^= scramble(8*at + w)
					}
				}
				if got[g] != 0 {
					s.fail("subgroup %d has read other words", g)
				}
			})
		},
	})
}

// mix is hash_mix of shaders/include/hash.glsl.
func mix(x uint32) uint32 {
	x = (x ^ x>>16) * 0x21f0aaad
	x = (x ^ x>>15) * 0xd35a2d97
	return x ^ x>>15
}
