package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/vk"
)

// valuesOf annotates a flag that takes names, separated by commas, or one name, with those that there are.
const valuesOf = "values"

// completeFlags has shells complete the values of flags that are one of some names, for a command and those below it.
func completeFlags(c *cobra.Command) {
	complete := func(f *pflag.Flag) {
		names := f.Annotations[valuesOf]
		if v, ok := f.Value.(interface{ Values() []string }); ok {
			names = v.Values()
		}
		switch {
		case f.Name == "device":
			_ = c.RegisterFlagCompletionFunc(f.Name, completeDevice)
		case len(names) > 0: // once a flag, as a command has it
			_ = c.RegisterFlagCompletionFunc(f.Name, completeNames(names, f.Value.Type() == "stringSlice"))
		}
	}
	c.LocalFlags().VisitAll(complete)
	for _, below := range c.Commands() {
		completeFlags(below)
	}
}

// completeNames completes one of some names, or the last of several.
func completeNames(names []string, several bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if several {
			before = begun[:strings.LastIndexByte(begun, ',')+1]
		}
		var all []string
		for _, name := range names {
			if name = before + name; strings.HasPrefix(name, begun) {
				all = append(all, name)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeDevice completes the kinds of devices, and the numbers of those that there are.
func completeDevice(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var all []string
	devices, _ := vk.List() // an error is told by the command that is completed
	for _, d := range devices {
		kind := string(d.Type)
		all = append(all, cobra.CompletionWithDesc(strconv.Itoa(d.Index), d.Name))
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return completeNames(all, false)(c, nil, begun)
}
