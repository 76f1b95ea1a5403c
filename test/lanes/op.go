package lanes

import "fmt"

// op is an instruction's code, as the specification numbers it.
type op uint32

// form is what the first words of an instruction are.
type form int

const (
	other    form = iota // arguments only
	typed                // a type, and the result's id
	declared             // the id of a type
)

const (
	opName           op = 5
	opExtInst        op = 12
	opEntryPoint     op = 15
	opTypeVoid       op = 19
	opTypeBool       op = 20
	opTypeInt        op = 21
	opTypeVector     op = 23
	opTypeArray      op = 28
	opTypeRuntime    op = 29
	opTypeStruct     op = 30
	opTypePointer    op = 32
	opTypeFunction   op = 33
	opTrue           op = 41
	opFalse          op = 42
	opConstant       op = 43
	opComposite      op = 44
	opSpecTrue       op = 48
	opSpecFalse      op = 49
	opSpecConstant   op = 50
	opSpecComposite  op = 51
	opSpecOp         op = 52
	opFunction       op = 54
	opParameter      op = 55
	opFunctionEnd    op = 56
	opCall           op = 57
	opVariable       op = 59
	opLoad           op = 61
	opStore          op = 62
	opAccessChain    op = 65
	opDecorate       op = 71
	opMemberDecorate op = 72
	opVectorShuffle  op = 79
	opConstruct      op = 80
	opExtract        op = 81
	opBitcast        op = 124
	opIAdd           op = 128
	opISub           op = 130
	opIMul           op = 132
	opUDiv           op = 134
	opUMod           op = 137
	opLogicalOr      op = 166
	opLogicalAnd     op = 167
	opLogicalNot     op = 168
	opSelect         op = 169
	opIEqual         op = 170
	opINotEqual      op = 171
	opUGreater       op = 172
	opUGreaterEqual  op = 174
	opULess          op = 176
	opULessEqual     op = 178
	opShiftRight     op = 194
	opShiftLeft      op = 196
	opOr             op = 197
	opXor            op = 198
	opAnd            op = 199
	opNot            op = 200
	opPhi            op = 245
	opLoopMerge      op = 246
	opSelectionMerge op = 247
	opLabel          op = 248
	opBranch         op = 249
	opBranchIf       op = 250
	opReturn         op = 253
	opReturnValue    op = 254
	opAll            op = 334
	opAny            op = 335
	opBallot         op = 339
	opShuffle        op = 345
	opGroupIAdd      op = 349
	opGroupUMin      op = 354
	opGroupUMax      op = 357

	decorationSpecID  = 1
	decorationBuiltIn = 11
	decorationOffset  = 35

	scopeSubgroup = 3
)

// operations are those that work on the words of their arguments, one by one.
var operations = map[op]func(a, b uint32) uint32{
	opIAdd:       func(a, b uint32) uint32 { return a + b },
	opISub:       func(a, b uint32) uint32 { return a - b },
	opIMul:       func(a, b uint32) uint32 { return a * b },
	opUDiv:       func(a, b uint32) uint32 { return a / b },
	opUMod:       func(a, b uint32) uint32 { return a % b },
	opLogicalOr:  func(a, b uint32) uint32 { return a | b },
	opLogicalAnd: func(a, b uint32) uint32 { return a & b },
	opLogicalNot: func(a, _ uint32) uint32 { return 1 - a },
	opIEqual:     func(a, b uint32) uint32 { return word(a == b) },
	opINotEqual:  func(a, b uint32) uint32 { return word(a != b) },
	opUGreater:   func(a, b uint32) uint32 { return word(a > b) },
	opULess:      func(a, b uint32) uint32 { return word(a < b) },
	opShiftRight: func(a, b uint32) uint32 { return a >> defined(b) },
	opShiftLeft:  func(a, b uint32) uint32 { return a << defined(b) },
	opOr:         func(a, b uint32) uint32 { return a | b },
	opXor:        func(a, b uint32) uint32 { return a ^ b },
	opAnd:        func(a, b uint32) uint32 { return a & b },
	opNot:        func(a, _ uint32) uint32 { return ^a },

	opUGreaterEqual: func(a, b uint32) uint32 { return word(a >= b) },
	opULessEqual:    func(a, b uint32) uint32 { return word(a <= b) },
}

// reductions are those over the lanes of a subgroup.
var reductions = map[op]func(a, b uint32) uint32{
	opGroupIAdd: func(a, b uint32) uint32 { return a + b },
	opGroupUMin: func(a, b uint32) uint32 { return min(a, b) },
	opGroupUMax: func(a, b uint32) uint32 { return max(a, b) },
	opAll:       func(a, b uint32) uint32 { return a & b },
	opAny:       func(a, b uint32) uint32 { return a | b },
}

// forms of what is not declared or of arguments alone.
var forms = map[op]form{}

func init() {
	for _, o := range []op{opTypeVoid, opTypeBool, opTypeInt, opTypeVector, opTypeArray, opTypeRuntime, opTypeStruct,
		opTypePointer, opTypeFunction} {
		forms[o] = declared
	}
	for _, o := range []op{opExtInst, opTrue, opFalse, opConstant, opComposite, opSpecTrue, opSpecFalse, opSpecConstant,
		opSpecComposite, opSpecOp, opFunction, opParameter, opCall, opVariable, opLoad, opAccessChain, opVectorShuffle,
		opConstruct, opExtract, opBitcast, opSelect, opPhi, opBallot, opShuffle} {
		forms[o] = typed
	}
	for o := range operations {
		forms[o] = typed
	}
	for o := range reductions {
		forms[o] = typed
	}
}

// collective says that the lanes of a subgroup do an instruction together.
func (o op) collective() bool {
	return o == opBallot || o == opShuffle || reductions[o] != nil
}

// String is the number: enough to tell instructions apart by.
func (o op) String() string { return fmt.Sprint(uint32(o)) }

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// defined refuses shifts that have no defined result.
func defined(bits uint32) uint32 {
	if bits > 31 {
		panic(fault{fmt.Errorf("a shift by %d bits", bits)})
	}
	return bits
}

// fault is what a lane must not do.
type fault struct{ err error }
