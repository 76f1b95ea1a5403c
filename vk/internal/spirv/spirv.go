// Package spirv reads from a SPIR-V module the information for making a compute pipeline: the entry point, the
// specialization constants by name, the workgroup's size and the push-constant block.
package spirv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Module describes a compute module.
type Module struct {
	Entry        string
	Capabilities []uint32
	Constants    []Constant
	LocalSize    [3]Size
	Push         []Word        // the push-constant block, by offset; empty if there is none
	PushBytes    int           // the size of the push-constant block
	Blocks       map[int]Block // the blocks of its buffer references, by their offsets
	Functions    []string      // names in GLSL, without arguments; empty if the module has no names
}

// Block is the block in memory to which a buffer reference points.
type Block struct {
	Words []Word // in the order of offsets
	Bytes int
	Err   error // why the words are not known, such as an array without a length; nil if they are known
}

// Constant is a specialization constant.
type Constant struct {
	Name string // OpName; may be empty
	ID   uint32 // SpecId
	Bits int    // 32 (also for a bool) or 64
	// Default is the value if none is set: the low 32 bits of a number; 0 for a bool.
	Default uint32
}

// Size is one dimension of the workgroup: a value, or the specialization constant that replaces it.
type Size struct {
	Value       uint32
	Specialized bool
	ID          uint32
}

// Kind is the type of a word in a push-constant block.
type Kind int

const (
	Integer Kind = iota // a 32-bit integer, signed or not
	Float               // a 32-bit float
	Low                 // the low half of a 64-bit integer or of an address
	High                // the high half
)

// Word is four bytes of a push-constant block.
type Word struct {
	Offset int
	Name   string // the member that it belongs to: "count", "table.base", "sizes[2]"
	Kind   Kind
}

// Capabilities that callers check.
const (
	CapabilityInt64        = 11
	CapabilityInt64Atomics = 12
)

// Numbers of the SPIR-V specification, section 3.
const (
	magic = 0x07230203

	opName            = 5
	opMemberName      = 6
	opEntryPoint      = 15
	opExecutionMode   = 16
	opCapability      = 17
	opTypeBool        = 20
	opTypeInt         = 21
	opTypeFloat       = 22
	opTypeVector      = 23
	opTypeMatrix      = 24
	opTypeArray       = 28
	opTypeStruct      = 30
	opTypePointer     = 32
	opConstant        = 43
	opSpecTrue        = 48
	opSpecFalse       = 49
	opSpecConstant    = 50
	opSpecComposite   = 51
	opConstComposite  = 44
	opFunction        = 54
	opFunctionEnd     = 56
	opVariable        = 59
	opDecorate        = 71
	opMemberDecorate  = 72
	opExecutionModeID = 331

	modelCompute      = 5
	modeLocalSize     = 17
	modeLocalSizeID   = 38
	decorSpecID       = 1
	decorArrayStride  = 6
	decorMatrixStride = 7
	decorBuiltIn      = 11
	decorOffset       = 35
	builtInWorkgroup  = 25
	storagePush       = 9
)

type node struct {
	op   uint32
	args []uint32 // after the result id and, for constants, the type
	kind uint32   // the type of a constant
}

type member struct{ id, index uint32 }

type parser struct {
	Module
	words         []Word         // of the current block of flatten
	references    map[int]uint32 // the types to which its buffer references point
	nodes         map[uint32]node
	names         map[uint32]string
	memberNames   map[member]string
	offsets       map[member]uint32
	matrixStrides map[member]uint32
	strides       map[uint32]uint32
	specIDs       map[uint32]uint32
	entries       int
	functions     int    // number of functions begun and not ended
	main          uint32 // the entry point's function
	visits        int    // by flatten
	mainBegun     bool
	push          uint32   // the block's type
	specialized   []uint32 // ids of the specialization constants
	workgroup     uint32   // the constant decorated WorkgroupSize
}

// Parse reads a module of little-endian words with one compute entry point.
func Parse(code []byte) (Module, error) {
	if len(code) < 20 || len(code)%4 != 0 || binary.LittleEndian.Uint32(code) != magic {
		return Module{}, errors.New("it is not little-endian SPIR-V")
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	p := parser{
		nodes: map[uint32]node{}, names: map[uint32]string{}, memberNames: map[member]string{},
		offsets: map[member]uint32{}, matrixStrides: map[member]uint32{}, strides: map[uint32]uint32{},
		specIDs: map[uint32]uint32{},
	}
	if err := p.instructions(words); err != nil {
		return Module{}, err
	}
	if err := p.whole(); err != nil {
		return Module{}, err
	}
	p.localSize()
	p.constants()
	if err := p.pushConstants(); err != nil {
		return Module{}, err
	}
	return p.Module, nil
}

// instructions reads a module's instructions, which follow its header.
func (p *parser) instructions(words []uint32) error {
	for at := 5; at < len(words); {
		op, count := words[at]&0xffff, int(words[at]>>16)
		if count == 0 || at+count > len(words) {
			return fmt.Errorf("it ends early, at word %d", at)
		}
		args := words[at+1 : at+count]
		if len(args) < fewest[op] {
			return fmt.Errorf("instruction %d at word %d is cut short", op, at)
		}
		at += count
		if op == opEntryPoint && args[0] != modelCompute {
			return errors.New("it is not a compute shader")
		}
		p.instruction(op, args)
	}
	return nil
}

func (p *parser) instruction(op uint32, args []uint32) {
	switch op {
	case opName:
		p.names[args[0]] = text(args[1:])
	case opMemberName:
		p.memberNames[member{args[0], args[1]}] = text(args[2:])
	case opCapability:
		p.Capabilities = append(p.Capabilities, args[0])
	case opEntryPoint:
		p.entries++
		p.main, p.Entry = args[1], text(args[2:])
	case opExecutionMode, opExecutionModeID:
		p.executionMode(args)
	case opTypeBool, opTypeInt, opTypeFloat, opTypeVector, opTypeMatrix, opTypeArray, opTypeStruct, opTypePointer:
		p.nodes[args[0]] = node{op: op, args: args[1:]}
	case opConstant, opSpecConstant, opSpecTrue, opSpecFalse, opSpecComposite, opConstComposite:
		p.nodes[args[1]] = node{op: op, kind: args[0], args: args[2:]}
		if op == opSpecConstant || op == opSpecTrue || op == opSpecFalse {
			p.specialized = append(p.specialized, args[1])
		}
	case opFunction:
		p.functions++
		p.mainBegun = p.mainBegun || args[1] == p.main
		if name, _, ok := strings.Cut(p.names[args[1]], "("); ok {
			p.Functions = append(p.Functions, name)
		}
	case opFunctionEnd:
		p.functions--
	case opVariable:
		if args[2] == storagePush {
			p.push = p.nodes[args[0]].last() // through the pointer to the block
		}
	case opDecorate:
		p.decorate(args)
	case opMemberDecorate:
		p.decorateMember(args)
	}
}

// executionMode records the workgroup's size: numbers, or ids of constants that come later, which localSize resolves.
func (p *parser) executionMode(args []uint32) {
	byID := args[1] == modeLocalSizeID
	if args[1] != modeLocalSize && !byID || len(args) < 5 {
		return
	}
	for i := range p.LocalSize {
		if byID {
			p.LocalSize[i] = Size{ID: args[2+i], Specialized: true}
		} else {
			p.LocalSize[i] = Size{Value: args[2+i]}
		}
	}
}

func (p *parser) decorate(args []uint32) {
	switch {
	case len(args) < 3:
	case args[1] == decorSpecID:
		p.specIDs[args[0]] = args[2]
	case args[1] == decorArrayStride:
		p.strides[args[0]] = args[2]
	case args[1] == decorBuiltIn && args[2] == builtInWorkgroup:
		p.workgroup = args[0]
	}
}

func (p *parser) decorateMember(args []uint32) {
	switch {
	case len(args) < 4:
	case args[2] == decorOffset:
		p.offsets[member{args[0], args[1]}] = args[3]
	case args[2] == decorMatrixStride:
		p.matrixStrides[member{args[0], args[1]}] = args[3]
	}
}

// whole returns an error if a part of the module is missing.
func (p *parser) whole() error {
	switch {
	case p.functions != 0:
		return errors.New("it ends within a function")
	case p.entries != 1:
		return fmt.Errorf("it has %d entry points, not one", p.entries)
	case !p.mainBegun:
		return errors.New("it ends before its function")
	}
	return nil
}

// constants returns the specialization constants, in order.
func (p *parser) constants() {
	for _, id := range p.specialized {
		spec, ok := p.specIDs[id]
		if !ok {
			continue
		}
		c := Constant{Name: p.names[id], ID: spec, Bits: 32}
		if n := p.nodes[id]; n.op == opSpecConstant {
			c.Default = n.args[0]
		}
		if t := p.nodes[p.nodes[id].kind]; (t.op == opTypeInt || t.op == opTypeFloat) && len(t.args) > 0 {
			c.Bits = int(t.args[0])
		}
		p.Constants = append(p.Constants, c)
	}
}

// fewest has the least number of arguments of the instructions that Parse reads.
var fewest = map[uint32]int{
	opName: 2, opMemberName: 3, opEntryPoint: 3, opExecutionMode: 2, opCapability: 1, opTypeBool: 1, opTypeInt: 3,
	opTypeFloat: 2, opTypeVector: 3, opTypeMatrix: 3, opTypeArray: 3, opTypeStruct: 1, opTypePointer: 3, opConstant: 3,
	opSpecTrue: 2, opSpecFalse: 2, opSpecConstant: 3, opSpecComposite: 2, opConstComposite: 2, opFunction: 4,
	opVariable: 3,
	opDecorate: 2, opMemberDecorate: 3, opExecutionModeID: 2,
}

func (n node) last() uint32 {
	if len(n.args) == 0 {
		return 0
	}
	return n.args[len(n.args)-1]
}

// localSize resolves the constants of the workgroup's size. The WorkgroupSize built-in has precedence if it exists.
func (p *parser) localSize() {
	ids := make([]uint32, 0, 3)
	if w := p.nodes[p.workgroup]; len(w.args) == 3 {
		ids = w.args
	} else if p.LocalSize[0].Specialized {
		ids = append(ids, p.LocalSize[0].ID, p.LocalSize[1].ID, p.LocalSize[2].ID)
	}
	for i, id := range ids {
		s := Size{Value: p.nodes[id].last()}
		s.ID, s.Specialized = p.specIDs[id]
		p.LocalSize[i] = s
	}
}

// text reads a string literal: bytes up to a zero, four to a word.
func text(words []uint32) string {
	var b strings.Builder
	for _, w := range words {
		for range 4 {
			if w&0xff == 0 {
				return b.String()
			}
			b.WriteByte(byte(w))
			w >>= 8
		}
	}
	return b.String()
}
