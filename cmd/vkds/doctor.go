package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"
	"github.com/vkds/vkds/doctor"
)

// errUntrusted ends doctor on a device that is not to be trusted. run turns it into an exit status and prints nothing.
var errUntrusted = errors.New("results on this device are not to be trusted")

func newDoctorCommand(g *global) *cobra.Command {
	var asJSON bool
	var o doctor.Options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Test a device for what vkds relies on",
		Long: `Doctor runs litmus tests, small programs that show what a device guarantees, for
a few seconds: which workgroups, subgroups and lanes make progress concurrently,
whether atomics are exact and locks protect, in which order writes are seen, how
long loops may be, and what subgroups of each size do. It prints what was found,
what that means, and what vkds does on this device.

The exit status is 1 if a test failed of something that vkds relies on, or if
the driver is known to be broken. Results on such a device are not to be
trusted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return examine(c.Context(), g, o, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object with all that was observed")
	c.Flags().Uint64Var(&o.Seed, "seed", 0, "repeat the random choices of an earlier run")
	return c
}

func examine(ctx context.Context, g *global, o doctor.Options, asJSON bool) error {
	d, err := g.open()
	if err != nil {
		return err
	}
	if g.watched() {
		o.Progress = func(test string) { fmt.Fprintf(g.err, "\r\x1b[Kvkds: testing %s", test) }
	}
	p := planFor(d)
	r, err := doctor.Run(ctx, d, o)
	if o.Progress != nil {
		fmt.Fprint(g.err, "\r\x1b[K")
	}
	err = errors.Join(err, d.Close())
	if err != nil {
		return err
	}
	return g.answerReport(report{r, p}, asJSON)
}

// report is what doctor found on a device, and what vkds does there.
type report struct {
	doctor.Report
	Plan plan `json:"plan"`
}

// answerReport prints a report. It returns errUntrusted if the device is not to be trusted.
func (g *global) answerReport(r report, asJSON bool) error {
	var err error
	if asJSON {
		err = g.answerJSON(r)
	} else {
		err = g.printReport(r)
	}
	if err == nil && !r.Trusted {
		return errUntrusted
	}
	return err
}

// meaningWidth is the width in columns of a report's sentences.
const meaningWidth = 72

// printReport writes a report for people.
func (g *global) printReport(r report) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s), %s, Vulkan %s, on %s\n", r.Device.Name, r.Device.Type, r.Device.Driver,
		r.Device.Vulkan, r.Plan.Platform)
	t := tablewriter.NewTable(&text,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNormal),
		tablewriter.WithColumnWidths(tw.NewMapper[int, int]().Set(2, meaningWidth)),
	)
	t.Header([]string{"test", "verdict", "what was seen, and what it means"})
	for _, x := range r.Results {
		verdict := string(x.Verdict)
		if x.Verdict == doctor.Fail {
			verdict = strings.ToUpper(verdict)
		}
		if err := t.Append([]string{x.Test, verdict, x.Found + ". " + x.Meaning}); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	fmt.Fprintf(&text, "\nOn this device vkds will use:\n")
	transfers := "direct, in memory that host and device share"
	if r.Plan.Transfers != "direct" {
		transfers = "staged, through a ring of buffers"
	}
	fmt.Fprintf(&text, "  pairs       of 32 bits: %s\n", r.Plan.Protocols.Bits32)
	fmt.Fprintf(&text, "              of 64 bits: %s\n", r.Plan.Protocols.Bits64)
	fmt.Fprintf(&text, "  subgroups   of %d lanes\n", r.Plan.SubgroupSize)
	fmt.Fprintf(&text, "  tiles       lanes to a slab: %d in lookups, %d in updates, %d in walks\n", r.Plan.FindTile,
		r.Plan.UpdateTile, r.Plan.WalkTile)
	fmt.Fprintf(&text, "  transfers   %s\n", transfers)
	fmt.Fprintf(&text, "  without     %s\n\n", lacking(r.Plan.Lacks))
	if r.Trusted {
		fmt.Fprintln(&text, "Nothing wrong was found.")
	} else {
		fmt.Fprintln(&text, "WARNING: results on this device are NOT to be trusted.")
		for _, w := range r.Warnings {
			fmt.Fprintf(&text, "  %s\n", w)
		}
	}
	return g.answerText([]byte(text.String()))
}
