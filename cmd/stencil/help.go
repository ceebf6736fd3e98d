package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandGroups are the headings of the command list of "stencil help".
var commandGroups = []*cobra.Group{
	{ID: "run", Title: "Run a model:"},
	{ID: "models", Title: "Manage model files:"},
	{ID: "constraints", Title: "Work with schemas and grammars:"},
	{ID: "measure", Title: "Measure:"},
	{ID: "other", Title: "Other:"},
}

// flagGroups are the headings of flags in the help of a command, in this order.
var flagGroups = []string{
	"Prompt", "Query", "Cases", "Corpus", "Schema", "Grammar", "Download", "Weights", "Comparison of servers", "Measurement",
	"Limits", "Model", "Context and memory", "Scheduling", "HTTP", "Sampling", "Constraint", "Running server", "Upstream",
	"Agents", "Signals", "Output", "Logging", "Configuration",
}

// groupAnnotation is the annotation of a flag that holds its heading.
const groupAnnotation = "stencil_group"

// group assigns the heading to every flag that has none yet. Call it after defining
// the flags of the group.
func group(flags *pflag.FlagSet, heading string) {
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupAnnotation] != nil {
			return
		}
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[groupAnnotation] = []string{heading}
	})
}

// headingOf returns the heading of a flag; cobra's own flags have none.
func headingOf(f *pflag.Flag) string {
	if list := f.Annotations[groupAnnotation]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// usage prints the usage of a command: its examples, and its subcommands and flags
// under their headings.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	writeFlags(&b, withVariables(cmd.LocalFlags()))
	if cmd.HasAvailableInheritedFlags() {
		writeFlags(&b, withVariables(cmd.InheritedFlags()))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun \"%s COMMAND --help\" for the flags of a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands lists the subcommands of a command by group.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	groups := slices.Clone(cmd.Groups())
	if len(groups) == 0 {
		groups = append(groups, &cobra.Group{Title: "Commands:"})
	}
	for _, g := range groups {
		began := false
		for _, sub := range cmd.Commands() {
			if sub.GroupID != g.ID || !sub.IsAvailableCommand() && sub.Name() != "help" {
				continue
			}
			if !began {
				fmt.Fprintf(b, "\n%s\n", g.Title)
				began = true
			}
			fmt.Fprintf(b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
}

// writeFlags lists flags under their headings; flags without one come last.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	sets := map[string]*pflag.FlagSet{}
	flags.VisitAll(func(f *pflag.Flag) {
		heading := headingOf(f)
		if sets[heading] == nil {
			sets[heading] = new(pflag.FlagSet)
			sets[heading].SortFlags = false
		}
		sets[heading].AddFlag(f)
	})
	for _, heading := range append(slices.Clone(flagGroups), "") {
		if set := sets[heading]; set != nil && set.HasAvailableFlags() {
			fmt.Fprintf(b, "\n%s:\n%s", cmp.Or(heading, "Other"), set.FlagUsages())
		}
	}
}
