package vk

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
)

// Tuning says how kernels divide their work on a device, by the name of each choice. Choices change the speed alone.
// A choice that is absent, or that the device can't take, is the one that measured best on the devices that were tried
// (docs/platforms.md has them). `vkds tune` finds the best ones for a device.
type Tuning map[string]int

// subgroupChoice is the subgroup size of kernels, if the device has several.
const subgroupChoice = "subgroup"

// tuned is the file with the Tuning of a device and a version of its driver.
type tuned struct {
	Device, Driver string // when it was measured; for those who read it
	Choices        Tuning
}

// tuningFile returns the file with the Tuning of a device, "" if nothing is to be kept. Another version of the driver
// has another file, because its compiler may favor other choices.
func (d *Device) tuningFile() string {
	if d.folder == "" {
		return ""
	}
	about := &d.about
	// The number alone won't do: lavapipe's is 1 in all versions.
	driver := fmt.Appendf(nil, "%x %s %s", about.DriverVersion, about.Driver, about.DriverInfo)
	return filepath.Join(d.folder, fmt.Sprintf("tuning-%04x-%04x-%08x.json", about.Vendor, about.Device,
		crc32.ChecksumIEEE(driver)))
}

// loadTuning reads the choices of a device, unless there are options. A file that can't be read counts as empty, as
// one of the pipeline cache does.
func (d *Device) loadTuning(o Tuning) {
	if d.tuning = maps.Clone(o); o != nil {
		return
	}
	if os.Getenv("VKDS_TUNING") == "none" {
		return
	}
	text, err := os.ReadFile(d.tuningFile())
	if err != nil {
		return
	}
	var file tuned
	if err := json.Unmarshal(text, &file); err != nil {
		d.log.Warn("tuning not read", "file", d.tuningFile(), "err", err)
		return
	}
	d.tuning = file.Choices
}

// Tuning returns the choices that differ from those that measured best elsewhere.
func (d *Device) Tuning() Tuning {
	if d == nil {
		return nil
	}
	return maps.Clone(d.tuning)
}

// SaveTuning keeps choices for all programs that open this device with the same CacheDir and the same version of the
// driver, and returns the file. No choices: it removes the file. The open Device keeps those that it has. Errors:
// *OptionError if CacheDir is "none", ErrNotOpen, and those of the file system.
func (d *Device) SaveTuning(t Tuning) (file string, err error) {
	if !d.made() {
		return "", ErrNotOpen
	}
	if file = d.tuningFile(); file == "" {
		return "", &OptionError{"CacheDir", "none: there is no folder for the tuning"}
	}
	if len(t) == 0 {
		if err = os.Remove(file); os.IsNotExist(err) {
			err = nil
		}
		return file, err
	}
	text, err := json.MarshalIndent(tuned{d.info.Name, d.info.Driver, t}, "", " ")
	if err != nil {
		return file, err
	}
	return file, replaceFile(file, append(text, '\n'))
}

const vendorIntel = 0x8086

// bestSubgroup returns the subgroup size of a device without a Tuning. A hardware thread of Intel's GPUs has 4 KiB of
// registers, in newer ones 8, for all lanes of a subgroup (Intel's GPU optimization guide, "Registers and
// Performance"). With its own 32 lanes, a kernel of more than 32 values would keep the others in memory.
func bestSubgroup(i Info) int {
	const lanes = 16
	if i.VendorID == vendorIntel && i.Type != CPU && i.Has(SubgroupSizes) && i.MinSubgroup <= lanes &&
		lanes <= i.MaxSubgroup {
		return lanes
	}
	return i.SubgroupSize
}
