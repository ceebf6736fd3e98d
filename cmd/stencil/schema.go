package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schemafrom"
	"github.com/stencil-json/stencil/vocab"
)

// newSchemaCommand returns the command that groups the schema commands.
func newSchemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Check JSON Schemas, match texts against them, convert TypeScript",
	}
	cmd.AddCommand(newSchemaCheckCommand(), newSchemaMatchCommand(), newSchemaConvertCommand())
	return cmd
}

// Exit statuses of commands that match a text.
const (
	exitRefused    = 1 // the text is refused
	exitWrong      = 2 // the schema or grammar has an error
	exitIncomplete = 3 // the text is a prefix of an accepted one
)

// readSchema reads a schema from a file, or from standard input for "-". A .ts file
// is converted; root names the type in it.
func readSchema(cmd *cobra.Command, name, root string) ([]byte, error) {
	src, err := readInput(cmd, name)
	if err != nil {
		return nil, err
	}
	if ext := filepath.Ext(name); ext != ".ts" && ext != ".mts" {
		if root != "" {
			return nil, &exitError{exitWrong, fmt.Errorf("%s--type is for TypeScript files (.ts)", inFile(name))}
		}
		return src, nil
	}
	out, err := schemafrom.TypeScript(string(src), root)
	if err != nil {
		return nil, &exitError{exitWrong, fmt.Errorf("%s: %w", name, err)}
	}
	return out, nil
}

// inFile returns the name of a file as issues begin with it, "" for standard input.
func inFile(name string) string {
	if name == "-" {
		return ""
	}
	return name + ": "
}

// readInput reads a file, or standard input for "-".
func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}

// loadVocab reads the vocabulary of a model file, or returns one of single bytes if
// name is "". It prepares the tables of the vocabulary, so that they don't count
// towards the cost of a schema.
func loadVocab(name string) (v *vocab.Vocab, err error) {
	if name == "" {
		v, err = walk.ByteTokens()
	} else {
		v, err = vocab.Load(name)
	}
	if err == nil {
		_, err = bench.Prepare(v)
	}
	return v, err
}

// schemaFlags are the flags of commands about one schema.
type schemaFlags struct {
	layout      layoutFlags
	root        string
	unsupported string
	strict      bool
	open        bool
	generates   bool // the command writes documents and reads none
}

func (f *schemaFlags) register(cmd *cobra.Command, order, whitespace, numbers string) {
	f.layout.register(cmd, order, whitespace, numbers)
	cmd.Flags().StringVar(&f.root, "type", "", "name of the type in a TypeScript file (default: the last exported one)")
	cmd.Flags().StringVar(&f.unsupported, "on-unsupported", "error", "treatment of keywords that masks can't enforce: error, validate or ignore")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "treat warnings as errors")
	if f.generates {
		cmd.Flags().BoolVar(&f.open, "open-objects", false, "let objects have members that the schema neither names nor speaks of")
	}
	group(cmd.Flags(), "Schema")
}

func (f *schemaFlags) options() (opt schema.Options, err error) {
	switch f.unsupported {
	case "error":
	case "validate":
		opt.OnUnsupported = schema.UnsupportedIsChecked
	case "ignore":
		opt.OnUnsupported = schema.UnsupportedIsIgnored
	default:
		return opt, fmt.Errorf("--on-unsupported %s: want error, validate or ignore", f.unsupported)
	}
	opt.Strict = f.strict
	opt.Closed = f.generates && !f.open
	return opt, f.layout.apply(&opt)
}

func newSchemaCheckCommand() *cobra.Command {
	var (
		flags     schemaFlags
		vocabFile string
		samples   int
		seed      uint64
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Report errors in a schema, or its shortest document, samples and cost",
		Long: `Report errors in a schema, or its shortest document, samples and cost.

FILE is a JSON Schema, or TypeScript declarations (.ts); - is standard input.
Errors and warnings name a JSON pointer, line and column. For a schema that can be
enforced the command prints its keywords, the shortest document, random samples,
the share of forced bytes in these, and the cost in states, bytes and time. The
exit status is 0, or 2 if the schema can't be enforced.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := flags.options()
			if err != nil {
				return err
			}
			src, err := readSchema(cmd, args[0], flags.root)
			if err != nil {
				return err
			}
			v, err := loadVocab(vocabFile)
			if err != nil {
				return err
			}
			c := checkSchema(src, opt, v, samples, seed)
			if asJSON {
				err = c.writeJSON(cmd.OutOrStdout())
			} else {
				err = c.write(cmd.OutOrStdout(), inFile(args[0]))
			}
			if err == nil && !c.OK {
				err = &exitError{exitWrong, fmt.Errorf("%s: the schema can't be enforced", args[0])}
			}
			return err
		},
	}
	flags.generates = true
	flags.register(cmd, "schema", "compact", "generated")
	cmd.Flags().StringVar(&vocabFile, "vocab", "", "GGUF file whose vocabulary to sample with (default: single bytes)")
	cmd.Flags().IntVar(&samples, "samples", 4, "number of sample documents")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed of the samples")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

// schemaCheck is the report of checkSchema. Its JSON form is the response of POST
// /schema/check.
type schemaCheck struct {
	OK          bool           `json:"ok"`
	Errors      []schema.Issue `json:"errors"`
	Warnings    []schema.Issue `json:"warnings"`
	Draft       string         `json:"draft,omitempty"`
	Hash        string         `json:"hash,omitempty"`
	Enforced    []string       `json:"enforced"`
	Closed      bool           `json:"closed,omitempty"`
	Checked     []schema.Issue `json:"checked"`
	Ignored     []schema.Issue `json:"ignored"`
	Shortest    string         `json:"shortest,omitempty"`
	Samples     []string       `json:"samples"`
	ForcedShare float64        `json:"forced_share"`
	Cost        schemaCost     `json:"cost"`
}

// schemaCost is the cost of a schema.
type schemaCost struct {
	CompileMicros float64 `json:"compile_us"`
	MaskMicros    float64 `json:"mask_us"` // mean over the samples, including first masks
	States        int     `json:"states"`
	Masks         int     `json:"masks"`
	Bytes         int     `json:"bytes"`
}

// write writes the lines about forced bytes and cost.
func (c *schemaCost) write(b *strings.Builder, forcedShare float64) {
	fmt.Fprintf(b, "forced     %.0f%% of the samples' bytes\n", 100*forcedShare)
	fmt.Fprintf(b, "cost       compile %.0f µs, mask %.1f µs; %d states, %d masks, %d bytes\n",
		c.CompileMicros, c.MaskMicros, c.States, c.Masks, c.Bytes)
}

func checkSchema(src []byte, opt schema.Options, v *vocab.Vocab, samples int, seed uint64) *schemaCheck {
	c := &schemaCheck{
		Errors: []schema.Issue{}, Warnings: []schema.Issue{}, Enforced: []string{}, Checked: []schema.Issue{}, Ignored: []schema.Issue{}, Samples: []string{},
	}
	start := time.Now()
	s, err := schema.Compile(src, opt)
	if err != nil {
		c.Errors = schemaIssues(err)
		return c
	}
	grammar := s.Grammar(v)
	c.Cost.CompileMicros = float64(time.Since(start)) / 1e3
	report := s.Report()
	c.Draft, c.Hash, c.Closed = report.Draft, report.Hash, report.Closed
	c.Warnings = append(c.Warnings, report.Warnings...)
	c.Enforced = append(c.Enforced, report.Enforced...)
	c.Checked = append(c.Checked, report.Checked...)
	c.Ignored = append(c.Ignored, report.Ignored...)
	p, err := walk.Look(context.Background(), grammar, walk.NewTokens(v), samples, seed)
	if err != nil {
		c.Errors = append(c.Errors, schema.Issue{Reason: err.Error()})
		return c
	}
	c.OK = true
	c.Shortest, c.ForcedShare = p.Shortest, p.ForcedShare
	c.Samples = append(c.Samples, p.Samples...)
	c.Cost.MaskMicros = float64(p.MaskTime) / 1e3
	c.Cost.States, c.Cost.Masks, c.Cost.Bytes = p.Stats.Frames, p.Stats.Masks, p.Stats.Bytes
	return c
}

// schemaIssues returns the issues in a compile error.
func schemaIssues(err error) []schema.Issue {
	var (
		invalid       *schema.InvalidError
		unsupported   *schema.UnsupportedError
		unsatisfiable *schema.UnsatisfiableError
		limit         *schema.LimitError
	)
	switch {
	case errors.As(err, &invalid):
		return invalid.Issues
	case errors.As(err, &unsupported):
		return unsupported.Issues
	case errors.As(err, &unsatisfiable):
		return unsatisfiable.Issues
	case errors.As(err, &limit):
		return []schema.Issue{{Pointer: limit.Pointer, Reason: limit.Error()}}
	default:
		return []schema.Issue{{Reason: err.Error()}}
	}
}

func (c *schemaCheck) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// write writes the report. Issues have the name of their file, as inFile returns it.
func (c *schemaCheck) write(w io.Writer, file string) error {
	var b strings.Builder
	issues := func(title string, list []schema.Issue) {
		for _, i := range list {
			fmt.Fprintf(&b, "%s: %s%s\n", title, file, i)
		}
	}
	issues("error", c.Errors)
	issues("warning", c.Warnings)
	issues("left to a validator", c.Checked)
	issues("ignored", c.Ignored)
	if c.OK {
		fmt.Fprintf(&b, "draft      %s\nhash       %s\nenforced   %s\n", c.Draft, c.Hash, strings.Join(c.Enforced, " "))
		if c.Closed {
			b.WriteString("closed     objects get only the members that the schema names\n")
		}
		fmt.Fprintf(&b, "shortest   %s\n", c.Shortest)
		for _, s := range c.Samples {
			fmt.Fprintf(&b, "sample     %s\n", s)
		}
		c.Cost.write(&b, c.ForcedShare)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newSchemaMatchCommand() *cobra.Command {
	var (
		flags    schemaFlags
		textFile string
	)
	cmd := &cobra.Command{
		Use:   "match FILE --text-file T",
		Short: "Match a text against a schema",
		Long: `Match a text against a schema.

The exit status is 0 if the text fits the schema, 1 if it does not (the position
of the first wrong byte and what was expected there are printed), 3 if the text is
incomplete but can be completed, and 2 if the schema has an error.

By default every layout is accepted: any order of properties, any whitespace and
any spelling of numbers. A final newline counts as whitespace.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := flags.options()
			if err != nil {
				return err
			}
			src, err := readSchema(cmd, args[0], flags.root)
			if err != nil {
				return err
			}
			text, err := readInput(cmd, textFile)
			if err != nil {
				return err
			}
			s, err := schema.Compile(src, opt)
			if err != nil {
				return &exitError{exitWrong, fmt.Errorf("%s: %w", args[0], err)}
			}
			v, err := walk.ByteTokens()
			if err != nil {
				return err
			}
			return matchText(cmd.OutOrStdout(), s.Grammar(v), text)
		},
	}
	flags.register(cmd, "any", "flexible", "any")
	cmd.Flags().StringVar(&textFile, "text-file", "", "file with the text to match; -: standard input (required)")
	group(cmd.Flags(), "Schema")
	if err := cmd.MarkFlagRequired("text-file"); err != nil {
		panic(err) // the flag is registered above
	}
	return cmd
}

// matchText matches a text against a grammar.
func matchText(out io.Writer, g *decoder.Grammar, text []byte) error {
	m := g.NewMatcher()
	n, err := m.AcceptBytes(text)
	switch {
	case err != nil:
		line, column := lineColumn(text, n)
		return &exitError{exitRefused, fmt.Errorf("refused at line %d, column %d: %w", line, column, err)}
	case !m.Accepting():
		return &exitError{exitIncomplete, fmt.Errorf("incomplete after %d bytes; it could end with %q", n, m.ShortestCompletion())}
	}
	_, err = fmt.Fprintln(out, "accepted")
	return err
}

// lineColumn returns the line and column of a byte, both from 1; columns count
// characters.
func lineColumn(text []byte, at int) (line, column int) {
	before := text[:at]
	line = bytes.Count(before, []byte{'\n'}) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

func newSchemaConvertCommand() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "convert FILE.ts",
		Short: "Print the JSON Schema of a TypeScript type",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			out, err := schemafrom.TypeScript(string(src), root)
			if err != nil {
				return &exitError{exitWrong, fmt.Errorf("%s: %w", args[0], err)}
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, out, "", "  "); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), pretty.String())
			return err
		},
	}
	cmd.Flags().StringVar(&root, "type", "", "name of the type to convert (default: the last exported one)")
	group(cmd.Flags(), "Schema")
	return cmd
}
