package main

import "github.com/spf13/cobra"

// measuringCommands are the commands that measure the constraint engine and
// models, and try schemas and grammars without a model.
func measuringCommands() []*cobra.Command {
	return []*cobra.Command{newBenchCommand(), newEvalCommand(), newMaskbenchCommand(), newWalkCommand(), newSchemaCommand(), newGrammarCommand()}
}
