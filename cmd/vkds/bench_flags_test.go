package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
)

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
		c, rest, err := newBenchCommand(&global{}).Find(strings.Fields(arguments))
		require.NoError(t, err, line)
		require.NoError(t, c.ParseFlags(rest), line)
		ops, err := c.Flags().GetStringSlice("op")
		require.NoError(t, err, line)
		require.NoError(t, bench.Check(c.Name(), bench.Options{Ops: ops, Axes: axesOf(c.Name(), c.Flags())}), line)
		checked++
	}
	require.Greater(t, checked, 50)
}
