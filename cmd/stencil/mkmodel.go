package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stencil/backend/llama"
	"stencil/models"
)

func newMkmodelCommand() *cobra.Command {
	var opt models.RandomOptions
	var kind, pooling string
	cmd := &cobra.Command{
		Use:   "mkmodel OUT.gguf",
		Short: "Write a model with random weights, for tests and measurements",
		Long: `Write a model with random weights. It computes as fast as a trained one of
its size and writes nonsense. With the same flags and seed the file is the
same, byte by byte.

Architectures, what their layers keep of a text, and the flags beside
--layers, --width, --context, --type, --seed and --vocab that they take:

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
	var archs []string
	for _, a := range models.Architectures() {
		archs = append(archs, a.Name)
	}
	poolings := words(string(models.PoolingNone), string(models.PoolingMean), string(models.PoolingCLS), string(models.PoolingLast), string(models.PoolingRank))
	flags := cmd.Flags()
	flags.StringVar(&opt.Arch, "arch", "llama", "architecture, one of those above")
	flags.StringVar(&opt.Vocab, "vocab", "", "GGUF file whose vocabulary to use (default: a built-in one of 640 tokens, for bert one of words)")
	flags.StringVar(&opt.Name, "name", "", "name in the file (default: random and the sizes)")
	flags.IntVar(&opt.Layers, "layers", 0, "layers (default: 2, or as many as show every kind of layer)")
	flags.IntVar(&opt.Width, "width", 64, "size of the embedding")
	flags.IntVar(&opt.Heads, "heads", 0, "attention heads (default: width/16, at most 32)")
	flags.IntVar(&opt.KVHeads, "kv-heads", 0, "heads of keys and values (default: as --heads)")
	flags.IntVar(&opt.HeadSize, "head-size", 0, "size of a head (default: width divided by heads)")
	flags.IntVar(&opt.FF, "ff", 0, "inner size of the feed-forward part, or of each expert (default: 3 times the width)")
	flags.IntVar(&opt.Experts, "experts", 0, "experts of a layer (default: 8)")
	flags.IntVar(&opt.ExpertUsed, "experts-used", 0, "experts that a token goes through (default: 2)")
	flags.IntVar(&opt.Window, "window", 0, "tokens that layers with a sliding window see (default: as the models of that name)")
	flags.IntVar(&opt.State, "state", 0, "size of a head of the recurrent state (default: by architecture, 16 to 64)")
	flags.StringVar(&pooling, "pooling", "", "how an embedding is made of those of the tokens: none, mean, cls or last; rank makes a reranker (default: mean for bert)")
	flags.IntVar(&opt.Context, "context", 4096, "context length that the file announces")
	flags.StringVar(&kind, "type", "F32", "number format of the matrices: "+strings.Join(models.TypeNames(), ", "))
	flags.Uint64Var(&opt.Seed, "seed", 0, "seed of the weights")
	completeFlag(cmd, "arch", words(archs...))
	completeFlag(cmd, "type", words(models.TypeNames()...))
	completeFlag(cmd, "pooling", poolings)
	completeFlag(cmd, "vocab", modelFiles)
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
