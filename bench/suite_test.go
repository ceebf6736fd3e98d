package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lenient are the options with which the engine accepts every way to write every
// valid document.
var lenient = schema.Options{Order: schema.OrderAny, Whitespace: schema.Flexible(0), AnyNumberSpelling: true}

// readArchive returns the files of a shared .tar.xz, in order.
func readArchive(t testing.TB, archive string) (files []archiveFile) {
	t.Helper()
	shared.Members(t, archive, func(name string, data []byte) { files = append(files, archiveFile{name, data}) })
	return files
}

type archiveFile struct {
	name string
	data []byte
}

// suiteDrafts are the folders of the suite with the $schema that their schemas omit.
var suiteDrafts = []struct{ folder, metaschema string }{
	{"draft4", "http://json-schema.org/draft-04/schema#"},
	{"draft6", "http://json-schema.org/draft-06/schema#"},
	{"draft7", "http://json-schema.org/draft-07/schema#"},
	{"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
	{"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
}

// departure is an intended difference of this engine in a file of the suite: it
// applies to tests whose description contains one of the texts, or whose instance
// contains the given one.
type departure struct {
	descriptions []string
	instance     string
}

// suiteDepartures are the departures by file.
var suiteDepartures = map[string]departure{
	// Formats are always asserted.
	"format.json": {descriptions: []string{"is only an annotation by default"}},
	// content* are annotations, as in later drafts.
	"optional/content.json": {descriptions: []string{""}},
	// Metaschemas are not loaded, so all vocabularies apply.
	"vocabulary.json": {descriptions: []string{"no validation: invalid number"}},
	// Labels that start with xn-- need not be valid Punycode.
	"optional/format/hostname.json":     {instance: "xn--"},
	"optional/format/idn-hostname.json": {instance: "xn--"},
	// The format regex also accepts what other regular expression engines support.
	"optional/format/ecmascript-regex.json": {descriptions: []string{
		"named backreference", "variable-width lookbehind", "empty character class", "control escape",
	}},
}

// covers reports whether the departure applies to a test.
func (d departure) covers(description string, instance []byte) bool {
	if d.instance != "" && bytes.Contains(bytes.ToLower(instance), []byte(d.instance)) {
		return true
	}
	return slices.ContainsFunc(d.descriptions, func(s string) bool { return strings.Contains(description, s) })
}

// suiteRun counts the results of a run.
type suiteRun struct {
	groups, compiled, instances, skipped, departures int
	refused                                          []string
}

// withDraft adds $schema to a schema that has none.
func withDraft(src []byte, root *value, metaschema string) []byte {
	if root.kind != kindObject || root.member("$schema") != nil {
		return src
	}
	sep := ","
	if len(root.items) == 0 {
		sep = ""
	}
	return slices.Concat([]byte(`{"$schema":"`+metaschema+`"`+sep), src[1:])
}

// group runs the tests of one schema.
func (run *suiteRun) group(t *testing.T, engine Engine, place, metaschema string, src []byte, g *value, departs departure) {
	run.groups++
	root := g.member("schema")
	text := withDraft(src[root.start:root.end], root, metaschema)
	constraint, err := engine.Compile(text)
	var unsatisfiable *schema.UnsatisfiableError
	var refusal *CompileError
	switch {
	case errors.As(err, &unsatisfiable): // a compilation error that means that nothing is accepted
	case errors.As(err, &refusal):
		run.refused = append(run.refused, fmt.Sprintf("%s: %s: %s", place, refusal.Keyword, g.member("description").text))
		return
	case err != nil:
		t.Errorf("%s: %v", place, err)
		return
	}
	run.compiled++
	for i, test := range g.member("tests").items {
		description := test.member("description").text
		instance := appendJSON(nil, test.member("data"), spacedJSON)
		if !utf8.Valid(instance) {
			run.skipped++
			continue
		}
		run.instances++
		valid := test.member("valid").kind == kindTrue
		accepted := false
		why := error(unsatisfiable)
		if unsatisfiable == nil {
			accepted, why = accepts(constraint, instance)
		}
		switch {
		case accepted == valid:
		case departs.covers(description, instance):
			run.departures++
		default:
			t.Errorf("%s test %d: %s: accepted %t, want %t (%v)\n\tschema   %s\n\tinstance %s",
				place, i+1, description, accepted, valid, why, shorten(string(text), 600), shorten(string(instance), 200))
		}
	}
}

// accepts feeds a complete document and reports whether it is accepted.
func accepts(c Constraint, document []byte) (bool, error) {
	m := c.NewMatcher()
	if _, err := m.AcceptBytes(document); err != nil {
		return false, err
	}
	if !m.Accepting() {
		return false, errors.New("incomplete")
	}
	return true, nil
}

// TestSchemaSuite runs the official JSON Schema test suite, all drafts,
// required and optional tests.
func TestSchemaSuite(t *testing.T) {
	files := readArchive(t, "json-schema-test-suite/json-schema-test-suite.tar.xz")
	engine := NewEngine(vocabOf(t, nastyTokens...), lenient)
	var run suiteRun
	for _, draft := range suiteDrafts {
		t.Run(draft.folder, func(t *testing.T) {
			for _, f := range files {
				_, file, found := strings.Cut(f.name, "tests/"+draft.folder+"/")
				if !found || path.Ext(file) != ".json" {
					continue
				}
				root, err := parseValue(f.data)
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range root.items {
					place := fmt.Sprintf("%s/%s#%d", draft.folder, strings.TrimSuffix(file, ".json"), i+1)
					run.group(t, engine, place, draft.metaschema, f.data, g, suiteDepartures[file])
				}
			}
		})
	}
	t.Logf("%d schemas, %d compiled, %d instances, %d skipped for lone surrogates, %d departures",
		run.groups, run.compiled, run.instances, run.skipped, run.departures)
	if run.groups < 1500 {
		t.Errorf("only %d schemas were found", run.groups)
	}
	if share := percent(run.compiled, run.groups); share < 95 {
		t.Errorf("%.1f%% of the schemas compile, want 95%%", share)
	}
	compareGolden(t, "testdata/suite-refused.txt", strings.Join(run.refused, "\n")+"\n")
}

// compareGolden compares got with a file, or writes the file with -update.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("%s: new line: %s", name, line)
		}
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("%s: no longer true: %s", name, line)
		}
	}
}

// TestParsingSuite runs the JSON parsing suite under the schema true.
func TestParsingSuite(t *testing.T) {
	files := readArchive(t, "json-parsing/json-test-suite.tar.xz")
	constraint, err := NewEngine(vocabOf(t, nastyTokens...), lenient).Compile([]byte("true"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[byte]int{}
	for _, f := range files {
		name := path.Base(f.name)
		if !strings.Contains(f.name, "test_parsing/") || len(name) < 2 || name[1] != '_' {
			continue
		}
		counts[name[0]]++
		accepted, why := accepts(constraint, f.data)
		switch want, departs := name[0] == 'y', parsingDepartures[name]; {
		case name[0] == 'i':
			// Either result is correct, but invalid UTF-8 and lone surrogates must
			// be refused.
			if v, err := parseValue(f.data); accepted && (err != nil || !utf8.Valid(appendJSON(nil, v, compactJSON))) {
				t.Errorf("%s is accepted: %q", name, shorten(string(f.data), 100))
			}
		case accepted != (want != departs):
			t.Errorf("%s: accepted %t: %v: %q", name, accepted, why, shorten(string(f.data), 100))
		}
	}
	if counts['y'] < 90 || counts['n'] < 180 || counts['i'] < 30 {
		t.Errorf("only %v files were found", counts)
	}
}

// parsingDepartures are valid texts that the engine refuses: objects with repeated
// names, which JSON Schema can't express.
var parsingDepartures = map[string]bool{
	"y_object_duplicated_key.json":           true,
	"y_object_duplicated_key_and_value.json": true,
}
