// Package testdevice opens the device that a test runs on.
//
// The environment chooses: VKDS_DEVICE which device, the Vulkan loader's and the drivers' own variables which driver
// and subgroup size, and VKDS_VALIDATION=1 turns the validation layer on.
package testdevice

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// shared are the devices of the tests that ask for nothing but to go without some features, by which ones: what was
// compiled for a device is kept, and some drivers compile for long. One test has a device at a time, with its subtests.
var shared = struct {
	mu  sync.Mutex
	all map[string]*sharedDevice
}{all: map[string]*sharedDevice{}}

type sharedDevice struct {
	d     *vk.Device
	users []testing.TB // a test, a subtest that opened it once more, and so on
}

// user is the test that is running, or nil.
func (s *sharedDevice) user() testing.TB {
	if len(s.users) == 0 {
		return nil
	}
	return s.users[len(s.users)-1]
}

// Open opens a device for one test. At most one vk.Options may be given; the pipeline cache stays off the disk unless
// they name a folder. With no options but Without, it may be the device that an earlier test had. When the test ends,
// it fails if device memory is still allocated, or if validation had anything to say. A machine with no device fails
// the test: no test is skipped for it.
func Open(t testing.TB, options ...vk.Options) *vk.Device {
	t.Helper()
	var o vk.Options
	require.LessOrEqual(t, len(options), 1, "one vk.Options at most")
	if len(options) == 1 {
		o = options[0]
	}
	rest := o
	if rest.Without = nil; !reflect.ValueOf(rest).IsZero() {
		return own(t, o)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	name := fmt.Sprint(o.Without)
	if plain := shared.all["[]"]; plain != nil && plain.d != nil && !slices.ContainsFunc(o.Without, plain.d.Has) {
		name = "[]" // goes without them itself
	}
	s := shared.all[name]
	if s == nil {
		s = &sharedDevice{}
		shared.all[name] = s
	}
	if user := s.user(); user != nil && !strings.HasPrefix(t.Name(), user.Name()+"/") {
		return own(t, o)
	}
	if s.d == nil {
		s.d = open(t, o, func(m vk.Message) {
			shared.mu.Lock()
			user := s.user()
			shared.mu.Unlock()
			if user != nil {
				report(user, m)
			}
		})
	}
	s.users = append(s.users, t)
	d := s.d
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if s.users = s.users[:len(s.users)-1]; len(s.users) != 0 {
			return // what it has left is still the outer test's to free
		}
		// A test that fails may leave anything behind, and one may have closed it.
		if used, _ := d.Memory(); used != 0 || t.Failed() || unusable(d) {
			s.d = nil
			closed(t, d, 0)
		}
	})
	return d
}

// OneProtocol says whether tests leave out the protocol without 64-bit atomics on this device, since it has these and
// other passes have the other protocol.
func OneProtocol(d *vk.Device) bool { return pass.OneProtocol() && d.Has(vk.Int64Atomics) }

// unusable says that nothing more can be done on a device: it is closed or lost.
func unusable(d *vk.Device) bool {
	s, err := d.NewStream()
	if err != nil {
		return true
	}
	return s.Close() != nil
}

// own opens a device that no other test gets.
func own(t testing.TB, o vk.Options) *vk.Device {
	t.Helper()
	d := open(t, o, func(m vk.Message) { report(t, m) })
	before, _ := d.Memory() // a buffer for events is the device's own
	t.Cleanup(func() { closed(t, d, before) })
	return d
}

func open(t testing.TB, o vk.Options, listener func(vk.Message)) *vk.Device {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = "none"
	}
	if os.Getenv("VKDS_VALIDATION") == "1" {
		o.Validation = true
	}
	if o.Validation && o.OnMessage == nil {
		o.OnMessage = listener
	}
	d, err := vk.Open(o)
	require.NoError(t, err)
	return d
}

func report(t testing.TB, m vk.Message) {
	if m.ID == "Loader Message" {
		t.Log(m) // which layers the loader was told to leave out: the environment's business
		return
	}
	t.Error("validation:", m)
}

// closed closes a device whose memory has to be free by now, but for what it took when it was opened.
func closed(t testing.TB, d *vk.Device, before uint64) {
	if used, _ := d.Memory(); used != before {
		t.Errorf("%d bytes of device memory were not freed", used-before)
	}
	if err := d.Close(); err != nil {
		t.Errorf("closing the device: %v", err)
	}
}
