// Package lanes runs compute modules on the host, with subgroups of any size: of 64 and 128 lanes, too, which no driver
// of a CPU has. It does what the tests of tiles need, in 32 bits, and refuses the rest. Lanes run one after the other,
// from one subgroup operation to the next, at which all lanes of the subgroup must meet: one that is elsewhere is an
// error, since our kernels have subgroup operations only in control flow that the whole subgroup takes.
package lanes

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/vkds/vkds/shaders"
)

// instruction is one of SPIR-V, without the word that says what it is and how long.
type instruction struct {
	op     op
	result uint32 // its id, 0 where it has none
	kind   uint32 // the type of it
	args   []uint32
}

// Module is a module's instructions, and what stands in front of its functions.
type Module struct {
	name      string
	all       []instruction
	labels    map[uint32]int // where a block begins
	functions map[uint32]int // where a function begins
	main      uint32
	types     map[uint32]instruction
	variables map[uint32]instruction // in front of the functions
	names     map[uint32]string
	builtin   map[uint32]uint32    // of a variable
	specID    map[uint32]uint32    // of a constant
	offsets   map[[2]uint32]uint32 // of a struct's members, in bytes
}

// Parse takes a module apart.
func Parse(m shaders.Module) (*Module, error) {
	p := &Module{name: m.Name, labels: map[uint32]int{}, functions: map[uint32]int{}, types: map[uint32]instruction{},
		variables: map[uint32]instruction{},
		names:     map[uint32]string{}, builtin: map[uint32]uint32{}, specID: map[uint32]uint32{},
		offsets: map[[2]uint32]uint32{}}
	words := make([]uint32, len(m.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(m.Code[4*i:])
	}
	for at := 5; at < len(words); {
		n := int(words[at] >> 16)
		if n == 0 || at+n > len(words) {
			return nil, fmt.Errorf("%s: an instruction of %d words at word %d", m.Name, n, at)
		}
		p.add(op(words[at]&0xffff), words[at+1:at+n])
		at += n
	}
	return p, nil
}

func (m *Module) add(code op, words []uint32) {
	in := instruction{op: code, args: words}
	switch form := forms[code]; form {
	case typed:
		in.kind, in.result, in.args = words[0], words[1], words[2:]
	case declared:
		in.result, in.args = words[0], words[1:]
		m.types[in.result] = in
	}
	at := len(m.all)
	switch code {
	case opName:
		m.names[words[0]] = text(words[1:])
	case opEntryPoint:
		m.main = words[1]
	case opDecorate:
		switch words[1] {
		case decorationBuiltIn:
			m.builtin[words[0]] = words[2]
		case decorationSpecID:
			m.specID[words[0]] = words[2]
		}
	case opMemberDecorate:
		if words[2] == decorationOffset {
			m.offsets[[2]uint32{words[0], words[1]}] = words[3]
		}
	case opLabel:
		in.result = words[0]
		m.labels[in.result] = at
	case opFunction:
		m.functions[in.result] = at
	case opVariable:
		if len(m.functions) == 0 {
			m.variables[in.result] = in
		}
	}
	m.all = append(m.all, in)
}

// Change returns the module with another instruction in the place of one: a broken variant for a test of a test. change
// gets the name of the function, the instruction's name and its arguments, and says whether it changed them.
func (m *Module) Change(change func(function, instruction string, args []uint32) bool) (*Module, bool) {
	broken := *m
	broken.all = append([]instruction(nil), m.all...)
	broken.types = maps.Clone(m.types)
	function := ""
	for i, in := range broken.all {
		switch in.op {
		case opFunction:
			function = m.names[in.result]
		case opFunctionEnd:
			function = ""
		}
		args := append([]uint32(nil), in.args...)
		if change(function, in.op.String(), args) {
			broken.all[i].args = args
			return &broken, true
		}
	}
	return nil, false
}

// Constant is the id of an unsigned constant that the module has, 0 of one that it hasn't.
func (m *Module) Constant(value uint32) uint32 {
	for _, in := range m.all {
		t := m.types[in.kind]
		if in.op == opConstant && in.args[0] == value && t.op == opTypeInt && t.args[1] == 0 {
			return in.result
		}
	}
	return 0
}

func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// words is how many words a value of a type has.
func (m *Module) words(kind uint32) int {
	switch t := m.types[kind]; t.op {
	case opTypeVector:
		return int(t.args[1])
	case opTypeStruct:
		n := 0
		for i := range t.args {
			n = m.member(kind, i) + m.words(t.args[i])
		}
		return n
	case opTypeArray:
		return m.words(t.args[0]) * int(m.length(t.args[1]))
	default:
		return 1
	}
}

// member is where a member of a struct begins, in words.
func (m *Module) member(kind uint32, i int) int {
	if at, ok := m.offsets[[2]uint32{kind, uint32(i)}]; ok {
		return int(at / 4)
	}
	at := 0
	for _, t := range m.types[kind].args[:i] {
		at += m.words(t)
	}
	return at
}

// length is that of an array, a constant.
func (m *Module) length(id uint32) uint32 {
	for _, in := range m.all {
		if in.result == id && in.op == opConstant {
			return in.args[0]
		}
	}
	panic(fmt.Sprintf("%s: the length of an array is no constant", m.name))
}
