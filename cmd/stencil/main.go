// Command stencil is a local inference server whose answers always fit the
// constraint they were asked for with.
//
// Each subcommand has a file of its own. Every flag can also be set by an
// environment variable: --max-tokens is STENCIL_MAX_TOKENS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks commands to finish; from then on the next one
	// kills, as it does any program.
	context.AfterFunc(ctx, stop)
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stencil:", err)
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

Every flag can also be set by an environment variable: --max-tokens is
STENCIL_MAX_TOKENS. A flag given on the command line wins.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return bindEnvironment(cmd) },
	}
	root.AddCommand(
		newServeCommand(),
		newGenerateCommand(),
		newAgentCommand(),
		newPullCommand(),
		newInspectCommand(),
		newDevicesCommand(),
		newMkmodelCommand(),
		newVersionCommand(),
		newManCommand(),
		newTrialCommand(),
	)
	root.AddCommand(measuringCommands()...)
	return root
}
