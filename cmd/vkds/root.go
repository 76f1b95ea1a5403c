package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/vk"
)

// global is what all commands share: the flags of the root command, and where answers and notes go.
type global struct {
	device     string
	validation bool
	quiet      bool
	verbose    bool

	out, err   io.Writer
	isTerminal func(file any) bool                  // for tests; nil: ask the system
	adopt      func(vk.Options) (*vk.Device, error) // opens the device of a window; nil: vk.Open
	complaints atomic.Int64                         // error messages of the validation layer
}

// group is a section of the help: its title, and the constructors of its commands.
type group struct {
	title    string
	commands []func(*global) *cobra.Command
}

// groups are the subcommands, in the order of the help.
var groups = []group{
	{"Query a dictionary or a table:", slices.Concat([]func(*global) *cobra.Command{
		newGetCommand, newRangeCommand, newCountCommand},
		newNeighborCommands(), []func(*global) *cobra.Command{
			newMinCommand, newMaxCommand, newTopCommand, newDumpCommand})},
	{"Save, change and check dictionaries:", []func(*global) *cobra.Command{
		newBuildCommand, newUpdateCommand, newDeleteCommand, newVerifyCommand}},
	{"Count, group, join and sort:", []func(*global) *cobra.Command{
		newTallyCommand, newGroupCommand, newDistinctCommand, newMergeCommand,
		newJoinCommand, newSortCommand}},
	{"Serve a dictionary:", []func(*global) *cobra.Command{newServeCommand}},
	{"Analyse graphs:", []func(*global) *cobra.Command{newGraphCommand}},
	{"Look inside and measure:", []func(*global) *cobra.Command{newStatsCommand, newInspectCommand,
		newTraceCommand, newViewCommand, newBenchCommand}},
	{"Devices:", []func(*global) *cobra.Command{newInfoCommand, newDoctorCommand, newTuneCommand}},
	{"About vkds:", []func(*global) *cobra.Command{newVersionCommand, newManCommand}},
}

func newRootCommand(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:   "vkds",
		Short: "Dictionaries and graphs in GPU memory, on any vendor's GPU",
		Long: `vkds loads tables (CSV, Parquet, Arrow) into dictionaries in GPU memory, through
Vulkan. It looks up keys, ranges of keys and their neighbours, counts and
changes keys, and saves dictionaries to files. Keys and values are numbers of
32 or 64 bits, or text. vkds also counts the keys of files and analyses graphs.

Without a GPU, dictionaries are kept in the host's memory. Graphs, benchmarks,
pictures, stats, verify and doctor then use a CPU device, such as Mesa's
lavapipe.

Answers go to standard output, as CSV or, with --json, as JSON. The exit status
is 0 if all went well. It is 2 if something is wrong; one line on standard error
then says what. "vkds help output" lists the other statuses.`,
		Example: `  vkds tally requests.log.gz --top 10
  vkds get airports.csv --key id --value altitude 507 3797
  vkds range airports.csv --key id --value altitude 1:100
  vkds build airports.csv --key id --value altitude -o airports.vkds
  vkds get airports.vkds --keys wanted.txt --must-exist`,
		Version:       version(),
		SilenceErrors: true, // run prints them, in one line
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(c.ValidateRequiredFlags(), c.ValidateFlagGroups()); err != nil {
				return flagError(c, err)
			}
			return cmp.Or(notEmpty(c.Flags()), together(c.Flags()))
		},
		PersistentPostRunE: func(*cobra.Command, []string) error {
			if n := g.complaints.Load(); n > 0 {
				return fmt.Errorf("the validation layer found %d errors", n)
			}
			return nil
		},
	}
	root.SetOut(quietly{g.out}) // before InitDefaultCompletionCmd, which remembers it
	flags := root.PersistentFlags()
	flags.StringVar(&g.device, "device", "", "device to use: its number in \"vkds info\", a part of\n"+
		"its name, or discrete, integrated, virtual, cpu or\n"+
		"gpu; none keeps dictionaries in the host's memory\n"+
		"(default: $VKDS_DEVICE, else the best device; for\n"+
		"dictionaries none if that is no GPU, or the file small)")
	flags.BoolVar(&g.validation, "validation", false, "check every Vulkan call with the validation layer")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "print no notes and no progress")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "print notes even if standard error is not a terminal")
	flags.SortFlags = false
	root.SetFlagErrorFunc(flagError)
	cobra.EnableCommandSorting = false
	for _, x := range groups {
		root.AddGroup(&cobra.Group{ID: x.title, Title: x.title})
		for _, construct := range x.commands {
			c := construct(g)
			c.GroupID = x.title
			root.AddCommand(c)
		}
	}
	for _, t := range topics {
		root.AddCommand(newTopic(t.name, t.short, t.text))
	}
	root.SetHelpCommand(newHelpCommand(root))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() {
			demandCommand(c)
		}
	}
	arrangeFlags(root)
	return root
}

func flagError(c *cobra.Command, err error) error {
	return fmt.Errorf("%w (see %s --help)", err, c.CommandPath())
}

// unknownCommand returns the error of a subcommand that c does not have.
func unknownCommand(c *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q for %q (see %s --help)", name, c.CommandPath(), c.CommandPath())
}

// demandCommand makes a command with subcommands show its help if it gets no argument, and return an error if the
// argument is not a subcommand. Cobra would show the help then, too, and end with status 0.
func demandCommand(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if len(arguments) > 0 {
			return unknownCommand(c, arguments[0])
		}
		return c.Help()
	}
}

// newHelpCommand replaces cobra's own, which reports no error for an unknown command or topic.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Help about a command or a topic",
		RunE: func(_ *cobra.Command, topic []string) error {
			c, rest, err := root.Find(topic)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag() // so that it is listed
			c.InitDefaultVersionFlag()
			return c.Help()
		},
	}
}

// takes returns a check of the number of a command's arguments. what describes them in the error.
func takes(what string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		if len(arguments) < least || len(arguments) > most {
			return fmt.Errorf("%s takes %s (see %s --help)", c.Name(), what, c.CommandPath())
		}
		return nil
	}
}
