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
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

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
		// What it quotes may be another's words.
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
	return root
}
