package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// A node is a schema of openapi.json, or any other part of it.
type node = map[string]any

// A document is openapi.json as a whole.
type document struct{ root node }

func readDocument(t *testing.T) *document {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("reference", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := new(document)
	if err := json.Unmarshal(src, &d.root); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *document) component(name string) node {
	components, _ := d.root["components"].(node)
	schemas, _ := components["schemas"].(node)
	s, _ := schemas[name].(node)
	return s
}

// parts returns a schema and all that it refers to or combines.
func (d *document) parts(schema any) (out []node) {
	s, ok := schema.(node)
	if !ok {
		return nil
	}
	out = append(out, s)
	if to, ok := s["$ref"].(string); ok {
		out = append(out, d.parts(d.component(strings.TrimPrefix(to, "#/components/schemas/")))...)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		for _, one := range list {
			out = append(out, d.parts(one)...)
		}
	}
	return out
}

// properties returns the members that a schema describes, whatever it combines.
func (d *document) properties(schema any) map[string]bool {
	out := map[string]bool{}
	for _, s := range d.parts(schema) {
		properties, _ := s["properties"].(node)
		for name := range properties {
			out[name] = true
		}
	}
	return out
}

// objects returns the properties of every schema that has some of its own.
func (d *document) objects() (out []node) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case node:
			if properties, ok := v["properties"].(node); ok {
				out = append(out, properties)
			}
			for _, one := range v {
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(d.root)
	return out
}

// undescribed returns the places of a value's members that a schema says nothing of.
func (d *document) undescribed(schema, value any, place string) (out []string) {
	parts := d.parts(schema)
	switch value := value.(type) {
	case node:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			var within []any
			free := false
			for _, s := range parts {
				properties, _ := s["properties"].(node)
				patterns, _ := s["patternProperties"].(node)
				if one, ok := properties[name]; ok {
					within = append(within, one)
				} else if more, ok := s["additionalProperties"]; ok && more != false {
					within = append(within, more)
					free = free || more == true
				}
				for pattern, one := range patterns {
					if regexp.MustCompile(pattern).MatchString(name) {
						within = append(within, one)
					}
				}
				free = free || anything(s)
			}
			switch {
			case free:
			case within == nil:
				out = append(out, place+"/"+name)
			default:
				out = append(out, d.undescribed(node{"anyOf": within}, value[name], place+"/"+name)...)
			}
		}
	case []any:
		var within []any
		for _, s := range parts {
			if anything(s) {
				return nil
			}
			if items, ok := s["items"]; ok {
				within = append(within, items)
			}
		}
		for i, one := range value {
			out = append(out, d.undescribed(node{"anyOf": within}, one, fmt.Sprintf("%s/%d", place, i))...)
		}
	}
	return out
}

// anything reports whether a schema has nothing but a description, so that its value may be anything.
func anything(s node) bool {
	return len(s) == 0 || len(s) == 1 && s["description"] != nil
}

// A shape is the members of a struct with their types in JSON, "" where the type does not tell.
type shape struct {
	name    string
	members map[string]string
}

// jsonType returns the type in JSON of a field's type.
func jsonType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return jsonType(e.X)
	case *ast.ArrayType:
		return "array"
	case *ast.StructType:
		return "object"
	case *ast.Ident:
		switch {
		case e.Name == "string":
			return "string"
		case e.Name == "bool":
			return "boolean"
		case strings.HasPrefix(e.Name, "float"):
			return "number"
		case strings.HasPrefix(e.Name, "int"), strings.HasPrefix(e.Name, "uint"):
			return "integer"
		}
	}
	return ""
}

// allows reports whether a schema may have values of a type.
func (d *document) allows(schema any, kind string) bool {
	told := false
	for _, s := range d.parts(schema) {
		switch is := s["type"].(type) {
		case string:
			told = true
			if is == kind {
				return true
			}
		case []any:
			told = true
			if slices.Contains(is, any(kind)) {
				return true
			}
		}
	}
	return !told || kind == ""
}

// Structs are the named structs of folders, by folder and name, and which of them others embed.
type structs struct {
	found    map[string]map[string]*ast.StructType
	embedded map[string]bool // folder.name
}

func (p structs) in(t *testing.T, dir string) map[string]*ast.StructType {
	t.Helper()
	if p.found[dir] != nil {
		return p.found[dir]
	}
	p.found[dir] = map[string]*ast.StructType{}
	for _, f := range folders(t, dir)[dir] {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					p.found[dir][spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return p.found[dir]
}

const module = "github.com/stencil-json/stencil/"

// shape returns the members of a struct, those of embedded structs among them. It appends the shapes of structs without a
// name that are inside.
func (p structs) shape(t *testing.T, f *ast.File, dir, name string, s *ast.StructType, inner *[]shape) shape {
	t.Helper()
	out := shape{name, map[string]string{}}
	for _, field := range s.Fields.List {
		tag := ""
		if field.Tag != nil {
			text, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			tag = reflect.StructTag(text).Get("json")
		}
		member, _, _ := strings.Cut(tag, ",")
		if len(field.Names) == 0 && tag == "" {
			embedded := field.Type
			if star, ok := embedded.(*ast.StarExpr); ok {
				embedded = star.X
			}
			from, called := dir, ""
			switch e := embedded.(type) {
			case *ast.Ident:
				called = e.Name
			case *ast.SelectorExpr:
				called = e.Sel.Name
				for _, i := range f.Imports {
					path, _ := literal(i.Path)
					if filepath.Base(path) == e.X.(*ast.Ident).Name {
						from = strings.TrimPrefix(path, module)
					}
				}
				if _, err := os.Stat(filepath.Join(root, from)); err != nil {
					continue // of another module
				}
			}
			if other := p.in(t, from)[called]; other != nil {
				p.embedded[from+"."+called] = true
				for member, kind := range p.shape(t, f, from, called, other, inner).members {
					out.members[member] = cmp.Or(out.members[member], kind)
				}
			}
			continue
		}
		if member == "" || member == "-" {
			continue
		}
		out.members[member] = jsonType(field.Type)
		if s, ok := field.Type.(*ast.StructType); ok {
			*inner = append(*inner, p.shape(t, f, dir, name+"."+member, s, inner))
		}
	}
	return out
}

// TestMembersDocumented holds that openapi.json has an object with just the members of every struct that the server
// writes, of the same types, and that it or reference/fields.md has every member that the server reads anywhere in a body.
func TestMembersDocumented(t *testing.T) {
	d, listed := readDocument(t), named(t, "fields.md")
	objects := d.objects()
	described := map[string]bool{}
	for _, properties := range objects {
		for name := range properties {
			described[name] = true
		}
	}
	wanted := func(f *ast.File, name string) {
		// Names with $ are keywords of the schemas in bodies, which JSON Schema describes.
		if !described[name] && !listed[name] && !strings.HasPrefix(name, "$") {
			t.Errorf("package %s reads %s, which neither openapi.json nor fields.md has", f.Name.Name, name)
		}
	}

	readers := []string{"Str", "Boolean", "Decode", "Integer", "Number", "Seed", "OneOf", "KeepAlive", "Seconds", "Child", "List", "Raws", "Given"}
	all := structs{map[string]map[string]*ast.StructType{}, map[string]bool{}}
	read, written := map[string]bool{}, map[string][]shape{}
	for dir, fs := range folders(t, "server") {
		// What knows neither HTTP nor the wire writes no answers: its structs are those of files.
		answers := slices.ContainsFunc(fs, func(f *ast.File) bool {
			return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
				path, _ := literal(i.Path)
				return path == "net/http" || path == module+"server/wire"
			})
		})
		for _, f := range fs {
			decoded := map[*ast.StructType]bool{}
			check := func(name string, s *ast.StructType) {
				var inner []shape
				one := all.shape(t, f, dir, f.Name.Name+"."+name, s, &inner)
				key := dir + "." + name
				written[key] = append(append(written[key], inner...), one)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					names := n.Args
					if name := calledName(n); slices.Contains(readers, name) && len(names) > 0 {
						names = names[:1]
					} else if name != "Only" {
						return true
					}
					for _, e := range names {
						if name, ok := literal(e); ok {
							read[name] = true
							wanted(f, name)
						}
					}
				case *ast.ValueSpec: // var x struct{…} without a value is decoded into
					e := n.Type
					if list, ok := e.(*ast.ArrayType); ok {
						e = list.Elt
					}
					if s, ok := e.(*ast.StructType); ok && n.Values == nil {
						decoded[s] = true
						for name := range all.shape(t, f, dir, "", s, new([]shape)).members {
							read[name] = true
							wanted(f, name)
						}
					}
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok && answers {
						check(n.Name.Name, s)
					}
				case *ast.CompositeLit:
					if s, ok := n.Type.(*ast.StructType); ok && answers {
						check("struct", s)
					}
				}
				return true
			})
		}
	}
	compared := 0
	for _, key := range slices.Sorted(maps.Keys(written)) {
		for _, one := range written[key] {
			if len(one.members) == 0 || all.embedded[key] { // what is embedded is written as a part of others
				continue
			}
			compared++
			if bad := d.misses(objects, one); bad != "" {
				t.Error(bad)
			}
		}
	}
	if len(read) < 100 || compared < 100 {
		t.Errorf("only %d members that are read and %d structs that are written were found", len(read), compared)
	}
}

// misses returns what sets a struct apart from the object that is most like it, "" if there is one with just its members.
func (d *document) misses(objects []node, s shape) string {
	best, least := "", -1
	for _, properties := range objects {
		var apart []string
		shared := 0
		for _, member := range slices.Sorted(maps.Keys(s.members)) {
			switch schema, ok := properties[member]; {
			case !ok:
				apart = append(apart, "lacks "+member)
			case !d.allows(schema, s.members[member]):
				apart = append(apart, fmt.Sprintf("has %s, but not as %s", member, s.members[member]))
			default:
				shared++
			}
		}
		for member := range properties {
			if _, ok := s.members[member]; !ok {
				apart = append(apart, "has "+member+", which the struct has not")
			}
		}
		if len(apart) == 0 {
			return ""
		}
		if shared > 0 && (least < 0 || len(apart) < least) {
			best, least = strings.Join(apart, ", "), len(apart)
		}
	}
	return fmt.Sprintf("no object of openapi.json has just the members of %s; the one most like it %s", s.name, cmp.Or(best, "shares none"))
}

// requests are the schemas of openapi.json for the bodies, or parts of them, whose fields a variable of type wire.Names lists.
var requests = map[string]string{
	"openai.chatNames":             "Chat",
	"openai.responsesNames":        "Responses",
	"openai.completionNames":       "Completion",
	"vectors.embeddingsNames":      "Embeddings",
	"vectors.rerankNames":          "Rerank",
	"decisions.openAINames":        "Decide",
	"decisions.systemOneNames":     "SystemOne",
	"anthropic.messagesNames":      "Messages",
	"ollama.ollamaChatNames":       "OllamaChat",
	"ollama.ollamaGenerateNames":   "OllamaGenerate",
	"ollama.ollamaOptions":         "OllamaOptions",
	"ollama.ollamaEmbedNames":      "OllamaEmbed",
	"ollama.ollamaEmbeddingsNames": "OllamaEmbeddings",
	"ollama.ollamaShowNames":       "OllamaShow",
	"ollama.pullNames":             "OllamaPull",
	"llamacpp.names":               "LlamaCompletion",
	"compat.tgiNames":              "TGI",
	"compat.tgiParameters":         "TGIParameters",
	"compat.sglangNames":           "SGLang",
	"compat.sglangParameters":      "SGLangParameters",
	"native.schemaCheckNames":      "Check",
	"native.grammarCheckNames":     "CheckGrammar",
	"native.validateNames":         "Validate",
	"native.repairNames":           "Repair",
	"native.signalsNames":          "Signals",
	"native.nativeNames":           "Generate",
}

// TestRequestsDocumented holds that the schemas of requests have just the fields that the server reads.
func TestRequestsDocumented(t *testing.T) {
	d, code := readDocument(t), readSource(t)
	same := func(name, schema string, read []string) {
		t.Helper()
		described := d.properties(d.component(schema))
		for _, field := range read {
			if !described[field] {
				t.Errorf("openapi.json, %s: %s is missing, which %s has", schema, field, name)
			}
		}
		for field := range described {
			// Chats take options apart before the names are checked.
			if !slices.Contains(read, field) && (schema != "Chat" || field != "options") {
				t.Errorf("openapi.json, %s: %s has no %s", schema, name, field)
			}
		}
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(code)) {
		names, ok := code[name].(*ast.CompositeLit)
		if !ok {
			continue
		}
		if kind, ok := names.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Names" {
			continue
		}
		if requests[name] == "" {
			t.Errorf("requests does not say which schema has the fields of %s", name)
		}
		checked++
		pkg, _, _ := strings.Cut(name, ".")
		same(name, requests[name], append(code.texts(t, pkg, member(names, "Known")), code.texts(t, pkg, member(names, "Constraint"))...))
	}
	if checked < 26 {
		t.Errorf("only %d lists of fields were compared", checked)
	}
	same("agentFields", "AgentRun", append(code.variable(t, "agentapi", "agentFields"), code.variable(t, "agentapi", "resumeFields")...))
	same("boundFields", "AgentBounds", code.variable(t, "agentapi", "boundFields"))
}
