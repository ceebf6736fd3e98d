package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// corpusFlags are the flags of commands that process many schemas.
type corpusFlags struct {
	vocab   string
	jobs    int
	every   int
	limit   int
	timeout time.Duration
	memory  int64 // MiB
	profile string
}

func (f *corpusFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.vocab, "vocab", "", "GGUF file whose vocabulary to use (required)")
	cmd.Flags().IntVar(&f.jobs, "jobs", 1, "number of schemas to process at the same time")
	cmd.Flags().IntVar(&f.every, "every", 1, "process every n-th schema only")
	cmd.Flags().IntVar(&f.limit, "limit-schemas", 0, "number of schemas after which to stop; 0: all")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "time after which to give up on a schema")
	cmd.Flags().Int64Var(&f.memory, "memory-limit", 4096, "resident memory in MiB above which to give up on a schema")
	cmd.Flags().StringVar(&f.profile, "profile", "", "write a CPU profile to this file")
	group(cmd.Flags(), "Corpus")
	if err := cmd.MarkFlagRequired("vocab"); err != nil {
		panic(err) // the flag is registered above
	}
}

// startProfile starts a CPU profile if --profile is set; the returned function stops
// it.
func (f *corpusFlags) startProfile() (stop func() error, err error) {
	if f.profile == "" {
		return func() error { return nil }, nil
	}
	out, err := os.Create(f.profile)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return nil, errors.Join(fmt.Errorf("profile: %w", err), out.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return out.Close()
	}, nil
}

// open returns the corpus in the files and folders at paths.
func (f *corpusFlags) open(paths []string, bar *corpusBar) *bench.Corpus {
	return &bench.Corpus{Paths: paths, Every: f.every, Limit: f.limit, Progress: bar.read}
}

// corpusBar shows progress through a corpus: the share that has been read, updated
// whenever a schema is finished.
type corpusBar struct {
	*console.Progress
	share atomic.Int64
}

// corpusSteps is the resolution of the bar.
const corpusSteps = 1000

func newCorpusBar(out io.Writer) *corpusBar {
	return &corpusBar{Progress: console.NewProgress(out, "schemas", corpusSteps, false)}
}

// read is called by the goroutine that reads the corpus.
func (b *corpusBar) read(share float64) { b.share.Store(int64(share * corpusSteps)) }

// finished is called by the goroutine that collects results.
func (b *corpusBar) finished(int) { b.Set(b.share.Load()) }

// layoutFlags are the flags for the layout of documents.
type layoutFlags struct{ order, whitespace, numbers string }

func (f *layoutFlags) register(cmd *cobra.Command, order, whitespace, numbers string) {
	cmd.Flags().StringVar(&f.order, "order", order, "order of properties: any or schema")
	cmd.Flags().StringVar(&f.whitespace, "whitespace", whitespace, "whitespace in documents: flexible, compact or pretty")
	cmd.Flags().StringVar(&f.numbers, "numbers", numbers, "spelling of numbers: any, or generated (the one that stencil generates)")
	group(cmd.Flags(), "Schema")
}

// apply sets the options that the flags select.
func (f *layoutFlags) apply(opt *schema.Options) error {
	switch f.order {
	case "any":
		opt.Order = schema.OrderAny
	case "schema":
		opt.Order = schema.OrderSchema
	default:
		return fmt.Errorf("--order %s: want any or schema", f.order)
	}
	switch f.whitespace {
	case "flexible":
		opt.Whitespace = schema.Flexible(0)
	case "compact":
		opt.Whitespace = schema.Compact
	case "pretty":
		opt.Whitespace = schema.Pretty
	case "natural":
		opt.Whitespace = schema.Natural
	default:
		return fmt.Errorf("--whitespace %s: want flexible, natural, compact or pretty", f.whitespace)
	}
	switch f.numbers {
	case "any":
		opt.AnyNumberSpelling = true
	case "generated":
		opt.AnyNumberSpelling = false
	default:
		return fmt.Errorf("--numbers %s: want any or generated", f.numbers)
	}
	return nil
}

// newMaskbenchCommand returns the command that times masks over a corpus.
func newMaskbenchCommand() *cobra.Command {
	var (
		corpus  corpusFlags
		layout  layoutFlags
		out     string
		spacing string
		slowest int
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "maskbench --vocab V.gguf PATH…",
		Short: "Time compilation and masks over a corpus of schemas",
		Long: `Time compilation and masks over a corpus of schemas with test documents.

PATH is a folder, a file or a .tar.xz of files {"schema": …, "tests": [{"data": …, "valid": …}]}.
Each schema is compiled. Each test document is written like Python's
json.dumps(data, ensure_ascii=False), tokenized, and fed token by token: at every
position the mask is computed and must contain the next token, which is then
accepted. An invalid document must be refused at some token.

Times are in microseconds: TBM (time between masks) is mask and accept, TTFM (time
to first mask) is compilation and the first mask. With --order schema or
--whitespace compact, documents that differ only in order or spacing are counted
separately, as "reordered".`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var opt schema.Options
			if err := layout.apply(&opt); err != nil {
				return err
			}
			v, err := vocab.Load(corpus.vocab)
			if err != nil {
				return err
			}
			prepared, err := bench.Prepare(v)
			if err != nil {
				return err
			}
			mb := &bench.Maskbench{
				Engine: bench.NewEngine(v, opt), Tokenizer: v, Jobs: corpus.jobs,
				Timeout: corpus.timeout, MemoryLimit: corpus.memory << 20,
			}
			switch spacing {
			case "python":
			case "compact":
				mb.Compact = true
			default:
				return fmt.Errorf("--instances %s: want python or compact", spacing)
			}
			if layout.order != "any" || layout.whitespace != "flexible" || layout.numbers != "any" {
				mb.Lenient = bench.NewEngine(v, schema.Options{
					Order: schema.OrderAny, Whitespace: schema.Flexible(0), AnyNumberSpelling: true,
				})
			}
			if out != "" {
				w, done, err := createLines(out)
				if err != nil {
					return err
				}
				mb.Out = w
				defer func() { err = errors.Join(err, done()) }()
			}
			stop, err := corpus.startProfile()
			if err != nil {
				return err
			}
			bar := newCorpusBar(cmd.ErrOrStderr())
			mb.Progress = bar.finished
			sum, err := mb.Run(cmd.Context(), corpus.open(args, bar))
			bar.Close()
			if err = errors.Join(err, stop()); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), sum.Figures(slowest, prepared))
			}
			if err := sum.WriteTable(cmd.OutOrStdout()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\nvocabulary prepared in %v\n", prepared.Round(time.Millisecond))
			if slowest > 0 {
				return sum.WriteSlowest(cmd.OutOrStdout(), slowest)
			}
			return nil
		},
	}
	corpus.register(cmd)
	layout.register(cmd, "any", "flexible", "any")
	cmd.Flags().StringVar(&out, "out", "", "write one JSON line per schema to this file")
	cmd.Flags().StringVar(&spacing, "instances", "python", "spacing of test documents: python (a space after commas and colons) or compact")
	cmd.Flags().IntVar(&slowest, "slowest", 0, "number of the slowest compilations and masks to list")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

// createLines opens a file for buffered writing; done flushes and closes it.
func createLines(name string) (w io.Writer, done func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, nil, err
	}
	buffered := bufio.NewWriterSize(f, 1<<20)
	return buffered, func() error { return errors.Join(buffered.Flush(), f.Close()) }, nil
}
