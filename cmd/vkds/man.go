package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long: `Man prints the manual page vkds(1) in the format of the program man. The page
holds the help of all commands and topics.`,
		Example: `  vkds man | man -l -
  vkds man > /usr/local/share/man/man1/vkds.1`,
		Args: takes("no arguments", 0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			var m manual
			m.write(c.Root())
			return g.answerText(m.Bytes())
		},
	}
}

// manual is a manual page, in the language of roff.
type manual struct{ bytes.Buffer }

func (m *manual) write(root *cobra.Command) {
	m.line(`.TH VKDS 1 "" %q "User Commands"`, "vkds "+version())
	m.line(".SH NAME\nvkds \\- %s", roff(root.Short))
	m.line(".SH SYNOPSIS\n.B vkds\n.I COMMAND\n[\\fIFLAG\\fR...] [\\fIARGUMENT\\fR...]")
	m.line(".SH DESCRIPTION")
	m.text(root.Long)
	m.examples(root)
	m.flags(root.PersistentFlags())
	for _, group := range root.Groups() {
		m.line(".SH %s", roff(strings.ToUpper(strings.TrimSuffix(group.Title, ":"))))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID {
				m.command(c)
			}
		}
	}
	for _, t := range topics {
		m.line(".SH %s", roff(strings.ToUpper(t.name)))
		m.text(t.text)
	}
}

func (m *manual) line(format string, arguments ...any) { fmt.Fprintf(m, format+"\n", arguments...) }

// command writes the help of a command and of those below it.
func (m *manual) command(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	m.line(".SS %s", roff(strings.TrimSuffix(c.UseLine(), " [flags]")))
	m.text(cmp.Or(c.Long, c.Short+"."))
	m.flags(c.LocalNonPersistentFlags())
	m.examples(c)
	for _, below := range c.Commands() {
		m.command(below)
	}
}

// text writes paragraphs. Those that have indented lines, such as tables, keep their line breaks.
func (m *manual) text(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.Contains("\n"+paragraph, "\n ") {
			m.line(".PP\n.nf\n%s\n.fi", roff(paragraph))
		} else {
			m.line(".PP\n%s", roff(paragraph))
		}
	}
}

func (m *manual) examples(c *cobra.Command) {
	if c.Example != "" {
		m.line(".PP\nExamples:\n.PP\n.nf\n%s\n.fi", roff(c.Example))
	}
}

func (m *manual) flags(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
		}
		if kind != "" {
			name += ` \fI` + roff(kind) + `\fR`
		}
		m.line(".TP\n%s\n%s", name, roff(strings.ReplaceAll(usage, "\n", " ")))
	})
}

// roff escapes what has a meaning in roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
