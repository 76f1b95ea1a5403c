package vk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vkds/vkds/vk/internal/native"
)

// pipelineCache keeps compiled kernels between runs of a program, in one file for each device and driver. It only saves
// time: a file that is missing, damaged, or of another driver counts as empty, and failing to write a file is not an
// error.
type pipelineCache struct {
	handle native.Cache
	path   string            // empty: the cache is not saved
	loaded [sha256.Size]byte // checksum of the data in the file
}

// The file has a line of text, the SHA-256 of the rest, and the rest, which is the driver's data. We check the sum
// because drivers do not check their data.
const cacheMagic = "vkds pipeline cache 1\n"

// cacheFolder returns the folder that Options.CacheDir means, "" if there is none.
func cacheFolder(option string) string {
	switch option {
	case "none":
		return ""
	case "":
		if user, err := os.UserCacheDir(); err == nil {
			return filepath.Join(user, "vkds")
		}
	}
	return option
}

func (c *pipelineCache) init(d *Device) error {
	var data []byte
	if d.folder != "" {
		c.path = filepath.Join(d.folder, fmt.Sprintf("pipelines-%04x-%04x-%x.bin", d.about.Vendor, d.about.Device,
			d.about.CacheUUID))
		data = readCache(c.path, d.about.Vendor, d.about.Device, d.about.CacheUUID)
	}
	c.loaded = sha256.Sum256(data)
	var result native.Result
	c.handle, result = d.native.NewCache(data)
	return d.check("vkCreatePipelineCache", result)
}

// readCache returns the driver's data from a cache file, or nil if there is no file that this driver can read.
func readCache(path string, vendor, device uint32, uuid [16]byte) []byte {
	file, err := os.ReadFile(path)
	if err != nil || len(file) < len(cacheMagic)+sha256.Size || string(file[:len(cacheMagic)]) != cacheMagic {
		return nil
	}
	sum, data := file[len(cacheMagic):][:sha256.Size], file[len(cacheMagic)+sha256.Size:]
	if want := sha256.Sum256(data); !bytes.Equal(sum, want[:]) {
		return nil
	}
	// The fields of VkPipelineCacheHeaderVersionOne are size, version (1), vendor, device and UUID.
	if len(data) < 32 || binary.LittleEndian.Uint32(data[4:]) != 1 || binary.LittleEndian.Uint32(data[8:]) != vendor ||
		binary.LittleEndian.Uint32(data[12:]) != device || !bytes.Equal(data[16:32], uuid[:]) {
		return nil
	}
	return data
}

// close saves the cache if it has changed, and destroys it.
func (c *pipelineCache) close(d *Device) {
	if c.handle == 0 {
		return
	}
	if c.path != "" && !d.lost.Load() {
		if data := d.native.CacheData(c.handle); len(data) > 0 && sha256.Sum256(data) != c.loaded {
			sum := sha256.Sum256(data)
			if err := replaceFile(c.path, []byte(cacheMagic), sum[:], data); err != nil {
				d.log.Warn("pipeline cache not written", "err", err)
			}
		}
	}
	d.native.DestroyCache(c.handle)
	c.handle = 0
}

// replaceFile replaces a file atomically: a process that reads or writes it at the same time sees the old file or a new
// one.
func replaceFile(path string, parts ...[]byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(bytes.Join(parts, nil))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
