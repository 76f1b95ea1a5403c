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
		Short: "Print the version of vkds",
		Long: `Version prints the version of vkds, the commit that it was built from and the
time of that commit, whether files had been changed since, the version of Go,
and the system and processor that vkds was built for. The commit is known only
if vkds was built in a checkout of the repository.`,
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

// measuresOf describes how a program was built.
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

// release returns the module's version, "development" if Go has recorded none.
func release(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "(devel)" {
		return cmp.Or(v, "development")
	}
	return "development"
}

// version describes this build of vkds in one line.
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
