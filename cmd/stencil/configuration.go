package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/cmd/stencil/config"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/server/wire"
)

// configure sets the flags that were not given on the command line from the environment and the
// configuration file.
func configure(cmd *cobra.Command) error {
	for c := cmd; c != nil; c = c.Parent() {
		switch c.Name() {
		case "help", "completion", "man", "config", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return nil // they must work even with an invalid configuration, which config show reports
		}
	}
	s, err := config.Apply(cmd, os.Environ())
	if err != nil {
		return err
	}
	for _, note := range s.Notes(cmd) {
		fmt.Fprintln(cmd.ErrOrStderr(), "stencil:", console.Printable(note))
	}
	cmd.SetContext(context.WithValue(cmd.Context(), settingsKey{}, s))
	if err := expandHome(cmd.Flags()); err != nil {
		return err
	}
	return exclusive(cmd.Flags())
}

// settingsKey is the key of a command's settings in its context.
type settingsKey struct{}

// settingsOf returns where the flags of a command have their values from.
func settingsOf(ctx context.Context) *config.Settings {
	if s, ok := ctx.Value(settingsKey{}).(*config.Settings); ok {
		return s
	}
	return new(config.Settings)
}

// explained lets errors of a command and those below it say where a setting in them comes from.
func explained(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			return settingsOf(cmd.Context()).Explain(cmd, err)
		}
	}
	for _, sub := range cmd.Commands() {
		explained(sub)
	}
}

// exclusive says which flags exclude one another, in fewer words than cobra, whose check comes later.
func exclusive(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		for _, set := range f.Annotations["cobra_annotation_mutually_exclusive"] {
			var given []string
			for name := range strings.FieldsSeq(set) {
				if flags.Changed(name) {
					given = append(given, "--"+name)
				}
			}
			if len(given) > 1 {
				err = fmt.Errorf("%s exclude one another", strings.Join(given, " and "))
			}
		}
	})
	return err
}

// flagError names the flag that a mistyped one was probably meant to be.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := wire.Nearest(missing.GetSpecifiedName(), known); near != "" {
		return fmt.Errorf("%w; was --%s meant?", err, near)
	}
	return err
}

// registerConfig adds the flag --config to all commands.
func registerConfig(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.String(config.Flag, "", `configuration file; "off": none (default: `+config.FileName+` here or in the user's configuration folder)`)
	group(flags, "Configuration")
}

// withVariables returns flags whose help includes the environment variables that set them.
func withVariables(flags *pflag.FlagSet) *pflag.FlagSet {
	out := new(pflag.FlagSet)
	out.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		shown := *f
		if f.Name != "help" && f.Name != "version" {
			shown.Usage += " [" + config.Variable(f.Name) + "]"
		}
		if shown.DefValue == "[]" || strings.Contains(f.Usage, "(default") {
			shown.Value, shown.DefValue = noDefault{f.Value}, ""
		}
		out.AddFlag(&shown)
	})
	return out
}

// noDefault is a value whose help shows no default: pflag takes an empty text for none only in
// values whose type it doesn't know.
type noDefault struct{ pflag.Value }

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration and where it comes from",
		Long: `Show the configuration and where it comes from.

A flag has the value that is given on the command line, else that of its environment
variable, else that of the configuration file, else its default. The file is YAML;
its keys are the flags' names, at the top for every command that has the flag, or
below the name of a command:

  threads: 4
  serve:
    model: [chat.gguf, embed.gguf]
    port: 8081

It is the file that --config or STENCIL_CONFIG names, else ` + config.FileName + ` in the
working folder, else stencil/` + config.FileName + ` in the user's configuration folder.

A file in the working folder that was neither named nor trusted ("stencil config
trust") sets nothing that runs code, sends keys or prompts to others, writes files or
says who may use a server.`,
	}
	cmd.AddCommand(newConfigShowCommand(), newConfigTrustCommand())
	return cmd
}

func newConfigTrustCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let the configuration file of a folder set everything",
		Long: `Let a configuration file (default: ` + config.FileName + ` here) set everything wherever it is
found as that of the working folder. Once the file is changed, it has to be trusted
again. Read it first: it can name libraries to load, and servers that get prompts and
keys.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := config.FileName
			if len(args) > 0 {
				file = args[0]
			}
			path, err := config.Trust(file)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is trusted as it is now\n", path)
			return err
		},
	}
}

// A configValue is the value of a flag as "config show --json" prints it.
type configValue struct {
	Name     string `json:"name"`
	Value    any    `json:"value"`
	Source   string `json:"source"`
	Variable string `json:"variable"`
}

func newConfigShowCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "show [COMMAND [--FLAG...]]",
		Short: "Show the flags of a command, their values and where these come from",
		Long: `Show the flags of a command (default: serve), their values and where these come
from: the command line, an environment variable, a line of the configuration file.
Flags with their default are left out unless --all is given. Keys are not shown.

Names that are not known, in the file or the environment, are errors.`,
		Example: `  stencil config show
  stencil config show --all --json generate
  stencil config show -- serve --port 8081`,
		ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"serve"}
			}
			target, rest, err := cmd.Root().Find(args)
			if err != nil || target == cmd.Root() {
				return fmt.Errorf("config show: there is no command %q", strings.Join(args, " "))
			}
			if f := cmd.Flag(config.Flag); f.Changed {
				rest = append([]string{"--" + config.Flag, f.Value.String()}, rest...)
			}
			if err := target.ParseFlags(rest); err != nil {
				return err
			}
			s, err := config.Apply(target, os.Environ())
			if err != nil {
				return err
			}
			for _, note := range s.Notes(target) {
				fmt.Fprintln(cmd.ErrOrStderr(), "stencil:", console.Printable(note))
			}
			var list []configValue
			target.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" && f.Name != "version" && (all || s.Source(f.Name) != config.Default) {
					list = append(list, configValue{f.Name, shownValue(f), s.Source(f.Name), config.Variable(f.Name)})
				}
			})
			slices.SortFunc(list, func(a, b configValue) int { return strings.Compare(a.Name, b.Name) })
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Command string           `json:"command"`
					File    string           `json:"file,omitempty"`
					Flags   []configValue    `json:"flags"`
					LeftOut []config.LeftOut `json:"left_out,omitempty"`
				}{target.CommandPath(), s.File, append([]configValue{}, list...), s.LeftOut})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			file := s.File
			if file == "" {
				file = "none; looked for " + strings.Join(config.Places(), ", ")
			}
			_, err = fmt.Fprintf(w, "file:\t%s\n", file)
			for _, v := range list {
				_, printed := fmt.Fprintf(w, "%s:\t%v\t# %s\n", v.Name, v.Value, v.Source)
				err = errors.Join(err, printed)
			}
			return errors.Join(err, w.Flush())
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show flags with their default, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

// secretFlags are the flags whose values are not shown.
var secretFlags = []string{"api-key", "upstream-key", "token", "hf-token", "server-key"}

// shownValue returns the value of a flag for display.
func shownValue(f *pflag.Flag) any {
	if slices.Contains(secretFlags, f.Name) {
		if f.Value.String() == "" || f.Value.String() == "[]" {
			return ""
		}
		return "(set)"
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return append([]string{}, list.GetSlice()...)
	}
	return f.Value.String()
}
