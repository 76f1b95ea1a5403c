package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vkds/vkds/vk"
)

// kernelFile is a file on the kernels that were made: a line each, with what the driver tells of it.
type kernelFile struct {
	path string

	mu   sync.Mutex
	told []vk.KernelReport
}

// listener is what is to be told of kernels; nil if nobody wants to know.
func (f *kernelFile) listener() func(vk.KernelReport) {
	if f.path == "" {
		return nil
	}
	return func(r vk.KernelReport) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.told = append(f.told, r)
	}
}

// write writes the file: a column for each thing that is told of any kernel. Drivers that make several programs of one
// kernel tell the same of each of them, in one field.
func (f *kernelFile) write(w io.Writer) error {
	head := []string{"kernel", "constants", "workgroup", "subgroup"}
	own := len(head)
	for _, r := range f.told {
		for _, s := range r.Statistics {
			if !slices.Contains(head[own:], s.Name) {
				head = append(head, s.Name)
			}
		}
	}
	out := csv.NewWriter(w)
	out.Write(head)
	for _, r := range f.told {
		var constants []string
		for _, name := range slices.Sorted(maps.Keys(r.Constants)) {
			constants = append(constants, fmt.Sprintf("%s=%d", name, r.Constants[name]))
		}
		row := append(make([]string, 0, len(head)), r.Module, strings.Join(constants, " "), strconv.Itoa(r.Workgroup),
			strconv.Itoa(r.SubgroupSize))
		for _, name := range head[own:] {
			var values []string
			for _, s := range r.Statistics {
				if s.Name == name {
					values = append(values, strconv.FormatFloat(s.Value, 'f', -1, 64))
				}
			}
			row = append(row, strings.Join(values, " "))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
