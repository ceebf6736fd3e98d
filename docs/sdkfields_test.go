package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A call is a request that a method of a client sends.
type call struct {
	SDK, Method, Path string              // the path has {} for each parameter
	Fields            map[string][]string // with the members of those that may be objects
}

// decisions say of fields, as reference/fields.md does, whether they are read, have no effect or are refused.
type decisions struct {
	sections map[string]string   // by heading
	groups   map[string][]string // fields by link
	paths    map[string]bool     // that the server has
	// members returns the members of a field that openapi.json describes for a path.
	members func(path, field string) map[string]bool
}

var parameters = regexp.MustCompile(`\{\w*\}|\bID\b`)

// of returns the fields that a section decides on, those of the groups that it names among them.
func (d *decisions) of(body string) (all []string) {
	all = columns(body)
	for _, paragraph := range strings.Split(body, "\n\n") {
		if strings.HasPrefix(paragraph, "No effect: ") || strings.HasPrefix(paragraph, "No effect, with a warning: ") || strings.HasPrefix(paragraph, "Refused: ") {
			all = append(all, quotedIn(paragraph)...)
		}
	}
	for link, fields := range d.groups {
		if strings.Contains(body, "]("+link+")") {
			all = append(all, fields...)
		}
	}
	return all
}

// section returns the section whose first paragraph names a path, and its heading.
func (d *decisions) section(c call) (title, body string) {
	for title, body := range d.sections {
		first, _, _ := strings.Cut(strings.TrimSpace(body), "\n\n")
		method := ""
		for _, word := range quotedIn(first) {
			if verb, path, ok := strings.Cut(word, " "); ok {
				method, word = verb, path
			}
			if method == c.Method && parameters.ReplaceAllString(word, "{}") == c.Path {
				return title, body
			}
		}
	}
	return "", ""
}

// undecided returns what the references say nothing of: fields of requests to paths that the server has, and members of those that it reads.
func (d *decisions) undecided(calls []call) []string {
	found := map[string]bool{}
	for _, c := range calls {
		if !d.paths[c.Method+" "+c.Path] {
			continue
		}
		title, body := d.section(c)
		known := d.of(body)
		for field, members := range c.Fields {
			say := func(name string) {
				found[fmt.Sprintf("%s %s: %s (%s)", c.Method, c.Path, name, c.SDK)] = true
			}
			switch {
			case title == "":
				say(field + ", as no section is about the path")
			case !slices.Contains(known, field):
				say(field)
			case slices.Contains(columns(body), field):
				within := d.within(body, field)
				described := d.members(c.Path, field)
				for _, member := range members {
					if !described[member] && !slices.Contains(within, member) && !slices.Contains(quotedIn(body), field+"."+member) {
						say(field + "." + member)
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// within returns the fields of the section that a field's row of a table refers to.
func (d *decisions) within(body, field string) []string {
	for line := range strings.Lines(body) {
		if !slices.Contains(columns(line), field) {
			continue
		}
		for title, other := range d.sections {
			if strings.Contains(line, "["+title+"](#") {
				return d.of(other)
			}
		}
	}
	return nil
}

func readDecisions(t *testing.T) *decisions {
	t.Helper()
	code, document := readSource(t), readDocument(t)
	out := &decisions{
		sections: headed(t, "fields.md"), paths: map[string]bool{},
		groups: map[string][]string{
			"#sampling":                  code.variable(t, "request", "SamplingFields"),
			"#stencils-own":              code.variable(t, "request", "OwnFields"),
			"#constraints":               code.variable(t, "request", "ConstraintAliases"),
			"#without-effect-everywhere": code.variable(t, "wire", "HarmlessFields"),
		},
	}
	bodies := map[string]any{}
	for path, methods := range document.root["paths"].(node) {
		path = parameters.ReplaceAllString(path, "{}")
		for method, one := range methods.(node) {
			if _, answers := one.(node)["responses"].(node)["200"]; answers { // others are refused whatever they have
				out.paths[strings.ToUpper(method)+" "+path] = true
			}
			body, _ := one.(node)["requestBody"].(node)
			content, _ := body["content"].(node)
			kind, _ := content["application/json"].(node)
			bodies[path] = kind["schema"]
		}
	}
	out.members = func(path, field string) map[string]bool {
		all := map[string]bool{}
		for _, s := range document.parts(bodies[path]) {
			if properties, ok := s["properties"].(node); ok {
				maps.Copy(all, document.properties(properties[field]))
			}
		}
		return all
	}
	return out
}

// TestSDKFields holds that reference/fields.md decides on every field of the requests in a file, which scripts/sdkfields
// writes: those that the newest clients have.
func TestSDKFields(t *testing.T) {
	name := os.Getenv("SDKFIELDS")
	if name == "" {
		t.Skip("the fields of the newest clients are compared by make sdk-fields")
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	if err := json.Unmarshal(src, &calls); err != nil {
		t.Fatal(err)
	}
	d := readDecisions(t)
	compared := map[string]int{} // fields, by language and path
	for _, c := range calls {
		_, language, _ := strings.Cut(c.SDK, "(")
		if to := c.Method + " " + c.Path; d.paths[to] {
			compared[to+" ("+language] += len(c.Fields)
		}
	}
	for _, path := range []string{
		"POST /v1/chat/completions", "POST /v1/completions", "POST /v1/embeddings", "POST /v1/responses", "POST /v1/responses/input_tokens", "GET /v1/responses/{}",
		"GET /v1/responses/{}/input_items", "POST /v1/decisions", "GET /v1/models", "POST /v1/messages", "POST /v1/messages/count_tokens",
		"POST /api/chat", "POST /api/generate", "POST /api/embed", "POST /api/embeddings", "POST /api/show", "POST /api/pull",
	} {
		for _, language := range []string{"Python", "JavaScript"} {
			if compared[path+" ("+language+")"] == 0 {
				t.Errorf("no method for %s was found in the client for %s", path, language)
			}
		}
	}
	for _, one := range d.undecided(calls) {
		t.Errorf("reference/fields.md decides nothing on %s", one)
	}
}

// TestUndecided tests the comparison itself.
func TestUndecided(t *testing.T) {
	d := &decisions{
		sections: map[string]string{
			"One":   "\n`POST /one` and `/also/ID`. Also [more](#more).\n\n| field | |\n| --- | --- |\n| `read`, `said` | `said.here` |\n| `far` | see [Far](#far) |\n\nNo effect: `inert`.\n\nNo effect, with a warning: `hint`.\n\nRefused: `no`.\n\nMore on `prose`.",
			"Two":   "\n`GET /one`.\n\n| field | |\n| --- | --- |\n| `query` | |\n",
			"Far":   "\nMembers.\n\n| field | |\n| --- | --- |\n| `in` | |\n\nNo effect: `out`.",
			"Other": "\n`POST /other`.\n\n| field | |\n| --- | --- |\n| `elsewhere` | in place of `POST /one`'s |\n",
		},
		groups:  map[string][]string{"#more": {"grouped"}, "#unnamed": {"ungrouped"}},
		paths:   map[string]bool{"POST /one": true, "POST /also/{}": true, "GET /one": true, "POST /unsaid": true},
		members: func(path, field string) map[string]bool { return map[string]bool{"of " + field: path == "/one"} },
	}
	fields := func(names ...string) map[string][]string {
		out := map[string][]string{}
		for _, name := range names {
			out[name] = nil
		}
		return out
	}
	for _, c := range []struct {
		method, path string
		fields       map[string][]string
		want         []string
	}{
		{"POST", "/one", fields("read", "said", "far", "inert", "hint", "no", "grouped"), nil},
		{"POST", "/also/{}", fields("read", "inert"), nil},
		{"POST", "/one", fields("elsewhere", "ungrouped", "prose", "query"), []string{"elsewhere", "prose", "query", "ungrouped"}},
		{"GET", "/one", fields("query", "read"), []string{"read"}},
		{"POST", "/unsaid", fields("read"), []string{"read, as no section is about the path"}},
		{"POST", "/not/served", fields("anything"), nil},
		{"POST", "/one", map[string][]string{"read": {"of read", "of said"}, "said": {"here", "there"}, "far": {"in", "out", "read"}}, []string{"far.read", "read.of said", "said.there"}},
		{"POST", "/one", map[string][]string{"inert": {"any"}, "no": {"any"}, "grouped": {"any"}}, nil},
	} {
		var got []string
		for _, one := range d.undecided([]call{{"sdk 1", c.method, c.path, c.fields}}) {
			one, ok := strings.CutPrefix(one, c.method+" "+c.path+": ")
			if !ok {
				t.Errorf("%q does not say the path", one)
			}
			got = append(got, strings.TrimSuffix(one, " (sdk 1)"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s with %v: undecided are %q, want %q", c.method, c.path, c.fields, got, c.want)
		}
	}
}
