//go:build llama && cgo

package binary

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// json_mode asks for JSON whatever it holds; an option without a constraint is refused by name.
func TestJSONMode(t *testing.T) {
	s := serveShared(t)
	for _, mode := range []string{
		`true`, `{}`, `{"strict": true}`, `{"strict": false}`, `{"whitespace": "compact"}`, `{"whitespace": "pretty"}`, `{"whitespace": {"max": 2}}`, `{"repair": true}`,
		`{"repair": {"markdown": true}}`, `{"property_order": "any"}`, `{"on_unsupported": "ignore"}`, `{"open_objects": true}`,
		`{"prompt_schema": "always", "deterministic": true, "timeout": 30, "forced": false, "on_budget": "close", "retry_max": 0}`,
		`{"strict": true, "whitespace": "compact", "property_order": "any", "on_unsupported": "validate", "repair": false, "constrained_decoding": true}`,
	} {
		for _, path := range []string{"/generate", "/generate_json"} {
			got := s.post(t, path, `{"model": "tiny", "prompt": "x", "max_tokens": 30, "seed": 3, "json_mode": `+mode+`}`)
			if got.status != 200 || got.at("constraint", "type") != "json" || got.at("constraint", "validated") != true || !json.Valid([]byte(got.text("text"))) {
				t.Errorf("%s, json_mode %s: %v", path, mode, got)
			}
		}
	}
	got := s.post(t, "/generate", `{"model": "tiny", "prompt": "x", "max_tokens": 30, "seed": 3, "stream": true, "json_mode": {"strict": true}}`)
	if got.status != 200 || !strings.Contains(got.raw, `"type":"json"`) {
		t.Errorf("a stream: %v", got)
	}
	got = s.post(t, "/v1/chat/completions", `{"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 30, "seed": 3, "json_mode": true}`)
	if got.status != 200 || !json.Valid([]byte(got.text("choices", 0, "message", "content"))) {
		t.Errorf("a chat: %v", got)
	}
	for _, mode := range []string{"false", "null"} {
		if got := s.post(t, "/generate", `{"model": "tiny", "prompt": "x", "max_tokens": 5, "json_mode": `+mode+`}`); got.status != 200 || got.at("constraint") != nil {
			t.Errorf("json_mode %s: %v", mode, got)
		}
	}
	for body, param := range map[string]string{
		`"json_mode": "strict"`: "json_mode", `"json_mode": 1`: "json_mode", `"json_mode": []`: "json_mode",
		`"json_mode": {"strict": "yes"}`: "json_mode.strict", `"json_mode": {"strickt": true}`: "json_mode.strickt", `"json_mode": {"repair": {"mardown": true}}`: "json_mode.repair.mardown",
		`"json_mode": true, "regex": "a"`: "regex", `"json_mode": {}, "strict": true`: "strict",
		`"strict": true`: "strict", `"repair": true`: "repair", `"constrained_decoding": false`: "constrained_decoding", `"property_order": "any"`: "property_order",
		`"whitespace": "compact"`: "whitespace", `"on_unsupported": "validate"`: "on_unsupported", `"open_objects": true`: "open_objects",
		`"json_mode": false, "strict": true`: "strict", `"forced": false`: "forced", `"on_budget": "truncate"`: "on_budget",
		`"json_mode": {"timeout": -1}`: "json_mode.timeout", `"json_mode": {"retry_max": 1}, "retry_max": 1`: "json_mode.retry_max", `"json_mode": {"temperature": 0}`: "json_mode.temperature",
	} {
		for _, path := range []string{"/generate", "/v1/completions"} {
			if got := s.post(t, path, `{"model": "tiny", "prompt": "x", "max_tokens": 5, `+body+`}`); got.status != 400 || got.at("error", "param") != param {
				t.Errorf("%s with %s: %v, want 400 for %s", path, body, got, param)
			}
		}
	}
}

// What a regex, a grammar or choices constrain is a document where it is JSON, and an error with the place where it is not.
func TestGenerateJSONOfTexts(t *testing.T) {
	s := serveShared(t)
	for _, c := range []struct{ constraint, json string }{
		{`"regex": "\\[1, 2\\]"`, "[1,2]"}, {`"grammar": "root ::= \"{\\\"a\\\":\" [5] \"}\""`, `{"a":5}`}, {`"choice": ["\"yes\""]`, `"yes"`}, {`"choice": ["null"]`, "null"},
		{`"json_mode": {"regex": "true"}`, "true"}, {`"grammar": {"builtin": "choice", "choices": ["{}"]}`, "{}"}, {`"regex": " 5 "`, "5"},
	} {
		got := s.post(t, "/generate_json", `{"model": "tiny", "prompt": "x", "max_tokens": 40, `+c.constraint+`}`)
		var parts map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got.raw), &parts); err != nil || got.status != 200 || strings.TrimSpace(string(parts["json"])) != c.json {
			t.Errorf("%s: %v", c.constraint, got)
		}
	}
	for _, c := range []struct {
		constraint, param string
		line, column      float64
	}{
		{`"regex": "yes"`, "regex", 1, 1}, {`"regex": "\\[1,\\n ab\\]"`, "regex", 2, 2}, {`"grammar": "root ::= \"[1,\\n a\""`, "grammar", 2, 2}, {`"choice": ["[1,\n yes"]`, "choice", 2, 2},
		{`"grammar": {"builtin": "csv", "columns": ["a", "b"], "max_items": 0}`, "grammar", 1, 1}, {`"choice": ["{\"a\": 1,}"]`, "choice", 1, 9},
	} {
		body := `{"model": "tiny", "prompt": "x", "max_tokens": 40, ` + c.constraint + `}`
		got := s.post(t, "/generate_json", body)
		if got.status != 422 || got.at("error", "code") != "validation_failed" || got.at("error", "param") != c.param ||
			got.at("error", "details", 0, "line") != c.line || got.at("error", "details", 0, "column") != c.column {
			t.Errorf("%s: %v", c.constraint, got)
		}
		got = s.post(t, "/generate_json", strings.Replace(body, "{", `{"stream": true, `, 1))
		if !strings.Contains(got.raw, "event: error") || !strings.Contains(got.raw, fmt.Sprintf("line %g, column %g", c.line, c.column)) {
			t.Errorf("a stream of %s: %v", c.constraint, got)
		}
		if got := s.post(t, "/generate", body); got.status != 200 {
			t.Errorf("/generate: %s: %v", c.constraint, got)
		}
	}
}

// A format is a built-in grammar with a reader that shares no code with it.
type format struct {
	http  string // what stands in "grammar"
	flags []string
	read  func(string) error
}

var formats = []format{
	{`{"builtin": "json"}`, []string{"json"}, func(text string) error { return readJSON(text, nil) }},
	{`{"builtin": "json_array", "min_items": 2, "max_items": 3}`, []string{"json_array", "--min-items", "2", "--max-items", "3"}, func(text string) error {
		var list []any
		if err := readJSON(text, &list); err != nil {
			return err
		}
		return counted(len(list), 2, 3)
	}},
	{`{"builtin": "jsonl", "min_items": 1, "max_items": 2}`, []string{"jsonl", "--min-items", "1", "--max-items", "2"}, func(text string) error {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for _, line := range lines {
			if err := readJSON(line, nil); err != nil {
				return err
			}
		}
		return counted(len(lines), 1, 2)
	}},
	{`{"builtin": "csv", "columns": ["city", "country"], "header": true, "max_items": 2}`, []string{"csv", "--columns", "city,country", "--max-items", "2"}, func(text string) error {
		return readCSV(text, ',', []string{"city", "country"}, 2, 1, 3)
	}},
	{`{"builtin": "csv", "columns": 3, "header": false, "delimiter": ";", "min_items": 1, "max_items": 2}`,
		[]string{"csv", "--columns", "3", "--no-header", "--delimiter", ";", "--min-items", "1", "--max-items", "2"}, func(text string) error {
			return readCSV(text, ';', nil, 3, 1, 2)
		}},
	{`{"builtin": "csv", "columns": ["a b", "c,d", "e\"f"], "delimiter": "\t", "max_items": 1}`,
		[]string{"csv", "--columns", `a b,"c,d","e""f"`, "--delimiter", `\t`, "--max-items", "1"}, func(text string) error {
			return readCSV(text, '\t', []string{"a b", "c,d", `e"f`}, 3, 1, 2)
		}},
	{`{"builtin": "xml"}`, []string{"xml"}, func(text string) error { return readXML(text, "", false) }},
	{`{"builtin": "xml", "root": "order", "declaration": true}`, []string{"xml", "--root", "order", "--declaration"}, func(text string) error {
		return readXML(text, "order", true)
	}},
	{`{"builtin": "markdown-table", "columns": ["a", "b"], "max_items": 2}`, []string{"markdown-table", "--columns", "a,b", "--max-items", "2"}, func(text string) error {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			cells := regexp.MustCompile(`\\.`).ReplaceAllString(line, "") // an escaped bar is a part of its cell
			if strings.Count(cells, "|") != 3 || i == 1 && strings.Trim(line, "|-: ") != "" || i == 0 && strings.Join(strings.Fields(line), "") != "|a|b|" {
				return fmt.Errorf("line %d is %q", i+1, line)
			}
		}
		return counted(len(lines), 2, 4)
	}},
	{`{"builtin": "date-time"}`, []string{"date-time"}, func(text string) error {
		_, err := time.Parse(time.RFC3339Nano, strings.Replace(strings.ToUpper(text), ":60", ":59", 1)) // leap seconds
		return err
	}},
	{`{"builtin": "integer"}`, []string{"integer"}, func(text string) error { return readJSON(text, new(json.Number)) }},
	{`{"builtin": "number"}`, []string{"number"}, func(text string) error { return readJSON(text, new(json.Number)) }},
}

func counted(n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%d, want %d to %d", n, least, most)
	}
	return nil
}

func readJSON(text string, into any) error {
	if into == nil {
		into = new(any)
	}
	return json.Unmarshal([]byte(text), into)
}

func readCSV(text string, comma rune, header []string, columns, least, most int) error {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = comma, columns
	records, err := r.ReadAll()
	if err != nil {
		return err
	}
	if header != nil && (len(records) == 0 || !slices.Equal(records[0], header)) {
		return fmt.Errorf("the header is %q", records)
	}
	return counted(len(records), least, most)
}

func readXML(text, root string, declaration bool) error {
	d := xml.NewDecoder(strings.NewReader(text))
	depth, elements, declared := 0, 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.ProcInst:
			declared = declared || token.Target == "xml"
		case xml.StartElement:
			if depth == 0 {
				elements++
				if root != "" && token.Name.Local != root {
					return fmt.Errorf("the root is %s", token.Name.Local)
				}
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if elements != 1 || declaration && !declared {
		return fmt.Errorf("%d root elements, declared: %t", elements, declared)
	}
	return nil
}

// Built-in grammars are generated with, over HTTP and by the command, and each text is read back.
func TestBuiltins(t *testing.T) {
	s := serveShared(t)
	for _, f := range formats {
		t.Run(strings.Join(f.flags, " "), func(t *testing.T) {
			written := map[string]bool{}
			for seed := range 8 {
				got := s.post(t, "/generate", fmt.Sprintf(`{"model": "tiny", "prompt": "x", "max_tokens": 80, "seed": %d, "grammar": %s}`, seed, f.http))
				if got.status != 200 || got.at("constraint", "validated") != true {
					t.Fatal(got)
				}
				if err := f.read(got.text("text")); err != nil {
					t.Errorf("%q: %v", got.text("text"), err)
				}
				written[got.text("text")] = true
			}
			if len(written) < 2 {
				t.Errorf("every seed writes %q", slices.Collect(maps.Keys(written)))
			}
			out, errs, status := stencil(t, slices.Concat([]string{"generate", "--model", tiny(t), "--prompt", "x", "-n", "80", "--seed", "5", "--builtin"}, f.flags)...)
			if err := f.read(strings.TrimSuffix(out, "\n")); status != 0 || err != nil {
				t.Errorf("generate --builtin: %d %q %s %v", status, out, errs, err)
			}
			if out, errs, status := stencil(t, slices.Concat([]string{"grammar", "show"}, f.flags)...); status != 0 || !strings.Contains(out, "root") || !strings.Contains(out, "::=") {
				t.Errorf("grammar show: %d %q %s", status, out, errs)
			}
			if got := s.post(t, "/grammar/check", `{"grammar": `+f.http+`}`); got.status != 200 || got.at("ok") != true {
				t.Errorf("/grammar/check: %v", got)
			}
		})
	}
	for grammar, says := range map[string]string{
		`{"builtin": "xlm"}`: "xml", `{"builtin": "xml", "columns": 2}`: "no use for", `{"builtin": "csv", "delimeter": ";"}`: "delimiter", `{"builtin": "xml", "root": "a b"}`: "is not a name",
		`"csv"`: `{"builtin": "csv"}`, `"root ::= \"a\"", "builtin": "csv"`: "builtin",
	} {
		if got := s.post(t, "/generate", `{"model": "tiny", "prompt": "x", "grammar": `+grammar+`}`); got.status != 400 || !strings.Contains(got.text("error", "message"), says) {
			t.Errorf("%s: %v", grammar, got)
		}
	}
}

// stencil generate takes whatever a request takes.
func TestGenerateFlags(t *testing.T) {
	grammar := write(t, "list.gbnf", "root ::= (\"- \" [a-z]{1,3} \"\\n\"){2}")
	types := write(t, "types.ts", "export interface Item { sku: \"A\" | \"B\" }\nexport interface Order { item: Item }\n")
	example, another := write(t, "doc.json", `{"on": true, "n": null}`), write(t, "doc2.json", `{"on": false, "n": true}`)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--grammar", grammar}, `(- [a-z]{1,3}\n){2}`},
		{[]string{"--regex", `[ab]{4}-\d`}, `[ab]{4}-\d`},
		{[]string{"--choice", "yes", "--choice", "no, never"}, `yes|no, never`},
		{[]string{"--builtin", "csv", "--columns", "a,b", "--max-items", "0"}, "a,b\n"},
		{[]string{"--schema", types}, `\{"item":\{"sku":"[AB]"\}\}`},
		{[]string{"--schema", types, "--type", "Item"}, `\{"sku":"[AB]"\}`},
		{[]string{"--schema-from-example", example}, `\{"on":(true|false),"n":.*\}`},
		{[]string{"--schema-from-example", example, "--schema-from-example", another}, `\{"on":(true|false),"n":(true|null|false)\}`},
	} {
		out, errs, status := stencil(t, slices.Concat([]string{"generate", "--model", tiny(t), "--prompt", "x", "-n", "60", "--seed", "4"}, c.flags)...)
		if status != 0 || !regexp.MustCompile(`^(?:`+c.want+`)\n$`).MatchString(out) {
			t.Errorf("%q: %d %q %s", c.flags, status, out, errs)
		}
	}
}

// A free text that does not fit a grammar, a regex or choices is told so by name, with line and column.
func TestFreeTextOfGrammars(t *testing.T) {
	s := serveShared(t)
	for constraint, c := range map[string]struct {
		name         string
		line, column float64
	}{
		`"grammar": "root ::= [abc\\n]+"`:             {"grammar", 2, 2},
		`"grammar": {"builtin": "csv", "columns": 2}`: {"grammar", 1, 3},
		`"regex": "ab[^x]*"`:                          {"regex", 2, 2},
		`"choice": ["ab\ncd", "x"]`:                   {"choice", 2, 2},
	} {
		s.far.script("ab\ncx")
		body := `{"model": "far", "prompt": "x", "max_tokens": 30, "retry_max": 0, "constrained_decoding": false, ` + constraint
		got := s.post(t, "/generate", body+`}`)
		place := fmt.Sprintf("the %s at line %g, column %g", c.name, c.line, c.column)
		if got.status != 422 || !strings.Contains(got.text("error", "message"), place) || got.at("error", "param") != c.name || got.at("error", "details", 0, "keyword") != c.name ||
			got.at("error", "details", 0, "line") != c.line || got.at("error", "details", 0, "column") != c.column || strings.Contains(got.raw, "schema.") {
			t.Errorf("%s: %v", constraint, got)
		}
		got = s.post(t, "/generate", body+`, "strict": false}`)
		if got.status != 200 || got.at("constraint", "errors", 0, "line") != c.line || !strings.Contains(got.raw, "does not fit the "+c.name) || strings.Contains(got.raw, "fit the schema") {
			t.Errorf("%s, not strict: %v", constraint, got)
		}
	}
}
