package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyCommand are all commands and topics.
func everyCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		all = append(all, everyCommand(below)...)
	}
	return all
}

// Each command has its help, says in it what it does and how, and refers only to what there is.
func TestEveryHelp(t *testing.T) {
	reference := regexp.MustCompile(`"vkds help ([a-z]+)"`)
	root := newRootCommand(&global{})
	referred := map[string]bool{}
	for _, c := range everyCommand(root) {
		name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "vkds"))
		if strings.HasPrefix(name, "completion") {
			continue // cobra's own
		}
		var out bytes.Buffer
		again := newRootCommand(&global{}) // a command tree does one command
		again.SetOut(&out)
		again.SetArgs(append([]string{"help"}, strings.Fields(name)...))
		require.NoError(t, again.Execute(), name)
		text := strings.Join(strings.Fields(out.String()), " ")
		assert.NotEmpty(t, c.Short, name)
		assert.NotContains(t, c.Short, ".", name)
		if c.Runnable() && !c.HasSubCommands() && c.Name() != "help" {
			assert.NotEmpty(t, c.Long, name)
			assert.Contains(t, text, "Usage: vkds "+name, name)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 120, "%s: %q", name, line)
		}
		for _, to := range reference.FindAllStringSubmatch(text, -1) {
			referred[to[1]] = true
			found, _, err := root.Find(to[1:])
			assert.NoError(t, err)
			assert.Equal(t, to[1], found.Name(), "%s refers to it", name)
		}
	}
	for _, topic := range topics {
		assert.True(t, referred[topic.name], "nothing refers to %s", topic.name)
	}
}

// No two commands below one command have the same name: only the first of them could be called.
func TestNamesOfCommandsDiffer(t *testing.T) {
	for _, c := range everyCommand(newRootCommand(&global{})) {
		seen := map[string]bool{}
		for _, below := range c.Commands() {
			assert.False(t, seen[below.Name()], "%s has two commands %s", c.CommandPath(), below.Name())
			seen[below.Name()] = true
		}
	}
}
