package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/models"
)

func newMkmodelCommand() *cobra.Command {
	var opt models.RandomOptions
	var kind, pooling string
	cmd := &cobra.Command{
		Use:   "mkmodel OUT.gguf",
		Short: "Write a model with random weights, for tests and benchmarks",
		Long: `Write a model with random weights. It runs as fast as a trained model of the same
size and generates nonsense. The same flags and seed give the same file, byte by
byte.

Architectures, the state that their layers keep, and their flags besides --layers,
--width, --context, --type, --seed and --vocab:

` + architectureTable() + `
Q4_K_M is a mixture of Q4_K and Q6_K; width and ff must be multiples of 256.`,
		Example: `  stencil mkmodel tiny.gguf
  stencil mkmodel big.gguf --vocab llama3.gguf --layers 16 --width 1024 --ff 4096 --type q4_k_m
  stencil mkmodel hybrid.gguf --arch qwen35 --layers 8
  stencil mkmodel reranker.gguf --arch bert --pooling rank`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opt.Type, err = models.ParseType(kind); err != nil {
				return err
			}
			opt.Pooling = models.Pooling(pooling)
			const steps = 1000
			bar := console.NewProgress(os.Stderr, "writing "+args[0], steps, false)
			opt.Progress = func(done float64) { bar.Set(int64(done * steps)) }
			err = models.WriteRandom(args[0], opt)
			bar.Close()
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
	var archs []string
	for _, a := range models.Architectures() {
		archs = append(archs, a.Name)
	}
	poolings := words(string(models.PoolingNone), string(models.PoolingMean), string(models.PoolingCLS), string(models.PoolingLast), string(models.PoolingRank))
	flags := cmd.Flags()
	flags.StringVar(&opt.Arch, "arch", "llama", "model architecture, one of those listed above")
	flags.StringVar(&opt.Vocab, "vocab", "", "GGUF file whose vocabulary to use (default: built-in, 640 tokens; for bert, of words)")
	flags.StringVar(&opt.Name, "name", "", "model name in the metadata (default: random and the sizes)")
	flags.IntVar(&opt.Layers, "layers", 0, "number of layers (default: 2, or enough for every kind of layer)")
	flags.IntVar(&opt.Width, "width", 64, "embedding size")
	flags.IntVar(&opt.Heads, "heads", 0, "number of attention heads (default: width/16, at most 32)")
	flags.IntVar(&opt.KVHeads, "kv-heads", 0, "number of key-value heads (default: as --heads)")
	flags.IntVar(&opt.HeadSize, "head-size", 0, "head size (default: width divided by heads)")
	flags.IntVar(&opt.FF, "ff", 0, "feed-forward size, or that of each expert (default: 3 times the width)")
	flags.IntVar(&opt.Experts, "experts", 0, "number of experts per layer (default: 8)")
	flags.IntVar(&opt.ExpertUsed, "experts-used", 0, "number of experts used per token (default: 2)")
	flags.IntVar(&opt.Window, "window", 0, "sliding window in tokens (default: as in the models of that architecture)")
	flags.IntVar(&opt.State, "state", 0, "head size of the recurrent state (default: by architecture, 16 to 64)")
	flags.StringVar(&pooling, "pooling", "", "pooling of embeddings: none, mean, cls, last, or rank for a reranker (default: mean for bert)")
	flags.IntVar(&opt.Context, "context", 4096, "trained context length in the metadata")
	flags.StringVar(&kind, "type", "F32", "data type of the matrices: "+strings.Join(models.TypeNames(), ", "))
	flags.Uint64Var(&opt.Seed, "seed", 0, "random seed of the weights")
	group(flags, "Weights")
	completeFlag(cmd, "arch", words(archs...))
	completeFlag(cmd, "type", words(models.TypeNames()...))
	completeFlag(cmd, "pooling", poolings)
	convertFrom(cmd)
	return cmd
}

// architectureTable lists the architectures for the help, two lines each.
func architectureTable() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, a := range models.Architectures() {
		fmt.Fprintf(w, "  %s\t%s\n", a.Name, a.About)
		fmt.Fprintf(w, "  \t--%s\n", strings.Join(a.Options, " --"))
	}
	w.Flush()
	return b.String()
}

// convertFrom gives mkmodel the flag --from, which converts a trained model instead
// of writing one with random weights.
func convertFrom(cmd *cobra.Command) {
	random := cmd.RunE
	var from string
	cmd.Flags().StringVar(&from, "from", "", "folder of a sentence-transformers BERT model to convert; combines only with --type and --name")
	group(cmd.Flags(), "Weights")
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

// convert writes the model in a folder to a GGUF file.
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
	bar := console.NewProgress(os.Stderr, "writing "+path, steps, false)
	err = models.WriteBERT(path, folder, models.BERTOptions{Name: name, Type: typ, Progress: func(done float64) { bar.Set(int64(done * steps)) }})
	bar.Close()
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
