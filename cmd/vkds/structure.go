package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

// structure is a data structure that a dictionary may be kept in.
type structure struct {
	name      string
	ordered   bool    // it is a structures.Ordered
	parameter string  // the name of its own flag, which saved dictionaries use, too; "": it has none
	least     float64 // the least value of the parameter
	most      float64
	create    [2]create  // by the width of keys and values
	build     [2]builder // the same; only for ordered structures
	measures  func(ctx context.Context, d any) ([]measure, error)
	// check verifies the whole structure in the device's memory; nil: there is nothing that does
	check func(ctx context.Context, d any) error
	draw  func(ctx context.Context, dict *dictionary, x svg, to *bytes.Buffer) error // nil: it can't be drawn
}

// create makes an empty structure.
type create func(ctx context.Context, d *vk.Device, capacity int, parameter float64) (words, error)

// builder makes a structure of pairs.
type builder func(ctx context.Context, d *vk.Device, keys, values []uint64, parameter float64) (words, error)

// made wraps a new dictionary.
func made[W structures.Word, D structures.Dictionary[W, W]](d D, err error) (words, error) {
	if err != nil {
		return nil, err
	}
	return &held[W]{Dictionary: d}, nil
}

func newSlabHash[W structures.Word](ctx context.Context, d *vk.Device, capacity int, load float64) (words, error) {
	return made[W](slabhash.New[W, W](ctx, d, slabhash.Options{Capacity: capacity, Load: load}))
}

func newBTree[W structures.Word](ctx context.Context, d *vk.Device, capacity int, fill float64) (words, error) {
	return made[W](btree.New[W, W](ctx, d, btree.Options{Capacity: capacity, Fill: fill, Path: btree.Batched}))
}

func newLSM[W structures.Word](ctx context.Context, d *vk.Device, capacity int, batch float64) (words, error) {
	return made[W](lsm.New[W, W](ctx, d, lsm.Options{Batch: int(batch), Capacity: capacity}))
}

func newSortedArray[W structures.Word](ctx context.Context, d *vk.Device, capacity int, _ float64) (words, error) {
	return made[W](sortedarray.New[W, W](ctx, d, sortedarray.Options{Capacity: capacity}))
}

func buildBTree[W structures.Word](ctx context.Context, d *vk.Device, keys, values []uint64,
	fill float64) (words, error) {
	o := btree.Options{Fill: fill, Path: btree.Batched}
	return made[W](btree.Build[W, W](ctx, d, narrow[W](keys), narrow[W](values), o))
}

func buildLSM[W structures.Word](ctx context.Context, d *vk.Device, keys, values []uint64,
	batch float64) (words, error) {
	return made[W](lsm.Build[W, W](ctx, d, narrow[W](keys), narrow[W](values), lsm.Options{Batch: int(batch)}))
}

func buildSortedArray[W structures.Word](ctx context.Context, d *vk.Device, keys, values []uint64,
	_ float64) (words, error) {
	return made[W](sortedarray.Build[W, W](ctx, d, narrow[W](keys), narrow[W](values), sortedarray.Options{}))
}

// make makes an empty dictionary, in the host's memory if d is nil.
func (s structure) make(ctx context.Context, d *vk.Device, w structures.Width, capacity int,
	parameter float64) (words, error) {
	switch {
	case d != nil:
		return s.create[w](ctx, d, capacity, parameter)
	case w == structures.Bits32:
		return onHost[uint32](ctx, s.ordered, capacity)
	}
	return onHost[uint64](ctx, s.ordered, capacity)
}

func onHost[W structures.Word](ctx context.Context, ordered bool, capacity int) (words, error) {
	if ordered {
		return made[W](host.NewTree[W, W](), nil)
	}
	m := host.NewMap[W, W]()
	return made[W](m, m.Reserve(ctx, min(capacity, mostGuessed))) // a broken file may claim any number of pairs
}

// narrow converts words to W.
func narrow[W structures.Word](all []uint64) []W { return narrowed[W](new([]W), all) }

// known are the structures, in the order of the help.
var known = []structure{
	{name: "slabhash", parameter: "load", least: 0.01, most: 100,
		create: [2]create{newSlabHash[uint32], newSlabHash[uint64]}, measures: slabHashMeasures, draw: drawSlabHash},
	bLinkTree("btree"), bLinkTree("mvbtree"), // one structure: files of earlier versions have the second name
	{name: "lsm", ordered: true, parameter: "batch", least: 1, most: 1 << 30,
		create: [2]create{newLSM[uint32], newLSM[uint64]}, build: [2]builder{buildLSM[uint32], buildLSM[uint64]},
		measures: lsmMeasures},
	{name: "sortedarray", ordered: true,
		create:   [2]create{newSortedArray[uint32], newSortedArray[uint64]},
		build:    [2]builder{buildSortedArray[uint32], buildSortedArray[uint64]},
		measures: sortedArrayMeasures},
}

func bLinkTree(name string) structure {
	return structure{name: name, ordered: true, parameter: "fill", least: 0.1, most: 1,
		create:   [2]create{newBTree[uint32], newBTree[uint64]},
		build:    [2]builder{buildBTree[uint32], buildBTree[uint64]},
		measures: btreeMeasures, check: checkTree, draw: drawTree}
}

func checkTree(ctx context.Context, d any) error {
	return d.(interface{ Inspect() btree.Inspection }).Inspect().Check(ctx)
}

// structureNames returns the names of all structures, or only of the ordered ones.
func structureNames(ordered bool) (names []string) {
	for _, x := range known {
		if x.ordered || !ordered {
			names = append(names, x.name)
		}
	}
	return names
}

// structureError reports a structure that is unknown, or that keeps no order although a command needs one.
type structureError struct {
	name string
	need string // the command that needs an order; "": the structure is unknown
}

func (e *structureError) Error() string {
	if e.need == "" {
		return fmt.Sprintf("unknown structure %q (known: %s)", e.name, strings.Join(structureNames(false), ", "))
	}
	return fmt.Sprintf("%s keeps no order, which %s needs (ordered: %s)", e.name, e.need,
		strings.Join(structureNames(true), ", "))
}

// structureFlags choose a structure and its parameter.
type structureFlags struct {
	flags    *pflag.FlagSet
	name     string
	load     float64
	fill     float64
	batch    uint32
	ordering string // the command's name if it needs an ordered structure, else ""
}

// add adds the flags. ordering is the command's name if it needs an order, else "".
func (s *structureFlags) add(flags *pflag.FlagSet, ordering string) {
	s.flags, s.ordering = flags, ordering
	known := structureNames(ordering != "")
	// It accepts any name; choose returns the error of one that won't do.
	name := func(name string) error { s.name = name; return nil }
	flags.Var(&said{kind: "name", names: known, set: name}, "structure", fmt.Sprintf(
		"the dictionary's data structure:\n%s\n(default %s, or that of the saved dictionary)",
		strings.Join(known, ", "), s.standard()))
	if ordering == "" {
		flags.Float64Var(&s.load, "load", 0, "of slabhash: pairs for each slot that the table\nis made for; around 1 "+
			"buckets share slabs, so that\nnearly all slots are in use (default 0.7, or as saved)")
	}
	flags.Float64Var(&s.fill, "fill", 0, "of btree: share of a node's slots that are filled\nafter a split "+
		"(default 0.53, with 64 bits 0.67, or\nas saved)")
	flags.Uint32Var(&s.batch, "batch", 0, "of lsm: pairs in the smallest level, a power of two\n(default 2^18, "+
		"or as saved)")
}

func (s *structureFlags) standard() string {
	if s.ordering != "" {
		return "sortedarray"
	}
	return "slabhash"
}

// choose returns the structure to load into, and the value of its parameter, 0 if the structure is to choose it. saved
// and parameters are those of the saved dictionary, if one is loaded. If the command needs an order that the saved
// structure lacks, choose returns the structure that it returns for tables. It returns a *structureError if the user
// named a structure that is unknown, or that lacks the order.
func (s *structureFlags) choose(saved string, parameters map[string]float64) (structure, float64, error) {
	name := s.name
	if name == "" {
		name = s.standard()
		if i := find(saved); i >= 0 && (known[i].ordered || s.ordering == "") {
			name = saved
		}
	}
	i := find(name)
	switch {
	case i < 0:
		return structure{}, 0, &structureError{name: name}
	case s.ordering != "" && !known[i].ordered:
		return structure{}, 0, &structureError{name: name, need: s.ordering}
	}
	own := known[i]
	for _, other := range known {
		if other.parameter != "" && other.parameter != own.parameter && s.flags.Changed(other.parameter) {
			return structure{}, 0, fmt.Errorf("--%s is for %s, not for %s", other.parameter, other.name, own.name)
		}
	}
	if own.parameter == "" {
		return own, 0, nil
	}
	parameter := map[string]float64{"load": s.load, "fill": s.fill, "batch": float64(s.batch)}[own.parameter]
	given := s.flags.Changed(own.parameter)
	if kept, ok := parameters[own.parameter]; ok && !given && name == saved {
		parameter, given = kept, true
	}
	if given && !within(parameter, own.least, own.most) {
		return structure{}, 0, &parameterError{own, parameter}
	}
	return own, parameter, nil
}

// parameterError reports a structure's parameter that is out of range, in a flag or in a saved dictionary.
type parameterError struct {
	structure structure
	value     float64
}

func (e *parameterError) Error() string {
	return fmt.Sprintf("a %s of %g makes no sense for %s: %g to %.10g", e.structure.parameter, e.value,
		e.structure.name, e.structure.least, e.structure.most)
}

func find(name string) int {
	return slices.IndexFunc(known, func(x structure) bool { return x.name == name })
}

// dictionary is a loaded DICT-or-TABLE.
type dictionary struct {
	words
	structure  structure
	parameter  float64 // of the structure; 0: it chooses
	key, value keytype.Type
	there      [2]keytype.Extent // of all keys and of all values that were ever inserted
	pairs      uint64
	saved      *dictfile.Reader // what it was loaded from; nil if that was a table
	textual
}

// types returns the types of the keys and the values.
func (d *dictionary) types() [2]keytype.Type { return [2]keytype.Type{d.key, d.value} }

// hasText reports whether keys or values are texts.
func (d *dictionary) hasText() bool {
	return d.index != nil || d.key == keytype.Text || d.value == keytype.Text
}

// Close frees the memory and closes the saved dictionary.
func (d *dictionary) Close() error {
	var err error
	switch {
	case d.index != nil:
		err = d.index.Close()
	case d.words != nil:
		err = d.words.Close()
	}
	if d.saved != nil {
		err = errors.Join(err, d.saved.Close())
	}
	return err
}
