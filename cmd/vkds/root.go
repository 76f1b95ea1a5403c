package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// global is what all commands share: the flags of the root command and where
// answers and notes go.
type global struct {
	device     string
	validation bool
	quiet      bool
	verbose    bool

	out, err   io.Writer
	isTerminal func(file any) bool // nil: the system tells
	complaints atomic.Int64        // error messages of the validation layer
}

// commands are the constructors of the subcommands, in the order of the help.
var commands = slices.Concat([]func(*global) *cobra.Command{
	newInfoCommand,
	newDoctorCommand,
	newBuildCommand,
	newGetCommand,
	newRangeCommand,
	newCountCommand,
}, newNeighborCommands(), []func(*global) *cobra.Command{
	newMinCommand,
	newMaxCommand,
	newDumpCommand,
	newUpdateCommand,
	newDeleteCommand,
	newStatsCommand,
	newInspectCommand,
	newVerifyCommand,
	newTallyCommand,
	newBenchCommand,
})

func newRootCommand(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:   "vkds",
		Short: "Dictionaries in GPU memory, on any vendor's GPU",
		Long: `vkds keeps dictionaries of 32-bit keys and values in GPU memory, through Vulkan.
It loads tables (CSV, Parquet, Arrow) and files of keys, looks up keys, ranges of
keys and their neighbours, counts them, and saves what it has built.

Answers go to standard output, as CSV. With --json, rows of data become one JSON
object a line, whose members are called as the columns, and what describes one
thing (info, doctor, stats, verify) becomes one JSON document. Errors go to
standard error, and, where that is a terminal, notes and progress; --verbose has
the notes elsewhere, too. The exit status is 0, or 2 where something is wrong, which one
line then tells, or 130 where an interrupt ended the command. It is 1 with
--must-exist for a key that isn't there, and of "doctor" for a device that isn't to
be trusted.

Without a GPU, vkds runs on a CPU device such as Mesa's lavapipe. The
environment variable VKDS_DEVICE chooses a device as --device does.`,
		Example: `  vkds tally requests.log.gz --top 10
  vkds get airports.csv --key id --value altitude 507 3797
  vkds range airports.csv --key id --value altitude 1:100
  vkds build airports.csv --key id --value altitude -o airports.vkds
  vkds get airports.vkds --keys wanted.txt --must-exist`,
		Version:           version(),
		SilenceErrors:     true, // run prints them, in one line
		SilenceUsage:      true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return cmp.Or(notEmpty(c.Flags()), together(c.Flags())) },
		PersistentPostRunE: func(*cobra.Command, []string) error {
			if n := g.complaints.Load(); n > 0 {
				return fmt.Errorf("the validation layer found %d errors", n)
			}
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.device, "device", "", "device to use: its number in \"vkds info\", a part of its name,\nor discrete, integrated, virtual or cpu")
	flags.BoolVar(&g.validation, "validation", false, "check every Vulkan call with the validation layer")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "no notes and no progress")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "notes also where standard error is no terminal")
	flags.SortFlags = false
	root.SetFlagErrorFunc(flagError)
	cobra.EnableCommandSorting = false
	for _, construct := range commands {
		root.AddCommand(construct(g))
	}
	root.SetHelpCommand(newHelpCommand(root))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() {
			demandCommand(c)
		}
	}
	return root
}

func flagError(c *cobra.Command, err error) error {
	return fmt.Errorf("%w (see %s --help)", err, c.CommandPath())
}

// unknownCommand says that there is no such command below c.
func unknownCommand(c *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q for %q (see %s --help)", name, c.CommandPath(), c.CommandPath())
}

// demandCommand has a command that has others below it, and does nothing itself, show its help if it is given nothing,
// and refuse what is no command's name. (cobra would show the help then, too, and call that a success.)
func demandCommand(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, arguments []string) error {
		if len(arguments) > 0 {
			return unknownCommand(c, arguments[0])
		}
		return c.Help()
	}
}

// newHelpCommand is cobra's own, but that topics which don't exist are errors.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
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

// takes checks how many arguments a command got; what says what it takes.
func takes(what string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		if len(arguments) < least || len(arguments) > most {
			return fmt.Errorf("%s takes %s (see %s --help)", c.Name(), what, c.CommandPath())
		}
		return nil
	}
}

// version is the module's version where the tool was installed as a module,
// else the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = "commit " + s.Value
		}
	}
	if v == "" || v == "(devel)" {
		v = "development"
	}
	return fmt.Sprintf("%s (%s)", v, info.GoVersion)
}
