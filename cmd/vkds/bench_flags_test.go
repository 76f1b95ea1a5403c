package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/test/testdevice"
)

// parsedBenchmark returns the name and the options of the arguments of vkds bench, which are in order.
func parsedBenchmark(t *testing.T, arguments string) (string, bench.Options) {
	t.Helper()
	c, rest, err := newBenchCommand(&global{}).Find(strings.Fields(arguments))
	require.NoError(t, err, arguments)
	require.NoError(t, c.ParseFlags(rest), arguments)
	ops, err := c.Flags().GetStringSlice("op")
	require.NoError(t, err, arguments)
	o := bench.Options{Ops: ops, Axes: axesOf(c.Name(), c.Flags())}
	require.NoError(t, bench.Check(c.Name(), o), arguments)
	return c.Name(), o
}

// The commands of the documentation and of the help can be run, and have no flag without effect.
func TestDocumentedBenchmarksCanBeRun(t *testing.T) {
	var lines []string
	for _, page := range []string{"benchmarks.md", "notes/measurements.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	for _, c := range newBenchCommand(&global{}).Commands() {
		lines = append(lines, strings.Split(c.Example, "\n")...)
	}
	checked := 0
	for _, line := range lines {
		_, arguments, is := strings.Cut(strings.TrimSpace(line), "vkds bench ")
		if !is || !strings.HasPrefix(line, "  ") {
			continue
		}
		arguments, _, _ = strings.Cut(arguments, "#")
		parsedBenchmark(t, arguments)
		checked++
	}
	require.Greater(t, checked, 50)
}

// The commands beside the papers' experiments run at tiny sizes, with the first value of each flag.
func TestBenchmarksOfPapersRun(t *testing.T) {
	d := testdevice.Open(t)
	text, err := os.ReadFile("../../docs/papers.md")
	require.NoError(t, err)
	tiny := map[string]string{"n": "9", "batch": "6", "file": "../../testdata/karate.mtx"}
	commands := regexp.MustCompile("`[^`]*\\bvkds bench ([^`]+)`").FindAllSubmatch(text, -1)
	require.Greater(t, len(commands), 50)
	run := map[string]bool{}
	for _, command := range commands {
		if bytes.Contains(command[0], []byte("bench latched")) {
			continue // of an earlier command
		}
		name, o := parsedBenchmark(t, string(command[1]))
		for axis, values := range o.Axes {
			o.Axes[axis] = []string{cmp.Or(tiny[axis], values[0])}
		}
		key := fmt.Sprint(name, o.Ops, o.Axes)
		if run[key] {
			continue
		}
		run[key] = true
		o.Repeat, o.WarmUp = 1, time.Nanosecond
		_, err := bench.Run(t.Context(), d, name, o)
		require.NoError(t, err, string(command[1]))
	}
}
