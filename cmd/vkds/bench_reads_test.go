package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/bench"
)

// The table has flags that there are, and of each some of the operations, not all.
func TestReadBy(t *testing.T) {
	all := newBenchCommand(&global{})
	for benchmark, flags := range readBy {
		c, _, err := all.Find([]string{benchmark})
		require.NoError(t, err)
		require.Equal(t, benchmark, c.Name())
		for flag, patterns := range flags {
			require.NotNil(t, c.Flags().Lookup(flag), "%s --%s", benchmark, flag)
			readers := 0
			for _, op := range bench.Ops(benchmark) {
				if matches(patterns, op.Name) {
					readers++
				}
			}
			require.Positive(t, readers, "%s --%s", benchmark, flag)
			require.Less(t, readers, len(bench.Ops(benchmark)), "%s --%s", benchmark, flag)
			for _, pattern := range patterns {
				some := false
				for _, op := range bench.Ops(benchmark) {
					some = some || matches([]string{pattern}, op.Name)
				}
				require.True(t, some, "%s --%s: no operation is %s", benchmark, flag, pattern)
			}
		}
	}
}

// The commands of the documentation and of the help have no flag without effect.
func TestDocumentedFlagsAreRead(t *testing.T) {
	text, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	all := newBenchCommand(&global{})
	lines := strings.Split(string(text), "\n")
	for _, c := range all.Commands() {
		lines = append(lines, strings.Split(c.Example, "\n")...)
	}
	checked := 0
	for _, line := range lines {
		arguments, is := strings.CutPrefix(strings.TrimSpace(line), "vkds bench ")
		if !is {
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
