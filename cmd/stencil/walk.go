package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// newWalkCommand returns the command that samples documents from masks.
func newWalkCommand() *cobra.Command {
	var (
		corpus  corpusFlags
		layout  layoutFlags
		n       int
		seed    uint64
		verbose bool
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "walk --vocab V.gguf --n N PATH…",
		Short: "Sample documents from masks and check them with another validator",
		Long: `Sample documents from masks and check them with another validator.

For each schema in PATH (folders, files, .tar.xz), N documents are drawn at random
from the masks, token by token. Each document is parsed and validated with
santhosh-tekuri/jsonschema, with formats asserted. A violation is an invalid
document; a dead end is an incomplete document after which no token is allowed.
Each is printed with the name of its schema, and makes the exit status 1.`,
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
			report, write := cmd.OutOrStdout(), bench.WalkSummary.Write
			if asJSON {
				report = cmd.ErrOrStderr()
				write = func(s bench.WalkSummary, w io.Writer) error { return printJSON(w, s) }
			}
			bar := newCorpusBar(cmd.ErrOrStderr())
			walk := &bench.Walk{
				Engine: bench.NewEngine(v, opt), Vocab: v, N: n, Seed: seed,
				Jobs: corpus.jobs, Timeout: corpus.timeout, MemoryLimit: corpus.memory << 20,
				AnySpelling: opt.AnyNumberSpelling,
				Report:      report, Verbose: verbose, Progress: bar.finished,
			}
			sum, err := walk.Run(cmd.Context(), corpus.open(args, bar))
			bar.Close()
			if err = errors.Join(err, stop(), write(sum, cmd.OutOrStdout())); err != nil {
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
	cmd.Flags().IntVar(&n, "n", 20, "number of documents per schema")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print schemas that were refused or could not be judged, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON, and what is found on standard error")
	group(cmd.Flags(), "Output")
	return cmd
}
