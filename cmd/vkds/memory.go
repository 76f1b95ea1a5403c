package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// availableMemory returns how many bytes of memory programs can use now, as Linux says, or 4 GiB.
func availableMemory() uint64 {
	const otherwise = 4 << 30
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return otherwise
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "MemAvailable:"); is {
			text = strings.TrimSuffix(strings.TrimSpace(text), " kB")
			if n, err := strconv.ParseUint(text, 10, 50); err == nil {
				return n << 10
			}
		}
	}
	return otherwise
}

// addMemory adds --memory, which bounds the memory for some things. The default depends on the machine.
func (t *tables) addMemory(flags *pflag.FlagSet, what string) {
	flags.Var(&said{kind: "size", set: func(text string) (err error) {
		t.memory, err = bytesOf(text)
		return err
	}}, "memory", "keep "+what+" in this much memory, such as 500MB or 8GiB\n(default: half of what is available)")
}

var byteUnits = map[string]uint64{"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}

// bytesOf parses a number of bytes: 1000000, 500MB, 8GiB or 8G.
func bytesOf(text string) (uint64, error) {
	unit := strings.TrimLeft(text, "0123456789.")
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	times, known := byteUnits[strings.ToLower(strings.TrimSpace(unit))]
	if all := n * float64(times); err == nil && known && all >= 1 && all < math.MaxInt64 {
		return uint64(all), nil
	}
	return 0, fmt.Errorf("%q is not a size: give bytes, such as 500MB or 8GiB", text)
}
