package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/vk"
)

// valuesOf is the annotation of a flag that lists the names it accepts.
const valuesOf = "values"

// arrangeFlags keeps the flags of a command and its subcommands in the order in which they were added, and has shells
// complete the values of those that accept a fixed set of names.
func arrangeFlags(c *cobra.Command) {
	c.Flags().SortFlags = false
	complete := func(f *pflag.Flag) {
		names := f.Annotations[valuesOf]
		if v, ok := f.Value.(interface{ Values() []string }); ok {
			names = v.Values()
		}
		switch {
		case f.Name == "device":
			_ = c.RegisterFlagCompletionFunc(f.Name, completeDevice)
		case len(names) > 0: // registering fails only if it is done twice
			_ = c.RegisterFlagCompletionFunc(f.Name, completeNames(names, f.Value.Type() == "stringSlice"))
		}
	}
	c.LocalFlags().VisitAll(complete)
	for _, below := range c.Commands() {
		arrangeFlags(below)
	}
}

// completeNames completes a name or, if a flag accepts several, the last one of a list with commas.
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

// completeDevice completes the numbers and the types of the machine's devices.
func completeDevice(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var all []string
	devices, _ := vk.List() // the command itself will report the error
	for _, d := range devices {
		kind := string(d.Type)
		all = append(all, cobra.CompletionWithDesc(strconv.Itoa(d.Index), d.Name))
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return completeNames(all, false)(c, nil, begun)
}
