package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stencil/backend/llama"
	"stencil/models"
)

// convertFrom gives mkmodel the flag --from, which converts a trained model instead
// of writing one with random weights.
func convertFrom(cmd *cobra.Command) {
	random := cmd.RunE
	var from string
	cmd.Flags().StringVar(&from, "from", "", "folder of a sentence-transformers BERT model to convert; combines only with --type and --name")
	group(cmd.Flags(), "Weights")
	completeFlag(cmd, "from", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	cmd.Example += "\n  stencil mkmodel minilm.gguf --from all-MiniLM-L6-v2 --type f16"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from == "" {
			return random(cmd, args)
		}
		var needless []string
		cmd.Flags().Visit(func(f *pflag.Flag) {
			switch f.Name {
			case "from", "type", "name":
			default:
				needless = append(needless, "--"+f.Name)
			}
		})
		if len(needless) > 0 {
			return fmt.Errorf("mkmodel: --from cannot be combined with %s", strings.Join(needless, ", "))
		}
		return convert(cmd, args[0], from)
	}
}

// convert writes the model in a folder as a GGUF file.
func convert(cmd *cobra.Command, path, folder string) error {
	kind, err1 := cmd.Flags().GetString("type")
	name, err2 := cmd.Flags().GetString("name")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	typ, err := models.ParseType(kind)
	if err != nil {
		return err
	}
	const steps = 1000
	bar := newProgress(os.Stderr, "writing "+path, steps, false)
	err = models.WriteBERT(path, folder, models.BERTOptions{Name: name, Type: typ, Progress: func(done float64) { bar.set(int64(done * steps)) }})
	bar.close()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, llama.Size(info.Size()))
	return err
}
