// Command stencil is a local inference server whose answers always satisfy the
// constraint in the request.
//
// Each subcommand has a file of its own. Every flag can also be set by an
// environment variable or in a file: see package config.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/config"
	"github.com/stencil-json/stencil/cmd/stencil/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks commands to finish; the second one kills the
	// program, as usual.
	context.AfterFunc(ctx, stop)
	args, err := config.LlamaServer(os.Args[1:])
	if err == nil {
		root := newRootCommand()
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
	}
	stop()
	if err != nil {
		// The error may quote untrusted text.
		fmt.Fprintln(os.Stderr, "stencil:", console.Printable(err.Error()))
		var coded *exitError
		if errors.As(err, &coded) {
			os.Exit(coded.code)
		}
		os.Exit(1)
	}
}

// An exitError is an error with an exit status of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "stencil",
		Short: "A local inference server that always gives the JSON you asked for",
		Long: `stencil loads a GGUF model through llama.cpp and serves it over HTTP. When a
request carries a JSON Schema, every token it samples is one that the schema
allows, and the document is complete even when the token budget runs out.

Every flag can also be set by an environment variable (--max-tokens is
STENCIL_MAX_TOKENS) or in stencil.yaml ("stencil config --help"). A flag given on the
command line wins.`,
		Example: `  stencil serve --model model.gguf
  stencil generate --model model.gguf --prompt "Invent a customer: " --schema customer.json`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return configure(cmd) },
	}
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(flagError)
	registerConfig(root)
	root.AddGroup(commandGroups...)
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	for id, list := range map[string][]*cobra.Command{
		"run":         {newServeCommand(), newGenerateCommand(), newDecideCommand(), newAgentCommand()},
		"models":      {newPullCommand(), newInspectCommand(), newDevicesCommand(), newMkmodelCommand()},
		"constraints": {newSchemaCommand(), newGrammarCommand(), newRepairCommand(), newSignalsCommand()},
		"measure":     {newBenchCommand(), newEvalCommand(), newMaskbenchCommand(), newWalkCommand()},
		"other":       {newConfigCommand(), newVersionCommand(), newManCommand(), newTrialCommand()},
	} {
		for _, cmd := range list {
			cmd.GroupID = id
		}
		root.AddCommand(list...)
	}
	completeFlags(root, flagValues())
	explained(root)
	return root
}

// release is the version if the build information has none. A release sets it with
// -ldflags "-X main.release=1.2.3".
var release = "dev"

// version returns the version of this build.
func version() string {
	if release != "dev" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "-" + s.Value[:12]
		}
	}
	return release
}

func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of what it is built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Stencil  string `json:"stencil"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
					Llama    string `json:"llama_cpp"` // "": not built in
					Kernels  string `json:"cpu_kernels"`
				}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, llama.Version(), llama.CPUFeatures()})
			}
			return printVersion(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

func printVersion(out io.Writer) error {
	fmt.Fprintf(out, "stencil   %s\n", version())
	fmt.Fprintf(out, "go        %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if !llama.Built {
		_, err := fmt.Fprintln(out, "llama.cpp not built in: run `make build`")
		return err
	}
	kernels := llama.CPUFeatures()
	if kernels == "" {
		kernels = "none"
		if _, err := llama.Devices(); err != nil {
			kernels += ": " + err.Error()
		}
	}
	_, err := fmt.Fprintf(out, "llama.cpp %s; CPU kernels: %s\n", llama.Version(), kernels)
	return err
}
