package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"stencil/backend/llama"
	"stencil/models"
)

func newMkmodelCommand() *cobra.Command {
	var opt models.RandomOptions
	var kind string
	cmd := &cobra.Command{
		Use:   "mkmodel OUT.gguf",
		Short: "Write a model with random weights, for tests and measurements",
		Long: `Write a model of the llama architecture with random weights. It computes as
fast as a trained one of its size and writes nonsense. With the same flags and
seed the file is the same, byte by byte.`,
		Example: `  stencil mkmodel tiny.gguf
  stencil mkmodel big.gguf --vocab llama3.gguf --layers 16 --width 1024 --ff 4096 --type q4_0`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opt.Type, err = models.ParseType(kind); err != nil {
				return err
			}
			const steps = 1000
			bar := newProgress(os.Stderr, "writing "+args[0], steps, false)
			opt.Progress = func(done float64) { bar.set(int64(done * steps)) }
			err = models.WriteRandom(args[0], opt)
			bar.close()
			if err != nil {
				return err
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], llama.Size(info.Size()))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Vocab, "vocab", "", "GGUF file whose vocabulary to use (default: the built-in one of 640 tokens)")
	flags.StringVar(&opt.Name, "name", "", "name in the file (default: random and the sizes)")
	flags.IntVar(&opt.Layers, "layers", 2, "layers")
	flags.IntVar(&opt.Width, "width", 64, "size of the embedding")
	flags.IntVar(&opt.Heads, "heads", 0, "attention heads (default: width/16, at most 32)")
	flags.IntVar(&opt.KVHeads, "kv-heads", 0, "heads of keys and values (default: as --heads)")
	flags.IntVar(&opt.FF, "ff", 0, "inner size of the feed-forward part (default: 3 times the width)")
	flags.IntVar(&opt.Context, "context", 4096, "context length that the file announces")
	flags.StringVar(&kind, "type", "F32", "number format of the matrices: F32, F16, Q8_0, Q4_0")
	flags.Uint64Var(&opt.Seed, "seed", 0, "seed of the weights")
	completeFlag(cmd, "type", words("F32", "F16", "Q8_0", "Q4_0"))
	completeFlag(cmd, "vocab", modelFiles)
	return cmd
}
