package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend/llama"
)

// newTrialCommand returns the command with which the server loads a model file in a
// process of its own first, so that a damaged file cannot crash the server.
func newTrialCommand() *cobra.Command {
	return &cobra.Command{
		Use:    llama.TrialCommand,
		Short:  "Load a model file that may be damaged (used internally)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status := llama.RunTrial(os.Stdin, cmd.OutOrStdout()); status != 0 {
				return &exitError{status, errors.New("the trial failed")}
			}
			return nil
		},
	}
}
