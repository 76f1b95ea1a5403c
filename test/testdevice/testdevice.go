// Package testdevice opens the device that a test runs on.
//
// The environment chooses: VKDS_DEVICE which device, the Vulkan loader's and the drivers' own variables which driver
// and subgroup size, and VKDS_VALIDATION=1 turns the validation layer on.
package testdevice

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// Open opens a device for one test. At most one vk.Options may be given; the pipeline cache stays off the disk unless
// they name a folder. When the test ends the device is closed, and the test fails if device memory was still
// allocated by then, or if validation had anything to say. A machine with no device fails the test: no test is
// skipped for it.
func Open(t testing.TB, options ...vk.Options) *vk.Device {
	t.Helper()
	var o vk.Options
	require.LessOrEqual(t, len(options), 1, "one vk.Options at most")
	if len(options) == 1 {
		o = options[0]
	}
	if o.CacheDir == "" {
		o.CacheDir = "none"
	}
	if os.Getenv("VKDS_VALIDATION") == "1" {
		o.Validation = true
	}
	if o.Validation && o.OnMessage == nil {
		o.OnMessage = func(m vk.Message) {
			if m.ID == "Loader Message" {
				t.Log(m) // which layers the loader was told to leave out: the environment's business
				return
			}
			t.Error("validation:", m)
		}
	}
	d, err := vk.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if used, _ := d.Memory(); used != 0 {
			t.Errorf("%d bytes of device memory were not freed", used)
		}
		if err := d.Close(); err != nil {
			t.Errorf("closing the device: %v", err)
		}
	})
	return d
}
