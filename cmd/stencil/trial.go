package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"stencil/backend/llama"
)

// newTrialCommand is what the program runs itself with, so that a file that ends
// the process it is loaded in ends one that serves nobody.
func newTrialCommand() *cobra.Command {
	return &cobra.Command{
		Use:    llama.TrialCommand,
		Short:  "Load a model file that may be damaged, for the program itself",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status := llama.RunTrial(os.Stdin, cmd.OutOrStdout()); status != 0 {
				return &exitError{status, errors.New("the trial could not be made")}
			}
			return nil
		},
	}
}
