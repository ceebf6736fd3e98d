package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/stencil-json/stencil/backend"
)

// Shell completion of flags that take one of a few words, and of files by
// extension. "stencil completion" writes the script that uses it.

// cacheTypeNames are the values of --cache-type.
var cacheTypeNames = []string{
	string(backend.CacheF32), string(backend.CacheF16), string(backend.CacheBF16), string(backend.CacheQ8_0),
	string(backend.CacheQ5_1), string(backend.CacheQ5_0), string(backend.CacheQ4_1), string(backend.CacheQ4_0),
}

// flashNames are the values of --flash-attention.
var flashNames = []string{string(backend.FlashAuto), string(backend.FlashOn), string(backend.FlashOff)}

// modelFiles completes an argument with names of model files.
var modelFiles = cobra.FixedCompletions([]string{"gguf"}, cobra.ShellCompDirectiveFilterFileExt)

// completeFlag completes a flag of cmd. It panics when there is no such flag,
// as the functions that define flags do when there are two.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// words completes with one of these.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completeModelFlags completes the flags of modelFlags and logFlags.
func completeModelFlags(cmd *cobra.Command) {
	completeFlag(cmd, "model", modelFiles)
	completeFlag(cmd, "lora", modelFiles)
	completeFlag(cmd, "cache-type", words(cacheTypeNames...))
	completeFlag(cmd, "flash-attention", words(flashNames...))
	completeFlag(cmd, "log-format", words("text", "json"))
	completeFlag(cmd, "log-level", words("debug", "info", "warn", "error"))
}

// newManCommand returns the command that packaging uses; users have --help.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // a date would make each build another
			header := &doc.GenManHeader{Section: "1", Source: "stencil", Manual: "stencil"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			return nil
		},
	}
}
