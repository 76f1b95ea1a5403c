package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// heater keeps a GPU at its full clock where a benchmark has to prepare each run: in the gaps that this leaves, an H200
// falls to a clock at which the run takes more than twice as long.
type heater struct {
	p       *primitives.Primitives
	words   *vk.Buffer[uint32]
	scratch *vk.Buffer[byte]
}

const (
	heatWords = 1 << 24
	heatTime  = 300 * time.Millisecond
)

func newHeater(d *vk.Device) (*heater, error) {
	h := &heater{p: primitives.New(d, primitives.Options{})}
	var err error
	if h.words, err = vk.NewBuffer[uint32](d, heatWords); err == nil {
		h.scratch, err = vk.NewBuffer[byte](d, h.p.ScanScratch(heatWords, structures.Bits32))
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// run has the device work for a while.
func (h *heater) run(ctx context.Context, s *vk.Stream) error {
	for start := time.Now(); time.Since(start) < heatTime; {
		for range 16 {
			err := h.p.Scan(s, primitives.ScanArgs{
				In: h.words.Address(), Out: h.words.Address(), Length: primitives.Length{N: heatWords},
				Scratch: h.scratch.Address(),
			})
			if err != nil {
				return err
			}
		}
		if err := s.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *heater) close() {
	if h.words != nil {
		h.words.Free()
	}
	if h.scratch != nil {
		h.scratch.Free()
	}
	h.p.Close()
}
