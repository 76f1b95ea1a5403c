package vk

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/vkds/vkds/vk/internal/spirv"
)

// goWord is four bytes of a push-constant struct.
type goWord struct {
	offset int
	field  string
	kind   spirv.Kind
	to     reflect.Type // of Arguments, whose first word this is: what they are
}

// checkLayout compares a Go struct with a module's push-constant block, word by word. Each word of one must have a word
// at the same offset in the other, both integers or both floats. A uint64 matches an address, a 64-bit integer or a
// uvec2. Blank fields are padding. Fields of the same name on both sides, except for case and underscores, must have
// the same offset.
func checkLayout(t reflect.Type, m spirv.Module, module string) error {
	return checkBlock(t, spirv.Block{Words: m.Push, Bytes: m.PushBytes}, m.Blocks, module)
}

// checkBlock is checkLayout for any block. references has the blocks of its buffer references by offset; Arguments are
// compared with the block at their offset.
func checkBlock(t reflect.Type, m spirv.Block, references map[int]spirv.Block, module string) error {
	fail := func(field, format string, args ...any) error {
		return &ModuleError{module, "push constants: " + field + ": " + fmt.Sprintf(format, args...)}
	}
	var words []goWord
	if t.Kind() != reflect.Struct {
		return fail(t.String(), "is no struct")
	}
	if field, reason := flatten(t, 0, "", &words); reason != "" {
		return fail(field, "%s", reason)
	}
	at := map[int]spirv.Word{}
	place := map[string]int{}
	for _, w := range m.Words {
		at[w.Offset] = w
		if _, ok := place[plain(w.Name)]; !ok {
			place[plain(w.Name)] = w.Offset
		}
	}
	first := map[string]int{}
	for _, w := range words {
		s, ok := at[w.offset]
		if !ok {
			return fail(w.field, "is at byte %d, where the block of %d bytes has nothing", w.offset, m.Bytes)
		}
		delete(at, w.offset)
		if (s.Kind == spirv.Float) != (w.kind == spirv.Float) {
			return fail(w.field, "at byte %d, is a %s where the block's %s is a %s", w.offset, kindName(w.kind), s.Name,
				kindName(s.Kind))
		}
		// The halves of a 64-bit value must be in the right order and at the right place.
		if s.Kind == spirv.Low && w.kind == spirv.High || s.Kind == spirv.High && w.kind == spirv.Low {
			return fail(w.field, "at byte %d, is out of step with the block's %s", w.offset, s.Name)
		}
		if w.to != nil {
			block, ok := references[w.offset]
			switch {
			case !ok:
				return fail(w.field, "are arguments, where the block's %s is no buffer reference", s.Name)
			case block.Err != nil:
				return fail(w.field, "are arguments, but what the block's %s leads to can't be compared: %v", s.Name,
					block.Err)
			}
			if err := checkBlock(w.to, block, nil, module); err != nil {
				return err
			}
		}
		if _, ok := first[w.field]; !ok {
			first[w.field] = w.offset
			if there, ok := place[plain(w.field)]; ok && there != w.offset {
				return fail(w.field, "is at byte %d, but at byte %d in the block", w.offset, there)
			}
		}
	}
	for _, w := range m.Words {
		if _, ok := at[w.Offset]; ok {
			return fail(w.Name, "is at byte %d of the block, where %s has nothing", w.Offset, t)
		}
	}
	if int(t.Size()) < m.Bytes {
		return fail(t.String(), "has %d bytes, the block has %d", t.Size(), m.Bytes)
	}
	return nil
}

func kindName(k spirv.Kind) string {
	return map[spirv.Kind]string{spirv.Integer: "32-bit integer", spirv.Float: "float"}[k] +
		map[spirv.Kind]string{spirv.Low: "64-bit integer", spirv.High: "64-bit integer"}[k]
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// flatten lists the words of a Go type. If the type cannot be pushed, it returns the field and the reason.
func flatten(t reflect.Type, offset int, name string, words *[]goWord) (field, reason string) {
	if a, ok := reflect.Zero(t).Interface().(argued); ok {
		*words = append(*words, goWord{offset, name, spirv.Low, a.of()},
			goWord{offset: offset + 4, field: name, kind: spirv.High})
		return "", ""
	}
	switch t.Kind() {
	case reflect.Uint32, reflect.Int32:
		*words = append(*words, goWord{offset: offset, field: name, kind: spirv.Integer})
	case reflect.Float32:
		*words = append(*words, goWord{offset: offset, field: name, kind: spirv.Float})
	case reflect.Uint64, reflect.Int64:
		*words = append(*words, goWord{offset: offset, field: name, kind: spirv.Low},
			goWord{offset: offset + 4, field: name, kind: spirv.High})
	case reflect.Array:
		for i := range t.Len() {
			if f, r := flatten(t.Elem(), offset+i*int(t.Elem().Size()), fmt.Sprintf("%s[%d]", name, i),
				words); r != "" {
				return f, r
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			full := strings.TrimPrefix(name+"."+f.Name, ".")
			if f, r := flatten(f.Type, offset+int(f.Offset), full, words); r != "" {
				return f, r
			}
		}
	default:
		return name, fmt.Sprintf(
			"is a %s; 32- and 64-bit integers, float32, and structs and arrays of them can be pushed", t)
	}
	return "", ""
}
