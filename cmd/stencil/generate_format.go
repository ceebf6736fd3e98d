package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schemafrom"
	"github.com/stencil-json/stencil/vocab"
)

// formatFlags select the format of the text. At most one format may be given.
type formatFlags struct {
	schema   string
	root     string
	examples []string
	json     bool
	open     bool // objects
	grammar  string
	regex    string
	choices  []string
	builtin  string
	params   grammarFlags
}

func (f *formatFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.schema, "schema", "", "file with a JSON Schema that the output must fit, or with TypeScript declarations (.ts)")
	flags.StringVar(&f.root, "type", "", "name of the type in a TypeScript --schema (default: the last exported one)")
	flags.StringArrayVar(&f.examples, "schema-from-example", nil, "file with a JSON document like the one that is wanted; may be repeated")
	flags.BoolVar(&f.open, "open-objects", false, "let objects have members that the schema neither names nor speaks of")
	flags.BoolVar(&f.json, "json", false, "generate any JSON value")
	flags.StringVar(&f.grammar, "grammar", "", "file with a grammar (GBNF) that the output must fit")
	flags.StringVar(&f.regex, "regex", "", "regular expression (ECMAScript) that the whole output must match")
	flags.StringArrayVar(&f.choices, "choice", nil, "one of the texts to choose from; may be repeated")
	flags.StringVar(&f.builtin, "builtin", "", "built-in grammar: "+strings.Join(formats(), ", "))
	f.params.registerParameters(cmd)
	cmd.MarkFlagsMutuallyExclusive("schema", "schema-from-example", "json", "grammar", "regex", "choice", "builtin")
}

// formats returns the built-in grammars that don't have a flag of their own.
func formats() (names []string) {
	for _, name := range gbnf.Builtins() {
		if name != "regex" && name != "choice" {
			names = append(names, name)
		}
	}
	return names
}

// A format is a format that has been read but not compiled.
type format struct {
	flags   *formatFlags
	source  []byte // of a schema or grammar
	options gbnf.BuiltinOptions
}

// read reads the selected format; it returns nil for text without a constraint.
func (f *formatFlags) read(cmd *cobra.Command) (*format, error) {
	out := &format{flags: f}
	var err error
	if out.options, err = f.params.options(); err != nil {
		return nil, err
	}
	if f.builtin == "" {
		if err := unusedParameters(cmd); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]string{"schema": f.schema, "grammar": f.grammar, "regex": f.regex, "builtin": f.builtin} {
		if value == "" && cmd.Flags().Changed(name) { // a variable of a script that is not set, perhaps
			return nil, fmt.Errorf("--%s is empty", name)
		}
	}
	if f.root != "" && f.schema == "" {
		return nil, fmt.Errorf("--type needs --schema with a TypeScript file")
	}
	if f.open && f.schema == "" && f.examples == nil {
		return nil, fmt.Errorf("--open-objects needs --schema or --schema-from-example")
	}
	switch {
	case f.schema != "":
		out.source, err = readSchema(cmd, f.schema, f.root)
	case f.examples != nil:
		docs := make([][]byte, len(f.examples))
		for i, name := range f.examples {
			if docs[i], err = readInput(cmd, name); err != nil {
				return nil, err
			}
		}
		if out.source, err = schemafrom.Example(docs...); err != nil {
			err = &exitError{exitWrong, fmt.Errorf("%s: %w", strings.Join(f.examples, ", "), err)}
		}
	case f.json:
		out.source = []byte("{}")
	case f.grammar != "":
		out.source, err = readInput(cmd, f.grammar)
	case f.builtin != "":
		_, err = gbnf.Builtin(f.builtin, out.options) // reports errors before a model is loaded
	case f.regex != "", f.choices != nil:
	default:
		return nil, nil
	}
	return out, err
}

// unusedParameters rejects parameters of built-in grammars if --builtin is not given.
func unusedParameters(cmd *cobra.Command) error {
	for _, name := range []string{"columns", "header", "no-header", "delimiter", "min-items", "max-items", "root", "declaration"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is a parameter of --builtin, and there is none", name)
		}
	}
	return nil
}

// compile compiles a format for a vocabulary. The instruction describes the format to
// the model. Errors name the file.
func (o *format) compile(v *vocab.Vocab) (c engine.Constraint, instruction string, err error) {
	if c, instruction, err = o.compiled(v); err != nil {
		if file := cmp.Or(o.flags.schema, o.flags.grammar); file != "" {
			err = fmt.Errorf("%s%w", inFile(file), err)
		}
	}
	return c, instruction, err
}

func (o *format) compiled(v *vocab.Vocab) (c engine.Constraint, instruction string, err error) {
	f := o.flags
	if o.source != nil && f.grammar == "" {
		schemas := constraint.NewSchemas(v, 1)
		if err := schemas.Warm(); err != nil {
			return c, "", err
		}
		s, err := schemas.Compile(context.Background(), o.source, schema.Options{Closed: !f.open})
		if err != nil {
			return c, "", err
		}
		return s.Constraint, s.Instruction(), nil
	}
	var g *constraint.CompiledGrammar
	grammars := constraint.NewGrammars(v, 1)
	switch {
	case f.grammar != "":
		g, err = grammars.Grammar(context.Background(), string(o.source))
		instruction = "Answer with a text of this grammar (GBNF), and nothing else:\n" + string(o.source)
	case f.regex != "":
		g, err = grammars.Regex(context.Background(), f.regex)
		instruction = "Answer with a text that matches this regular expression, and nothing else:\n" + f.regex
	case f.choices != nil:
		g, err = grammars.Choice(context.Background(), f.choices)
		instruction = "Answer with one of these texts, and nothing else:\n" + strings.Join(f.choices, "\n")
	default:
		g, err = grammars.Builtin(context.Background(), f.builtin, o.options)
		instruction = "Answer with " + o.options.Description(f.builtin) + ", and nothing else."
	}
	if err != nil {
		return c, "", err
	}
	return g.Constraint, instruction, nil
}
