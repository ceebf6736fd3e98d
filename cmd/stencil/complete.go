package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/cmd/stencil/config"
)

// Shell completion of flags that take one of a few words, and of models, by file or
// name. "stencil completion" writes the script that uses it.

// cacheTypeNames are the values of --cache-type.
var cacheTypeNames = []string{
	string(backend.CacheF32), string(backend.CacheF16), string(backend.CacheBF16), string(backend.CacheQ8_0),
	string(backend.CacheQ5_1), string(backend.CacheQ5_0), string(backend.CacheQ4_1), string(backend.CacheQ4_0),
}

// flashNames are the values of --flash-attention.
var flashNames = []string{string(backend.FlashAuto), string(backend.FlashOn), string(backend.FlashOff)}

// modelFiles completes with model files, and with folders that lead to them.
func modelFiles(_ *cobra.Command, _ []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	const files, folders = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	folder, name := filepath.Split(typed)
	directive := files
	entries, err := os.ReadDir(atHome(folder))
	if err != nil {
		return nil, files
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || name == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(atHome(folder), e.Name()))
		switch {
		case err == nil && info.IsDir():
			list, directive = append(list, folder+e.Name()+"/"), folders
		case err == nil && strings.HasSuffix(e.Name(), ".gguf"):
			list = append(list, folder+e.Name())
		}
	}
	return list, directive
}

// atHome expands ~/ in a folder as a shell does.
func atHome(folder string) string {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return filepath.Clean(folder)
}

// modelFile completes the only argument of a command, a model file.
func modelFile(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return modelFiles(cmd, args, typed)
}

// modelName completes the only argument of a command, which accepts the values of --model.
func modelName(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return modelNames(cmd, args, typed)
}

// modelNames completes with model files and with the names of models in the folder of
// --models.
func modelNames(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, directive := modelFiles(cmd, args, typed)
	if strings.Contains(typed, "/") {
		return list, directive
	}
	if _, err := config.Apply(cmd, os.Environ()); err != nil { // the configuration may name the folder
		return list, directive
	}
	folder := cmd.Flag("models").Value.String()
	files, err := filepath.Glob(filepath.Join(folder, "*.gguf"))
	if err != nil || folder == "" {
		return list, directive
	}
	for _, path := range files {
		if name := strings.TrimSuffix(filepath.Base(path), ".gguf"); strings.HasPrefix(name, typed) {
			list = append(list, cobra.CompletionWithDesc(name, "in "+folder))
		}
	}
	return list, directive
}

// servedModels completes with the models of the server at --server.
func servedModels(cmd *cobra.Command, _ []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second) // the user waits at a prompt
	defer cancel()
	if _, err := config.Apply(cmd, os.Environ()); err != nil {
		return nil, none
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(cmd.Flag("server").Value.String(), "/")+"/v1/models", nil)
	if err != nil {
		return nil, none
	}
	if key := cmd.Flag("server-key").Value.String(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, none
	}
	defer resp.Body.Close()
	var models struct{ Data []struct{ ID string } }
	if json.NewDecoder(resp.Body).Decode(&models) != nil {
		return nil, none
	}
	for _, m := range models.Data {
		if strings.HasPrefix(m.ID, typed) {
			list = append(list, m.ID)
		}
	}
	return list, none
}

// completeFlag completes a flag of cmd. It panics if the flag does not exist, like pflag on a
// duplicate definition.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// words completes with one of the given words.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completeModelFlags completes the flags of modelFlags and logFlags.
func completeModelFlags(cmd *cobra.Command) {
	completeFlag(cmd, "model", modelNames)
	if cmd.Flag("server-model") != nil {
		completeFlag(cmd, "server-model", servedModels)
	}
	completeFlag(cmd, "lora", modelFiles)
	completeFlag(cmd, "cache-type", words(cacheTypeNames...))
	completeFlag(cmd, "flash-attention", words(flashNames...))
	completeFlag(cmd, "log-format", words("text", "json"))
	completeFlag(cmd, "log-level", words("debug", "info", "warn", "error"))
}

// newManCommand returns the command that writes manual pages. It is hidden: packaging uses it,
// and users have --help.
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
			root.DisableAutoGenTag = true // otherwise each build would differ by its date
			header := &doc.GenManHeader{Section: "1", Source: "stencil", Manual: "stencil"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			return nil
		},
	}
}
