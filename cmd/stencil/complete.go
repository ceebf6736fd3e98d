package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/cmd/stencil/config"
	"github.com/stencil-json/stencil/gbnf"
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
	defer context.AfterFunc(ctx, func() { _ = resp.Body.Close() })() // that of status 101 doesn't end with it
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

// A flagValue is what the value of a flag is, by which it is completed.
type flagValue struct {
	words  []string             // one of these
	path   string               // file, folder, or the endings of the files that are meant, separated by spaces
	finder cobra.CompletionFunc // whatever this finds
}

const anyFile, folder = "file", "folder"

// flagValues are the values of flags that a shell can complete, by name: a name means one thing in all commands, but for
// those that commands complete themselves. Where a flag isn't here, its value is free, and no files are offered for it.
func flagValues() map[string]flagValue {
	values := map[string]flagValue{
		"model": {finder: modelNames}, "server-model": {finder: servedModels}, "lora": {finder: modelFiles}, "vocab": {finder: modelFiles},
		"config": {path: "yaml yml"}, "schema": {path: "json ts"}, "schema-from-example": {path: "json"}, "grammar": {path: "gbnf"},
	}
	for name, list := range map[string][]string{
		"builtin": formats(), "cache-type": cacheTypeNames, "flash-attention": flashNames, "log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error"},
		"split-mode": {"none", "layer", "row", "tensor"}, "rope-scaling": {"none", "linear", "yarn"}, "reasoning": {"on", "off", "auto"}, "chat-template": {"chatml", "llama3", "command-r"},
		"order": {"any", "schema"}, "whitespace": {"flexible", "compact", "pretty"}, "numbers": {"any", "generated"}, "on-unsupported": {"error", "validate", "ignore"}, "instances": {"python", "compact"},
		"upstream-engine": {"openai", "vllm", "sglang", "llama-server", "stencil"}, "upstream-capabilities": {"json_schema", "json_object", "logprobs", "tools", "none"},
		"strategy": {"clean", "repair", "markdown", "coerce"}, "tool-form": chat.CallForms(),
	} {
		values[name] = flagValue{words: list}
	}
	for _, name := range []string{
		"prompt-file", "prompts", "agent-prompts", "api-key-file", "chat-template-file", "feedback", "html", "benchstat", "plot", "profile", "responses-store", "sample", "text-file",
		"tls-cert", "tls-key", "trace", "out",
	} {
		values[name] = flagValue{path: anyFile}
	}
	for _, name := range []string{"folder", "agent-folder", "data", "from", "lib", "models", "prompt-cache", "schemas"} {
		values[name] = flagValue{path: folder}
	}
	return values
}

// completeFlags has shells complete the values of a command's flags, and of those below it.
func completeFlags(cmd *cobra.Command, values map[string]flagValue) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		v := values[f.Name]
		if f.Name == "json" && f.Value.Type() == "string" {
			v.path = anyFile // of bench and eval
		}
		_, already := cmd.GetFlagCompletionFunc(f.Name)
		switch {
		case already || f.NoOptDefVal != "" || v.path == anyFile: // files are what shells offer by themselves
		case v.path == folder:
			completeFlag(cmd, f.Name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return nil, cobra.ShellCompDirectiveFilterDirs
			})
		case v.path != "":
			completeFlag(cmd, f.Name, cobra.FixedCompletions(strings.Fields(v.path), cobra.ShellCompDirectiveFilterFileExt))
		case v.finder != nil:
			completeFlag(cmd, f.Name, v.finder)
		default:
			completeFlag(cmd, f.Name, words(v.words...))
		}
	})
	for _, sub := range cmd.Commands() {
		completeFlags(sub, values)
	}
}

// expandHome puts the user's folder in the place of ~ where a path begins with it: a shell does so only where a word of
// the command line begins with it, and neither in --models=~/models nor in a file.
func expandHome(flags *pflag.FlagSet) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil //nolint:nilerr // without a home, ~ is a name like any other
	}
	values := flagValues()
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		v := values[f.Name]
		if f.Name != "model" && f.Name != "lora" && f.Name != "vocab" && v.path == "" || failed != nil {
			return
		}
		expanded := func(path string) string {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				return filepath.Join(home, rest)
			}
			return path
		}
		if slice, ok := f.Value.(pflag.SliceValue); ok {
			was := slice.GetSlice()
			list := slices.Clone(was)
			for i, path := range list {
				list[i] = expanded(path)
			}
			if !slices.Equal(list, was) {
				failed = slice.Replace(list)
			}
		} else if was := f.Value.String(); strings.HasPrefix(was, "~/") {
			failed = f.Value.Set(expanded(was))
		}
	})
	return failed
}

// grammars completes the only argument of a command with the names of built-in grammars, beside files.
func grammars(files bool) cobra.CompletionFunc {
	directive := cobra.ShellCompDirectiveNoFileComp
	if files {
		directive = cobra.ShellCompDirectiveDefault
	}
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return gbnf.Builtins(), directive
	}
}

// commandNames completes with the commands that have flags of their own.
func commandNames(cmd *cobra.Command, args []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	above, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range above.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), typed) {
			list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
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
