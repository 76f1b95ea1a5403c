package vk

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vkds/vkds/vk/internal/native"
)

// DeviceType is the kind of a device.
type DeviceType string

const (
	Discrete   DeviceType = "discrete"
	Integrated DeviceType = "integrated"
	Virtual    DeviceType = "virtual"
	CPU        DeviceType = "cpu"
	Other      DeviceType = "other"
)

// preference is the order of types in List, and the order in which Open prefers them.
var preference = []DeviceType{Discrete, Integrated, Virtual, CPU, Other}

var deviceTypes = map[uint32]DeviceType{1: Integrated, 2: Discrete, 3: Virtual, 4: CPU}

// Info describes a device.
type Info struct {
	Index         int        // index in List, for Options.Device
	Name          string     // the device's name, from the driver
	Type          DeviceType //
	Driver        string     // the driver's name, and its version as text
	DriverVersion string     // the driver's version number, in hexadecimal
	APIVersion    string     // the newest version of Vulkan that the device supports
	VendorID      uint32
	DeviceID      uint32
	UUID          [16]byte // identifies the device, in every process

	SubgroupSize int // lanes of a subgroup, if no other size is requested
	MinSubgroup  int // the smallest size that can be requested
	MaxSubgroup  int // the largest size that can be requested

	HeapBytes          uint64 // size of the largest device-local heap
	MaxBufferBytes     uint64 // size of the largest buffer
	MaxAllocationBytes uint64 // allocations up to this size are supported; larger ones may succeed
	MaxWorkgroup       int    // the most invocations in a workgroup
	MaxGroups          [2]int // the most workgroups of a dispatch, in x and y
	SharedBytes        int    // shared memory of a workgroup
	PushConstantBytes  int    // size of the largest push-constant block
	Queues             int    // the queues over which streams are distributed

	Features []Feature // the optional features that the device has
	Missing  []string  // required features that the device lacks; if there are any, Open returns an error
}

// Has reports whether the device has an optional feature.
func (i Info) Has(f Feature) bool { return slices.Contains(i.Features, f) }

// Lacks returns the optional features that the device does not have. vkds works without them.
func (i Info) Lacks() []Feature {
	var all []Feature
	for _, f := range []Feature{Int64, Int64Atomics, MemoryBudget, ExecutableStatistics, Timestamps, SubgroupSizes} {
		if !i.Has(f) {
			all = append(all, f)
		}
	}
	return all
}

// String describes the device in one line.
func (i Info) String() string { return fmt.Sprintf("%d: %s (%s)", i.Index, i.Name, i.Type) }

// candidate is a physical device of an instance.
type candidate struct {
	info     Info
	physical native.PhysicalDevice
	about    native.Description
}

// List describes all physical devices. Devices that vkds can use come first; each group is ordered by type: discrete,
// integrated, virtual, CPU, other. If the drivers find no device, the list is empty.
//
// Errors: *NoDriverError, and ErrNoRoom if the process cannot get enough memory, as of Open.
func List() ([]Info, error) {
	in, err := newInstance(nil)
	if err != nil {
		return nil, err
	}
	defer in.Destroy()
	all, err := candidates(in)
	var list []Info
	for _, c := range all {
		list = append(list, c.info)
	}
	return list, err
}

func candidates(in native.Instance) ([]candidate, error) {
	physical, result := in.PhysicalDevices()
	// If a driver cannot initialize here because it finds no card, the other drivers are still used.
	if result < 0 && result != native.ErrorInitializationFailed && result != native.ErrorIncompatibleDriver {
		return nil, beginning("vkEnumeratePhysicalDevices", &CallError{"vkEnumeratePhysicalDevices", int32(result)})
	}
	if len(physical) == 0 && cramped() { // otherwise an empty list is not an error
		return nil, beginning("vkEnumeratePhysicalDevices", &NoDeviceError{})
	}
	var all []candidate
	for _, p := range physical {
		about := in.Describe(p)
		if alterDescription != nil {
			alterDescription(&about)
		}
		all = append(all, candidate{describe(about), p, about})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(min(len(a.info.Missing), 1), min(len(b.info.Missing), 1)),
			cmp.Compare(slices.Index(preference, a.info.Type), slices.Index(preference, b.info.Type)))
	})
	for i := range all {
		all[i].info.Index = i
	}
	return all, nil
}

// alterDescription lets a test remove abilities from a device.
var alterDescription func(*native.Description)

func describe(d native.Description) Info {
	info := Info{
		Name: d.Name, Type: Other,
		Driver:        strings.TrimSpace(d.Driver + " " + d.DriverInfo),
		DriverVersion: fmt.Sprintf("%#x", d.DriverVersion), APIVersion: version(d.APIVersion),
		VendorID: d.Vendor, DeviceID: d.Device, UUID: d.DeviceUUID,
		SubgroupSize: int(d.Subgroup), MinSubgroup: int(d.MinSubgroup), MaxSubgroup: int(d.MaxSubgroup),
		MaxBufferBytes: d.MaxBuffer, MaxAllocationBytes: d.MaxAllocation,
		MaxWorkgroup: int(min(d.MaxInvocations, d.MaxWorkgroup)),
		MaxGroups:    [2]int{int(d.MaxGroups[0]), int(d.MaxGroups[1])},
		SharedBytes:  int(d.SharedBytes), PushConstantBytes: int(d.PushConstantBytes),
		Missing: missing(d),
	}
	if t, ok := deviceTypes[d.Type]; ok {
		info.Type = t
	}
	for _, h := range d.Heaps {
		if h.Flags&native.HeapDeviceLocal != 0 {
			info.HeapBytes = max(info.HeapBytes, h.Bytes)
		}
	}
	for _, o := range optional {
		if d.Features&o.bit != 0 {
			info.Features = append(info.Features, o.feature)
		}
	}
	if f, ok := computeFamily(d.Families); ok {
		info.Queues = int(d.Families[f].Queues)
		if d.Families[f].TimestampBits > 0 {
			info.Features = append(info.Features, Timestamps)
		}
	}
	if d.MinSubgroup < d.MaxSubgroup && d.RequiredSizeStages&native.StageCompute != 0 {
		info.Features = append(info.Features, SubgroupSizes)
	}
	return info
}

// choose returns the device that was asked for by index, by type, or by part of its name in upper or lower case. A
// number of one or two digits is always an index and never part of a name, so "5" does not match "LLVM 15". "gpu" is
// any type but CPU. If nothing was asked for, $VKDS_DEVICE is used. If that is empty, too, choose returns the first
// device.
func choose(all []candidate, asked string) (candidate, error) {
	if asked == "" {
		asked = os.Getenv("VKDS_DEVICE")
	}
	asked = strings.TrimSpace(asked)
	found := -1
	if index, err := strconv.Atoi(asked); err == nil && len(asked) <= 2 {
		if index >= 0 && index < len(all) {
			found = index
		}
	} else if asked == "" {
		found = min(0, len(all)-1)
	} else if strings.EqualFold(asked, "gpu") {
		found = slices.IndexFunc(all, func(c candidate) bool { return c.info.Type != CPU })
	} else if t := DeviceType(strings.ToLower(asked)); slices.Contains(preference, t) {
		found = slices.IndexFunc(all, func(c candidate) bool { return c.info.Type == t })
	} else {
		found = slices.IndexFunc(all, func(c candidate) bool {
			return strings.Contains(strings.ToLower(c.info.Name), strings.ToLower(asked))
		})
	}
	if found < 0 {
		e := &NoDeviceError{Asked: asked}
		for _, c := range all {
			e.Have = append(e.Have, c.info.String())
		}
		return candidate{}, e
	}
	c := all[found]
	if len(c.info.Missing) > 0 {
		return candidate{}, &MissingFeatureError{c.info.Name, c.info.Missing}
	}
	return c, nil
}
