package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/bench"
)

// readBy says of a benchmark's flags which operations they change, by patterns of names. A flag that isn't there changes
// all of them.
var readBy = map[string]map[string][]string{
	"slabhash": {
		"skew": {"*-skewed"},
	},
	"btree": {
		"batch":    {"insert", "insert-batch", "assign", "delete", "end-to-end", "delete-find-*", "insert-range-*"},
		"order":    {"build", "insert", "insert-batch", "assign", "delete", "find-*", "count", "range", "range-first", "successor", "end-to-end", "compact"},
		"path":     {"insert", "insert-batch", "assign", "delete"},
		"statuses": {"insert", "insert-batch", "assign", "delete"},
		"lookup":   {"find-exist", "find-none"},
		"length":   {"count", "range", "range-first", "range-beside", "insert-range-*", "alpha-*-all"},
	},
	"lsm": {
		"levels": {"find-*", "count", "range"},
		"stale":  {"cleanup"},
		"lookup": {"find-*"},
		"length": {"count", "range"},
	},
	"sortedarray": {
		"batch":  {"insert"},
		"lookup": {"find-*"},
		"length": {"count", "range"},
	},
	"latched": {
		"batch": {"insert", "insert-ascending", "insert-batch"},
		"wait":  {"insert*"},
	},
	"scan": {
		"form": {"exclusive", "inclusive"},
	},
	"search": {
		"form": {"sort-search"},
	},
}

// checkRead tells of a flag that is given, but changes none of the operations that are measured.
func checkRead(benchmark string, flags *pflag.FlagSet) (err error) {
	all := bench.Ops(benchmark)
	ops, _ := flags.GetStringSlice("op") // not every benchmark has operations
	if len(ops) == 0 {
		ops = bench.Defaults(all)
	}
	flags.Visit(func(f *pflag.Flag) {
		patterns, some := readBy[benchmark][f.Name]
		if !some {
			return
		}
		var readers []string
		for _, op := range all {
			if matches(patterns, op.Name) {
				readers = append(readers, op.Name)
			}
		}
		if !slices.ContainsFunc(ops, func(op string) bool { return slices.Contains(readers, op) }) {
			err = fmt.Errorf("--%s changes nothing of %s: it is for %s", f.Name, strings.Join(ops, ", "), strings.Join(readers, ", "))
		}
	})
	return err
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { matched, _ := path.Match(pattern, name); return matched })
}
