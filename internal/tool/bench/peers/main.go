// Command peers measures what Go programs use instead of vkds, with the keys of a report of "vkds bench":
//
//	vkds bench slabhash --op build,find-all,end-to-end --json report.json
//	peers report.json
//
// It compares hash tables with the slab hash, and B-trees with the ordered structures. Run it on the machine of the
// report. It prints the report, with the measurements of the peers and the ratios of their times to ours after our own.
// It is a separate module, so that the peers are not dependencies of programs that import vkds.
//
//	peers count FILE
//
// counts lines with a Go map, for scripts/count-lines.
//
//	peers graph FILE…
//
// compares graphs with a Go map of maps and with gonum's.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/vkds/vkds/internal/tool/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	if len(arguments) > 0 && arguments[0] == "count" {
		return count(arguments[1:], out)
	}
	if len(arguments) > 0 && arguments[0] == "graph" {
		return graphs(ctx, arguments[1:], out)
	}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	runs := flags.Int("repeat", 5, "measured runs, of which the median counts")
	figures := flags.String("json", "", "write the figures to a JSON `file`, too")
	flags.Usage = func() {
		fmt.Fprintln(
			flags.Output(),
			"usage: peers [-repeat n] [-json file] REPORT.json, a report that vkds bench --json wrote\n"+
				"       peers count FILE\n       peers graph, which -help explains")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("one report, please, that vkds bench --json wrote")
	}
	if *runs < 1 {
		return fmt.Errorf("-repeat %d: at least 1", *runs)
	}
	report, err := bench.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	if len(report.Measurements) == 0 {
		return fmt.Errorf("%s: nothing was measured", flags.Arg(0))
	}
	if err := measureBeside(ctx, &report, peersOf(report), *runs); err != nil {
		return err
	}
	if err := report.Write(out); err != nil || *figures == "" {
		return err
	}
	text, err := json.MarshalIndent(report, "", " ")
	return cmp.Or(err, os.WriteFile(*figures, append(text, '\n'), 0o644))
}

// peersOf returns the peers of the report's structure.
func peersOf(r bench.Report) []peer {
	if r.Measurements[0].Structure == "slabhash" {
		return maps()
	}
	return trees()
}
