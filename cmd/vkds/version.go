package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"
)

func newVersionCommand(g *global) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Tell which vkds this is",
		Long: `Version prints the version of vkds, the commit that it was built from and that commit's
time, whether files were changed since then, the version of Go, and the system and the
processor that it was built for. A tool that was built from something else than a
checkout of the repository knows no commit.`,
		Args: takes("no arguments", 0, 0),
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			return g.answerMeasures(measuresOf(info), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// measuresOf is what a program knows of how it was built.
func measuresOf(info *debug.BuildInfo) []measure {
	setting := settings(info)
	m := []measure{{"version", release(info)}}
	if commit, known := setting["vcs.revision"]; known {
		changed, _ := strconv.ParseBool(setting["vcs.modified"])
		m = append(m, measure{"commit", commit}, measure{"commit_time", setting["vcs.time"]},
			measure{"changed", changed})
	}
	return append(m, measure{"go", runtime.Version()}, measure{"platform", runtime.GOOS + "/" + runtime.GOARCH},
		measure{"cgo", setting["CGO_ENABLED"] == "1"})
}

func settings(info *debug.BuildInfo) map[string]string {
	all := map[string]string{}
	for _, s := range info.Settings {
		all[s.Key] = s.Value
	}
	return all
}

// release is the module's version, which Go knows of an installed module and of a commit.
func release(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "(devel)" {
		return cmp.Or(v, "development")
	}
	return "development"
}

// version is what vkds says of itself in one line.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := release(info)
	if commit, known := settings(info)["vcs.revision"]; known {
		v += ", commit " + commit
	}
	return fmt.Sprintf("%s (%s)", v, info.GoVersion)
}
