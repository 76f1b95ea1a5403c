package vk

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/vk/internal/spirv"
)

// Every kernel ends, whatever the contents of memory: each module of package shaders runs with several contents of
// memory, random ones and ones that lead in circles. The test is in package vk because here it can make a kernel
// without a Go struct for the push constants. It sets those by their names in GLSL, and fails if a name is not known.
//
// No kernel writes outside its arrays either, whatever indices memory contains: the memory around each array can be
// read but not written. References to slabs are excepted: nodes and lists are the structures themselves, so all memory
// that references can reach may be written.
//
// On a CPU device, a buffer address is an address of the process. So the test maps all memory that 32-bit indices and
// references can reach, and any value that a kernel reads there is safe as an index. Only the 64-bit addresses that
// kernels find in memory must be valid, because kernels compute them only from other addresses.
//
// The kernels run in child processes, because a kernel that does not end cannot be stopped.
func TestEveryKernelEnds(t *testing.T) {
	pass.NotEmulated(t, "the program starts itself")
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	pass.NarrowUnlessLong(t, "what ends at 4 lanes ends at 8 and 16")
	for _, name := range kernels.Names() {
		for _, unknown := range unknownPushed(t, name) {
			t.Errorf("%s: nothing is known of the push constant %s: give it a value in pushed", name, unknown)
		}
	}
	if t.Failed() {
		return
	}
	d := openFor(t, Options{CacheDir: "none"})
	if d.Info().Type != CPU {
		t.Skip("what is written anywhere ends a GPU's context; loops are the same on a CPU device")
	}
	if stress.Level == 0 {
		t.Log(shortForm)
	}
	var wait sync.WaitGroup
	for half := range 2 {
		wait.Go(func() {
			var names []string
			for i, name := range kernels.Names() {
				if i%2 == half && !leftOut(name) {
					names = append(names, name)
				}
			}
			for len(names) > 0 {
				failed, err := runUnderWatch(t, names)
				if err == nil {
					return
				}
				t.Errorf("%v", err)
				if failed == "" {
					return
				}
				names = slices.DeleteFunc(names, func(name string) bool { return name == failed })
			}
		})
	}
	wait.Wait()
}

// leftOut reports whether a module is not run because another module has the same loops: one for wide keys or values,
// one for signed values, which are updated by the loop that floats have, and one that is unrolled for GPUs, which takes
// the compiler of a CPU device a minute.
func leftOut(name string) bool {
	return stress.Level == 0 && (strings.HasSuffix(name, ".unrolled") || strings.Contains(name, ".k64") ||
		strings.Contains(name, "v64") || strings.Contains(name, "signed"))
}

const shortForm = "the short form: two contents of memory, which kernels leave to each other in slabs, " +
	"specialization constants of one kind a module, and no module *.unrolled, *.k64*, *v64* or *signed*. " +
	"VKDS_STRESS=1 runs all contents, each kernel over fresh memory, TILE and the other constants each as something " +
	"else, and all modules but test/memory.* and test/sorted_run"

const (
	modulesToRun = "VKDS_TEST_MODULES" // for the child process: the modules to run, separated by spaces
	longest      = 10 * time.Second    // time limit of a dispatch of a kernel that ran before; most take 1 ms
	longestFirst = time.Minute         // for its first dispatch, because a driver may compile the kernel then
)

// runUnderWatch runs modules in a child process. The error names the module that did not end or that ended the process.
func runUnderWatch(t *testing.T, names []string) (failed string, err error) {
	child := exec.Command(os.Args[0], "-test.run=^TestRunKernels$", "-test.v")
	child.Env = append(os.Environ(), modulesToRun+"="+strings.Join(names, " "))
	if stress.Level == 0 {
		child.Env = append(child.Env, "GALLIVM_PERF=nopt") // lavapipe compiles faster; the loops are the same
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return "", err
	}
	var said strings.Builder
	child.Stderr = &said
	if err := child.Start(); err != nil {
		return "", err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			lines <- in.Text()
		}
	}()
	at, last, limit, passed := "", "", longestFirst, false
	for {
		select {
		case line, more := <-lines:
			if !more {
				if err := child.Wait(); err != nil || !passed {
					return at, fmt.Errorf("%s: %v\n%s\n%.2000s", at, err, last, said.String())
				}
				return "", nil
			}
			switch what, rest, _ := strings.Cut(line, " "); what {
			case "first":
				at, limit = rest, longestFirst
			case "again":
				at, limit = rest, longest
			case "PASS":
				passed = true
			default:
				last = line
			}
			at, _, _ = strings.Cut(at, " ")
			if strings.HasPrefix(line, "first ") || strings.HasPrefix(line, "again ") {
				last = line
			}
		case <-time.After(limit):
			child.Process.Kill()
			for range lines {
			}
			child.Wait()
			return at, fmt.Errorf("%s did not end within %v: %s", at, limit, last)
		}
	}
}

// TestRunKernels runs in the child processes.
func TestRunKernels(t *testing.T) {
	names := strings.Fields(os.Getenv(modulesToRun))
	if len(names) == 0 {
		t.Skip("for TestEveryKernelEnds, which starts it in a process of its own")
	}
	wide, narrow := openFor(t, Options{CacheDir: "none"}),
		openFor(t, Options{CacheDir: "none", Without: []Feature{Int64Atomics, Int64}})
	on := map[*Device]*Stream{}
	for _, d := range []*Device{wide, narrow} {
		s, err := d.NewStream()
		require.NoError(t, err)
		defer s.Close()
		on[d] = s
	}
	all := make([][]kernelRun, len(names))
	for i, name := range names {
		fmt.Println("first", name)
		m, err := kernels.Load(name)
		require.NoError(t, err)
		about, err := spirv.Parse(m.Code)
		require.NoError(t, err)
		d := wide
		if slices.Contains(about.Functions, pairsBy32) {
			d = narrow
		}
		all[i] = newKernelRuns(t, d, m, about)
		for _, r := range all[i] {
			defer r.kernel.Free()
		}
	}
	memory := mapEverywhere(t)
	for i, c := range contents() {
		memory.fill(t, c.words)
		for _, runs := range all {
			for _, r := range runs {
				memory.resetHead(t)
				memory.resetArrays(t)
				if stress.Level > 0 {
					memory.reset(t)
				}
				fmt.Println([]string{"first", "again"}[min(i, 1)], r.name, r.how, "over", c.name)
				s := on[r.device]
				r.kernel.Dispatch(s, runGroups, r.push(memory))
				require.NoError(t, s.Wait(t.Context()))
			}
		}
	}
}

// kernelRun is a module with specialization constants and push constants.
type kernelRun struct {
	name, how string
	device    *Device
	kernel    *Kernel[pushWords]
	words     []spirv.Word
	second    bool // use secondPushed for push constants, and 0 for addresses that may be 0
}

type pushWords [64]uint32

const (
	runWorkgroup = 64
	runGroups    = 3 // later workgroups read the results of earlier ones from memory
)

// newKernelRuns makes the kernels of a module: one with the usual constants, and one with another value for each
// constant in turn. The short form makes one kernel, with the narrowest or the widest tile.
func newKernelRuns(t *testing.T, d *Device, m shaders.Module, about spirv.Module) []kernelRun {
	name := m.Name
	if d.checkCapabilities(about.Capabilities) != nil {
		return nil // this device cannot run it
	}
	workgroup := runWorkgroup
	if strings.HasPrefix(name, "primitives/sort_") {
		workgroup /= 2 // each subgroup has two rows of counters in shared memory
	}
	known := map[string]uint32{
		"TILE": 4, "SUBGROUPS": uint32(workgroup / d.SubgroupSize()), "BATCH_GROUP": runWorkgroup,
		"ITEMS": 4, "QUADS": 1, "PATIENCE": 8, "SEARCH_TOP": 16,
	}
	widest := min(uint32(d.SubgroupSize()), 8)
	if stress.Level == 0 {
		known["TILE"] = []uint32{1, widest}[len(name)%2]
	}
	first := map[string]uint32{}
	others := []map[string]uint32{}
	for _, c := range about.Constants {
		if value, ok := known[c.Name]; ok {
			first[c.Name] = value
		}
		values := otherConstants[c.Name]
		if c.Name == "TILE" {
			values = []uint32{1, widest}
		}
		for _, value := range values {
			others = append(others, map[string]uint32{c.Name: value})
		}
	}
	if stress.Level == 0 {
		others = nil
	}
	var all []kernelRun
	for _, other := range append([]map[string]uint32{nil}, others...) {
		constants := maps.Clone(first)
		maps.Copy(constants, other)
		p, err := d.newPipeline(m, KernelOptions{Workgroup: workgroup, Constants: constants}, pushType(about))
		require.NoError(t, err, name)
		for _, second := range []bool{false, true} {
			how := fmt.Sprintf("%v %v", other, second)
			all = append(all, kernelRun{name, how, d, &Kernel[pushWords]{p}, about.Push, second})
		}
	}
	return all
}

// otherConstants has the specialization constants that give a kernel other loops, and the values to try in addition to
// the usual one.
var otherConstants = map[string][]uint32{
	"FUNCTION":    {1, 2, 3},
	"UPWARD":      {0},
	"SINGLE_PASS": {1},
	"NODE_PARTS":  {2},
	"POOL_LIGHT":  {0},
	"LINKS":       {0},
	"BETWEEN":     {1, 2},
	"COUNT_ALONE": {1},
	"ANY":         {1},
	"SHARED":      {1},
	"FREE":        {1},
	"CLEARS":      {1},
	"MARKS":       {1},
	"WEIGHTED":    {1},
	"FLOATS":      {1},
	"SHORT":       {1},
}

// pushed has the values of push constants that are numbers, by name. If the host knows a number, the value is one that
// it would pass.
var pushed = map[string]uint32{
	"count": 150, "n": 600, "number_count": 150, "other_count": 150, "older_count": 150, "newer_count": 150,
	"capacity": 192, "limit": 500, "segments": 20, "leaves": 150, "programs": 100, "length": 8, "lists": 30,
	"visits": 60, "rounds": 60, "most": 1000, "too_long": ^uint32(0), "each": 4, "width": 8, "slices": 2,
	"first": 0, "dispatch": 0, "dispatches": 2, "begin": 0, "row": 1, "words": 32, "index_words": 32,
	"publishes": 500, "parts": 3,
	"every":  2,
	"blocks": 1, "buckets": 16, "from_buckets": 24, "seed": 7, "mask": 255, "from_mask": 99,
	"special_ones": 1, "special_zero": 2, "from_special_ones": 3, "from_special_zero": 4,
	"bits": 3, "index_bits": 3, "shift": 2, "key_shift": 2, "tiles": 3, "tile": 576,
	"chunks": 3, "passes": 5, "digits[0]": 0xff08<<16 | 0xff00, "digits[1]": 0x1f18<<16 | 0xff10, "digits[2]": 0xff20,
	"digits[3]": 0,
	"level":     1, "levels": 3, "group": runWorkgroup, "split": 7, "splitting": runWorkgroup, "kind": 0,
	"leaf_most": 14, "node_most": 14, "full": 5, "unit": 32, "front": 70, "usual": 3, "high": 256, "beyond": 1,
	"increments": 10, "entries": 10, "iterations": 50, "outer": 4, "middle": 4, "inner": 4, "least": 0, "moves": 10,
	"patience": 20, "room": 1000, "wanted": 2, "lock_count": 4, "quad_count": 4, "writes": 4,
	"groups": 3, "mark": 0, "met": 2, "root": 3, "how": 7 << 16, "k": 20, "flip": 0, "digit": 0, "all": 100,
	"slabs": 1000, "stride": 1, "had": 8, "oldest": 3,
	"vertices": 100, "arcs": 600, "edges": 100, "extent": 100, "further": 2, "base": 0, "last": 20, "slots": 15,
	"small_entries": 256, "small_lanes": 1024, "own": 0, "more": 4, "skip": 2, "mode": 0, "loops": 1, "iteration": 1,
	"rows[0]": 70, "rows[1]": 15, "rows[2]": 10, "rows[3]": 5, "most[0]": 8, "most[1]": 50, "most[2]": 200,
	"filter_mask": 127, "since": 1, "what": 0,
	"damping": 0x3f59999a, "stepwise": 1, "tolerance": 0x358637bd, "stripes": 4, "bag": 64, "clear": 0, "both": 0,
	"given": 0, "personal": 0, "side": 0, "longest": 48, "step": 1, "forgets": 1, "within": 64, "right_rows": 150,
	"inner_most": 100, "leaves_most": 100, "depth": 2, "beside": 1, "uppers": 0,
}

// secondPushed has second values for push constants that are flags or have several meanings. Their first values are in
// pushed, or 0.
var secondPushed = map[string]uint32{
	"retry": 1, "resume": 1, "strict": 1, "upper": 1, "narrow": 1, "fills": 1, "indexed": 1, "kind": 2,
	"slices":    2 | 1<<31,
	"key_shift": 3, "bits": 8, "splitting": 0, "root": 0, "how": 7<<16 | 3<<8 | 2, "flip": ^uint32(0), "digit": 1,
	"depth": 0, "uppers": 3, "own": 1, "mode": 1, "loops": 0, "what": 3, "clear": 1, "both": 1, "given": 1,
	"personal": 1, "side": 1, "longest": 0,
	"dispatch": 1, "inserts": 1,
}

// mayBeNone has the addresses that may be 0, by the beginning of the kernels' names.
var mayBeNone = map[string][]string{
	"": {"length.at", "count.at", "number.at", "key_count.at", "query_count.at",
		"a.count.at", "a_length.at"},
	"btree/apply":                     {"hints"},
	"fold/":                           {"batch.count.at"},
	"btree/batch_apply":               {"emptied"},
	"btree/batch_end":                 {"pending"},
	"btree/build_order":               {"flags"},
	"btree/take":                      {"used"},
	"btree/build_plan":                {"lengths", "count.at"},
	"btree/range_count":               {"total"},
	"btree/range_offsets":             {"offsets", "counts"},
	"btree/seek":                      {"zeroed"},
	"primitives/bounds_sorted":        {"splits"},
	"primitives/bounds.":              {"index"},
	"primitives/merge.":               {"splits"},
	"primitives/compact":              {"out_count"},
	"primitives/run_length":           {"out_runs"},
	"primitives/scan":                 {"total"},
	"primitives/partition_place":      {"destinations", "sources"},
	"primitives/top_k_rank":           {"out_count"},
	"primitives/top_k_take":           {"values"},
	"primitives/segmented_sort.":      {"values"},
	"primitives/segmented_sort_place": {"values"},
	"relational/join_write":           {"out_rights"},
	"runs/merge":                      {"index", "splits", "older.values", "newer.tombstones"},
	"runs/mark":                       {"tombstones"},
	"runs/rank":                       {"validity.flags"},
	"runs/select":                     {"validity.flags"},
	"runs/range_bounds":               {"slices", "zeroed", "total"},
}

func isNone(module, name string) bool {
	for beginning, names := range mayBeNone {
		if strings.HasPrefix(module+".", beginning) && slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// push sets the push constants: numbers by their names, and addresses in the mapped memory. The addresses are far
// enough apart for arrays of these numbers.
func (r kernelRun) push(memory *everywhere) (p pushWords) {
	for i := 0; i < len(r.words); i++ {
		w := r.words[i]
		_, last, _ := cutLast(w.Name)
		if i+1 < len(r.words) && r.words[i+1].Name == w.Name {
			i++
			address := memory.place(r.name, w.Name, last, w.Offset)
			if r.second && isNone(r.name, w.Name) {
				address = 0
			}
			p[w.Offset/4], p[w.Offset/4+1] = uint32(address), uint32(address>>32)
			continue
		}
		value := pushed[last]
		second, two := secondPushed[last]
		if r.second && two {
			value = second
		}
		p[w.Offset/4] = value
	}
	return p
}

// unknownPushed returns the push constants of a module that are numbers and for which push has no value.
func unknownPushed(t *testing.T, module string) (names []string) {
	m, err := kernels.Load(module)
	require.NoError(t, err)
	about, err := spirv.Parse(m.Code)
	require.NoError(t, err)
	for i := 0; i < len(about.Push); i++ {
		name := about.Push[i].Name
		if i+1 < len(about.Push) && about.Push[i+1].Name == name {
			i++ // skip the second word of an address
			continue
		}
		_, last, _ := cutLast(name)
		_, known := pushed[last]
		if _, two := secondPushed[last]; !known && !two {
			names = append(names, name)
		}
	}
	return names
}

func cutLast(name string) (before, last string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// everywhere is memory that repeats the same words: for slabs, as far as a 32-bit reference reaches, and for arrays, as
// far as a 32-bit index of the largest elements reaches. Of the memory for arrays, only the arrays themselves can be
// written. Before the slabs is memory with other contents: the tables of addresses that kernels read.
type everywhere struct {
	slabs, arrays uint64
	words, head   *os.File
}

const (
	pieceBytes  = 64 << 20
	slabReach   = 1<<39 + 1<<35 // 2^32 nodes of 128 bytes
	arrayReach  = 1<<36 + 1<<32 // 2^32 quads
	behind      = 1 << 33       // a driver may treat the index of an array of words as signed
	apart       = 1 << 20       // bytes between the beginnings of two arrays
	arrayBytes  = 1 << 18       // more than any array has with the numbers in pushed
	arrayPlaces = 1 << 11
	headBytes   = 1 << 16            // bytes for the state of a tree and for what follows
	poolTableAt = 1 << 14            // the table of a pool (slab_alloc.glsl)
	stackAt     = 1 << 15            // the table of a stack of runs (sorted_run.glsl)
	foundAt     = 1<<15 + 1<<13      // words that kernels need to find (found)
	windowsAt   = 1<<15 + 3<<12      // further arguments of a batch with ranges (btree/mixed.glsl)
	versionsAt  = 1<<15 + 7<<11      // the versions of a tree's leaves (btree_version.glsl)
	diffAt      = versionsAt + 1<<10 // the differences of versions (btree/version_diff.comp)
	addressesAt = 1<<15 + 1<<14      // addresses that kernels read one by one
	stampsAt    = 16                 // in the state of a tree: its stamps,
	changedAt   = 40                 // the bits beside the stamps,
	movingAt    = 24                 // and its versions while the clock moves (btree_clock.glsl)
	keptAt      = 128                // in the state of a reclaimer (epoch_slab.glsl)
	planSource  = 256 + 16 + 16*16
)

const (
	writable = syscall.PROT_READ | syscall.PROT_WRITE
	private  = syscall.MAP_PRIVATE | syscall.MAP_NORESERVE | syscall.MAP_FIXED
)

// mapEverywhere maps the memory from two files. Writes of kernels go to private copies, and reset removes them.
func mapEverywhere(t *testing.T) *everywhere {
	m := &everywhere{words: fileOf(t, pieceBytes), head: fileOf(t, headBytes)}
	m.slabs = m.mapReach(t, slabReach, writable)
	m.arrays = m.mapReach(t, arrayReach, syscall.PROT_READ)
	for i := range uint64(arrayPlaces) {
		place, at := m.array(i), i*apart%pieceBytes
		mapped(t, place, arrayBytes, writable, private, int(m.words.Fd()), at)
	}
	mapped(t, m.slabs-headBytes, headBytes, writable, private, int(m.head.Fd()), 0)
	return m
}

// mapReach maps the words repeatedly, from `behind` bytes before the returned address to the given number of bytes
// after it.
func (m *everywhere) mapReach(t *testing.T, reach uint64, protection int) uint64 {
	const reserved = syscall.MAP_PRIVATE | syscall.MAP_NORESERVE | syscall.MAP_ANONYMOUS
	all := mapped(t, 0, behind+reach+2*pieceBytes, syscall.PROT_NONE, reserved, -1, 0)
	base := all&^(pieceBytes-1) + pieceBytes + behind
	for at := uint64(0); at < behind+reach; at += pieceBytes {
		mapped(t, base-behind+at, pieceBytes, protection, private, int(m.words.Fd()), 0)
	}
	return base
}

// array returns the memory of an array.
func (m *everywhere) array(i uint64) uint64 { return m.arrays + i*apart }

func fileOf(t *testing.T, bytes int64) *os.File {
	f, err := os.CreateTemp(t.TempDir(), "words")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(bytes))
	t.Cleanup(func() { f.Close() })
	return f
}

func mapped(t *testing.T, at, bytes uint64, protection, flags, file int, from uint64) uint64 {
	got, _, errno := syscall.Syscall6(syscall.SYS_MMAP, uintptr(at), uintptr(bytes), uintptr(protection),
		uintptr(flags), uintptr(file), uintptr(from))
	require.Zero(t, errno, "mmap: %v", errno)
	return uint64(got)
}

// reset restores the contents that fill wrote. That takes milliseconds, because there are thousands of mappings. So in
// the short form, the slabs keep the writes of earlier kernels with the same content.
func (m *everywhere) reset(t *testing.T) {
	takeBack(t, m.slabs-behind, behind+slabReach)
	m.resetArrays(t)
}

func (m *everywhere) resetArrays(t *testing.T) { takeBack(t, m.arrays, arrayPlaces*apart) }

func (m *everywhere) resetHead(t *testing.T) { takeBack(t, m.slabs-headBytes, headBytes) }

func takeBack(t *testing.T, at, bytes uint64) {
	_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, uintptr(at), uintptr(bytes), syscall.MADV_DONTNEED)
	require.Zero(t, errno, "madvise: %v", errno)
}

// fill writes these words to each piece, and to the head except for its addresses.
func (m *everywhere) fill(t *testing.T, words []byte) {
	_, err := m.words.WriteAt(words, 0)
	require.NoError(t, err)
	head := slices.Clone(words[:headBytes])
	address := func(at, address uint64) { binary.LittleEndian.PutUint64(head[at:], address) }
	for i := range uint64(2) { // the pairs of a bulk build
		address(planSource+8*i, m.array(i))
	}
	for i := range uint64(256) { // each super block's units and bitmaps
		address(poolTableAt+64+16*i, m.slabs+i*apart)
		address(poolTableAt+72+16*i, m.slabs+(i+256)*apart)
	}
	for i := range uint64(4 * 32) { // each run's keys, values, tombstones and index
		address(stackAt+8*i, m.array(i))
	}
	for i := range uint64(headBytes-addressesAt) / 8 {
		address(addressesAt+8*i, m.array(i))
	}
	address(stampsAt, m.array(arrayPlaces-1))
	address(changedAt, m.array(arrayPlaces-2))
	address(movingAt, m.slabs-headBytes+versionsAt)
	for i := range uint64(4) { // stamps, bits, versions, free versions; then the number of versions
		address(versionsAt+8*i, m.array(arrayPlaces-1-i))
	}
	binary.LittleEndian.PutUint32(head[versionsAt+32:], 150)
	address(windowsAt, m.array(0))
	address(windowsAt+8, 0) // each operation has its own window, because a kernel does not check other windows
	address(windowsAt+16, m.array(1))
	address(windowsAt+24, 0)
	binary.LittleEndian.PutUint32(head[windowsAt+32:], 150)
	binary.LittleEndian.PutUint32(head[windowsAt+40:], 2)
	for i := range uint64(4) { // keys, old and new values, kinds; then the least key, and the room for results
		address(diffAt+8*i, m.array(i))
	}
	address(diffAt+32, 0)
	binary.LittleEndian.PutUint32(head[diffAt+40:], 150)
	for i := range uint64(2) { // slabs for which a reclaimer found no room
		address(keptAt+8*i, m.array(i))
	}
	for i, f := range found {
		binary.LittleEndian.PutUint32(head[foundAt+8*i:], f.words[0])
		binary.LittleEndian.PutUint32(head[foundAt+8*i+4:], f.words[1])
	}
	_, err = m.head.WriteAt(head, 0)
	require.NoError(t, err)
	m.reset(t)
}

// anywhere has the beginnings of the names of kernels that write to any given address, for tests.
var anywhere = []string{"doctor/far", "doctor/progress", "test/slab_change."}

// found has two words that a kernel must find at a push constant's address: without them it does nothing that depends
// on memory. The keys are the beginnings of kernels' names.
var found = []struct {
	beginning, name string
	words           [2]uint32
}{
	{"runs/range_place", "total", [2]uint32{150, 0}},
	{"primitives/sort_scatter", "taken", [2]uint32{}},
}

// place returns the address of the array for a push constant.
func (m *everywhere) place(module, name, last string, offset int) uint64 {
	for i, f := range found {
		if f.name == name && strings.HasPrefix(module, f.beginning) {
			return m.slabs - headBytes + foundAt + 8*uint64(i)
		}
	}
	switch {
	case slices.ContainsFunc(anywhere, func(beginning string) bool { return strings.HasPrefix(module, beginning) }):
		return m.slabs + uint64(offset+8)*apart
	case last == "ratio_down" || last == "ratio_up":
		return 3 << 31 // not an address but a number: 1.5, in units of 2^-32
	case strings.HasPrefix(module, "btree/version_diff") && name == "to":
		return m.slabs - headBytes + diffAt
	case name == "tree.state" && (strings.HasSuffix(module, "then") || strings.HasPrefix(module, "btree/version_diff")),
		last == "versions", last == "later":
		return m.slabs - headBytes + versionsAt
	case last == "state":
		return m.slabs - headBytes
	case last == "table":
		return m.slabs - headBytes + poolTableAt
	case name == "stack.rows":
		return m.slabs - headBytes + stackAt
	case (strings.HasPrefix(module, "btree/mixed") || strings.HasPrefix(module, "test/btree_beside")) && name == "to":
		return m.slabs - headBytes + windowsAt
	case last == "addresses":
		return m.slabs - headBytes + addressesAt
	case last == "units" || last == "nodes":
		return m.slabs // so that slab s begins at word 32*s
	}
	return m.array(uint64(offset + 8))
}

// content is the contents of a piece of memory.
type content struct {
	name  string
	words []byte
}

func contents() (all []content) {
	add := func(name string, word func(i uint32) uint32) {
		if stress.Level == 0 && !slices.Contains([]string{"random words", "few words"}, name) {
			return
		}
		words := make([]byte, pieceBytes)
		for i := range uint32(pieceBytes / 4) {
			binary.LittleEndian.PutUint32(words[4*i:], word(i))
		}
		all = append(all, content{name, words})
	}
	rnd := rand.New(rand.NewPCG(11, 0))
	few := []uint32{0, 1, 2, 14, 31, 1 << 16, 1 << 31, ^uint32(0)}
	add("random words", func(uint32) uint32 { return rnd.Uint32() })
	add("zeros", func(uint32) uint32 { return 0 })
	add("slabs that lead to themselves", func(i uint32) uint32 { return i / 32 })
	add("slabs that lead to the next", func(i uint32) uint32 { return i/32 + 1 })
	add("small words", func(uint32) uint32 { return rnd.Uint32N(16) })
	add("few words", func(uint32) uint32 { return few[rnd.IntN(len(few))] })
	add("small pairs", func(i uint32) uint32 { return rnd.Uint32N(200) * (1 - i%2) })
	if stress.Level == 0 {
		return all
	}
	for _, word := range few[1:] {
		add(fmt.Sprintf("words of %#x", word), func(uint32) uint32 { return word })
	}
	add("words that ascend", func(i uint32) uint32 { return i })
	add("words that descend", func(i uint32) uint32 { return ^i })
	add("slabs that lead to each other", func(i uint32) uint32 { return i/32 ^ 1 })
	for n := range 20 {
		add(fmt.Sprintf("words below 2^%d", n+1), func(uint32) uint32 { return rnd.Uint32N(2 << n) })
	}
	return all
}
