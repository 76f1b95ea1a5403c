package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/vk"
)

func newBuildCommand(g *global) *cobra.Command {
	var s source
	var output string
	var allowEmpty bool
	c := &cobra.Command{
		Use:   "build TABLE -o DICT.vkds",
		Short: "Load a table into a dictionary and save it",
		Long: `Build loads a table into a dictionary and saves that to a file. Other commands
load the file faster than the table, verify it by its checksums, and need not be
told its columns and types again. The file records the data structure, which
loading builds again. Given a saved dictionary, build saves it anew, as another
structure if --structure names one.

The file is replaced atomically (see "vkds help output"). Temporary files that
killed runs have left beside it are removed. A dictionary without pairs does not
replace a file, unless --allow-empty is given.

` + sourceHelp,
		Example: `  vkds build airports.csv --key id --value altitude -o airports.vkds
  vkds build visits.parquet --key time --key-type time --value user -o v.vkds
  vkds build ranges.csv --key first --value country --structure lsm -o ips.vkds`,
		Args: takes("one TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return build(c.Context(), g, &s, arguments[0], output, allowEmpty)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&output, "output", "o", "", "`file` to save the dictionary in")
	_ = c.MarkFlagRequired("output") // it exists
	flags.BoolVar(&allowEmpty, "allow-empty", false, emptyHelp)
	s.add(c, "")
	return c
}

func build(ctx context.Context, g *global, s *source, path, output string, allowEmpty bool) error {
	if err := cmp.Or(dictfile.Check(output), checkInputs(output, path)); err != nil { // now rather than after the work
		return err
	}
	return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error {
		return save(ctx, g, dict, path, output, allowEmpty)
	})
}

// emptyHelp is the usage of --allow-empty.
const emptyHelp = "let a dictionary without pairs replace the file"

// save writes a dictionary to a file, which is created or replaced only if that succeeds. path, for messages, is where
// the pairs come from.
func save(ctx context.Context, g *global, dict *dictionary, path, output string, allowEmpty bool) error {
	if outfile.Replaces(output) && dict.pairs == 0 && !allowEmpty {
		return fmt.Errorf("%s holds no pairs, so %s is left as it is (--allow-empty has it replaced)", called(path),
			output)
	}
	started := time.Now()
	header := dictfile.Header{
		Structure: dict.structure.name,
		Pairs:     int64(dict.pairs),
		KeyType:   dict.key.String(),
		ValueType: dict.value.String(),
		Writer:    "vkds " + version(),
	}
	if dict.parameter != 0 {
		header.Parameters = map[string]float64{dict.structure.parameter: dict.parameter}
	}
	w, err := dictfile.Create(ctx, output, header)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	w.SetTexts(dict.keys().texts, dict.values().texts)
	for pairs, err := range dict.Chunks(ctx) {
		if err := cmp.Or(err, w.Write(pairs.Keys, pairs.Values), ctx.Err()); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	g.note("saved %s as %s, %s bytes", rate(dict.pairs, "pairs", time.Since(started)), output, grouped(w.Bytes()))
	return nil
}
