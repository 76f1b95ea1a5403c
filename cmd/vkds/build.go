package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/dictfile"
)

func newBuildCommand(g *global) *cobra.Command {
	var s source
	var output string
	c := &cobra.Command{
		Use:   "build TABLE -o DICT.vkds",
		Short: "Load a table into a dictionary and save it",
		Long: `Build loads a table into a dictionary on the device and saves it, so that get and
stats load it faster, checked by checksums, and without being told its columns
again. Given a saved dictionary, it builds that anew.

The file is written beside its place and moved there when it is complete, so
whatever interrupts vkds, there is the old file or the new one.

` + sourceHelp,
		Example: `  vkds build airports.csv --key id --value altitude -o airports.vkds
  vkds build events.parquet --key time --key-type time --value user -o events.vkds`,
		Args: takes("one TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return build(c.Context(), g, &s, arguments[0], output)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&output, "output", "o", "", "file to save the dictionary in")
	_ = c.MarkFlagRequired("output") // it exists
	s.add(flags)
	c.MarkFlagsMutuallyExclusive("header", "no-header")
	return c
}

func build(ctx context.Context, g *global, s *source, path, output string) (err error) {
	if err := dictfile.Check(output); err != nil { // now rather than after the work
		return err
	}
	d, err := g.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	dict, err := s.open(ctx, g, d, path)
	if err != nil {
		return err
	}
	defer dict.Close()
	stats, err := dict.Stats(ctx)
	if err != nil {
		return err
	}
	started := time.Now()
	header := dictfile.Header{
		Structure:  s.structure,
		Parameters: map[string]float64{"buckets": float64(stats.Buckets)},
		Pairs:      int64(dict.pairs),
		KeyType:    dict.key.String(),
		ValueType:  dict.value.String(),
		Writer:     "vkds " + version(),
	}
	if dict.load != 0 {
		header.Parameters["load"] = dict.load
	}
	if err := save(ctx, dict, output, header); err != nil {
		return err
	}
	size := int64(0)
	if info, err := os.Stat(output); err == nil {
		size = info.Size()
	}
	g.note("saved %s as %s, %s bytes", rate(dict.pairs, "pairs", time.Since(started)), output, grouped(size))
	return nil
}

// save writes a dictionary's pairs to a file, which is there only if that
// succeeds.
func save(ctx context.Context, dict *dictionary, path string, h dictfile.Header) error {
	w, err := dictfile.Create(path, h)
	if err != nil {
		return err
	}
	var failed error
	err = dict.Chunks(ctx, func(keys, values []uint32) bool {
		if failed = w.Write(keys, values); failed == nil {
			failed = ctx.Err()
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		if aborted := w.Abort(); aborted != nil {
			return fmt.Errorf("%w; %w", err, aborted)
		}
		return err
	}
	return w.Close()
}
