package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/eval"
)

type evalFlags struct {
	serve  serveFlags // used to start a server if --server is not given
	config eval.Config
	arms   armFlags
	out    string
	json   string
	html   string
}

func newEvalCommand() *cobra.Command {
	f := new(evalFlags)
	cmd := &cobra.Command{
		Use:   "eval [CASES.jsonl]",
		Short: "Measure the accuracy of structured output and tool calls",
		Long: `Measure how often a model's structured output is right. Each line of CASES.jsonl
is a prompt with a schema and, optionally, the expected document:

  {"id": "1", "task": "dates", "prompt": "…", "schema": {…}, "expected": {…}}

A case may also have "system" and "max_tokens", and "messages" instead of
"prompt". Each case runs with and without masks; --modes also offers repair.
Results are appended to --out as they come in, and a second run with the same
--out continues an interrupted one.

With --arm, the same cases go in turn, at temperature 0, to several servers with
OpenAI's /v1/chat/completions, or to one server in several ways. The cases are
those of CASES.jsonl, or of the labelled data sets in --sets ("stencil eval sets"
lists them). The members of an arm's object are fields of its requests, except
"mode", how structured output is requested; "ask", how the prompt describes the
document; and "place", where in the prompt it does so:

  constrained  response_format json_schema (json_object for sets without a
               schema), tool_choice required; the default mode
  free         only the prompt asks for JSON, which is then extracted from the
               text: the first code block, else the first object
  json         response_format json_object, with the schema in the prompt
  tools        tool_choice required, the document as the arguments of a tool
  tools-auto   the same with tool_choice auto
  tools-text   the same; where the answer has no calls, they are extracted from
               its text

  "ask": "nothing", "schema" (default in modes free and json), "template",
  "typescript" or "keys"; "place": "system" (after the system text, the default),
  "before" (before the system text), "user" (after the last message) or
  "before-user"

The report gives the share of correct fields, F1 over non-empty fields, the share
of values that occur in the text, the shares of correct and of valid answers, and
mean tokens and seconds, all with 95% intervals; and for each arm the difference
to --base on the same cases, by bootstrap over cases. For sets of calls, it counts
wrong answers by cause (wrong function, wrong value, missing or extra argument,
wrong count, no call, in text, unwanted call, parse failure) and adds up tokens and seconds;
"forced" is the share of tokens that cost no step of the model, if a server says.`,
		Example: `  stencil eval --model m.gguf --out results.jsonl --html report.html cases.jsonl
  stencil eval --server http://127.0.0.1:8080 cases.jsonl
  stencil eval --upstream https://api.example.com/v1 --upstream-model x --modes constrained cases.jsonl
  stencil eval --sets receipts,json-mode --out results.jsonl --html report.html \
    --arm 'default=http://127.0.0.1:8080' --arm 'never=http://127.0.0.1:8080,{"prompt_schema": "never"}' \
    --arm 'free=http://127.0.0.1:8080,{"mode": "free"}' --arm 'other=http://127.0.0.1:8081'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.arms.arms) > 0 {
				return f.compare(cmd.Context(), cmd.Flags(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			for _, name := range []string{"base", "sets", "data", "limit"} {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s needs --arm", name)
				}
			}
			if len(args) == 0 {
				return errors.New("CASES.jsonl is missing; with --arm, --sets can take its place")
			}
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.AddCommand(newEvalSetsCommand())
	flags := cmd.Flags()
	flags.StringSliceVar(&f.config.Modes, "modes", []string{eval.Constrained, eval.Unconstrained}, "modes to run: "+strings.Join(eval.Modes, ", "))
	completeFlag(cmd, "modes", words(eval.Modes...))
	flags.IntVar(&f.config.Retries, "retries", 0, "number of retries after an invalid answer")
	flags.IntVar(&f.config.Parallel, "parallel", 1, "number of cases to run at the same time")
	group(flags, "Cases")
	f.arms.register(flags)
	flags.Float32Var(&f.config.Temperature, "temperature", 0, temperatureHelp)
	flags.Uint64Var(&f.config.Seed, "seed", 1, "random seed")
	flags.IntVar(&f.config.MaxTokens, "max-tokens", 512, "max_tokens for cases that don't set one")
	group(flags, "Sampling")
	f.serve.model.register(flags)
	registerClient(flags, &f.config.URL, &f.config.Key, &f.config.Model)
	f.serve.upstream.register(flags)
	flags.StringVar(&f.out, "out", "", "results file, one JSON line per case; cases already in the file are skipped")
	flags.StringVar(&f.json, "json", "", "write the report as JSON to this file; -: to standard output, in the place of the table")
	flags.StringVar(&f.html, "html", "", "write the report as an HTML page with charts to this file")
	group(flags, "Output")
	f.serve.log.register(flags, "error") // failures are counted instead of logged individually
	return cmd
}

func (f *evalFlags) run(ctx context.Context, path string, stdout, stderr io.Writer) (err error) {
	for _, mode := range f.config.Modes {
		if !slices.Contains(eval.Modes, mode) {
			return fmt.Errorf("--modes: %q is not one of %s", mode, strings.Join(eval.Modes, ", "))
		}
	}
	cases, err := readCases(path)
	if err != nil {
		return err
	}
	if f.out != "" {
		file, done, err := resumeWith(f.out, eval.ReadResults)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		f.config.Write, f.config.Done = file, done
	}
	if f.config.URL == "" {
		f.serve.engine.Parallel = f.config.Parallel
		url, model, stop, err := f.serve.serveHere(ctx)
		if err != nil {
			return err
		}
		f.config.URL, f.config.Model = url, model
		defer func() { err = errors.Join(err, stop()) }()
	}
	total := int64(len(cases) * len(f.config.Modes))
	bar := console.NewProgress(stderr, "eval", total, false)
	f.config.Progress = func(done int) { bar.Set(int64(done)) }
	results, runErr := eval.Run(ctx, f.config, cases)
	bar.Close()
	if runErr != nil && len(results) == 0 {
		return runErr
	}
	return errors.Join(f.report(eval.Summarize(results), stdout), runErr)
}

func readCases(path string) ([]eval.Case, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cases, err := eval.ReadCases(file)
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%s contains no cases", path)
	}
	return cases, err
}

// resumeWith reads the results in a file and opens it for appending. It removes an
// incomplete last line.
func resumeWith[T any](path string, read func(io.Reader) ([]T, error)) (*os.File, []T, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	whole := text[:strings.LastIndexByte(string(text), '\n')+1]
	done, err := read(strings.NewReader(string(whole)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, nil, err
	}
	if err = file.Truncate(int64(len(whole))); err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, done, nil
}

// report prints the report and writes the requested files.
func (f *evalFlags) report(r reporter, stdout io.Writer) error {
	var err error
	switch f.json {
	case "":
		err = r.Table(stdout)
	case "-":
		err = printJSON(stdout, r)
	default:
		text, jsonErr := json.MarshalIndent(r, "", "  ")
		err = errors.Join(r.Table(stdout), jsonErr, os.WriteFile(f.json, append(text, '\n'), 0o666))
	}
	if f.html != "" {
		var page strings.Builder
		err = errors.Join(err, r.HTML(&page), os.WriteFile(f.html, []byte(page.String()), 0o666))
	}
	return err
}
