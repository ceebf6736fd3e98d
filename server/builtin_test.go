package server

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestBuiltinGrammars checks that every built-in grammar generates, with its parameters, text that the
// format's parser reads.
func TestBuiltinGrammars(t *testing.T) {
	_, url := start(t, setup{})
	records := func(text string, comma rune, columns int) ([][]string, error) {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.FieldsPerRecord = comma, columns
		return r.ReadAll()
	}
	root := func(text string) (string, error) {
		d, name := xml.NewDecoder(strings.NewReader(text)), ""
		for {
			token, err := d.Token()
			if err == io.EOF {
				return name, nil
			}
			if err != nil {
				return "", err
			}
			if e, ok := token.(xml.StartElement); ok && name == "" {
				name = e.Name.Local
			}
		}
	}
	for _, c := range []struct {
		grammar string
		read    func(text string) error
	}{
		{`{"builtin": "json"}`, func(text string) error { var v any; return json.Unmarshal([]byte(text), &v) }},
		{`{"builtin": "json_array", "min_items": 1, "max_items": 3}`, func(text string) error {
			var v []any
			err := json.Unmarshal([]byte(text), &v)
			if err == nil && (len(v) < 1 || len(v) > 3) {
				err = fmt.Errorf("%d items", len(v))
			}
			return err
		}},
		{`{"builtin": "jsonl", "min_items": 2, "max_items": 2}`, func(text string) error {
			d, n := json.NewDecoder(strings.NewReader(text)), 0
			for ; d.More(); n++ {
				var v any
				if err := d.Decode(&v); err != nil {
					return err
				}
			}
			if n != 2 || strings.Count(text, "\n") != 2 {
				return fmt.Errorf("%d values", n)
			}
			return nil
		}},
		{`{"builtin": "csv", "columns": ["id", "full name", "a,b"], "header": true, "max_items": 3}`, func(text string) error {
			all, err := records(text, ',', 3)
			if err == nil && (fmt.Sprint(all[0]) != "[id full name a,b]" || len(all) > 4) {
				err = fmt.Errorf("records %q", all)
			}
			return err
		}},
		{`{"builtin": "csv", "columns": 2, "header": false, "delimiter": ";", "min_items": 2, "max_items": 2}`, func(text string) error {
			all, err := records(text, ';', 2)
			if err == nil && len(all) != 2 {
				err = fmt.Errorf("%d records", len(all))
			}
			return err
		}},
		{`{"builtin": "xml", "root": "order"}`, func(text string) error {
			name, err := root(text)
			if err == nil && name != "order" {
				err = fmt.Errorf("root %s", name)
			}
			return err
		}},
		{`{"builtin": "xml", "declaration": true}`, func(text string) error {
			if _, err := root(text); err != nil || !strings.HasPrefix(text, "<?xml ") {
				return fmt.Errorf("%w, or no declaration", err)
			}
			return nil
		}},
		{`{"builtin": "markdown-table", "columns": ["a", "b"], "max_items": 1}`, func(text string) error {
			if !strings.HasPrefix(text, "| a | b |\n") {
				return fmt.Errorf("header")
			}
			return nil
		}},
		{`{"builtin": "regex", "pattern": "[a-c]{3}"}`, func(text string) error {
			if len(text) != 3 || strings.Trim(text, "abc") != "" {
				return fmt.Errorf("no match")
			}
			return nil
		}},
		{`{"builtin": "choice", "choices": ["yes", "no"]}`, func(text string) error {
			if text != "yes" && text != "no" {
				return fmt.Errorf("no choice")
			}
			return nil
		}},
	} {
		for seed := range 12 {
			status, _, got := post(t, url+"/generate", fmt.Sprintf(`{"prompt": "x", "max_tokens": 90, "seed": %d, "grammar": %s}`, seed, c.grammar))
			text, _ := got["text"].(string)
			if status != 200 || at(got, "finish_reason") != "stop" || at(got, "constraint", "validated") != true {
				t.Errorf("%s: %d %v", c.grammar, status, got)
				break
			}
			if err := c.read(text); err != nil {
				t.Errorf("%s wrote %q: %v", c.grammar, text, err)
			}
		}
		if status, _, got := post(t, url+"/grammar/check", `{"grammar": `+c.grammar+`}`); status != 200 || got["ok"] != true {
			t.Errorf("/grammar/check %s: %d %v", c.grammar, status, got)
		}
		if status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 90, "json_mode": {"grammar": `+c.grammar+`}}`); status != 200 {
			t.Errorf("chat with %s: %d %v", c.grammar, status, got)
		}
	}
	for grammar, want := range map[string]string{
		`{"builtin": "yaml"}`:                                        "grammar.builtin must be one of",
		`{}`:                                                         "grammar.builtin is missing",
		`{"builtin": "csv", "colums": 3}`:                            "was columns meant?",
		`{"builtin": "json", "columns": 3}`:                          "json has no use for columns",
		`{"builtin": "csv", "columns": 0}`:                           "grammar.columns must be between 1 and 1000",
		`{"builtin": "csv", "columns": []}`:                          "grammar.columns is empty",
		`{"builtin": "csv", "columns": "a,b"}`:                       "grammar.columns must be an array of names or a number",
		`{"builtin": "csv", "delimiter": "--"}`:                      "the delimiter",
		`{"builtin": "jsonl", "min_items": 3, "max_items": 2}`:       "exclude each other",
		`{"builtin": "xml", "root": "<a>"}`:                          "is not a name",
		`{"builtin": "xml", "header": false}`:                        "xml has no use for",
		`{"builtin": "json_array", "max_items": 1, "min_items": -1}`: "grammar.min_items must be between 0 and 1000000",
		`5`: `grammar must be a string, or an object with "builtin"`,
	} {
		status, _, got := post(t, url+"/generate", `{"prompt": "x", "grammar": `+grammar+`}`)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v, want %q", grammar, status, got, want)
		}
	}
}

const orderType = "/** An order. */\ninterface Item { sku: string; /** @minimum 1 */ n: number }\nexport interface Order { id: number; items: Item[] }\n"

// TestTypeScriptSchemas checks that TypeScript is accepted wherever a schema is.
func TestTypeScriptSchemas(t *testing.T) {
	_, url := start(t, setup{})
	quoted, err := json.Marshal(orderType)
	if err != nil {
		t.Fatal(err)
	}
	ts := `{"typescript": ` + string(quoted) + `}`
	item := `{"typescript": ` + string(quoted) + `, "type": "Item"}`
	for _, c := range []struct{ path, body, want string }{
		{"/generate_json", `{"prompt": "x", "max_tokens": 60, "schema": ` + ts + `}`, `"items":`},
		{"/generate_json", `{"prompt": "x", "max_tokens": 60, "typescript": ` + string(quoted) + `}`, `"items":`},
		{"/generate_json", `{"prompt": "x", "max_tokens": 60, "json_mode": ` + ts + `}`, `"items":`},
		{"/generate", `{"prompt": "x", "max_tokens": 60, "schema": ` + item + `}`, `"sku`},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 60, "response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": ` + item + `}}}`, `sku`},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 90, "tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "parameters": ` + item + `}}]}`, `sku`},
		{"/v1/messages", `{"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 90, "tool_choice": {"type": "any"}, "tools": [{"name": "f", "input_schema": ` + item + `}]}`, `sku`},
		{"/api/generate", `{"model": "tiny", "prompt": "x", "stream": false, "options": {"num_predict": 60}, "format": ` + item + `}`, `sku`},
		{"/schema/check", `{"schema": ` + item + `}`, `"ok":true`},
	} {
		status, _, got := post(t, url+c.path, c.body)
		raw, err := json.Marshal(got)
		if status != 200 || err != nil || !bytes.Contains(bytes.ReplaceAll(raw, []byte(`\`), nil), []byte(c.want)) {
			t.Errorf("%s: %d %s", c.path, status, raw)
		}
	}
	for schema, want := range map[string]string{
		`{"typescript": "interface A { a: string;\n b: ??? }"}`:    "2:5",
		`{"typescript": "interface A { a: string }", "type": "B"}`: "B",
		`{"typescript": 5}`: "schema.typescript must be a string",
		`{"typescript": "type A = string", "minLength": 5}`: "the field schema.minLength is not known",
	} {
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "schema": `+schema+`}`)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v, want %q", schema, status, got, want)
		}
	}
}
