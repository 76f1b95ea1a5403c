package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
)

// Each axis of a benchmark's operations has a flag, and each benchmark a command.
func TestEveryAxisHasAFlag(t *testing.T) {
	all := newBenchCommand(&global{})
	for _, b := range benchmarks {
		c, _, err := all.Find([]string{b.name})
		require.NoError(t, err)
		require.NotEmpty(t, bench.Ops(b.name), b.name)
		for _, p := range bench.Ops(b.name) {
			for _, axis := range append(strings.Fields(p.Axes), "n") {
				require.NotNil(t, c.Flags().Lookup(axis), "%s --%s", b.name, axis)
			}
		}
	}
}

// The commands of the documentation and of the help have no flag without effect.
func TestDocumentedFlagsAreRead(t *testing.T) {
	all := newBenchCommand(&global{})
	var lines []string
	for _, page := range []string{"benchmarks.md", "notes/measurements.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	for _, c := range all.Commands() {
		lines = append(lines, strings.Split(c.Example, "\n")...)
	}
	checked := 0
	for _, line := range lines {
		_, arguments, is := strings.Cut(strings.TrimSpace(line), "vkds bench ")
		if !is || !strings.HasPrefix(line, "  ") {
			continue
		}
		c, rest, err := newBenchCommand(&global{}).Find(strings.Fields(arguments))
		require.NoError(t, err, line)
		require.NoError(t, c.ParseFlags(rest), line)
		require.NoError(t, checkRead(c.Name(), c.Flags()), line)
		checked++
	}
	require.Greater(t, checked, 50)
}
