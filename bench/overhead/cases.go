package overhead

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Case is a schema to generate documents for, and optionally a grammar in
// llama.cpp's format for the same language.
type Case struct {
	Name   string
	Schema []byte
	GBNF   string
}

// Cases returns the default schemas: a flat object, function calls, large
// enumerations, and unions of increasing numbers of record types, the largest about
// 200 KB.
func Cases() []Case {
	cases := []Case{
		newCase("flat", record{
			{"name", text(20)}, {"age", integer{}}, {"kind", enum{"new", "used", "refurbished", "unknown"}},
			{"available", boolean{}}, {"note", text(24)},
		}),
		newCase("calls", union{
			call("get_weather_forecast", record{
				{"location", text(16)}, {"temperature_unit", enum{"celsius", "fahrenheit"}},
				{"number_of_days", integer{}}, {"include_hourly_forecast", boolean{}},
			}),
			call("create_calendar_event", record{
				{"title", text(16)}, {"duration_minutes", integer{}}, {"repeat", enum{"never", "daily", "weekly", "monthly"}},
				{"send_invitations", boolean{}},
			}),
			call("search_documents", record{
				{"query", text(16)}, {"maximum_results", integer{}}, {"sort_order", enum{"relevance", "newest_first", "oldest_first"}},
				{"include_archived", boolean{}},
			}),
		}),
		newCase("enums", record{
			{"country", words(250, 1)}, {"currency", words(180, 2)}, {"language", words(400, 3)}, {"category", words(1000, 4)},
		}),
	}
	for _, n := range []int{10, 40, 120, 500} {
		cases = append(cases, newCase("union-"+strconv.Itoa(n), records(n)))
	}
	return cases
}

// ReadCases reads every FILE.json of a folder as a schema, and FILE.gbnf, if it
// exists, as the grammar for llama.cpp.
func ReadCases(dir string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(path, ".json")
		grammar, err := os.ReadFile(base + ".gbnf")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		cases = append(cases, Case{Name: filepath.Base(base), Schema: src, GBNF: string(grammar)})
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("overhead: %s: no *.json", dir)
	}
	return cases, nil
}

// A shape is a kind of JSON value. It can be written as a schema and as the
// right-hand side of a grammar rule.
type shape interface {
	schema() string
	grammar(*grammarText) string
}

func newCase(name string, s shape) Case {
	var g grammarText
	root := s.grammar(&g)
	return Case{Name: name, Schema: []byte(s.schema()), GBNF: "root ::= " + root + "\n" + g.String()}
}

// grammarText collects the additional rules that shapes need.
type grammarText struct {
	strings.Builder
	n int
}

// rule adds a rule and returns its name.
func (g *grammarText) rule(body string) string {
	g.n++
	name := "r" + strconv.Itoa(g.n)
	fmt.Fprintf(g, "%s ::= %s\n", name, body)
	return name
}

type (
	text    int // a string of at most this many characters
	integer struct{}
	boolean struct{}
	enum    []string
	record  []field
	union   []shape
	field   struct {
		name  string
		value shape
	}
)

func (t text) schema() string { return fmt.Sprintf(`{"type":"string","maxLength":%d}`, int(t)) }
func (t text) grammar(g *grammarText) string {
	return fmt.Sprintf(`"\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})){0,%d} "\""`, int(t))
}

func (integer) schema() string              { return `{"type":"integer","minimum":0,"maximum":999}` }
func (integer) grammar(*grammarText) string { return `([0-9] | [1-9] [0-9]{1,2})` }

func (boolean) schema() string              { return `{"type":"boolean"}` }
func (boolean) grammar(*grammarText) string { return `("true" | "false")` }

func (e enum) schema() string {
	return `{"enum":["` + strings.Join(e, `","`) + `"]}`
}

func (e enum) grammar(*grammarText) string {
	return `("\"` + strings.Join(e, `\"" | "\"`) + `\"")`
}

func (r record) schema() string {
	var fields, names []string
	for _, f := range r {
		fields = append(fields, fmt.Sprintf("%q:%s", f.name, f.value.schema()))
		names = append(names, strconv.Quote(f.name))
	}
	return `{"type":"object","properties":{` + strings.Join(fields, ",") + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

func (r record) grammar(g *grammarText) string {
	var b strings.Builder
	b.WriteString(`"{`)
	for i, f := range r {
		if i > 0 {
			b.WriteString(` ",`)
		}
		fmt.Fprintf(&b, `\"%s\":" %s`, f.name, f.value.grammar(g))
	}
	b.WriteString(` "}"`)
	return g.rule(b.String())
}

func (u union) schema() string {
	var all []string
	for _, s := range u {
		all = append(all, s.schema())
	}
	return `{"anyOf":[` + strings.Join(all, ",") + `]}`
}

func (u union) grammar(g *grammarText) string {
	var all []string
	for _, s := range u {
		all = append(all, s.grammar(g))
	}
	return "(" + strings.Join(all, " | ") + ")"
}

func call(name string, arguments record) record {
	return record{{"name", enum{name}}, {"arguments", arguments}}
}

// records is a union of n record types, distinguished by their first field, each
// with about 500 bytes of schema.
func records(n int) union {
	var u union
	kinds := words(n, 5)
	fields := words(n+8, 6)
	for i, kind := range kinds {
		u = append(u, record{
			{"type", enum{kind}},
			{fields[i], text(12)}, {fields[i+1] + "_count", integer{}}, {"is_" + fields[i+2], boolean{}},
			{fields[i+3], enum(fields[i+4 : i+8])}, {"comment", text(16)},
		})
	}
	return u
}

// words generates n different words, always the same ones for a seed.
func words(n int, seed uint64) enum {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	x := seed * 0x9e3779b97f4a7c15
	var out enum
	for len(out) < n {
		var w []byte
		x = x*6364136223846793005 + 1442695040888963407
		for i, bits := 0, x>>20; i < 2+int(x>>60)%3; i, bits = i+1, bits>>8 {
			w = append(w, consonants[bits%16], vowels[bits>>4%5])
		}
		if !slices.Contains(out, string(w)) {
			out = append(out, string(w))
		}
	}
	return out
}
