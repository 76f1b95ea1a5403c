package shaders_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
)

var update = flag.Bool("update", false, "write fences.txt")

const fencesHead = `# How each kernel orders memory. A lost fence changes no result on a CPU driver, so a
# test compares this list with the modules. "make fences" writes it.
#
# A function has a line for each form that it takes in the modules. Below that stand its barriers, atomics, and coherent
# loads and stores, in the order of the code, with the calls of functions that have some. Calls show those arguments
# that are true or false. A kernel or a folder stands for all of its modules that have the function. Functions of one
# name are separated by semicolons. "barrier" is %s.

`

// Barriers, atomics and coherent accesses are those that fences.txt lists.
func TestFences(t *testing.T) {
	have := fmt.Sprintf(fencesHead, workgroupBarrier) + listFences(t)
	if *update {
		require.NoError(t, os.WriteFile("fences.txt", []byte(have), 0o644))
		return
	}
	want, err := os.ReadFile("fences.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), have, "kernels order memory in another way than shaders/fences.txt says. "+
		"If that is intended, run \"make fences\", and look at every line that changes.")
}

func listFences(t *testing.T) string {
	forms := map[string]map[string][]string{} // by function and by what it has: the modules
	for _, name := range kernels.Names() {
		m, err := kernels.Load(name)
		require.NoError(t, err)
		for function, form := range readOrdering(m.Code).forms() {
			if forms[function] == nil {
				forms[function] = map[string][]string{}
			}
			forms[function][form] = append(forms[function][form], name)
		}
	}
	var b strings.Builder
	for _, function := range slices.Sorted(maps.Keys(forms)) {
		var lines []string
		for form, in := range forms[function] {
			where := ""
			if len(forms[function]) > 1 || function == "main" {
				where = " in " + abridged(in, forms[function])
			}
			lines = append(lines, function+where+"\n    "+form+"\n")
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	return b.String()
}

// abridged names the modules in which a function has one of its forms.
func abridged(in []string, forms map[string][]string) string {
	others := map[string]bool{} // folders and kernels in which it has another form
	for _, modules := range forms {
		if modules[0] == in[0] {
			continue
		}
		for _, module := range modules {
			folder, kernel, _ := split(module)
			others[folder], others[kernel] = true, true
		}
	}
	var all []string
	variants := map[string][]string{}
	for _, module := range in {
		folder, kernel, variant := split(module)
		switch {
		case !others[folder]:
			all = append(all, folder)
		case !others[kernel]:
			all = append(all, kernel)
		default:
			all = append(all, kernel)
			variants[kernel] = append(variants[kernel], variant)
		}
	}
	all = slices.Compact(all)
	for i, kernel := range all {
		switch of := variants[kernel]; len(of) {
		case 0:
		case 1:
			all[i] += "." + of[0]
		default:
			all[i] += ".{" + strings.Join(of, ",") + "}"
		}
	}
	return strings.Join(all, " ")
}

// split returns a module's folder, its kernel with the folder, and its variant.
func split(module string) (folder, kernel, variant string) {
	folder, _, _ = strings.Cut(module, "/")
	kernel, variant, _ = strings.Cut(module, ".")
	return folder + "/", kernel, variant
}

// ordering is what a module's functions do that orders memory, and what they call.
type ordering struct {
	names     map[uint32]string // of functions
	constants map[uint32]uint32
	flags     map[uint32]string // constants that are true or false
	functions []uint32          // in the module's order
	steps     map[uint32][]step // of functions
}

// step is an instruction, or the call of a function.
type step struct {
	text   string // of a call, its arguments
	callee uint32 // 0: none
}

// readOrdering reads a module as glslang writes it. The numbers are those of SPIR-V's specification, section 3.
func readOrdering(code []byte) ordering {
	o := ordering{names: map[uint32]string{}, constants: map[uint32]uint32{}, flags: map[uint32]string{},
		steps: map[uint32][]step{}}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	var function uint32
	stored := map[uint32]string{} // true or false, by the variable that holds it
	add := func(parts ...string) {
		text := strings.Join(parts, " ")
		if text == workgroupBarrier {
			text = "barrier"
		}
		o.steps[function] = append(o.steps[function], step{text: text})
	}
	scope := func(id uint32) string { return scopes[o.constants[id]] }
	order := func(id uint32) string { return semanticsOf(o.constants[id]) }
	coherent := func(id uint32) bool { return scope(id) != "Workgroup" } // shared memory always is
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		args := words[at+1 : at+int(words[at]>>16)]
		switch op := words[at] & 0xffff; {
		case op == 5: // OpName
			text := code[4*at+8:]
			o.names[args[0]], _, _ = strings.Cut(string(text[:slices.Index(text, 0)]), "(")
		case op == 41 || op == 42: // OpConstantTrue, OpConstantFalse
			o.flags[args[1]] = fmt.Sprint(op == 41)
		case op == 43: // OpConstant
			o.constants[args[1]] = args[2]
		case op == 54: // OpFunction
			function = args[1]
			o.functions = append(o.functions, function)
		case op == 57: // OpFunctionCall
			given := ""
			for _, a := range args[3:] {
				if stored[a] != "" {
					given += " " + stored[a]
				}
			}
			o.steps[function] = append(o.steps[function], step{given, args[2]})
		case op == 61: // OpLoad
			if len(args) > 4 && args[3]&makePointerVisible != 0 && coherent(args[len(args)-1]) {
				add("Load", scope(args[len(args)-1]))
			}
		case op == 62: // OpStore
			stored[args[0]] = o.flags[args[1]]
			if len(args) > 3 && args[2]&makePointerAvailable != 0 && coherent(args[len(args)-1]) {
				add("Store", scope(args[len(args)-1]))
			}
		case op == 224: // OpControlBarrier
			add("ControlBarrier", scope(args[0]), scope(args[1]), order(args[2]))
		case op == 225: // OpMemoryBarrier
			add("MemoryBarrier", scope(args[0]), order(args[1]))
		case op == 228: // OpAtomicStore
			add("AtomicStore", scope(args[1]), order(args[2]))
		case op >= 227 && op <= 242:
			add(atomics[op-227], scope(args[3]), order(args[4]))
		}
	}
	return o
}

const (
	makePointerAvailable = 0x8
	makePointerVisible   = 0x10

	workgroupBarrier = "ControlBarrier Workgroup Workgroup AcquireRelease|WorkgroupMemory"
)

var (
	scopes  = []string{"CrossDevice", "Device", "Workgroup", "Subgroup", "Invocation", "QueueFamily"}
	atomics = []string{"AtomicLoad", "AtomicStore", "AtomicExchange", "AtomicCompareExchange",
		"AtomicCompareExchangeWeak", "AtomicIIncrement", "AtomicIDecrement", "AtomicIAdd", "AtomicISub", "AtomicSMin",
		"AtomicUMin", "AtomicSMax", "AtomicUMax", "AtomicAnd", "AtomicOr", "AtomicXor"}
	semantics = []string{1: "Acquire", 2: "Release", 3: "AcquireRelease", 4: "SequentiallyConsistent",
		6: "UniformMemory", 7: "SubgroupMemory", 8: "WorkgroupMemory", 9: "CrossWorkgroupMemory",
		10: "AtomicCounterMemory", 11: "ImageMemory", 12: "OutputMemory", 13: "MakeAvailable", 14: "MakeVisible",
		15: "Volatile"}
)

func semanticsOf(bits uint32) string {
	if bits == 0 {
		return "Relaxed"
	}
	var set []string
	for i, name := range semantics {
		if bits>>i&1 != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, "|")
}

// forms returns what functions have, by their names: those that order memory, and those that call one that does.
func (o ordering) forms() map[string]string {
	orders := map[uint32]bool{}
	var visit func(f uint32) bool
	visit = func(f uint32) bool {
		if _, known := orders[f]; !known {
			orders[f] = slices.ContainsFunc(o.steps[f], func(s step) bool { return s.callee == 0 || visit(s.callee) })
		}
		return orders[f]
	}
	all := map[string]string{}
	for _, f := range o.functions {
		if !visit(f) {
			continue
		}
		steps := slices.DeleteFunc(slices.Clone(o.steps[f]), func(s step) bool {
			return s.callee != 0 && !visit(s.callee)
		})
		var form []string
		for i := 0; i < len(steps); {
			next := i + 1
			for next < len(steps) && steps[next] == steps[i] {
				next++
			}
			text := o.names[steps[i].callee] + steps[i].text
			if next-i > 1 {
				text = fmt.Sprintf("%d× %s", next-i, text)
			}
			form = append(form, text)
			i = next
		}
		name := o.names[f]
		if all[name] != "" {
			all[name] += "; "
		}
		all[name] += strings.Join(form, ", ")
	}
	return all
}
