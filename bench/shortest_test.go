package bench

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stencil-json/stencil/schema"
)

// shortDocuments are all JSON documents up to a length with a few keys and scalars, by
// length.
type shortDocuments struct {
	keys    []string
	scalars []string
	values  [][]string // by length
	items   [][]string // lists of items, each preceded by a comma
	parsed  [][]any    // values, decoded for the judge
}

func newShortDocuments(t *testing.T, most int) *shortDocuments {
	d := &shortDocuments{keys: []string{"a", "b", "c", "d"}, scalars: []string{`0`, `1`, `2`, `3`, `4`, `6`, `""`, `-1`, `"a"`, `"b"`, `null`, `true`, `"aa"`}}
	d.values, d.items = make([][]string, most+1), make([][]string, most+1)
	members := make([]map[string][]string, most+1) // by length and keys used
	for n := range most + 1 {
		members[n] = map[string][]string{}
		if n == 0 {
			d.items[0] = []string{""}
			members[0][""] = []string{""}
			continue
		}
		for _, s := range d.scalars {
			if len(s) == n {
				d.values[n] = append(d.values[n], s)
			}
		}
		if n == 2 {
			d.values[n] = append(d.values[n], "[]", "{}")
		}
		if n > 2 {
			for _, list := range d.items[n-1] { // the first comma is replaced by the bracket
				d.values[n] = append(d.values[n], "["+list[1:]+"]")
			}
			for _, list := range members[n-1] {
				for _, x := range list {
					d.values[n] = append(d.values[n], "{"+x[1:]+"}")
				}
			}
		}
		for last := 1; last < n; last++ {
			for _, v := range d.values[last] {
				for _, list := range d.items[n-1-last] {
					d.items[n] = append(d.items[n], list+","+v)
				}
			}
			for used, list := range members[max(0, n-5-last)] {
				if n-5-last < 0 {
					break
				}
				for _, key := range d.keys {
					if strings.Contains(used, key) {
						continue
					}
					for _, v := range d.values[last] {
						for _, x := range list {
							members[n][used+key] = append(members[n][used+key], x+`,"`+key+`":`+v)
						}
					}
				}
			}
		}
	}
	for _, list := range d.values {
		parsed := make([]any, len(list))
		for i, text := range list {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			parsed[i] = v
		}
		d.parsed = append(d.parsed, parsed)
	}
	return d
}

// mostPrefixes is the approximate number of prefixes that are compared for one schema.
const mostPrefixes = 200

// insideKey matches a text that ends inside a key. Completions avoid the empty key, and
// may not take into account that a part of a key was read.
var insideKey = regexp.MustCompile(`[{,]"[a-d]?$`)

// compareShortest compares completions with those found by trying all documents.
func compareShortest(t *testing.T, documents *shortDocuments, text string) (compared int) {
	t.Helper()
	judge, err := newJudge([]byte(text), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile([]byte(text), schema.Options{Order: schema.OrderAny})
	if err != nil {
		return 0 // for example, no document fits
	}
	best := map[string]int{} // by prefix of a document
	for n, list := range documents.values {
		for at, doc := range list {
			if judge.schema.Validate(documents.parsed[n][at]) != nil {
				continue
			}
			for i := range doc {
				if _, ok := best[doc[:i]]; !ok {
					best[doc[:i]] = n - i
				}
			}
		}
	}
	g := s.Grammar(vocabOf(t))
	prefixes := slices.Sorted(maps.Keys(best))
	for i := 0; i < len(prefixes); i += 1 + len(prefixes)/mostPrefixes {
		prefix := prefixes[i]
		want := best[prefix]
		m := g.NewMatcher()
		if _, err := m.AcceptBytes([]byte(prefix)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		rest := m.ShortestCompletion()
		if err := m.Err(); err != nil {
			t.Fatalf("%s: %q: %v", text, prefix, err)
		}
		compared++
		if err := judge.validate([]byte(prefix + string(rest))); err != nil {
			t.Errorf("%s: %q is completed with %q: %v", text, prefix, rest, err)
			break
		} else if over := len(rest) - want; over > 0 && (over > 1 || !insideKey.MatchString(prefix)) {
			t.Errorf("%s: %q is completed with %q, there is an end of %d bytes", text, prefix, rest, want)
			break
		}
	}
	return compared
}

// smallSchemas generates random schemas that short documents fit.
type smallSchemas struct{ *rand.Rand }

func (r smallSchemas) key() string { return string("abc"[r.IntN(3)]) }

func (r smallSchemas) list(n int, depth int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = r.schema(depth)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (r smallSchemas) keys(n int) string {
	keys := []string{`"a"`, `"b"`, `"c"`}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return "[" + strings.Join(keys[:n], ",") + "]"
}

func (r smallSchemas) schema(depth int) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if r.IntN(3) > 0 {
		add(`"type":%q`, []string{"object", "array", "integer", "string", "null"}[min(r.IntN(7), 4-r.IntN(2))])
	}
	for range 1 + r.IntN(2) {
		kind := r.IntN(20)
		if depth == 0 {
			kind = r.IntN(5)
		}
		switch kind {
		case 0:
			add(`"enum":[%d,"a",{"a":%d},[%d]]`, r.IntN(4), r.IntN(4), r.IntN(4))
		case 1:
			add(`"minimum":%d`, r.IntN(4))
		case 2:
			add(`"multipleOf":%d`, 2+r.IntN(2))
		case 3:
			add(`"minLength":%d`, r.IntN(3))
		case 4:
			add(`"required":%s`, r.keys(1+r.IntN(2)))
		case 5:
			add(`"%s":%s`, []string{"oneOf", "anyOf"}[r.IntN(2)], r.list(2+r.IntN(4), depth-1))
		case 6:
			add(`"oneOf":%s`, r.list(2+r.IntN(3), depth-1))
		case 7:
			add(`"allOf":%s`, r.list(2, depth-1))
		case 8:
			add(`"not":%s`, r.schema(depth-1))
		case 9:
			add(`"if":%s,"then":%s,"else":%s`, r.schema(depth-1), r.schema(depth-1), r.schema(depth-1))
		case 10, 11:
			add(`"properties":{"%s":%s,"%s":%s}`, "a", r.schema(depth-1), "b", r.schema(depth-1))
		case 12:
			add(`"additionalProperties":%s`, []string{"false", r.schema(depth - 1)}[r.IntN(2)])
		case 13:
			add(`"minProperties":%d`, r.IntN(3))
		case 14:
			add(`"maxProperties":%d`, r.IntN(3))
		case 15:
			add(`"dependentSchemas":{"%s":%s}`, r.key(), r.schema(depth-1))
		case 16:
			add(`"contains":%s,"minContains":%d,"maxContains":%d`, r.schema(depth-1), r.IntN(3), 1+r.IntN(2))
		case 17:
			add(`"prefixItems":%s`, r.list(1+r.IntN(2), depth-1))
		case 18:
			add(`"items":%s,"minItems":%d`, r.schema(depth-1), r.IntN(3))
		case 19:
			add(`"uniqueItems":true,"minItems":%d`, r.IntN(3))
		}
	}
	seen := map[string]bool{}
	parts = slices.DeleteFunc(parts, func(part string) bool {
		name, _, _ := strings.Cut(part, ":")
		again := seen[name]
		seen[name] = true
		return again
	})
	return "{" + strings.Join(parts, ",") + "}"
}

// TestShortestByTrying compares the shortest completions of all prefixes of all short
// documents with the result of trying the documents.
func TestShortestByTrying(t *testing.T) {
	documents := newShortDocuments(t, 11)
	var requiring []string
	for _, key := range []string{"a", "b", "c"} {
		requiring = append(requiring, `{"type":"object","required":["`+key+`"],"properties":{"`+key+`":{"type":"string"}}}`)
	}
	for _, text := range []string{
		`{"oneOf":[` + strings.Join(requiring, ",") + `]}`,
		`{"anyOf":[` + strings.Join(requiring, ",") + `]}`,
		`{"type":"array","items":{"type":"integer"},"maxItems":3,"allOf":[{"contains":{"multipleOf":2},"minContains":2},{"contains":{"multipleOf":3},"minContains":2}]}`,
		`{"type":"array","allOf":[{"contains":{"const":0}},{"contains":{"const":1}},{"contains":{"const":2}},{"contains":{"const":"a"}}]}`,
		`{"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":[0,1,"a","b"]}}`,
		`{"$defs":{"g":{"anyOf":[{"const":"aa"},{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/h"}}}]},
		  "h":{"anyOf":[{"type":"object","required":["a","b"],"maxProperties":2},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/g"}}]}},
		  "anyOf":[{"$ref":"#/$defs/g"},{"type":"object","required":["c"],"properties":{"c":{"$ref":"#/$defs/h"}}}]}`,
	} {
		if compareShortest(t, documents, text) == 0 {
			t.Errorf("%s: nothing to compare", text)
		}
	}
	n := 0
	for seed := range uint64(shortestTrials) {
		r := smallSchemas{rand.New(rand.NewPCG(seed, 5))}
		text := r.schema(2)
		if strings.Contains(text, "uniqueItems") && repeating.MatchString(text) {
			continue // a later item may have to equal an earlier one, which only the text determines
		}
		n += compareShortest(t, documents, text)
	}
	if n < 10*shortestTrials {
		t.Errorf("only %d beginnings were compared", n)
	}
}

// repeating matches a schema that may require uniqueItems to fail.
var repeating = regexp.MustCompile(`"(oneOf|not|if)"`)

// shortestTrials is the number of random schemas.
const shortestTrials = 40
