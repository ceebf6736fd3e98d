package docs

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quoted matches what a page has in backquotes.
var quoted = regexp.MustCompile("`[^`\n]+`")

// named returns the words that a page has in backquotes, those in tables of fields among them.
func named(t *testing.T, page string) map[string]bool {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("reference", page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, q := range quoted.FindAllString(string(src), -1) {
		out[strings.Trim(q, "`")] = true
	}
	return out
}

// listed returns the texts in the package variables of these names: lists of fields, at whatever depth of the expression.
func listed(t *testing.T, dir string, variables ...string) []string {
	t.Helper()
	found := map[string]bool{}
	missing := slices.Clone(variables)
	for _, f := range files(t, dir) {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range decl.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok || !slices.Contains(variables, v.Names[0].Name) {
					continue
				}
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == v.Names[0].Name })
				ast.Inspect(v, func(n ast.Node) bool {
					if field, ok := n.(*ast.KeyValueExpr); ok {
						if key, ok := field.Key.(*ast.Ident); ok && (key.Name == "Refused" || key.Name == "Harmless" || key.Name == "Hints") {
							return false
						}
					}
					if e, ok := n.(ast.Expr); ok {
						if text, ok := literal(e); ok {
							found[text] = true
						}
					}
					return true
				})
			}
		}
	}
	if len(missing) > 0 {
		t.Fatalf("%s has no %v", dir, missing)
	}
	return slices.Sorted(maps.Keys(found))
}

// tagged returns the names in JSON of the fields of a struct type.
func tagged(t *testing.T, dir, name string) (out []string) {
	t.Helper()
	for _, f := range files(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				if field.Tag == nil {
					continue
				}
				tag, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				word, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				out = append(out, word)
			}
			return false
		})
	}
	if len(out) == 0 {
		t.Fatalf("%s has no struct %s", dir, name)
	}
	return out
}

// TestFieldsDocumented holds that the references name every field of the server's own requests, of its answers and of
// their receipts.
func TestFieldsDocumented(t *testing.T) {
	requests := append(listed(t, "server/native", "nativeNames"), listed(t, "server/request", "SamplingFields", "chainFields", "OwnFields", "constraintKinds", "constraintOptions", "ConstraintNames")...)
	answers := append(tagged(t, "server/native", "generateReply"), tagged(t, "server/native", "choiceReply")...)
	for _, c := range []struct {
		page   string
		fields []string
		least  int
	}{
		{"http.md", requests, 50},
		{"http.md", answers, 14},
		{"receipt.md", tagged(t, "server/generation", "Receipt"), 20},
	} {
		if len(c.fields) < c.least {
			t.Errorf("only %d fields were found for %s: %v", len(c.fields), c.page, c.fields)
		}
		words := named(t, c.page)
		for _, name := range c.fields {
			if !words[name] {
				t.Errorf("docs/reference/%s does not name the field %s", c.page, name)
			}
		}
	}
}
