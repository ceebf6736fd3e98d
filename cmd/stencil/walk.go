package main

import (
	"errors"

	"github.com/spf13/cobra"

	"stencil/bench"
	"stencil/schema"
	"stencil/vocab"
)

// newWalkCommand makes the command that samples documents from masks.
func newWalkCommand() *cobra.Command {
	var (
		corpus  corpusFlags
		layout  layoutFlags
		n       int
		seed    uint64
		verbose bool
	)
	cmd := &cobra.Command{
		Use:   "walk --vocab V.gguf --n N PATH…",
		Short: "Sample documents from masks and have another validator judge them",
		Long: `Sample documents from masks and have another validator judge them.

For each schema in PATH (folders, files, .tar.xz), N documents are drawn at
random from the masks, one token at a time, so that every walk ends. Each is
parsed, and validated with santhosh-tekuri/jsonschema, formats asserted. A
violation is a document that is not valid, a dead end a place where no token is
allowed though the document is not complete; each is printed with the schema's
name. The exit status is 1 if there was any.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var opt schema.Options
			if err := layout.apply(&opt); err != nil {
				return err
			}
			v, err := vocab.Load(corpus.vocab)
			if err != nil {
				return err
			}
			stop, err := corpus.startProfile()
			if err != nil {
				return err
			}
			bar := newCorpusBar(cmd.ErrOrStderr())
			walk := &bench.Walk{
				Engine: bench.NewEngine(v, opt), Vocab: v, N: n, Seed: seed,
				Jobs: corpus.jobs, Timeout: corpus.timeout, MemoryLimit: corpus.memory << 20,
				AnySpelling: opt.AnyNumberSpelling,
				Report:      cmd.OutOrStdout(), Verbose: verbose, Progress: bar.finished,
			}
			sum, err := walk.Run(cmd.Context(), corpus.open(args, bar))
			bar.close()
			if err = errors.Join(err, stop(), sum.Write(cmd.OutOrStdout())); err != nil {
				return err
			}
			if !sum.Sound() {
				return &exitError{code: 1, err: errors.New("walk: the masks are not sound")}
			}
			return nil
		},
	}
	corpus.register(cmd)
	layout.register(cmd, "any", "flexible", "generated")
	cmd.Flags().IntVar(&n, "n", 20, "documents of each schema")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the walks")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print refused and unjudged schemas too")
	return cmd
}
