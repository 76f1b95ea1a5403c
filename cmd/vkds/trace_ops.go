package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// tracedKinds are the kinds of operations of which kernels write events.
var tracedKinds = enum.Of("kind of operation", structures.Insert, structures.InsertUnique, structures.InsertDuplicate,
	structures.InsertAdd, structures.InsertMin, structures.InsertMax, structures.Delete, structures.Find)

// step is a batch, or a snapshot.
type step struct {
	snapshot bool
	batch    structures.Batch[uint64, uint64]
}

// readSteps reads a file of operations.
func readSteps(path string, key, value keytype.Type) (steps []step, err error) {
	file := os.Stdin
	if path != input.Stdin {
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	lines := bufio.NewScanner(file)
	for n, fresh := 1, true; lines.Scan(); n++ {
		fields, err := csv.NewReader(strings.NewReader(lines.Text())).Read()
		switch {
		case err == io.EOF:
			fresh = true
			continue
		case err == nil && len(fields) == 1 && strings.TrimSpace(fields[0]) == "snapshot":
			steps, fresh = append(steps, step{snapshot: true}), true
			continue
		}
		if fresh {
			steps, fresh = append(steps, step{}), false
		}
		if err == nil {
			err = steps[len(steps)-1].add(fields, key, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", called(path), n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s has no operations", called(path))
	}
	return steps, nil
}

// add adds an operation to a batch.
func (s *step) add(fields []string, key, value keytype.Type) error {
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	kind, err := tracedKinds.Parse(fields[0])
	if err != nil {
		return err
	}
	if want := 2 + count(kind.Inserts()); len(fields) != want {
		return fmt.Errorf("%s takes %d fields, and there are %d", kind, want, len(fields))
	}
	k, err := key.Parse(fields[1])
	if err != nil {
		return err
	}
	v := uint64(0)
	if kind.Inserts() {
		if v, err = value.Parse(fields[2]); err != nil {
			return err
		}
	}
	s.put(kind, k, v)
	return nil
}

func (s *step) put(kind structures.Kind, key, value uint64) {
	s.batch.Kinds = append(s.batch.Kinds, kind)
	s.batch.Keys = append(s.batch.Keys, key)
	s.batch.Values = append(s.batch.Values, value)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
