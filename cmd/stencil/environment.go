package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// environmentName returns the variable that sets a flag.
func environmentName(flag string) string {
	return "STENCIL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// bindEnvironment sets the flags that were not given on the command line from the
// environment. It returns an error for the first value that its flag refuses.
func bindEnvironment(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || failed != nil {
			return
		}
		name := environmentName(f.Name)
		value, ok := os.LookupEnv(name)
		if !ok {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s: %q: %w", name, value, err)
		}
	})
	return failed
}
