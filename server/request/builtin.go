package request

import (
	"encoding/json"

	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/server/wire"
)

// A Builtin is a built-in grammar with its parameters.
type Builtin struct {
	Name    string
	Options gbnf.BuiltinOptions
}

// ReadBuiltin reads {"builtin": name} and the grammar's parameters.
func ReadBuiltin(o *wire.Object, field string) (*Builtin, error) {
	in, err := o.Child(field)
	if err != nil {
		return nil, err
	}
	if err := in.Only("builtin", "columns", "header", "delimiter", "min_items", "max_items", "root", "declaration", "pattern", "syntax", "choices"); err != nil {
		return nil, err
	}
	if !in.Given("builtin") {
		return nil, wire.Invalid(in.Path+"builtin", "%sbuiltin is missing: the name of a built-in grammar; a grammar of one's own is a string", in.Path)
	}
	b := &Builtin{}
	opt := &b.Options
	syntax, header := "", true
	for _, err := range []error{
		in.OneOf("builtin", &b.Name, gbnf.Builtins()...),
		readColumns(in, opt),
		in.Boolean("header", &header),
		in.Str("delimiter", &opt.Delimiter),
		readCount(in, "min_items", &opt.MinItems),
		readCount(in, "max_items", &opt.MaxItems),
		in.Str("root", &opt.Root),
		in.Boolean("declaration", &opt.Declaration),
		in.Str("pattern", &opt.Pattern),
		in.OneOf("syntax", &syntax, "ecma", "go"),
		in.Decode("choices", &opt.Choices, "an array of strings"),
	} {
		if err != nil {
			return nil, err
		}
	}
	opt.NoHeader = !header
	if syntax == "go" {
		opt.Syntax = gbnf.Go
	}
	return b, nil
}

// readColumns reads the columns of a table: their names, or their number.
func readColumns(o *wire.Object, opt *gbnf.BuiltinOptions) error {
	if !o.Given("columns") {
		return nil
	}
	if json.Unmarshal(o.Members["columns"], &opt.Header) == nil {
		if len(opt.Header) == 0 {
			return wire.Invalid(o.Path+"columns", "%scolumns is empty: there must be at least one", o.Path)
		}
		return nil
	}
	opt.Header = nil
	var n float64
	if json.Unmarshal(o.Members["columns"], &n) != nil {
		return o.WrongType("columns", "an array of names or a number")
	}
	return o.Integer("columns", &opt.Columns, 1, 1000)
}

func readCount(o *wire.Object, name string, to **int) error {
	if !o.Given(name) {
		return nil
	}
	n := 0
	*to = &n
	return o.Integer(name, &n, 0, 1_000_000)
}
