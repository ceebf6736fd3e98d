//go:build llama && cgo

package binary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/packages"
)

const shop = `/** Where it is. */
enum Status { Open = "open", Paid = "paid", Sent = 3 }
type Id<T extends string> = ` + "`${T}-${number}`" + `;
interface Page<T> { items: T[]; next?: string }
interface Base { readonly id: Id<"o">; kind: "card" | "cash" }
interface Card extends Base { kind: "card"; digits: string /** four of them */ }
interface Cash extends Base { kind: "cash"; /** so many @minimum 1 @maximum 9 */ coins: number }
type Payment = Card | Cash;
interface Item { sku: "A" | "B"; n?: 1 | 2 | 3 }
export interface Order { status: Status; payment: Payment; pages: Page<Pick<Item, "sku">>; notes: Record<"a" | "b", boolean | null>; pair: [boolean, ...(1 | 2)[]] }
`

// TypeScript stands wherever a schema does: the same type in all dialects.
func TestTypeScript(t *testing.T) {
	s := serveShared(t)
	const plain = `interface Pet { kind: "cat" | "dog"; age: 1 | 2 }  export interface Owner { pet: Pet }`
	whole, pet := `{"typescript": `+quoted(plain)+`}`, `{"typescript": `+quoted(plain)+`, "type": "Pet"}`
	chat := `"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 200, `
	for _, c := range []struct{ path, body string }{
		{"/generate_json", `{"model": "tiny", "prompt": "x", "schema": ` + pet + `}`},
		{"/generate_json", `{"model": "tiny", "prompt": "x", "typescript": ` + quoted(plain) + `}`},
		{"/generate_json", `{"model": "tiny", "prompt": "x", "json_mode": ` + `{"typescript": ` + quoted(plain) + `, "strict": true}}`},
		{"/generate_json", `{"model": "tiny", "prompt": "x", "json_mode": {"schema": ` + pet + `}}`},
		{"/generate", `{"model": "tiny", "prompt": "x", "schema": ` + pet + `}`},
		{"/generate", `{"inputs": "x", "parameters": {"max_new_tokens": 60, "grammar": {"type": "json", "value": ` + pet + `}}}`},
		{"/generate", `{"text": "x", "sampling_params": {"max_new_tokens": 60, "json_schema": ` + pet + `}}`},
		{"/v1/chat/completions", `{` + chat + `"response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": ` + pet + `}}}`},
		{"/v1/chat/completions", `{` + chat + `"typescript": ` + quoted(plain) + `}`},
		{"/v1/chat/completions", `{` + chat + `"guided_json": ` + whole + `}`},
		{"/v1/chat/completions", `{` + chat + `"structured_outputs": {"json": ` + whole + `}}`},
		{"/v1/chat/completions", `{` + chat + `"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "parameters": ` + pet + `}}]}`},
		{"/v1/completions", `{"model": "tiny", "prompt": "x", "schema": ` + pet + `}`},
		{"/v1/responses", `{"model": "tiny", "input": "x", "text": {"format": {"type": "json_schema", "name": "o", "schema": ` + pet + `}}}`},
		{"/v1/responses", `{"model": "tiny", "input": "x", "tool_choice": "required", "tools": [{"type": "function", "name": "f", "parameters": ` + pet + `}]}`},
		{"/v1/messages", `{` + chat + `"tool_choice": {"type": "any"}, "tools": [{"name": "f", "input_schema": ` + pet + `}]}`},
		{"/v1/messages", `{` + chat + `"output_config": {"format": {"type": "json_schema", "schema": ` + pet + `}}}`},
		{"/api/generate", `{"model": "tiny", "prompt": "x", "stream": false, "format": ` + pet + `}`},
		{"/api/chat", `{"model": "tiny", "messages": [{"role": "user", "content": "x"}], "stream": false, "format": ` + whole + `}`},
		{"/completion", `{"prompt": "x", "n_predict": 60, "json_schema": ` + pet + `}`},
		{"/schema/check", `{"schema": ` + pet + `}`},
		{"/schema/check", `{"typescript": ` + quoted(plain) + `}`},
	} {
		got := s.post(t, c.path, c.body)
		text := strings.Join(strings.Fields(strings.ReplaceAll(got.raw, `\`, "")), "")
		if got.status != 200 || !strings.Contains(text, `"kind":"cat"`) && !strings.Contains(text, `"kind":"dog"`) || !strings.Contains(text, `"age":`) {
			t.Errorf("%s %s: %v", c.path, c.body, got)
		}
	}
	for _, c := range []struct {
		path, body string
		want       any
	}{
		{"/validate", `{"schema": ` + pet + `, "document": {"kind": "cat", "age": 2}}`, true},
		{"/validate", `{"typescript": ` + quoted(plain) + `, "document": {"pet": {"kind": "cow", "age": 2}}}`, false},
		{"/repair", `{"schema": ` + pet + `, "text": "{kind: 'cat', age: '2'}"}`, true},
		{"/repair", `{"typescript": ` + quoted(plain) + `, "text": "{pet: {kind: 'cow', age: 2}}"}`, false},
	} {
		got := s.post(t, c.path, c.body)
		if verdict := got.at("valid"); got.status != 200 || verdict != c.want && got.at("ok") != c.want {
			t.Errorf("%s %s: %v", c.path, c.body, got)
		}
	}
	// Generics, enumerations, unions, tuples and template literals.
	for seed := range 5 {
		got := s.post(t, "/generate_json", fmt.Sprintf(`{"model": "tiny", "prompt": "x", "max_tokens": 300, "seed": %d, "schema": {"typescript": %s, "type": "Order"}}`, seed, quoted(shop)))
		document, err := json.Marshal(got.at("json"))
		if err != nil || got.status != 200 || got.at("constraint", "validated") != true {
			t.Errorf("%v", got)
			continue
		}
		if got := s.post(t, "/validate", `{"typescript": `+quoted(shop)+`, "document": `+string(document)+`}`); got.at("valid") != true {
			t.Errorf("%s: %v", document, got)
		}
		if at(got.at("json"), "payment", "id") == nil || at(got.at("json"), "pair", 0) == nil || at(got.at("json"), "pages", "items") == nil {
			t.Errorf("%s", document)
		}
	}
	for schema, says := range map[string]string{
		`{"typescript": "interface A { a: string;\n b: ??? }"}`:    "2:5",
		`{"typescript": "interface A { a: string }", "type": "B"}`: "B",
		`{"typescript": 5}`: "must be a string",
		`{"typescript": "type A = string", "minLength": 5}`: "minLength",
	} {
		if got := s.post(t, "/generate_json", `{"model": "tiny", "prompt": "x", "schema": `+schema+`}`); got.status != 400 || !strings.Contains(got.text("error", "message"), says) {
			t.Errorf("%s: %v", schema, got)
		}
	}
	if got := s.post(t, "/generate_json", `{"model": "tiny", "prompt": "x", "typescript": `+quoted(plain)+`, "type": "Pet"}`); got.status != 400 || got.at("error", "param") != "type" {
		t.Errorf("a type beside typescript: %v", got)
	}
	file := write(t, "shop.ts", shop)
	for _, args := range [][]string{{"schema", "check", "--type", "Item", file}, {"schema", "convert", file}} {
		if out, errs, status := stencil(t, args...); status != 0 || !strings.Contains(out, "sku") {
			t.Errorf("%q: %d %s %s", args, status, out, errs)
		}
	}
	for stdin, want := range map[string]int{`{"sku": "A"}`: 0, `{"sku": "C"}`: 1} {
		if out, errs, status := (run{stdin: stdin}).of(t, "schema", "match", "--type", "Item", "--text-file", "-", file); status != want {
			t.Errorf("schema match %s: %d %s %s", stdin, status, out, errs)
		}
	}
	if out, errs, status := (run{stdin: `Here: {sku: 'A', n: "2"}`}).of(t, "repair", "--schema", file, "--type", "Item"); status != 0 || out != `{"sku":"A","n":2}`+"\n" {
		t.Errorf("repair: %d %q %s", status, out, errs)
	}
}

// The schemas that Pydantic makes of models are taken as they are, and Pydantic validates what was written by them.
func TestPydantic(t *testing.T) {
	const folder = "../../../schemafrom/testdata/pydantic/"
	python, err := packages.Python(t, folder+"requirements.txt")
	if err != nil {
		t.Skipf("Pydantic can't be fetched: %v", err)
	}
	s := serveShared(t)
	out, err := exec.CommandContext(t.Context(), python, folder+"models.py", "schemas").Output()
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	models := 0
	for line := range bytes.Lines(out) {
		var model struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		}
		if err := json.Unmarshal(line, &model); err != nil {
			t.Fatal(err)
		}
		models++
		got := s.post(t, "/generate_json", fmt.Sprintf(`{"model": "tiny", "prompt": "x", "max_tokens": 150, "seed": %d, "schema": %s}`, models, model.Schema))
		if got.status != 200 || got.at("constraint", "validated") != true {
			t.Errorf("%s: %v", model.Name, got)
			continue
		}
		written.WriteString(quoted(map[string]string{"name": model.Name, "text": got.text("text")}) + "\n")
	}
	if models < 40 {
		t.Errorf("only %d models", models)
	}
	judge := exec.CommandContext(t.Context(), python, folder+"models.py", "validate")
	judge.Stdin = &written
	refused, err := judge.Output()
	if err != nil || len(refused) > 0 {
		t.Errorf("%v\nPydantic refuses %s", err, refused)
	}
}
