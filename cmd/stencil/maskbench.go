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

	"stencil/bench"
	"stencil/schema"
	"stencil/vocab"
)

// corpusFlags are the flags of commands that work through many schemas.
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
	cmd.Flags().StringVar(&f.vocab, "vocab", "", "GGUF file with the vocabulary (required)")
	cmd.Flags().IntVar(&f.jobs, "jobs", 1, "schemas worked on at once")
	cmd.Flags().IntVar(&f.every, "every", 1, "take every n-th schema")
	cmd.Flags().IntVar(&f.limit, "limit-schemas", 0, "stop after so many schemas (0: all)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "give a schema up after this time")
	cmd.Flags().Int64Var(&f.memory, "memory-limit", 4096, "give schemas up above this resident memory, in MiB")
	cmd.Flags().StringVar(&f.profile, "profile", "", "write a CPU profile to this file")
	if err := cmd.MarkFlagRequired("vocab"); err != nil {
		panic(err) // the flag is registered above
	}
}

// startProfile begins the CPU profile, if one is asked for; the returned
// function ends it.
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

// open returns the corpus at the paths.
func (f *corpusFlags) open(paths []string, bar *corpusBar) *bench.Corpus {
	return &bench.Corpus{Paths: paths, Every: f.every, Limit: f.limit, Progress: bar.read}
}

// corpusBar shows how far the work on a corpus has come: as much as has been
// read, when the work on what was read is finished.
type corpusBar struct {
	*progress
	share atomic.Int64
}

// corpusSteps is the resolution of the bar.
const corpusSteps = 1000

func newCorpusBar(out io.Writer) *corpusBar {
	return &corpusBar{progress: newProgress(out, "schemas", corpusSteps, false)}
}

// read is called by the goroutine that reads the corpus.
func (b *corpusBar) read(share float64) { b.share.Store(int64(share * corpusSteps)) }

// finished is called by the one that collects results.
func (b *corpusBar) finished(int) { b.set(b.share.Load()) }

// layoutFlags are the flags that say how documents are laid out.
type layoutFlags struct{ order, whitespace, numbers string }

func (f *layoutFlags) register(cmd *cobra.Command, order, whitespace, numbers string) {
	cmd.Flags().StringVar(&f.order, "order", order, "property order: any or schema")
	cmd.Flags().StringVar(&f.whitespace, "whitespace", whitespace, "whitespace: flexible, compact or pretty")
	cmd.Flags().StringVar(&f.numbers, "numbers", numbers, "number spelling: any, or as generated")
}

// apply sets the options that the flags ask for.
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
	default:
		return fmt.Errorf("--whitespace %s: want flexible, compact or pretty", f.whitespace)
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

// newMaskbenchCommand makes the command that times masks over a corpus.
func newMaskbenchCommand() *cobra.Command {
	var (
		corpus  corpusFlags
		layout  layoutFlags
		out     string
		spacing string
		slowest int
	)
	cmd := &cobra.Command{
		Use:   "maskbench --vocab V.gguf PATH…",
		Short: "Time compilation and masks over schemas with instances",
		Long: `Time compilation and masks over schemas with instances.

PATH is a folder, a file or a .tar.xz of files {"schema": …, "tests": [{"data": …, "valid": …}]}.
Each schema is compiled; each instance is written as Python's json.dumps(data,
ensure_ascii=False) does, tokenized, and fed token by token: at every position
the mask is computed, the token must be in it (or not, for one that is not
valid), and is accepted.

The table gives microseconds: TBM is mask and accept, TTFM is compile and first
mask. With --order schema or --whitespace compact, instances that only differ
in order or spacing are counted apart, as "reordered".`,
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
			bar.close()
			if err = errors.Join(err, stop()); err != nil {
				return err
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
	cmd.Flags().StringVar(&out, "out", "", "write one JSON line a schema to this file")
	cmd.Flags().StringVar(&spacing, "instances", "python", "spacing of instances: python (a space after commas and colons) or compact")
	cmd.Flags().IntVar(&slowest, "slowest", 0, "list so many of the slowest compiles and masks")
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
