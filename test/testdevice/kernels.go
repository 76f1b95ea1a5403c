package testdevice

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/vkds/vkds/vk"
)

// Kernels are those that a device was told to make: a handler of its log. Several goroutines may use one.
type Kernels struct {
	slog.Handler
	mu  sync.Mutex
	all []string
}

// OpenNew opens a device for one test, as Open does, whose kernels are all new, and tells which ones are made.
func OpenNew(t testing.TB) (*vk.Device, *Kernels) {
	k := &Kernels{}
	return Open(t, vk.Options{Logger: slog.New(k)}), k
}

// Take returns the modules of the kernels made since the last time, in order; one that was made with several constants
// is there as often.
func (k *Kernels) Take() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.all
	k.all = nil
	return all
}

func (k *Kernels) Enabled(context.Context, slog.Level) bool { return true }
func (k *Kernels) WithAttrs([]slog.Attr) slog.Handler       { return k }

func (k *Kernels) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "kernel made" {
		k.mu.Lock()
		defer k.mu.Unlock()
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "kernel" {
				k.all = append(k.all, a.Value.String())
			}
			return true
		})
	}
	return nil
}

// BothForms says whether tests have kernels compiled for pools of several super blocks beside those of one: on a CPU,
// where that takes long, at one subgroup size alone.
func BothForms(d *vk.Device) bool { return d.Info().Type != vk.CPU || d.SubgroupSize() == 8 }
