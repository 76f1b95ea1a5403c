package shaders

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// publicHeaders are the headers of the public library, sorted.
func publicHeaders(t *testing.T) []string {
	headers, err := fs.Glob(Headers(), "*.glsl")
	require.NoError(t, err)
	require.NotEmpty(t, headers)
	return headers
}

// protocols are the ways in which the public headers are compiled.
var protocols = map[string][]string{
	"a32":   nil,
	"a64":   {"-DVKDS_INT64_ATOMICS=1"},
	"set":   {"-DVKDS_SLAB_KEYS=1"},
	"wide":  {"-DVKDS_KEY_BITS=64", "-DVKDS_VALUE_BITS=64"},
	"chaos": {"-DVKDS_CHAOS=1", "-DVKDS_INT64_ATOMICS=1"},
	"pairs": {"-DVKDS_CHAOS=1", "-DVKDS_CHAOS_GPU=1"},
}

// includes is a shader that includes headers in an order.
type includes struct {
	headers []string
	flags   []string
}

// compileAll compiles the shaders, with the functions that nobody calls, and fails for each that is wrong.
func compileAll(t *testing.T, shaders []includes) {
	glslang, err := exec.LookPath("glslangValidator")
	if err != nil {
		t.Skip("no glslangValidator here (on Debian the package glslang-tools), so headers are not compiled")
	}
	folder := t.TempDir()
	include, err := filepath.Abs("include")
	require.NoError(t, err)
	compile := func(i int) error {
		source := "#version 460\n#extension GL_GOOGLE_include_directive : require\n"
		for _, header := range shaders[i].headers {
			source += fmt.Sprintf("#include %q\n", header)
		}
		file := filepath.Join(folder, fmt.Sprintf("%d.comp", i))
		if err := os.WriteFile(file, []byte(source+"void main() {}\n"), 0o644); err != nil {
			return err
		}
		arguments := append([]string{"--quiet", "--target-env", "vulkan1.3", "--keep-uncalled", "-I" + include, "-o",
			file + ".spv", file}, shaders[i].flags...)
		if messages, err := exec.Command(glslang, arguments...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, messages)
		}
		return nil
	}
	failed := make([]error, len(shaders))
	var work sync.WaitGroup
	places := make(chan struct{}, runtime.NumCPU())
	for i := range shaders {
		places <- struct{}{}
		work.Go(func() {
			failed[i] = compile(i)
			<-places
		})
	}
	work.Wait()
	for i, err := range failed {
		if err != nil {
			t.Errorf("%s %v: %v", strings.Join(shaders[i].headers, ", "), shaders[i].flags, err)
		}
	}
}

// Each public header compiles by itself: it includes what it needs.
func TestEachHeaderAlone(t *testing.T) {
	var alone []includes
	for _, header := range publicHeaders(t) {
		alone = append(alone, includes{headers: []string{header}})
	}
	compileAll(t, alone)
}

// All public headers compile in one shader, from the first to the last and from the last to the first: so each of any
// two stands in front of the other one once, and no two have names or ids of constants in common.
func TestAllHeadersTogether(t *testing.T) {
	headers := publicHeaders(t)
	backwards := slices.Clone(headers)
	slices.Reverse(backwards)
	var together []includes
	for _, flags := range protocols {
		together = append(together, includes{headers, flags}, includes{backwards, flags})
	}
	compileAll(t, together)
}

// The same of every ordered pair with nothing else around it, which takes a minute: a compiler's start is a tenth of a
// second, whatever it compiles.
func TestEachPairOfHeaders(t *testing.T) {
	if stress.Level == 0 {
		t.Skip("a minute's work: VKDS_STRESS=1 runs it; TestAllHeadersTogether has all pairs in eight shaders")
	}
	var pairs []includes
	for _, a := range publicHeaders(t) {
		for _, b := range publicHeaders(t) {
			if a != b {
				pairs = append(pairs, includes{headers: []string{a, b}})
			}
		}
	}
	compileAll(t, pairs)
}

var (
	registered = regexp.MustCompile(`(?m)^#define VKDS_ID_(\w+) (\d+)`)
	declared   = regexp.MustCompile(`constant_id *= *(\w+) *\) *const +\w+ +(\w+)`)
	sized      = regexp.MustCompile(`local_size_\w_id *= *(\w+)`)
)

// constants.glsl has the id of every specialization constant of the public headers, each id once, and each constant is
// declared by one header. The kernels' own begin behind them. The page of the device-side library has the same ids.
func TestConstantsAreRegistered(t *testing.T) {
	registry, err := fs.ReadFile(Headers(), "constants.glsl")
	require.NoError(t, err)
	ids, names := map[string]int{}, map[int]string{}
	for _, m := range registered.FindAllStringSubmatch(string(registry), -1) {
		id, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		require.Empty(t, names[id], "id %d is that of %s, too", id, m[1])
		ids[m[1]], names[id] = id, m[1]
	}
	free, ok := ids["FREE"]
	require.True(t, ok, "where the kernels' own ids begin")
	delete(ids, "FREE")

	by := map[string]string{} // constant: the header that declares it
	require.NoError(t, filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if extension := filepath.Ext(file); err != nil || extension != ".glsl" && extension != ".comp" {
			return err
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		public := filepath.Dir(file) == headers
		require.Equal(t, strings.Count(string(text), "constant_id"), len(declared.FindAllString(string(text), -1)),
			"%s: a constant that is not read here", file)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			if public {
				require.Equal(t, "VKDS_ID_"+m[2], m[1], "%s: the id of %s", file, m[2])
				require.Contains(t, ids, m[2], "%s: %s is not in constants.glsl", file, m[2])
				require.Empty(t, by[m[2]], "%s: %s", file, m[2])
				require.Less(t, ids[m[2]], free, m[2])
				by[m[2]] = file
				continue
			}
			id, err := strconv.Atoi(m[1])
			require.NoError(t, err, "%s: the id of %s", file, m[2])
			require.GreaterOrEqual(t, id, free, "%s: %s has an id of the public headers", file, m[2])
		}
		for _, m := range sized.FindAllStringSubmatch(string(text), -1) {
			require.Equal(t, "VKDS_ID_WORKGROUP", m[1], file)
		}
		return nil
	}))
	page, err := os.ReadFile("../docs/device-side.md")
	require.NoError(t, err)
	for name, id := range ids {
		require.Contains(t, by, name, "no header has it")
		require.Contains(t, string(page), fmt.Sprintf("| %d | `%s` |", id, name), "the page's table")
	}
	require.Contains(t, string(page), fmt.Sprintf("Ids from %d on are free", free))
}

// What headers define for the preprocessor begins with VKDS_, so that it is nobody else's name. K, V and P, the types
// of keys, values and pairs, are macros because GLSL has no other way to call a type by another name.
func TestMacrosHaveThePrefix(t *testing.T) {
	macro := regexp.MustCompile(`(?m)^ *# *(?:define|ifdef|ifndef) +(\w+)`)
	for _, header := range publicHeaders(t) {
		text, err := fs.ReadFile(Headers(), header)
		require.NoError(t, err)
		for _, m := range macro.FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, "^VKDS_|^[KVP]$", m[1], header)
		}
	}
}
