package docs

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sections are the parts of reference/fields.md that list the fields of a variable of type wire.Names.
var sections = map[string]string{
	"openai.chatNames":             "Chat completions",
	"openai.responsesNames":        "Responses",
	"openai.completionNames":       "Completions",
	"vectors.embeddingsNames":      "Embeddings",
	"vectors.rerankNames":          "Rerank",
	"decisions.openAINames":        "Decisions",
	"decisions.systemOneNames":     "SystemOne",
	"anthropic.messagesNames":      "Messages",
	"ollama.ollamaChatNames":       "Chat",
	"ollama.ollamaGenerateNames":   "Generate",
	"ollama.ollamaOptions":         "Options",
	"ollama.ollamaEmbedNames":      "Embed",
	"ollama.ollamaEmbeddingsNames": "Older embeddings",
	"ollama.ollamaShowNames":       "Show",
	"ollama.pullNames":             "Pull",
	"llamacpp.names":               "Completion",
	"compat.tgiNames":              "TGI",
	"compat.tgiParameters":         "TGI's parameters",
	"compat.sglangNames":           "SGLang",
	"compat.sglangParameters":      "SGLang's parameters",
	"native.schemaCheckNames":      "Check of a schema",
	"native.grammarCheckNames":     "Check of a grammar",
	"native.validateNames":         "Validate",
	"native.repairNames":           "Repair",
	"native.signalsNames":          "Signals of a text",
	"native.nativeNames":           "", // http.md: see TestFieldsDocumented
}

// A source is the package-level variables of the server, by package and name.
type source map[string]ast.Expr

func readSource(t *testing.T) source {
	t.Helper()
	out := source{}
	for _, f := range files(t, "server") {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				v := spec.(*ast.ValueSpec)
				for i, value := range v.Values {
					out[f.Name.Name+"."+v.Names[i].Name] = value
				}
			}
		}
	}
	return out
}

// texts evaluates an expression for a list of texts: literals, variables, append and slices.Concat.
func (s source) texts(t *testing.T, pkg string, e ast.Expr) (out []string) {
	t.Helper()
	switch e := e.(type) {
	case nil:
	case *ast.BasicLit:
		text, ok := literal(e)
		if !ok {
			t.Fatalf("package %s: %s is no text", pkg, e.Value)
		}
		out = append(out, text)
	case *ast.CompositeLit:
		for _, one := range e.Elts {
			out = append(out, s.texts(t, pkg, one)...)
		}
	case *ast.CallExpr:
		if name := calledName(e); name != "append" && name != "Concat" {
			t.Fatalf("package %s: a list of fields can't be made by %s here", pkg, name)
		}
		for _, one := range e.Args {
			out = append(out, s.texts(t, pkg, one)...)
		}
	case *ast.Ident:
		out = s.variable(t, pkg, e.Name)
	case *ast.SelectorExpr:
		x := e.X.(*ast.Ident).Name
		if names, ok := s[pkg+"."+x].(*ast.CompositeLit); ok { // a list of another variable of type wire.Names
			return s.texts(t, pkg, member(names, e.Sel.Name))
		}
		out = s.variable(t, x, e.Sel.Name)
	default:
		t.Fatalf("package %s: a list of fields can't be read from a %T", pkg, e)
	}
	return out
}

func (s source) variable(t *testing.T, pkg, name string) []string {
	t.Helper()
	value, ok := s[pkg+"."+name]
	if !ok {
		t.Fatalf("there is no variable %s.%s", pkg, name)
	}
	return s.texts(t, pkg, value)
}

// member returns a field of a struct literal, nil if it isn't given.
func member(c *ast.CompositeLit, name string) ast.Expr {
	for _, e := range c.Elts {
		if kv := e.(*ast.KeyValueExpr); kv.Key.(*ast.Ident).Name == name {
			return kv.Value
		}
	}
	return nil
}

// quotedIn returns the words of a text that stand in backquotes.
func quotedIn(text string) (out []string) {
	for _, q := range quoted.FindAllString(text, -1) {
		out = append(out, strings.Trim(q, "`"))
	}
	return out
}

// headed returns the parts of a page by their headings of the third level.
func headed(t *testing.T, page string) map[string]string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("reference", page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, part := range strings.Split(string(src), "\n### ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		out[title] = body
	}
	return out
}

// TestDialectFieldsDocumented holds that reference/fields.md says of every field of every path whether it is read, has
// no effect or is refused, as the code has it.
func TestDialectFieldsDocumented(t *testing.T) {
	code, page := readSource(t), headed(t, "fields.md")
	groups := map[string][]string{
		"#sampling":                  code.variable(t, "request", "SamplingFields"),
		"#stencils-own":              code.variable(t, "request", "OwnFields"),
		"#constraints":               code.variable(t, "request", "ConstraintAliases"),
		"#without-effect-everywhere": code.variable(t, "wire", "HarmlessFields"),
	}
	same := func(where, what string, documented, want []string) {
		t.Helper()
		for _, name := range want {
			if !slices.Contains(documented, name) {
				t.Errorf("reference/fields.md, %s: %s is missing under %s", where, name, what)
			}
		}
		for _, name := range documented {
			if !slices.Contains(want, name) {
				t.Errorf("reference/fields.md, %s: %s stands under %s, and the code does not have it there", where, name, what)
			}
		}
	}
	same("Stencil's own", "the list", quotedIn(page["Stencil's own"]), groups["#stencils-own"])
	same("Without effect everywhere", "the list", quotedIn(page["Without effect everywhere"]), groups["#without-effect-everywhere"])
	same("Constraints", "the table", columns(page["Constraints"]), code.variable(t, "request", "aliasNames"))

	checked := 0
	for _, name := range slices.Sorted(maps.Keys(code)) {
		names, ok := code[name].(*ast.CompositeLit)
		if !ok {
			continue
		}
		if kind, ok := names.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Names" {
			continue
		}
		title, known := sections[name]
		if !known {
			t.Errorf("sections does not say where the fields of %s are documented", name)
		}
		if title == "" {
			continue
		}
		checked++
		body, ok := page[title]
		if !ok {
			t.Errorf("reference/fields.md has no section %s, for %s", title, name)
			continue
		}
		pkg, _, _ := strings.Cut(name, ".")
		read := append(code.texts(t, pkg, member(names, "Known")), code.texts(t, pkg, member(names, "Constraint"))...)
		documented := columns(body)
		harmless, hints, refused := "", "", ""
		for _, paragraph := range strings.Split(body, "\n\n") {
			expand := func(to *[]string) {
				for link, fields := range groups {
					if strings.Contains(paragraph, "]("+link+")") {
						*to = append(*to, fields...)
					}
				}
			}
			switch {
			case strings.HasPrefix(paragraph, "No effect: "):
				harmless = paragraph
			case strings.HasPrefix(paragraph, "No effect, with a warning: "):
				hints = paragraph
			case strings.HasPrefix(paragraph, "Refused: "):
				refused = paragraph
			case strings.Contains(paragraph, "Also "):
				expand(&documented)
			}
		}
		same(title, "the fields that are read", documented, read)
		without := quotedIn(harmless)
		if strings.Contains(harmless, "](#without-effect-everywhere)") {
			without = append(without, groups["#without-effect-everywhere"]...)
		}
		inert := slices.DeleteFunc(code.texts(t, pkg, member(names, "Harmless")), func(f string) bool { return slices.Contains(read, f) })
		same(title, "No effect", slices.DeleteFunc(without, func(f string) bool { return slices.Contains(read, f) }), inert)
		same(title, "No effect, with a warning", quotedIn(hints), code.texts(t, pkg, member(names, "Hints")))
		same(title, "Refused", quotedIn(refused), code.texts(t, pkg, member(names, "Refused")))
		for _, f := range code.texts(t, pkg, member(names, "Refused")) {
			if slices.Contains(read, f) || slices.Contains(inert, f) {
				t.Errorf("%s refuses %s, which it also reads or ignores", name, f)
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d lists of fields were compared", checked)
	}
	same("Agent", "the tables", append(columns(page["Agent"]), groups["#sampling"]...), append(code.variable(t, "agentapi", "agentFields"), code.variable(t, "agentapi", "resumeFields")...))
	for _, name := range code.variable(t, "agentapi", "boundFields") {
		if !slices.Contains(quotedIn(page["Agent"]), name) {
			t.Errorf("reference/fields.md, Agent: %s is missing", name)
		}
	}
}

// columns returns the words in backquotes of the first columns of the tables in a text.
func columns(text string) (out []string) {
	for line := range strings.Lines(text) {
		if first, ok := strings.CutPrefix(line, "| "); ok {
			first, _, _ = strings.Cut(first, " | ")
			out = append(out, quotedIn(first)...)
		}
	}
	return out
}
