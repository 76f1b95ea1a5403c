package vk

import (
	"log/slog"
	"os"
)

// Log returns the logger of Options, or one that discards everything at no cost. Packages that use vk log to it, too.
// Each record has the attribute device, the device's name. These are the records with their other attributes:
//
//	Debug  kernel made                 kernel, workgroup, subgroup, duration
//	Debug  device closed
//	Info   device opened               type, driver, chosen_by (option, VKDS_DEVICE, preference, program), subgroup,
//	                                   features, bytes
//	Info   pool grown                  slabs, slabs_before, bytes, duration
//	Info   rehashed                    buckets, buckets_before, duration
//	Info   runs grown                  bytes, bytes_before: of an LSM or a sorted array
//	Info   cleaned up                  pairs, pairs_before, duration: of an LSM
//	Info   compacted                   pairs, nodes, nodes_before, duration: of a tree
//	Info   mended                      orphans (nodes without a parent before), nodes: of a tree
//	Debug  flushed                     buckets, duration, whole: of a hash table
//	Info   batch retried               pending, stuck (the last attempt did no operation)
//	Warn   device lost                 call
//	Warn   pipeline cache not written  err
//	Warn   validation                  id, text, not device; level Error if a rule of Vulkan was broken
func (d *Device) Log() *slog.Logger {
	if !d.made() {
		return logFor(nil, Info{})
	}
	return d.log
}

func logFor(l *slog.Logger, i Info) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.With("device", i.Name)
}

// chosenBy returns what determined the choice of the device, for the log.
func chosenBy(option string) string {
	switch {
	case option != "":
		return "option"
	case os.Getenv("VKDS_DEVICE") != "":
		return "VKDS_DEVICE"
	}
	return "preference"
}
