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

	"stencil/eval"
)

type evalFlags struct {
	serve  serveFlags // the model, if it is not served already
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
		Short: "Measure how well models fill in documents and call functions",
		Long: `Measure how well a model fills in documents. Each line of CASES.jsonl is a
prompt with its schema and, if it is known, the document that is expected:

  {"id": "1", "task": "dates", "prompt": "…", "schema": {…}, "expected": {…}}

Beside "prompt" there may be "system", or "messages" in its place, and
"max_tokens". Cases run with masks and without, and with --modes also repaired.
Results go to --out as they come; a run that was interrupted goes on there.

With --arm, several servers that speak OpenAI's /v1/chat/completions, or one in
several ways, are asked the same cases in turn at temperature 0, out of
CASES.jsonl or of --sets of texts that people labelled ("stencil eval sets" lists
them). The members of an arm's object are fields of its requests, except for
"mode", how a document or calls are asked for, "ask", how the prompt describes
the document, and "place", where in the prompt:

  constrained  response_format json_schema (json_object in sets that have no
               schema), tool_choice required; the mode of arms that don't say
  free         nothing but the prompt asks; JSON is looked for in the text: a
               block of code, then the first object
  json         response_format json_object, the schema in the prompt
  tools        tool_choice required, documents as the arguments of a tool
  tools-auto   the same with tool_choice auto

  "ask": "nothing", "schema" (default in modes free and json), "template",
  "typescript" or "keys"; "place": "system" (after the system text, the default),
  "before" (that), "user" (after the last message) or "before-user"

The report has the shares of fields that are right, F1 over the fields that hold
something, given values that stand in the text, answers that are right and valid,
and means of tokens and seconds, all with intervals of 95%, and each arm's
difference to --base on the same cases, by resampling cases.`,
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
	f.arms.register(flags)
	f.serve.model.register(flags)
	f.serve.log.register(flags, "error") // failures are counted, not told one by one
	f.serve.upstream.register(flags)
	completeModelFlags(cmd)
	flags.StringVar(&f.config.URL, "server", "", "a stencil server that runs already, such as http://127.0.0.1:8080")
	flags.StringVar(&f.config.Key, "server-key", "", "key for it")
	flags.StringVar(&f.config.Model, "server-model", "", "the model's name there (default: the first)")
	flags.StringSliceVar(&f.config.Modes, "modes", []string{eval.Constrained, eval.Unconstrained}, "of "+strings.Join(eval.Modes, ", "))
	flags.IntVar(&f.config.Parallel, "parallel", 1, "cases at the same time")
	flags.Float32Var(&f.config.Temperature, "temperature", 0, "randomness")
	flags.Uint64Var(&f.config.Seed, "seed", 1, "for the same randomness every time")
	flags.IntVar(&f.config.Retries, "retries", 0, "further tries for an answer that won't do")
	flags.IntVar(&f.config.MaxTokens, "max-tokens", 512, "of cases that don't say")
	flags.StringVar(&f.out, "out", "", "file for the results, one a line; what it has already is not run again")
	flags.StringVar(&f.json, "json", "", "file for the report as JSON")
	flags.StringVar(&f.html, "html", "", "file for the report as a page with a chart")
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
	bar := newProgress(stderr, "eval", total, false)
	f.config.Progress = func(done int) { bar.set(int64(done)) }
	results, runErr := eval.Run(ctx, f.config, cases)
	bar.close()
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
		err = fmt.Errorf("%s has no cases", path)
	}
	return cases, err
}

// resumeWith opens the file of results for more, and reads what it has. A line
// that was not written to its end is cut off.
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

// report writes the report wherever it is wanted.
func (f *evalFlags) report(r reporter, stdout io.Writer) error {
	err := r.Table(stdout)
	if f.json != "" {
		text, jsonErr := json.MarshalIndent(r, "", "  ")
		err = errors.Join(err, jsonErr, os.WriteFile(f.json, append(text, '\n'), 0o666))
	}
	if f.html != "" {
		var page strings.Builder
		err = errors.Join(err, r.HTML(&page), os.WriteFile(f.html, []byte(page.String()), 0o666))
	}
	return err
}
