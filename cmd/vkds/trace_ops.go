package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// tracedKinds are the kinds of operations of which kernels record events.
var tracedKinds = enum.Of("kind of operation", structures.Insert, structures.InsertUnique, structures.InsertDuplicate,
	structures.InsertAdd, structures.InsertMin, structures.InsertMax, structures.Delete, structures.Find)

// step is a batch, or what is done between batches.
type step struct {
	between string // "snapshot", "cleanup"; "": it is a batch
	batch   structures.Batch[uint64, uint64]
}

// between says what can be done between batches, by structure.
var between = map[string]string{"btree": "snapshot", "mvbtree": "snapshot", "lsm": "cleanup"}

// batchOf returns a step's batch in words of a structure.
func batchOf[W structures.Word](s step) structures.Batch[W, W] {
	return structures.Batch[W, W]{Kinds: s.batch.Kinds, Keys: narrow[W](s.batch.Keys),
		Values: narrow[W](s.batch.Values)}
}

// readSteps reads a file of operations.
func readSteps(path string, dict *dictionary) (steps []step, err error) {
	file := os.Stdin
	if path != input.Stdin {
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	lines, n := bufio.NewScanner(file), 1
	for fresh := true; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" {
			fresh = true
			continue
		}
		if line == between[dict.structure.name] {
			steps, fresh = append(steps, step{between: line}), true
			continue
		}
		if fresh {
			steps, fresh = append(steps, step{}), false
		}
		if err := steps[len(steps)-1].read(line, dict); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", called(path), n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: line %d is no operation: it is longer than 64 KiB", called(path), n)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s has no operations", called(path))
	}
	return steps, nil
}

// read adds the operation of a line to a batch.
func (s *step) read(line string, dict *dictionary) error {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Err // without a line of its own
	}
	if err != nil {
		return err
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	switch fields[0] {
	case "snapshot":
		return errors.New("only trees have snapshots, and on lines of their own (--structure btree)")
	case "cleanup":
		return errors.New("only an LSM has cleanups, and on lines of their own (--structure lsm)")
	}
	kind, err := tracedKinds.Parse(fields[0])
	if err != nil {
		return err
	}
	switch {
	case kind == structures.InsertDuplicate && dict.structure.ordered:
		return errors.New("insert-duplicate: only a hash table has a key several times (--structure slabhash)")
	case kind == structures.InsertAdd && dict.value != keytype.Uint32 && dict.value != keytype.Uint64:
		return fmt.Errorf("insert-add: sums are of unsigned integers, and the values are of type %s", dict.value)
	}
	want := 2
	if kind.Inserts() {
		want = 3
	}
	if len(fields) != want {
		return fmt.Errorf("%s takes %d fields, and there are %d", kind, want, len(fields))
	}
	k, err := dict.key.Parse(fields[1])
	if err != nil {
		return err
	}
	v := uint64(0)
	if kind.Inserts() {
		if v, err = dict.value.Parse(fields[2]); err != nil {
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
