package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/vocab"
)

// newGrammarCommand returns the command that groups the grammar commands.
func newGrammarCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grammar",
		Short: "Check grammars and match texts against them",
		Long: `Check grammars and match texts against them.

A grammar is a file in GBNF, llama.cpp's notation, or the name of a built-in grammar:
` + strings.Join(gbnf.Builtins(), ", ") + `.`,
	}
	cmd.AddCommand(newGrammarCheckCommand(), newGrammarMatchCommand(), newGrammarShowCommand())
	return cmd
}

// grammarFlags are the parameters of built-in grammars.
type grammarFlags struct {
	columns string
	opt     gbnf.BuiltinOptions
	least   int
	most    int
	goRegex bool
}

// register registers all parameters; registerParameters registers only those of text
// formats.
func (f *grammarFlags) register(cmd *cobra.Command) {
	f.registerParameters(cmd)
	cmd.Flags().StringVar(&f.opt.Pattern, "pattern", "", "regex: the regular expression")
	cmd.Flags().BoolVar(&f.goRegex, "go-regex", false, "regex: --pattern has Go's syntax, not ECMAScript's")
	cmd.Flags().StringArrayVar(&f.opt.Choices, "choice", nil, "choice: one of the texts to choose from; may be repeated")
}

func (f *grammarFlags) registerParameters(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.columns, "columns", "", "csv, markdown-table: the columns, as a number or as names separated by commas (default 2)")
	cmd.Flags().StringSliceVar(&f.opt.Header, "header", nil, "csv, markdown-table: names of the columns, separated by commas; the same as --columns with names")
	cmd.Flags().BoolVar(&f.opt.NoHeader, "no-header", false, "csv: no line with the names of the columns")
	cmd.Flags().StringVar(&f.opt.Delimiter, "delimiter", "", "csv: the character between fields: a comma (default), semicolon, tab or |")
	cmd.Flags().IntVar(&f.least, "min-items", -1, "json_array, jsonl, csv, markdown-table: least number of items, lines or rows (default: none)")
	cmd.Flags().IntVar(&f.most, "max-items", -1, "json_array, jsonl, csv, markdown-table: largest number of items, lines or rows (default: none)")
	cmd.Flags().StringVar(&f.opt.Root, "root", "", "xml: name of the root element")
	cmd.Flags().BoolVar(&f.opt.Declaration, "declaration", false, "xml: begin with an XML declaration")
}

// options returns the options of a built-in grammar.
func (f *grammarFlags) options() (gbnf.BuiltinOptions, error) {
	opt := f.opt
	if f.goRegex {
		opt.Syntax = gbnf.Go
	}
	if f.least < -1 || f.most < -1 {
		return opt, errors.New("--min-items and --max-items must not be negative")
	}
	if f.least >= 0 {
		opt.MinItems = &f.least
	}
	if f.most >= 0 {
		opt.MaxItems = &f.most
	}
	if opt.Delimiter == `\t` {
		opt.Delimiter = "\t"
	}
	if f.columns == "" {
		return opt, nil
	}
	if n, err := strconv.Atoi(f.columns); err == nil {
		if n < 1 {
			return opt, fmt.Errorf("--columns must be at least 1, not %d", n)
		}
		opt.Columns = n
		return opt, nil
	}
	if opt.Header != nil {
		return opt, errors.New("--columns with names and --header exclude each other")
	}
	var err error
	opt.Header, err = csv.NewReader(strings.NewReader(f.columns)).Read()
	return opt, err
}

// compile compiles a grammar: a file, standard input for "-", or a built-in grammar.
// An error in the grammar is an exitError.
func (f *grammarFlags) compile(cmd *cobra.Command, name string) (*gbnf.Grammar, error) {
	opt, err := f.options()
	if err != nil {
		return nil, &exitError{exitWrong, err}
	}
	src, err := readInput(cmd, name)
	var g *gbnf.Grammar
	switch {
	case err == nil:
		g, err = gbnf.Compile(string(src), gbnf.Options{})
	case errors.Is(err, fs.ErrNotExist):
		g, err = gbnf.Builtin(name, opt)
	default:
		return nil, err
	}
	if err != nil {
		return nil, &exitError{exitWrong, fmt.Errorf("%s: %w", name, err)}
	}
	return g, nil
}

func newGrammarCheckCommand() *cobra.Command {
	var (
		flags     grammarFlags
		vocabFile string
		samples   int
		seed      uint64
		asJSON    bool
	)
	cmd := &cobra.Command{
		Use:               "check FILE|NAME",
		ValidArgsFunction: grammars(true),
		Short:             "Report errors in a grammar, or its shortest text, samples and cost",
		Long: `Report errors in a grammar, or its shortest text, samples and cost.

Errors and warnings name line, column and rule, and quote the line. For a valid
grammar the command prints the shortest text, random samples, the share of forced
bytes in these, and the cost in states, bytes and time. The exit status is 0, or
2 if the grammar has an error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := loadVocab(vocabFile)
			if err != nil {
				return err
			}
			start := time.Now()
			g, err := flags.compile(cmd, args[0])
			var wrong *exitError
			if err != nil && !errors.As(err, &wrong) {
				return err
			}
			c := checkGrammar(g, err, v, samples, seed, start)
			if vocabFile == "" && g != nil && g.ReadsTokens() && !c.OK {
				c.Errors = append(c.Errors, grammarIssue{Reason: needsVocab, detail: needsVocab})
			}
			if asJSON {
				err = c.writeJSON(cmd.OutOrStdout())
			} else {
				err = c.write(cmd.OutOrStdout(), inFile(args[0]))
			}
			if err != nil {
				return err
			}
			if !c.OK {
				return &exitError{exitWrong, fmt.Errorf("%s: the grammar has errors", args[0])}
			}
			return nil
		},
	}
	flags.register(cmd)
	group(cmd.Flags(), "Grammar")
	cmd.Flags().StringVar(&vocabFile, "vocab", "", "GGUF file whose vocabulary to sample with (default: single bytes)")
	cmd.Flags().IntVar(&samples, "samples", 4, "number of sample texts")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed of the samples")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

// needsVocab is the message for grammars that refer to tokens.
const needsVocab = "the grammar refers to tokens: name a model file with --vocab"

// grammarCheck is the report of checkGrammar. Its JSON form is the response of POST
// /grammar/check.
type grammarCheck struct {
	OK          bool           `json:"ok"`
	Errors      []grammarIssue `json:"errors"`
	Warnings    []grammarIssue `json:"warnings"`
	Hash        string         `json:"hash,omitempty"`
	Rules       int            `json:"rules"`
	Shortest    string         `json:"shortest"`
	Samples     []string       `json:"samples"`
	ForcedShare float64        `json:"forced_share"`
	Cost        schemaCost     `json:"cost"`
}

// grammarIssue is a problem of a grammar.
type grammarIssue struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
	detail string
}

// grammarIssues returns the issues in a compile error.
func grammarIssues(err error) []grammarIssue {
	var (
		invalid *gbnf.InvalidError
		limit   *gbnf.LimitError
	)
	switch {
	case errors.As(err, &invalid):
		return issuesOf(invalid.Issues)
	case errors.As(err, &limit):
		return []grammarIssue{{Line: limit.Line, Reason: limit.Error(), detail: limit.Error()}}
	default:
		return []grammarIssue{{Reason: err.Error(), detail: err.Error()}}
	}
}

func issuesOf(list []gbnf.Issue) []grammarIssue {
	out := make([]grammarIssue, len(list))
	for i, x := range list {
		out[i] = grammarIssue{x.Line, x.Column, x.Rule, x.Reason, x.Detail()}
	}
	return out
}

// checkGrammar reports on a grammar whose compilation started at start and returned
// g and err.
func checkGrammar(g *gbnf.Grammar, err error, v *vocab.Vocab, samples int, seed uint64, start time.Time) *grammarCheck {
	c := &grammarCheck{Errors: []grammarIssue{}, Warnings: []grammarIssue{}, Samples: []string{}}
	if err != nil {
		c.Errors = grammarIssues(err)
		return c
	}
	report := g.Report()
	c.Hash, c.Rules, c.Warnings = report.Hash, report.Rules, issuesOf(report.Warnings)
	d, err := g.Bind(v)
	if err != nil {
		c.Errors = grammarIssues(err)
		return c
	}
	c.Cost.CompileMicros = float64(time.Since(start)) / 1e3
	p, err := walk.Look(context.Background(), d, walk.NewTokens(v), samples, seed)
	if err != nil {
		c.Errors = grammarIssues(err)
		return c
	}
	c.OK = true
	c.Shortest, c.ForcedShare = p.Shortest, p.ForcedShare
	c.Samples = append(c.Samples, p.Samples...)
	c.Cost.MaskMicros = float64(p.MaskTime) / 1e3
	c.Cost.States, c.Cost.Masks, c.Cost.Bytes = p.Stats.Frames, p.Stats.Masks, p.Stats.Bytes
	return c
}

func (c *grammarCheck) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// write writes the report. Issues have the name of their file, as inFile returns it.
func (c *grammarCheck) write(w io.Writer, file string) error {
	var b strings.Builder
	for _, x := range c.Errors {
		fmt.Fprintf(&b, "error: %s%s\n", file, x.detail)
	}
	for _, x := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s%s\n", file, x.detail)
	}
	if c.OK {
		fmt.Fprintf(&b, "rules      %d\nhash       %s\nshortest   %q\n", c.Rules, c.Hash, c.Shortest)
		for _, s := range c.Samples {
			fmt.Fprintf(&b, "sample     %q\n", s)
		}
		c.Cost.write(&b, c.ForcedShare)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newGrammarMatchCommand() *cobra.Command {
	var (
		flags     grammarFlags
		textFile  string
		vocabFile string
	)
	cmd := &cobra.Command{
		Use:               "match FILE|NAME --text-file T",
		ValidArgsFunction: grammars(true),
		Short:             "Match a text against a grammar",
		Long: `Match a text against a grammar.

The exit status is 0 if the grammar accepts the text, 1 if it refuses it (the
position of the first wrong byte and what was expected there are printed), 3 if
the text is incomplete but can be completed, and 2 if the grammar has an error.
Every byte of the file counts, including a final newline. For a grammar that
refers to tokens, the text is tokenized with --vocab; control tokens are written
by name.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := flags.compile(cmd, args[0])
			if err != nil {
				return err
			}
			text, err := readInput(cmd, textFile)
			if err != nil {
				return err
			}
			v, err := loadVocab(vocabFile)
			if err != nil {
				return err
			}
			d, err := g.Bind(v)
			if err != nil && vocabFile == "" {
				err = errors.New(needsVocab)
			}
			if err != nil {
				return &exitError{exitWrong, fmt.Errorf("%s: %w", args[0], err)}
			}
			if d.ReadsTokens() {
				return matchTokens(cmd.OutOrStdout(), d, text)
			}
			return matchText(cmd.OutOrStdout(), d, text)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&textFile, "text-file", "", "file with the text to match; -: standard input (required)")
	cmd.Flags().StringVar(&vocabFile, "vocab", "", "GGUF file whose vocabulary a grammar with tokens refers to")
	group(cmd.Flags(), "Grammar")
	if err := cmd.MarkFlagRequired("text-file"); err != nil {
		panic(err) // the flag is registered above
	}
	return cmd
}

// matchTokens is like matchText, for grammars that refer to tokens.
func matchTokens(out io.Writer, g *decoder.Grammar, text []byte) error {
	m := g.NewMatcher()
	v := g.Vocab()
	at := 0
	for _, id := range spelledTokens(v, string(text)) {
		size := len(v.Bytes(id))
		if size == 0 {
			size = len(v.Text(id))
		}
		if err := m.Accept(id); err != nil {
			var refused *decoder.RefusedError
			if errors.As(err, &refused) {
				at += refused.Offset - len(m.Text())
			}
			line, column := lineColumn(text, at)
			return &exitError{exitRefused, fmt.Errorf("refused at line %d, column %d: token %d %q: %w", line, column, id, v.Text(id), err)}
		}
		at += size
	}
	if !m.Accepting() {
		return &exitError{exitIncomplete, fmt.Errorf("incomplete after %d bytes; it could end with %q", at, walk.Shortest(m))}
	}
	_, err := fmt.Fprintln(out, "accepted")
	return err
}

// spelledTokens tokenizes a text that may contain control tokens by name.
func spelledTokens(v *vocab.Vocab, text string) (ids []int32) {
	controls := map[string]int32{}
	firsts, longest := [256]bool{}, 0
	for id := range int32(v.Len()) {
		if name := v.Text(id); v.Kind(id) == vocab.Control && len(v.Bytes(id)) == 0 && name != "" {
			controls[name] = id
			firsts[name[0]] = true
			longest = max(longest, len(name))
		}
	}
	from := 0
	for i := 0; i < len(text); i++ {
		for n := min(longest, len(text)-i); n > 0 && firsts[text[i]]; n-- {
			if id, ok := controls[text[i:i+n]]; ok {
				ids = append(v.TokenizeText(ids, []byte(text[from:i])), id)
				from = i + n
				i = from - 1
				break
			}
		}
	}
	return v.TokenizeText(ids, []byte(text[from:]))
}

func newGrammarShowCommand() *cobra.Command {
	var flags grammarFlags
	cmd := &cobra.Command{
		Use:               "show NAME",
		ValidArgsFunction: grammars(false),
		Short:             "Print a built-in grammar",
		Long:              "Print a built-in grammar with its parameters filled in. For XML, more is enforced than\na grammar can express; the comment in the grammar says what.",
		Args:              cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := flags.options()
			if err != nil {
				return &exitError{exitWrong, err}
			}
			if args[0] == "regex" || args[0] == "choice" {
				return &exitError{exitWrong, fmt.Errorf("%s has no GBNF text; it is made of its parameters", args[0])}
			}
			src, err := gbnf.BuiltinText(args[0], opt)
			if err != nil {
				return &exitError{exitWrong, err}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), src)
			return err
		},
	}
	flags.registerParameters(cmd)
	group(cmd.Flags(), "Grammar")
	return cmd
}
