package lanes

import (
	"fmt"
	"slices"
)

// Base is the address of the memory that a kernel works on.
const Base = 1 << 20

// Run is how a module is run.
type Run struct {
	Subgroup  int               // lanes of a subgroup
	Groups    int               // workgroups, of one subgroup each
	Constants map[string]uint32 // specialization constants by their names in GLSL
	Push      []uint32          // the words of the push constants
	Memory    []uint32          // what stands at the address Base, and after the run
}

// machine is a run.
type machine struct {
	*Module
	Run
	constants map[uint32]value
}

// value is what an id stands for: words, or a place in some memory.
type value struct {
	words []uint32
	at    *place
}

type place struct {
	memory []uint32
	index  int
	kind   uint32 // the type of what is there
}

// lane is one invocation.
type lane struct {
	m      *machine
	inputs map[uint32][]uint32 // what built-in variables hold
	stack  []*frame
	waits  bool // at a subgroup operation
}

// frame is a function that is called: where it is, and what its ids stand for.
type frame struct {
	at          int
	block, last uint32
	values      map[uint32]value
	answer      uint32 // the id that the caller has the result in
}

// Do runs a module over all workgroups, one after the other. An error is what a lane did that it must not, or a module
// that has what isn't done here.
func (m *Module) Do(r Run) (err error) {
	defer func() {
		if f, ok := recover().(fault); ok {
			err = fmt.Errorf("%s: %w", m.name, f.err)
		}
	}()
	on := &machine{m, r, map[uint32]value{}}
	on.makeConstants()
	for group := range r.Groups {
		on.subgroup(group)
	}
	return nil
}

func refuse(format string, args ...any) { panic(fault{fmt.Errorf(format, args...)}) }

// makeConstants gives ids in front of the functions their values.
func (m *machine) makeConstants() {
	f := &frame{values: m.constants}
	l := &lane{m: m, stack: []*frame{f}}
	for _, in := range m.all {
		switch in.op {
		case opFunction:
			return
		case opTrue, opSpecTrue:
			m.constants[in.result] = value{words: []uint32{1}}
		case opFalse, opSpecFalse:
			m.constants[in.result] = value{words: []uint32{0}}
		case opConstant:
			m.constants[in.result] = value{words: in.args}
		case opSpecConstant:
			words := in.args
			if id, ok := m.specID[in.result]; ok {
				if set, ok := m.set(id); ok {
					words = []uint32{set}
				}
			}
			m.constants[in.result] = value{words: words}
		case opComposite, opSpecComposite:
			m.constants[in.result] = l.joined(in.args)
		case opSpecOp:
			m.constants[in.result] = l.computed(instruction{op(in.args[0]), in.result, in.kind, in.args[1:]})
		}
	}
}

// set is what a specialization constant is given: the workgroup is a subgroup.
func (m *machine) set(id uint32) (uint32, bool) {
	for constant, other := range m.specID {
		if other != id {
			continue
		}
		if m.names[constant] == "WORKGROUP" {
			return uint32(m.Subgroup), true
		}
		if v, ok := m.Constants[m.names[constant]]; ok {
			return v, true
		}
	}
	return 0, false
}

// subgroup runs a workgroup.
func (m *machine) subgroup(group int) {
	lanes := make([]*lane, m.Subgroup)
	for i := range lanes {
		lanes[i] = m.newLane(group, i)
	}
	for {
		for _, l := range lanes {
			for l.waits = false; len(l.stack) != 0 && !l.waits; {
				l.step()
			}
		}
		first := lanes[0]
		for i, l := range lanes {
			if len(l.stack) != len(first.stack) || len(l.stack) != 0 && l.top().at != first.top().at {
				refuse("lane %d is elsewhere than lane 0 at a subgroup operation", i)
			}
		}
		if len(first.stack) == 0 {
			return
		}
		m.together(lanes)
	}
}

func (m *machine) newLane(group, i int) *lane {
	const workgroups, workgroupID, size, subgroup, id = 24, 26, 36, 40, 41 // built-in variables
	l := &lane{m: m, inputs: map[uint32][]uint32{
		workgroups: {uint32(m.Groups), 1, 1}, workgroupID: {uint32(group), 0, 0},
		size: {uint32(m.Subgroup)}, subgroup: {0}, id: {uint32(i)},
	}}
	l.call(m.main, nil, 0)
	return l
}

func (l *lane) top() *frame { return l.stack[len(l.stack)-1] }

// call begins a function.
func (l *lane) call(function uint32, args []value, answer uint32) {
	f := &frame{at: l.m.functions[function] + 1, values: map[uint32]value{}, answer: answer}
	for _, a := range args {
		f.values[l.m.all[f.at].result] = a
		f.at++
	}
	l.stack = append(l.stack, f)
}

// get is what an id stands for here.
func (l *lane) get(id uint32) value {
	if v, ok := l.top().values[id]; ok {
		return v
	}
	if v, ok := l.m.constants[id]; ok {
		return v
	}
	if in, ok := l.m.variables[id]; ok {
		pointee := l.m.types[in.kind].args[1]
		if input, ok := l.inputs[l.m.builtin[id]]; ok && l.m.builtin[id] != 0 {
			return value{at: &place{input, 0, pointee}}
		}
		const pushConstant = 9
		if in.args[0] == pushConstant {
			return value{at: &place{l.m.Push, 0, pointee}}
		}
	}
	refuse("nothing is known of %%%d", id)
	return value{}
}

// step does an instruction, or has the lane wait at it.
func (l *lane) step() {
	f, in := l.top(), l.m.all[l.top().at]
	if in.op.collective() {
		l.waits = true
		return
	}
	f.at++
	switch in.op {
	case opLabel:
		f.last, f.block = f.block, in.result
	case opLoopMerge, opSelectionMerge:
	case opBranch:
		f.at = l.m.labels[in.args[0]]
	case opBranchIf:
		to := in.args[1]
		if l.get(in.args[0]).words[0] == 0 {
			to = in.args[2]
		}
		f.at = l.m.labels[to]
	case opStore:
		l.store(l.get(in.args[0]), l.get(in.args[1]))
	case opCall:
		var args []value
		for _, a := range in.args[1:] {
			args = append(args, l.get(a))
		}
		l.call(in.args[0], args, in.result)
	case opReturn, opReturnValue:
		var answer value
		if in.op == opReturnValue {
			answer = l.get(in.args[0])
		}
		if l.stack = l.stack[:len(l.stack)-1]; len(l.stack) != 0 {
			l.top().values[f.answer] = answer
		}
	default:
		f.values[in.result] = l.computed(in)
	}
}

// computed is the result of an instruction that does nothing else.
func (l *lane) computed(in instruction) value {
	switch in.op {
	case opVariable:
		pointee := l.m.types[in.kind].args[1]
		return value{at: &place{make([]uint32, l.m.words(pointee)), 0, pointee}}
	case opLoad:
		at := l.get(in.args[0]).at
		return value{words: slices.Clone(l.part(at))}
	case opAccessChain:
		return l.chain(in)
	case opConstruct:
		return l.joined(in.args)
	case opExtract:
		return value{words: l.get(in.args[0]).words[in.args[1]:][:l.m.words(in.kind)]}
	case opVectorShuffle:
		both := slices.Concat(l.get(in.args[0]).words, l.get(in.args[1]).words)
		var some []uint32
		for _, i := range in.args[2:] {
			some = append(some, both[i])
		}
		return value{words: some}
	case opBitcast:
		v := l.get(in.args[0])
		if t := l.m.types[in.kind]; t.op == opTypePointer { // an address
			if v.words[1] != 0 || v.words[0] < Base || v.words[0]%4 != 0 {
				refuse("no memory at %#x", v.words)
			}
			return value{at: &place{l.m.Memory, int(v.words[0]-Base) / 4, t.args[1]}}
		}
		return v
	case opSelect:
		if l.get(in.args[0]).words[0] != 0 {
			return l.get(in.args[1])
		}
		return l.get(in.args[2])
	case opPhi:
		for i := 0; i < len(in.args); i += 2 {
			if in.args[i+1] == l.top().last {
				return l.get(in.args[i])
			}
		}
	}
	return l.wordwise(in)
}

func (l *lane) wordwise(in instruction) value {
	do := operations[in.op]
	if do == nil {
		refuse("instruction %v is not done here", in.op)
	}
	a := l.get(in.args[0]).words
	b := a
	if len(in.args) > 1 {
		b = l.get(in.args[1]).words
	}
	out := make([]uint32, len(a))
	for i := range a {
		out[i] = do(a[i], b[i])
	}
	return value{words: out}
}

// joined is one value of several.
func (l *lane) joined(ids []uint32) value {
	var all []uint32
	for _, id := range ids {
		all = append(all, l.get(id).words...)
	}
	return value{words: all}
}

// chain follows indices into what a pointer points to.
func (l *lane) chain(in instruction) value {
	at := *l.get(in.args[0]).at
	for _, id := range in.args[1:] {
		i := int(l.get(id).words[0])
		switch t := l.m.types[at.kind]; t.op {
		case opTypeStruct:
			at.index, at.kind = at.index+l.m.member(at.kind, i), t.args[i]
		case opTypeVector, opTypeArray, opTypeRuntime:
			at.index, at.kind = at.index+i*l.m.words(t.args[0]), t.args[0]
		default:
			refuse("an index into what has no parts")
		}
	}
	return value{at: &at}
}

// part is the memory of a place.
func (l *lane) part(at *place) []uint32 {
	n := l.m.words(at.kind)
	if at.index < 0 || at.index+n > len(at.memory) {
		refuse("words %d to %d of %d", at.index, at.index+n, len(at.memory))
	}
	return at.memory[at.index:][:n]
}

func (l *lane) store(to, from value) { copy(l.part(to.at), from.words) }

// together does a subgroup operation, at which all lanes are.
func (m *machine) together(lanes []*lane) {
	in := m.all[lanes[0].top().at]
	if scope := lanes[0].get(in.args[0]).words[0]; scope != scopeSubgroup {
		refuse("a subgroup operation of scope %d", scope)
	}
	values := make([][]uint32, len(lanes)) // what each lane brings
	operand := in.args[len(in.args)-1]
	if in.op == opShuffle {
		operand = in.args[1]
	}
	for i, l := range lanes {
		values[i] = l.get(operand).words
	}
	results := make([][]uint32, len(lanes))
	for i, l := range lanes {
		switch {
		case in.op == opBallot:
			results[i] = ballot(values)
		case in.op == opShuffle:
			from := l.get(in.args[2]).words[0]
			if int(from) >= len(lanes) {
				refuse("lane %d shuffles from lane %d", i, from)
			}
			results[i] = values[from]
		default:
			results[i] = reduce(in, values)
		}
	}
	for i, l := range lanes {
		l.top().values[in.result] = value{words: results[i]}
		l.top().at++
	}
}

// ballot has bit i of its four words for lane i.
func ballot(values [][]uint32) []uint32 {
	words := make([]uint32, 4)
	for i, v := range values {
		words[i/32] |= v[0] << (i % 32)
	}
	return words
}

func reduce(in instruction, values [][]uint32) []uint32 {
	if in.op != opAll && in.op != opAny && in.args[1] != 0 {
		refuse("a scan is not done here")
	}
	sum := values[0][0]
	for _, v := range values[1:] {
		sum = reductions[in.op](sum, v[0])
	}
	return []uint32{sum}
}
