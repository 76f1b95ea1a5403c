package bench

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vkds/vkds/vk"
)

// Common are the options of every benchmark.
type Common struct {
	Repeat int           // measured runs; 0: 5
	WarmUp time.Duration // of the same work, right before the measured runs; 0: 0.5 s (an idle GPU runs at a low clock), on a CPU device one run
	Seed   uint32        // of keys and values; 0: a random one
	Budget time.Duration // no measurement is begun after so long; 0: no limit

	// Progress, if not nil, is told what is measured next, and how many of the measurements are done.
	Progress func(done, total int, what string)
}

// OptionError says which option can't be.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("bench: option %s: %s", e.Option, e.Reason) }

// WrongError says that an operation gave a wrong result, so that its time means nothing.
type WrongError struct{ Op, Reason string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("bench: %s: wrong result: %s", e.Op, e.Reason)
}

const (
	defaultRepeat = 5
	defaultWarmUp = 500 * time.Millisecond
	defaultSize   = 1 << 20
	minSize       = 64
	maxSize       = 1 << 30 // the mixes take keys of indices up to three times as many
)

func (o *Common) complete(d *vk.Device) error {
	if o.Repeat < 0 || o.WarmUp < 0 || o.Budget < 0 {
		return &OptionError{"Repeat, WarmUp, Budget", "negative"}
	}
	if o.Repeat == 0 {
		o.Repeat = defaultRepeat
	}
	if o.WarmUp == 0 && d.Info().Type != vk.CPU {
		o.WarmUp = defaultWarmUp
	}
	for o.Seed == 0 {
		o.Seed = rand.Uint32()
	}
	if !d.Has(vk.Timestamps) {
		return &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	return nil
}

// completeSizes checks the sizes of an option, of which nil means the default.
func completeSizes(option string, sizes []int, standard int) ([]int, error) {
	if len(sizes) == 0 {
		sizes = []int{standard}
	}
	for _, n := range sizes {
		if n < minSize || n > maxSize {
			return nil, &OptionError{option, fmt.Sprintf("%d: %d to %d", n, minSize, maxSize)}
		}
	}
	return sizes, nil
}
