package gbnf

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"stencil/decoder"
	"stencil/vocab"
)

//go:embed grammars/*.gbnf
var builtinFiles embed.FS

// BuiltinOptions completes a built-in constraint. What a constraint has no use
// for must not be set.
type BuiltinOptions struct {
	Columns int      // csv, markdown-table: number of columns; default that of Header, or 2
	Header  []string // csv, markdown-table: the first line; default any
	Pattern string   // regex: the regular expression
	Syntax  Syntax   // regex: its dialect; default ECMAScript's
	Choices []string // choice: the texts
	Limits  Limits
}

// maxColumns bounds the number of columns of a table.
const maxColumns = 1000

// Builtins lists the names of the built-in constraints.
func Builtins() []string {
	names := []string{"choice", "regex", "xml"}
	files, err := builtinFiles.ReadDir("grammars")
	if err != nil {
		return names // the files are part of the program
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".gbnf"))
	}
	slices.Sort(names)
	return names
}

// BuiltinSource returns the grammar of a built-in constraint as it is kept; ok
// is false for those that are not written as grammars.
func BuiltinSource(name string) (src string, ok bool) {
	b, err := builtinFiles.ReadFile("grammars/" + name + ".gbnf")
	return string(b), err == nil
}

// Builtin returns a built-in constraint by its name. Errors are *InvalidError
// or *LimitError.
func Builtin(name string, opt BuiltinOptions) (*Grammar, error) {
	table := name == "csv" || name == "markdown-table"
	for _, x := range []struct {
		what     string
		set, use bool
	}{
		{"a pattern", opt.Pattern != "", name == "regex"},
		{"choices", opt.Choices != nil, name == "choice"},
		{"columns", opt.Columns != 0 || opt.Header != nil, table},
	} {
		if x.set && !x.use {
			return nil, builtinError("%s has no use for %s", name, x.what)
		}
	}
	src, ok := BuiltinSource(name)
	switch {
	case name == "regex" && opt.Pattern == "":
		return nil, builtinError("regex: there is no pattern")
	case name == "regex":
		return Regex(opt.Pattern, opt.Syntax, Options{opt.Limits})
	case name == "choice":
		return Choice(opt.Choices, Options{opt.Limits})
	case name == "xml":
		return xmlGrammar(opt.Limits), nil
	case !ok:
		return nil, builtinError("there is no built-in grammar %q; there are %s", name, strings.Join(Builtins(), ", "))
	case table:
		rules, err := tableRules(name, opt)
		if err != nil {
			return nil, err
		}
		src = replaceRules(src, rules)
	}
	return Compile(src, Options{opt.Limits})
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
		return csvRules(n, opt.Header)
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

func csvRules(n int, header []string) (map[string]string, error) {
	rules := map[string]string{"record": fmt.Sprintf(`field ("," field){%d} "\n"`, n-1)}
	if n == 1 {
		// A line without a character is no record.
		rules["record"] = `([^",\r\n]+ | "\"" ([^"\r] | "\"\"")* "\"") "\n"`
	}
	if header != nil {
		var b strings.Builder
		w := csv.NewWriter(&b)
		if err := w.Write(header); err != nil {
			return nil, builtinError("csv: header: %v", err)
		}
		w.Flush()
		rules["header"] = quoted(b.String())
	}
	return rules, nil
}

// quoted returns a text as a grammar writes it.
func quoted(text string) string {
	var b strings.Builder
	printLiteral(&b, text)
	return b.String()
}

// replaceRules gives rules of a built-in grammar, a line each, other bodies.
func replaceRules(src string, rules map[string]string) string {
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		name, _, ok := strings.Cut(line, "::=")
		if body, replace := rules[strings.TrimSpace(name)]; ok && replace {
			lines[i] = name + "::= " + body
		}
	}
	return strings.Join(lines, "\n")
}

func xmlGrammar(limits Limits) *Grammar {
	g := &Grammar{text: "xml", limits: limits.withDefaults()}
	g.report = Report{Hash: hashOf(g.text), Shortest: len("<a/>")}
	g.source = func(*vocab.Vocab) (decoder.Source, error) {
		return newSource(func(out *outcomes) automaton { return newXML(out) }), nil
	}
	return g
}
