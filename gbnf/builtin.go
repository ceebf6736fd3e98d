package gbnf

import (
	"cmp"
	"context"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

//go:embed grammars/*.gbnf
var builtinFiles embed.FS

// BuiltinOptions are the parameters of a built-in constraint. Options that do not apply
// to the constraint must not be set.
type BuiltinOptions struct {
	Columns     int      // csv, markdown-table: number of columns; default that of Header, or 2
	Header      []string // csv, markdown-table: the first line; default any
	NoHeader    bool     // csv: there is no header line; then Header only counts columns
	Delimiter   string   // csv: separator of fields: a comma (default), semicolon, tab or bar
	MinItems    *int     // json_array, jsonl, csv, markdown-table: items, lines or rows below the header
	MaxItems    *int
	Root        string   // xml: name of the root element; default any
	Declaration bool     // xml: require <?xml …?> at the start; default optional
	Pattern     string   // regex: the regular expression
	Syntax      Syntax   // regex: its dialect; default ECMAScript's
	Choices     []string // choice: the texts
	Limits      Limits
}

// maxColumns bounds the number of columns of a table.
const maxColumns = 1000

// Builtins lists the names of the built-in constraints.
func Builtins() []string {
	names := []string{"choice", "regex"}
	files, err := builtinFiles.ReadDir("grammars")
	if err != nil {
		return names // can't happen: the files are embedded
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".gbnf"))
	}
	slices.Sort(names)
	return names
}

// BuiltinSource returns the source of a built-in grammar; ok is false for constraints
// that are not written as grammars. The grammar of xml only approximates what is
// enforced, as its comment states.
func BuiltinSource(name string) (src string, ok bool) {
	b, err := builtinFiles.ReadFile("grammars/" + name + ".gbnf")
	return string(b), err == nil
}

// Builtin returns a built-in constraint by its name. Errors are *InvalidError
// or *LimitError.
func Builtin(name string, opt BuiltinOptions) (*Grammar, error) {
	return BuiltinContext(context.Background(), name, opt)
}

// BuiltinContext is [Builtin] with a context: when it ends, the work stops, with its cause as the error.
func BuiltinContext(ctx context.Context, name string, opt BuiltinOptions) (*Grammar, error) {
	if err := opt.check(name); err != nil {
		return nil, err
	}
	switch name {
	case "regex":
		return RegexContext(ctx, opt.Pattern, opt.Syntax, Options{opt.Limits})
	case "choice":
		return ChoiceContext(ctx, opt.Choices, Options{opt.Limits})
	case "xml":
		return xmlGrammar(opt), nil
	}
	src, err := BuiltinText(name, opt)
	if err != nil {
		return nil, err
	}
	return CompileContext(ctx, src, Options{opt.Limits})
}

// check rejects unknown names, options that do not apply to the constraint, and invalid
// values.
func (opt *BuiltinOptions) check(name string) error {
	if !slices.Contains(Builtins(), name) {
		return builtinError("there is no built-in grammar %q; there are %s", name, strings.Join(Builtins(), ", "))
	}
	table := name == "csv" || name == "markdown-table"
	for _, x := range []struct {
		what     string
		set, use bool
	}{
		{"a pattern", opt.Pattern != "" || opt.Syntax != ECMA, name == "regex"},
		{"choices", opt.Choices != nil, name == "choice"},
		{"columns", opt.Columns != 0 || opt.Header != nil, table},
		{"a header that is left out", opt.NoHeader, name == "csv"},
		{"a delimiter", opt.Delimiter != "", name == "csv"},
		{"a number of items", opt.MinItems != nil || opt.MaxItems != nil, table || name == "json_array" || name == "jsonl"},
		{"a root", opt.Root != "", name == "xml"},
		{"a declaration", opt.Declaration, name == "xml"},
	} {
		if x.set && !x.use {
			return builtinError("%s has no use for %s", name, x.what)
		}
	}
	switch {
	case name == "regex" && opt.Pattern == "":
		return builtinError("regex: there is no pattern")
	case opt.Root != "" && !xmlNamed(opt.Root):
		return builtinError("xml: root %q is not a name; want letters, digits, -, . and _, with a letter or _ first", opt.Root)
	case opt.Delimiter != "" && !strings.Contains(",;\t|", opt.Delimiter) || len(opt.Delimiter) > 1:
		return builtinError("csv: the delimiter %q is none of a comma, a semicolon, a tab and a bar", opt.Delimiter)
	}
	return nil
}

// BuiltinText returns a built-in constraint as a grammar: "" for regex and choice, an
// approximation for xml.
func BuiltinText(name string, opt BuiltinOptions) (string, error) {
	if err := opt.check(name); err != nil {
		return "", err
	}
	src, _ := BuiltinSource(name)
	rules := map[string]string{}
	var err error
	switch name {
	case "csv", "markdown-table":
		rules, err = tableRules(name, opt)
	case "xml":
		if opt.Root != "" {
			rules["root"] = `(declaration space)? "<" ` + quoted(opt.Root) + ` (blank name "=" value)* space ("/>" | ">" content "</" ` + quoted(opt.Root) + ` ">") space`
		}
		if opt.Declaration {
			rules["root"] = strings.Replace(cmp.Or(rules["root"], "(declaration space)? element space"), "(declaration space)?", "declaration space", 1)
		}
	}
	if err == nil {
		err = opt.countRules(name, rules)
	}
	if err != nil {
		return "", err
	}
	return replaceRules(src, rules), nil
}

// maxBuiltinItems bounds the counts of items.
const maxBuiltinItems = 1_000_000

// countRules sets the rules that depend on the number of items.
func (opt *BuiltinOptions) countRules(name string, rules map[string]string) error {
	least, most := 0, -1
	if name == "jsonl" || opt.NoHeader {
		least = 1
	}
	if opt.MinItems != nil {
		least = *opt.MinItems
	}
	if opt.MaxItems != nil {
		most = *opt.MaxItems
		if opt.MinItems == nil {
			least = min(least, most)
		}
	}
	switch {
	case least < 0 || least > maxBuiltinItems || opt.MaxItems != nil && (most < 0 || most > maxBuiltinItems):
		return builtinError("%s: the number of items must be between 0 and %d", name, maxBuiltinItems)
	case most >= 0 && least > most:
		return builtinError("%s: at least %d items and at most %d exclude each other", name, least, most)
	case opt.MinItems == nil && opt.MaxItems == nil && !opt.NoHeader:
		return nil
	}
	times := func(less int) string {
		if most < 0 {
			return fmt.Sprintf("{%d,}", max(0, least-less))
		}
		return fmt.Sprintf("{%d,%d}", max(0, least-less), most-less)
	}
	switch {
	case name == "json_array" && most == 0:
		rules["root"] = `"[]"`
	case name == "json_array":
		rules["root"] = `"[\n  " value (",\n  " value)` + times(1) + ` "\n]"`
		if least == 0 {
			rules["root"] += ` | "[]"`
		}
	case name == "jsonl":
		rules["root"] = `(value "\n")` + times(0)
	case name == "csv" && opt.NoHeader:
		rules["root"] = "record" + times(0)
		rules["header"] = "" // unused
	case name == "csv":
		rules["root"] = "header record" + times(0)
	case name == "markdown-table":
		rules["root"] = "header rule row" + times(0)
	}
	return nil
}

// Description describes a built-in constraint for the model that is to write it.
func (opt *BuiltinOptions) Description(name string) string {
	var b strings.Builder
	switch name {
	case "json":
		b.WriteString("a JSON value")
	case "json_array":
		b.WriteString("a JSON array, an element a line")
	case "jsonl":
		b.WriteString("JSON Lines: a JSON value on each line")
	case "csv":
		b.WriteString("CSV, every line ended by a line feed")
		switch opt.Delimiter {
		case ";":
			b.WriteString(", fields separated by semicolons")
		case "\t":
			b.WriteString(", fields separated by tabs")
		case "|":
			b.WriteString(", fields separated by |")
		}
	case "markdown-table":
		b.WriteString("a table in Markdown")
	case "xml":
		b.WriteString("well-formed XML")
	default:
		b.WriteString(name)
	}
	switch {
	case opt.Header != nil:
		fmt.Fprintf(&b, ", with the columns %s", strings.Join(opt.Header, ", "))
	case opt.Columns > 0:
		fmt.Fprintf(&b, ", with %d columns", opt.Columns)
	}
	switch {
	case name == "csv" && opt.NoHeader:
		b.WriteString(", without a header line")
	case name == "csv":
		b.WriteString(", with a header line")
	}
	if opt.Root != "" {
		fmt.Fprintf(&b, ", whose root element is %s", opt.Root)
	}
	if opt.Declaration {
		b.WriteString(", with an XML declaration")
	}
	items := map[string]string{"json_array": "elements", "jsonl": "lines"}[name]
	if items == "" {
		items = "rows"
	}
	if opt.MinItems != nil {
		fmt.Fprintf(&b, ", at least %d %s", *opt.MinItems, items)
	}
	if opt.MaxItems != nil {
		fmt.Fprintf(&b, ", at most %d %s", *opt.MaxItems, items)
	}
	return b.String()
}

func builtinError(format string, args ...any) error {
	return &InvalidError{[]Issue{{Reason: fmt.Sprintf(format, args...)}}}
}

// tableRules returns the rules that depend on the columns of a table.
func tableRules(name string, opt BuiltinOptions) (map[string]string, error) {
	n := opt.Columns
	if n == 0 {
		n = max(len(opt.Header), 2)
		if len(opt.Header) == 1 {
			n = 1
		}
	}
	switch {
	case n < 1 || n > maxColumns:
		return nil, builtinError("%s: %d columns: want 1 to %d", name, n, maxColumns)
	case opt.Header != nil && len(opt.Header) != n:
		return nil, builtinError("%s: the header has %d columns, not %d", name, len(opt.Header), n)
	}
	for _, h := range opt.Header {
		if strings.ToValidUTF8(h, "") != h || strings.ContainsRune(h, '\r') || name != "csv" && (h == "" || strings.ContainsRune(h, '\n')) {
			return nil, builtinError("%s: header %q can't be written", name, h)
		}
	}
	if name == "csv" {
		return csvRules(n, opt)
	}
	rules := map[string]string{
		"row":  fmt.Sprintf(`"|" (cell "|"){%d} "\n"`, n),
		"rule": fmt.Sprintf(`"|" (line "|"){%d} "\n"`, n),
	}
	if opt.Header != nil {
		var line strings.Builder
		for _, h := range opt.Header {
			line.WriteString("| " + strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(h) + " ")
		}
		rules["header"] = quoted(line.String() + "|\n")
	}
	return rules, nil
}

func csvRules(n int, opt BuiltinOptions) (map[string]string, error) {
	comma := cmp.Or(opt.Delimiter, ",")
	char := comma
	if comma == "\t" {
		char = `\t`
	}
	rules := map[string]string{
		"record": fmt.Sprintf(`field ("%s" field){%d} "\n"`, char, n-1),
		"field":  `[^"` + char + `\r\n]* | "\"" ([^"\r] | "\"\"")* "\""`,
	}
	if n == 1 {
		// A line without a character is not a record.
		rules["record"] = `([^"` + char + `\r\n]+ | "\"" ([^"\r] | "\"\"")* "\"") "\n"`
		rules["field"] = "" // unused
	}
	if opt.Header != nil && !opt.NoHeader {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = rune(comma[0])
		if err := w.Write(opt.Header); err != nil {
			return nil, builtinError("csv: header: %v", err)
		}
		w.Flush()
		rules["header"] = quoted(b.String())
	}
	return rules, nil
}

// quoted returns a text as a literal of a grammar.
func quoted(text string) string {
	var b strings.Builder
	printLiteral(&b, text)
	return b.String()
}

// replaceRules replaces the bodies of rules of a built-in grammar, each on one line,
// and removes the rules whose new body is empty.
func replaceRules(src string, rules map[string]string) string {
	lines := strings.Split(src, "\n")
	out := lines[:0]
	for _, line := range lines {
		name, _, ok := strings.Cut(line, "::=")
		if body, replace := rules[strings.TrimSpace(name)]; ok && replace {
			if line = name + "::= " + body; body == "" {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func xmlGrammar(opt BuiltinOptions) *Grammar {
	g := &Grammar{text: "xml", limits: opt.Limits.withDefaults()}
	if opt.Root != "" || opt.Declaration {
		g.text = fmt.Sprintf("xml %t %s", opt.Declaration, opt.Root)
	}
	machine := func(out *outcomes) automaton { return newXML(out, opt.Root, opt.Declaration) }
	g.report = Report{Hash: hashOf(g.text), Shortest: len(newXML(nil, opt.Root, opt.Declaration).shortest())}
	g.source = func(*meter.Meter, *vocab.Vocab) (decoder.Source, error) { return newSource(machine), nil }
	return g
}
