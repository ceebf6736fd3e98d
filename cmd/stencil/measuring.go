package main

import "github.com/spf13/cobra"

// measuringCommands are the commands that measure the constraint engine and
// try schemas and grammars without a model.
func measuringCommands() []*cobra.Command {
	return []*cobra.Command{newBenchCommand(), newMaskbenchCommand(), newWalkCommand(), newSchemaCommand(), newGrammarCommand()}
}
