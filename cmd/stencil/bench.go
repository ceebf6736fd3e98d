package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/bench/overhead"
	"github.com/stencil-json/stencil/cmd/stencil/console"
)

type benchFlags struct {
	model        modelFlags
	log          logFlags
	schemas      string
	cases        []string
	modes        []string
	temperatures []float64
	bench        overhead.Bench

	json, benchstat, plot, trace string
}

// newBenchCommand returns the command that measures the cost of constraints on a
// model.
func newBenchCommand() *cobra.Command {
	f := new(benchFlags)
	cmd := &cobra.Command{
		Use:   "bench --model M.gguf",
		Short: "Measure the cost of constraints per token on a model",
		Long: `Measure the cost of constraints per token on a model, in one run: without a
constraint, with masks, with masks and forced tokens, with the masks of the same
language as a grammar, with masks and the validator's verdict on each document,
and with llama.cpp's own grammar sampler, in turn, round after round, at several
numbers of sequences.

Figures are medians over the rounds with 95% confidence intervals. An overhead is
computed within a round. The folder of --schemas holds *.json files and, for
the grammars, *.gbnf files of the same names.`,
		Example: `  stencil bench --model M.gguf
  stencil bench --model M.gguf --cases calls --parallel 1,4 --plot overhead.svg --trace trace.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.schemas, "schemas", "", "folder of schemas (default: built-in ones, from a flat object to unions of 200 KB)")
	flags.StringSliceVar(&f.cases, "cases", nil, "names of the schemas to measure (default: all)")
	flags.StringSliceVar(&f.modes, "modes", nil, "modes to measure: free, mask, forced, gbnf, judged, llama.cpp (default: all)")
	completeFlag(cmd, "modes", words("free", "mask", "forced", "gbnf", "judged", "llama.cpp"))
	flags.IntSliceVar(&f.bench.Parallel, "parallel", []int{1, 4, 8}, "numbers of parallel sequences to measure")
	flags.Float64SliceVar(&f.temperatures, "temperature", []float64{0, 1}, "temperatures to measure")
	flags.IntVar(&f.bench.Rounds, "rounds", 9, "number of rounds; confidence intervals need 6")
	flags.IntVar(&f.bench.Documents, "documents", 2, "number of documents per sequence and round")
	flags.IntVar(&f.bench.MaxTokens, "max-tokens", 160, "maximum number of tokens per document")
	flags.IntVar(&f.bench.LlamaTokens, "llama-tokens", 6, "maximum number of tokens per document with llama.cpp's (slow) grammar sampler")
	group(flags, "Measurement")
	f.model.register(flags)
	flags.StringVar(&f.json, "json", "", "write the results as JSON to this file; -: to standard output, in the place of the table")
	flags.StringVar(&f.benchstat, "benchstat", "", "write every round in Go's benchmark format to this file")
	flags.StringVar(&f.plot, "plot", "", "plot the overhead to this file, .png or .svg")
	flags.StringVar(&f.trace, "trace", "", "write a timeline to this file, for Perfetto or about:tracing")
	group(flags, "Output")
	f.log.register(flags, "error")
	return cmd
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	b := &f.bench
	params, err := f.model.params()
	if err != nil {
		return err
	}
	b.Context = params
	b.Trace = f.trace != ""
	if ext := filepath.Ext(f.plot); f.plot != "" && ext != ".png" && ext != ".svg" {
		return fmt.Errorf("--plot must end in .png or .svg, not %q", f.plot)
	}
	for _, t := range f.temperatures {
		b.Temperatures = append(b.Temperatures, float32(t))
	}
	for _, m := range f.modes {
		b.Modes = append(b.Modes, overhead.Mode(m))
	}
	if b.Cases = overhead.Cases(); f.schemas != "" {
		if b.Cases, err = overhead.ReadCases(f.schemas); err != nil {
			return err
		}
	}
	for _, name := range f.cases {
		if !slices.ContainsFunc(b.Cases, func(c overhead.Case) bool { return c.Name == name }) {
			return fmt.Errorf("--cases: no schema is named %q", name)
		}
	}
	if f.cases != nil {
		b.Cases = slices.DeleteFunc(b.Cases, func(c overhead.Case) bool { return !slices.Contains(f.cases, c.Name) })
	}
	if b.Log, err = f.log.logger(os.Stderr); err != nil {
		return err
	}
	if b.Model, err = f.model.load(ctx, os.Stderr); err != nil {
		return err
	}
	defer b.Model.Close()
	bar := console.NewProgress(os.Stderr, "measuring", 1000, false)
	b.Progress = func(done, of int) { bar.Set(int64(1000 * done / of)) }
	results, err := b.Run(ctx)
	bar.Close()
	threads := cmp.Or(params.Threads, max(1, runtime.GOMAXPROCS(0)-1))
	setting := overhead.NewSetting(b.Model, threads, "stencil "+strings.Join(os.Args[1:], " "))
	report := overhead.WriteTable
	if f.json == "-" {
		report = overhead.WriteJSON
	}
	err = errors.Join(err, report(cmd.OutOrStdout(), setting, results))
	for _, x := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.json, func(w io.Writer) error { return overhead.WriteJSON(w, setting, results) }},
		{f.benchstat, func(w io.Writer) error { return overhead.WriteBenchstat(w, setting, results) }},
		{f.plot, func(w io.Writer) error { return overhead.WritePlot(w, filepath.Ext(f.plot), results) }},
		{f.trace, func(w io.Writer) error { return overhead.WriteResultTrace(w, results) }},
	} {
		if x.path != "" && x.path != "-" && len(results) > 0 {
			err = errors.Join(err, writeTo(x.path, x.write))
		}
	}
	return err
}

// writeTo creates a file and fills it with write.
func writeTo(path string, write func(io.Writer) error) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}
