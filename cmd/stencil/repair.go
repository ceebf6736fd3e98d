package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
)

// Commands about existing texts; POST /repair and POST /signals do the same.

type repairFlags struct {
	schema     string
	root       string
	strategies []string
	verify     bool
	cut        bool
	json       bool
}

func newRepairCommand() *cobra.Command {
	f := new(repairFlags)
	cmd := &cobra.Command{
		Use:   "repair [FILE]",
		Short: "Read the JSON document out of a text that nothing constrained",
		Long: `Read the JSON document out of a text that nothing constrained.

The document goes to standard output, what was changed to standard error. A text
whose meaning is not clear is refused rather than guessed. The strategies are

  clean     what stands around the document: prose, code fences, reasoning
  repair    syntax: quotes, commas, brackets, escapes, literals of other languages
  markdown  emphasis in strings and keys; without it, only where the document
            fits the schema without the emphasis and not with it
  coerce    values of the wrong type, where nothing is lost; needs --schema

The exit status is 0 if there is a document and it fits, 1 if not, and 2 if the
schema has an error.`,
		Example: `  stencil repair answer.txt
  stencil repair --schema customer.json --strategy clean,repair,coerce,markdown < answer.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.schema, "schema", "", "file with a JSON Schema, or TypeScript declarations (.ts), that the document must fit")
	flags.StringVar(&f.root, "type", "", "name of the type in a TypeScript --schema (default: the last exported one)")
	group(flags, "Schema")
	flags.StringSliceVar(&f.strategies, "strategy", []string{repair.Cleaning, repair.Repairing, repair.Coercing}, "strategies to use, separated by commas")
	flags.BoolVar(&f.verify, "verify", true, "fail if the document does not fit the schema; false: the schema only helps to choose among readings")
	flags.BoolVar(&f.cut, "cut", false, "the text may have been cut off, as by a limit of tokens")
	flags.BoolVar(&f.json, "json", false, "print a report as JSON")
	group(flags, "Output")
	return cmd
}

// repairReport is the output of --json.
type repairReport struct {
	OK         bool            `json:"ok"`
	JSON       json.RawMessage `json:"json,omitempty"`
	Text       string          `json:"text"`
	Strategies []string        `json:"strategies"`
	Edits      []repair.Edit   `json:"edits"`
	Errors     []string        `json:"errors"`
}

func (f *repairFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case f.schema == "" && cmd.Flags().Changed("schema"):
		return &exitError{exitWrong, errors.New("--schema is empty")}
	case f.schema == "" && f.root != "":
		return &exitError{exitWrong, errors.New("--type needs --schema with a TypeScript file")}
	}
	text, err := readInput(cmd, append(args, "-")[0])
	if err != nil {
		return err
	}
	opt := repair.Options{Hints: repair.Hints{Ended: !f.cut, Cut: f.cut}}
	if err := opt.Use(f.strategies); err != nil {
		return &exitError{exitWrong, fmt.Errorf("--strategy: %s", strings.TrimPrefix(err.Error(), "repair: "))}
	}
	if f.schema != "" {
		if opt.Check, err = f.check(cmd); err != nil {
			return err
		}
	}
	out := repair.Read(string(text), opt)
	r := repairReport{OK: out.JSON, Text: out.Text, Strategies: append([]string{}, repair.Strategies(out.Edits)...), Edits: append([]repair.Edit{}, out.Edits...), Errors: []string{}}
	if out.JSON {
		r.JSON = json.RawMessage(out.Text)
	}
	var syntax *repair.SyntaxError
	switch {
	case errors.As(out.Err, &syntax):
		r.Errors = append(r.Errors, strings.TrimPrefix(syntax.Error(), "repair: "))
		if syntax.Repair != nil {
			r.Errors = append(r.Errors, strings.TrimPrefix(syntax.Repair.Error(), "repair: "))
		}
	case out.Err != nil:
		r.Errors = append(r.Errors, out.Err.Error())
		r.OK = false
	}
	if out.Unfinished != nil {
		r.Errors = append(r.Errors, out.Unfinished.Error())
	}
	if f.verify {
		r.OK = r.OK && len(out.Issues) == 0
		for _, i := range out.Issues {
			r.Errors = append(r.Errors, i.String())
		}
	}
	if err := f.print(cmd, r); err != nil {
		return err
	}
	if !r.OK {
		return &exitError{exitRefused, errors.New(strings.Join(r.Errors, "; "))}
	}
	return nil
}

// check returns the validator of --schema.
func (f *repairFlags) check(cmd *cobra.Command) (repair.Check, error) {
	src, err := readSchema(cmd, f.schema, f.root)
	if err != nil {
		return nil, err
	}
	s, err := schema.Compile(src, schema.Options{OnUnsupported: schema.UnsupportedIsIgnored})
	if err != nil {
		return nil, &exitError{exitWrong, fmt.Errorf("%s: %w", f.schema, err)}
	}
	v, err := constraint.NewValidator(cmd.Context(), src, s.Report().Draft)
	if err != nil {
		return nil, &exitError{exitWrong, fmt.Errorf("%s: %w", f.schema, err)}
	}
	return func(document []byte) ([]schema.Issue, error) { return v.Issues(cmd.Context(), document) }, nil
}

func (f *repairFlags) print(cmd *cobra.Command, r repairReport) error {
	if f.json {
		return printJSON(cmd.OutOrStdout(), r)
	}
	var edits strings.Builder
	for _, e := range r.Edits {
		fmt.Fprintln(&edits, e)
	}
	_, err := io.WriteString(cmd.ErrOrStderr(), edits.String())
	if r.JSON != nil && r.OK {
		_, printed := fmt.Fprintln(cmd.OutOrStdout(), r.Text)
		err = errors.Join(err, printed)
	}
	return err
}

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

func newSignalsCommand() *cobra.Command {
	var document bool
	var samples []string
	cmd := &cobra.Command{
		Use:   "signals [FILE]",
		Short: "Read what a text says of its own reliability, and weigh it",
		Long: `Read what a text says of its own reliability (confidence, difficulty, escalation),
and weigh it with the agreement of further samples. The report is JSON: the signals
and where they were found, the text without them, and the assessment.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readInput(cmd, append(args, "-")[0])
			if err != nil {
				return err
			}
			read := signals.Read
			if document {
				read = signals.ReadDocument
			}
			said, rest, from := read(string(text))
			in := signals.Inputs{}
			if from != signals.FromDefaults {
				in.Own = &said
			}
			if samples != nil {
				texts := []string{rest}
				for _, name := range samples {
					sample, err := readInput(cmd, name)
					if err != nil {
						return err
					}
					texts = append(texts, string(sample))
				}
				in.Agreement = signals.Agreement(slices.Clip(texts))
			}
			return printJSON(cmd.OutOrStdout(), struct {
				Signals    signals.Signals    `json:"signals"`
				Source     signals.Source     `json:"source"`
				Text       string             `json:"text"`
				Assessment signals.Assessment `json:"assessment"`
			}{said, from, rest, signals.Aggregate(in, signals.DefaultWeights())})
		},
	}
	cmd.Flags().BoolVar(&document, "document", false, "the text is a requested document, whose own properties are no signals")
	cmd.Flags().StringArrayVar(&samples, "sample", nil, "file with another answer to the same question; may be repeated")
	group(cmd.Flags(), "Signals")
	return cmd
}
