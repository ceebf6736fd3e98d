// Package stencil has no code, only tests of the repository's rules: which package
// may import which, where C is allowed, and that everything is documented.
package stencil

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// architecture lists the packages and what each may import, in the notation of Go's
// own go/build/deps_test.go:
//
//	a, b < c, d;
//
// means that c and d may import a and b, and transitively what those may import. A
// chain a < b < c means a < b; b < c. NONE stands for nothing. Paths are relative to
// the module. The standard library is always allowed. Packages of other modules are
// written with their path, which includes the packages below it; these permissions
// are not transitive. Permissions that no import uses are errors, so that nothing is
// allowed in advance.
const architecture = `
	# Libraries of use to others: pure Go, nothing but each other.
	NONE
	< meter, internal/recent, regular/runes, validator, schema/number, schema/layout, schema/nearest, convert/typescript, convert/goschema;
	github.com/santhosh-tekuri/jsonschema/v6, github.com/dlclark/regexp2, golang.org/x/net/idna < validator;
	NONE < regular/formats;
	regular/runes < regular, validator;
	regular/formats < regular;
	meter < validator;
	internal/recent < vocab;

	vocab, meter < decoder < decoder/walk;
	vocab < decoder/sampling;
	github.com/klauspost/cpuid/v2 < decoder/sampling, bench/overhead;
	regular < schema/language;
	schema/number < schema/jsondoc, schema/language;
	schema/jsondoc < convert/example;
	convert/example, convert/typescript, convert/goschema < schemafrom < client;
	schema/jsondoc, schema/language, schema/nearest < schema/syntax;
	decoder, regular < schema/spelling;
	schema/spelling, schema/jsondoc < schema/tokens;
	schema/syntax, meter < schema/logic;
	schema/logic, schema/tokens, schema/layout < schema;
	regular, decoder < gbnf;
	schema < repair;

	NONE < chat/jinja/python < chat/jinja < chat;
	vocab, internal/recent < chat;

	# Models.
	vocab < backend;
	backend < backend/scripted, backend/llama, backend/remote;
	backend < embedding;
	repair, backend/remote < asking;
	vocab < models;
	NONE < models/lessons;
	github.com/ollama/ollama/llama/llama.cpp/src,
	github.com/ollama/ollama/ml/backend/ggml/ggml/src
	< backend/llama/internal/capi;
	backend/llama/internal/capi < backend/llama, backend/llama/internal/reference;

	# Writes tables of Unicode properties for go generate.
	golang.org/x/text < internal/unicodegen;

	# Fetches and builds llama.cpp for the Makefile; counts what tests skip.
	NONE < internal/llamacpp, internal/skips;

	# What callers build on answers.
	repair < agent, agent/signals;
	go.etcd.io/bbolt < internal/boltfile;
	internal/boltfile, go.etcd.io/bbolt < agent/outcomes;
	agent, github.com/bmatcuk/doublestar/v4 < agent/files;

	# What puts them together.
	NONE < engine/promptcache;
	backend < engine/prefix;
	backend, decoder, decoder/sampling, engine/promptcache, engine/prefix, meter < engine;
	engine, schema, gbnf, validator < constraint;

	# The server, from what all dialects share to the dialects and what wires them.
	schema/nearest < server/wire;
	NONE < server/exposition;
	github.com/prometheus/client_golang < server/exposition, server/generation/assess, server/generation, server/agentapi, server;
	github.com/prometheus/client_model, github.com/prometheus/common < server/exposition;
	server/wire, engine, chat, gbnf, embedding, asking, agent, internal/boltfile < server/problem;
	server/problem < server/access;
	server/problem, constraint, decoder/walk < server/registry;
	server/wire, agent/signals, chat, schema, gbnf, decoder/sampling, convert/typescript < server/request;
	server/problem, server/exposition, agent/signals, agent/outcomes < server/generation/assess;
	chat, regular, schema/jsondoc, schema/number < server/generation/nested;
	agent/signals, constraint, chat, server/wire, server/generation/nested < server/generation/layout;
	server/registry, server/request, server/generation/layout < server/generation/arguments;
	server/generation/arguments, server/generation/assess < server/generation < server/generation/upstream;
	server/registry < server/vectors, server/decisions, server/infill;
	server/infill < server/openai, server/ollama;
	NONE < server/shares;
	server/shares, internal/boltfile, go.etcd.io/bbolt < server/stored;
	server/access, server/stored < server/openai/conversations;
	server/problem < server/background;
	server/openai/conversations, server/background < server/openai;
	server/generation < server/openai, server/anthropic, server/compat, server/agentapi;
	server/access, server/shares < server/agentapi;
	server/registry, server/generation/assess < server/feedback;
	server/compat < server/native;
	server/openai < server/llamacpp;
	server/generation, server/vectors < server/ollama;
	server/generation/upstream, server/decisions, server/openai, server/anthropic, server/ollama, server/native, server/llamacpp, server/feedback, server/agentapi < server;
	github.com/gin-gonic/gin, github.com/klauspost/compress, github.com/andybalholm/brotli < server;

	constraint, chat, models, models/lessons < models/train;

	decoder/walk, schema < bench;
	github.com/santhosh-tekuri/jsonschema/v6, github.com/dlclark/regexp2,
	github.com/ulikunitz/xz, golang.org/x/sys
	< bench;
	NONE < bench/interval;
	NONE < bench/servers;
	bench < bench/drawn, bench/peers;
	constraint, backend/llama, bench/interval < bench/overhead;
	gonum.org/v1/plot < bench/overhead;

	NONE < eval < eval/sets < eval/arms;
	github.com/santhosh-tekuri/jsonschema/v6 < eval/sets;
	internal/boltfile, server, schemafrom, models, backend/llama, bench, bench/overhead, eval, eval/sets, eval/arms, agent/files < cmd/stencil;
	github.com/spf13/cobra, github.com/spf13/pflag, github.com/rivo/uniseg, golang.org/x/term < cmd/stencil;
	server/wire, github.com/spf13/cobra, github.com/spf13/pflag, go.yaml.in/yaml/v3 < cmd/stencil/config < cmd/stencil;
	chat, server, github.com/spf13/pflag < cmd/stencil/defaults < cmd/stencil;
	github.com/schollz/progressbar/v3, golang.org/x/term < cmd/stencil/console < cmd/stencil;
	vocab, cmd/stencil/console < cmd/stencil/download < cmd/stencil;
	chat, backend/llama, cmd/stencil/console < cmd/stencil/inspection < cmd/stencil;

	client < examples/go-native;
	schemafrom, github.com/openai/openai-go/v3 < examples/go-openai;

	# Data for tests; no package but internal/fetchmodels imports it.
	github.com/ulikunitz/xz < internal/shared;
	NONE < internal/realmodels, internal/poll, internal/packages, internal/boltfile/damage;
	vocab < internal/mutants;
	internal/realmodels, models < internal/fetchmodels;
`

// testImports lists, in the same notation, what the test files of a package may
// import in addition to the package's own permissions. It is not transitive.
const testImports = `
	internal/shared
	< vocab, regular, validator, schema/number, gbnf, repair, agent, chat, backend/llama, bench, bench/drawn, server, server/generation/nested, cmd/stencil;
	internal/realmodels < chat, models, backend/llama, server, server/clients, docs;
	internal/packages < docs, server/clients, schemafrom, cmd/stencil/binary;
	internal/mutants < backend/llama, cmd/stencil;
	internal/boltfile/damage < internal/boltfile, agent/outcomes, server/stored;
	internal/poll < internal/boltfile, backend/llama, embedding, engine, engine/promptcache, bench, server, cmd/stencil/download;

	# Judges that share no code with what they judge.
	golang.org/x/net < regular;
	validator < convert/typescript;
	github.com/santhosh-tekuri/jsonschema/v6 < agent, server;
	github.com/kaptinlin/jsonrepair, constraint < repair;

	# Models, where the packages know only the interface.
	backend < bench;
	backend/scripted < chat, constraint, embedding, engine, bench, server, server/clients, server/clients/agents;
	models < backend/llama, embedding, constraint, bench, cmd/stencil/download, server, server/generation, server/clients, server/clients/agents;
	backend/llama < bench, server, server/clients, models/train;

	decoder/walk < gbnf, schema;
	decoder, decoder/walk, gbnf < server/generation/nested;
	decoder/walk, schema < schemafrom;
	bench < constraint;
	schema, gbnf < engine;
	engine, decoder/sampling < chat;
	backend/llama/internal/reference, bench/interval, chat, schema, constraint, engine < backend/llama;
	convert/typescript, convert/goschema, gbnf, bench/overhead < bench;
	bench, agent/files, eval < server;
	golang.org/x/sys < cmd/stencil/console;
	regular, validator < docs;

	# Clients against the server: our own, and those of others.
	vocab, engine, models, server, backend/scripted < client;
	vocab, chat, backend, engine, embedding, server, internal/shared,
	github.com/anthropics/anthropic-sdk-go, github.com/openai/openai-go/v3,
	github.com/ollama/ollama/api, github.com/tmc/langchaingo
	< server/clients;
	vocab, backend, engine, server, golang.org/x/sys < server/clients/agents;
`

// cgoHome is the only package that may contain C.
const cgoHome = "backend/llama"

// rules maps each package to what it may import.
type rules map[string]map[string]bool

// parseRules parses the notation described at architecture, without transitive
// permissions.
func parseRules(text string) (rules, error) {
	var clean strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		clean.WriteString(line + " ")
	}
	r := rules{}
	for _, rule := range strings.Split(clean.String(), ";") {
		if strings.TrimSpace(rule) == "" {
			continue
		}
		var sides [][]string
		for _, side := range strings.Split(rule, "<") {
			var names []string
			for _, name := range strings.Split(side, ",") {
				name = strings.TrimSpace(name)
				if name == "" || strings.ContainsAny(name, " \t\n") {
					return nil, fmt.Errorf("bad name %q in rule %q", name, strings.TrimSpace(rule))
				}
				names = append(names, name)
			}
			sides = append(sides, names)
		}
		if len(sides) < 2 {
			return nil, fmt.Errorf("rule %q says nothing", strings.TrimSpace(rule))
		}
		for i, side := range sides[1:] {
			for _, to := range side {
				if r[to] == nil {
					r[to] = map[string]bool{}
				}
				for _, from := range sides[i] {
					if from != "NONE" {
						r[to][from] = true
					}
				}
			}
		}
	}
	return r, nil
}

// close returns r with transitive permissions, and reports cycles and unknown names.
func (r rules) close() (rules, error) {
	closed := rules{}
	for name, from := range r {
		closed[name] = maps.Clone(from)
	}
	return closed, closed.follow()
}

// follow adds transitive permissions.
func (r rules) follow() error {
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(string) error
	visit = func(name string) error {
		switch state[name] {
		case 1:
			return fmt.Errorf("%s may import itself", name)
		case 2:
			return nil
		}
		state[name] = 1
		for _, from := range slices.Sorted(maps.Keys(r[name])) {
			if external(from) {
				continue
			}
			if r[from] == nil {
				return fmt.Errorf("%s may import %s, of which nothing is said", name, from)
			}
			if err := visit(from); err != nil {
				return err
			}
			for f := range r[from] {
				if !external(f) {
					r[name][f] = true
				}
			}
		}
		state[name] = 2
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// modulePath is the path of this module.
const modulePath = "github.com/stencil-json/stencil"

// external reports whether a name in the rules belongs to another module.
func external(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}

// standard reports whether an import is in the standard library.
func standard(imported string) bool {
	return !external(imported)
}

// allows reports whether package pkg may import a path.
func (r rules) allows(pkg, imported string) bool {
	if own, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
		return r[pkg][own]
	}
	if standard(imported) {
		return true
	}
	for p := imported; p != "."; p = path.Dir(p) {
		if r[pkg][p] {
			return true
		}
	}
	return false
}

// source is one Go file.
type source struct {
	dir  string // of the package, relative to the module, with slashes
	path string
	file *ast.File
	test bool
}

// A module is the parsed content of the module's folder.
type module struct {
	all []source // every Go file, regardless of build tags
	c   []string // the paths of C files
	set *token.FileSet
}

// sources returns the module, which is read once for all tests.
func sources(t *testing.T) module {
	t.Helper()
	m, err := readModule()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var readModule = sync.OnceValues(func() (module, error) {
	m := module{set: token.NewFileSet()}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, slash := d.Name(), filepath.ToSlash(p)
		if d.IsDir() {
			made := slash == "build" || slash == "bin" || slash == "lib" || slash == "vendor"
			if p != "." && (made || name == "testdata" || name == "node_modules" || name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".c", ".cc", ".cpp", ".h", ".hpp", ".m", ".S": // .s files without cgo are Go assembly
			m.c = append(m.c, slash)
		case ".go":
			f, err := parser.ParseFile(m.set, p, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			m.all = append(m.all, source{path.Dir(slash), slash, f, strings.HasSuffix(name, "_test.go")})
		}
		return nil
	})
	return m, err
})

// unused returns the permissions of r, as written, that no import uses.
func (r rules) unused(imports rules) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		for _, from := range slices.Sorted(maps.Keys(r[name])) {
			one := rules{name: {from: true}}
			used := false
			for imported := range imports[name] {
				used = used || !standard(imported) && one.allows(name, imported)
			}
			if !used {
				out = append(out, fmt.Sprintf("%s < %s", from, name))
			}
		}
	}
	return out
}

// imports returns the imports of all packages, either of their own files or of their
// tests.
func imports(all []source, tests bool) rules {
	r := rules{}
	for _, s := range all {
		if s.test != tests {
			continue
		}
		if r[s.dir] == nil {
			r[s.dir] = map[string]bool{}
		}
		for _, i := range s.file.Imports {
			if imported, _ := strconv.Unquote(i.Path.Value); imported != "C" {
				r[s.dir][imported] = true
			}
		}
	}
	return r
}

func TestImports(t *testing.T) {
	written, err := parseRules(architecture)
	if err != nil {
		t.Fatal(err)
	}
	r, err := written.close()
	if err != nil {
		t.Fatal(err)
	}
	all := sources(t).all
	seen := imports(all, false)
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		if r[dir] == nil {
			t.Errorf("package %s is not in the architecture", dir)
			continue
		}
		for _, imported := range slices.Sorted(maps.Keys(seen[dir])) {
			if !r.allows(dir, imported) {
				t.Errorf("%s may not import %s", dir, imported)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if seen[name] == nil {
			t.Errorf("package %s of the architecture does not exist", name)
		}
	}
	for _, permission := range written.unused(seen) {
		t.Errorf("the architecture allows what is not imported: %s", permission)
	}
}

// picture reads the picture of the packages in ARCHITECTURE.md: the row of each package, and what each
// may import of its own row, along the arrows.
func picture(text string) (row map[string]int, arrows rules) {
	row, arrows = map[string]int{}, rules{}
	// chain reads terms joined by arrows, whose names begin with a prefix, and returns all names.
	var chain func(at int, prefix, text string) []string
	chain = func(at int, prefix, text string) (all []string) {
		var before []string
		for _, term := range strings.Split(text, " → ") {
			names := []string{prefix + term}
			if folder, list, ok := strings.Cut(strings.TrimSuffix(term, "}"), "{"); ok {
				names = nil
				for _, one := range strings.Split(list, ", ") {
					names = append(names, chain(at, prefix+folder, strings.ReplaceAll(one, "→", " → "))...)
				}
			}
			for _, name := range names {
				row[name] = at
				if arrows[name] == nil {
					arrows[name] = map[string]bool{}
				}
				for _, b := range before {
					arrows[b][name] = true
				}
			}
			all, before = append(all, names...), names
		}
		return all
	}
	_, text, _ = strings.Cut(text, "```\n")
	text, _, _ = strings.Cut(text, "```")
	braces := regexp.MustCompile(`\{[^}]*\}`)
	for at, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		_, line, _ = strings.Cut(line, "  ") // the label
		line = braces.ReplaceAllStringFunc(line, func(s string) string { return strings.ReplaceAll(s, " → ", "→") })
		for group := range strings.SplitSeq(line, "   ") {
			if group = strings.TrimSpace(group); group != "" {
				chain(at, "", group)
			}
		}
	}
	return row, arrows
}

// TestPicture checks that the picture in ARCHITECTURE.md shows each package, and that imports point
// to lower rows or along arrows.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	row, arrows := picture(string(text))
	if err := arrows.follow(); err != nil {
		t.Fatal(err)
	}
	seen := imports(sources(t).all, false)
	delete(seen, ".")
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		if _, ok := row[dir]; !ok {
			t.Errorf("the picture lacks %s", dir)
			continue
		}
		for imported := range seen[dir] {
			own, ok := strings.CutPrefix(imported, modulePath+"/")
			if at, shown := row[own]; ok && shown && at <= row[dir] && !arrows[dir][own] {
				t.Errorf("the picture has no arrow from %s to %s", dir, own)
			}
		}
	}
	for name := range row {
		if seen[name] == nil {
			t.Errorf("the picture has %s, which does not exist", name)
		}
	}

	row, arrows = picture("x\n```\ntop    a → b/{c → d, e} → f   g\n· low  h\n```\n")
	if len(row) != 7 || row["b/e"] != 0 || row["h"] != 1 || !arrows["a"]["b/e"] || !arrows["b/c"]["b/d"] || !arrows["b/d"]["f"] || arrows["a"]["g"] {
		t.Errorf("rows %v, arrows %v", row, arrows)
	}
}

func TestTestImports(t *testing.T) {
	written, err := parseRules(architecture)
	if err != nil {
		t.Fatal(err)
	}
	r, err := written.close()
	if err != nil {
		t.Fatal(err)
	}
	extra, err := parseRules(testImports)
	if err != nil {
		t.Fatal(err)
	}
	all := sources(t).all
	seen := imports(all, true)
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		for _, imported := range slices.Sorted(maps.Keys(seen[dir])) {
			itself := imported == modulePath+"/"+dir
			if itself || r.allows(dir, imported) {
				delete(seen[dir], imported) // the package's own permissions cover it
			} else if !extra.allows(dir, imported) {
				t.Errorf("tests of %s may not import %s", dir, imported)
			}
		}
	}
	for _, permission := range extra.unused(seen) {
		t.Errorf("testImports allows what is not imported, or allowed anyway: %s", permission)
	}
}

func TestCgoIsConfined(t *testing.T) {
	m := sources(t)
	within := func(p string) bool { return p == cgoHome || strings.HasPrefix(p, cgoHome+"/") }
	for _, p := range m.c {
		if !within(path.Dir(p)) {
			t.Errorf("%s: C outside %s", p, cgoHome)
		}
	}
	for _, s := range m.all {
		for _, i := range s.file.Imports {
			if i.Path.Value == `"C"` && !within(s.dir) {
				t.Errorf("%s: cgo outside %s", s.path, cgoHome)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	all := sources(t).all
	has := map[string]bool{}
	for _, s := range all {
		if s.dir == "." || !s.test {
			has[s.dir] = has[s.dir] || s.file.Doc.Text() != ""
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(has)) {
		if !has[dir] {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestDocComments(t *testing.T) {
	m := sources(t)
	for _, s := range m.all {
		if s.test || s.file.Name.Name == "main" {
			continue
		}
		for _, name := range undocumented(s.file) {
			t.Errorf("%s: %s has no doc comment", m.set.Position(name.Pos()), name.Name)
		}
	}
}

// wellKnown are methods with a well-known meaning, which need no comment.
var wellKnown = map[string]bool{
	"Error": true, "String": true, "Unwrap": true, "Read": true, "Write": true, "ServeHTTP": true,
	"MarshalJSON": true, "UnmarshalJSON": true,
}

// undocumented returns the exported names of a file that have no comment:
// package-level names and methods of exported types.
func undocumented(f *ast.File) (out []*ast.Ident) {
	report := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if d.Text() != "" {
				return
			}
		}
		if name.IsExported() {
			out = append(out, name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d).IsExported() && !wellKnown[d.Name.Name] {
				report(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						report(name, d.Doc, spec.Doc, spec.Comment)
					}
				case *ast.TypeSpec:
					report(spec.Name, d.Doc, spec.Doc, spec.Comment)
				}
			}
		}
	}
	return out
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) *ast.Ident {
	for e := d.Recv.List[0].Type; ; {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x
		default:
			return ast.NewIdent("_")
		}
	}
}

// TestRules tests the checker itself.
func TestRules(t *testing.T) {
	written, err := parseRules(`
		NONE < a, b; # two leaves
		a < c < d;
		b, example.com/x/v2 < c;
	`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := written.close()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg, imported string
		want          bool
	}{
		{"c", "github.com/stencil-json/stencil/a", true}, {"d", "github.com/stencil-json/stencil/a", true}, {"d", "github.com/stencil-json/stencil/b", true}, {"d", "github.com/stencil-json/stencil/c", true},
		{"a", "github.com/stencil-json/stencil/b", false}, {"c", "github.com/stencil-json/stencil/d", false}, {"a", "github.com/stencil-json/stencil/a", false},
		{"a", "fmt", true}, {"a", "go/ast", true},
		{"c", "example.com/x/v2", true}, {"c", "example.com/x/v2/sub", true}, {"c", "example.com/x/v20", false},
		{"d", "example.com/x/v2", false}, {"c", "example.com/x", false},
	} {
		if got := r.allows(c.pkg, c.imported); got != c.want {
			t.Errorf("%s importing %s: %v", c.pkg, c.imported, got)
		}
	}
	for _, c := range []struct {
		imports rules
		want    []string
	}{
		{rules{"c": {"github.com/stencil-json/stencil/a": true, "github.com/stencil-json/stencil/b": true, "example.com/x/v2/sub": true}, "d": {"github.com/stencil-json/stencil/c": true}}, nil},
		// c imports b directly, so a < c is unused.
		{rules{"c": {"github.com/stencil-json/stencil/b": true, "example.com/x/v2": true, "fmt": true}, "d": {"github.com/stencil-json/stencil/a": true}}, []string{"a < c", "c < d"}},
		{rules{}, []string{"a < c", "b < c", "example.com/x/v2 < c", "c < d"}},
	} {
		if got := written.unused(c.imports); !slices.Equal(got, c.want) {
			t.Errorf("unused with %v: %v, want %v", c.imports, got, c.want)
		}
	}
	for _, bad := range []string{"a;", "a < b", "NONE < a; a < b < a;", "a b < c;", "< c;"} {
		if r, err := parseRules(bad); err == nil {
			if _, err = r.close(); err == nil {
				t.Errorf("%q was accepted", bad)
			}
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", `package p
		// T is.
		type T[X any] struct{}
		func (t *T[X]) A() {}
		// B is.
		func (t T[X]) B() {}
		type u int
		func (u) C() {}
		func D() {}
		// They are.
		const (E = 1; F = 2)
		var (
			G int // is
			H int
			// I is.
			I int
		)
		func (T[X]) String() string { return "" }
	`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range undocumented(f) {
		got = append(got, name.Name)
	}
	if want := []string{"A", "D", "H"}; !slices.Equal(got, want) {
		t.Errorf("undocumented: %v, want %v", got, want)
	}
}
