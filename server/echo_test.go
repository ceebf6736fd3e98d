package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Errors and warnings say what is wrong in words of bounded length, however long what they are about is.
func TestAnswersRepeatLittle(t *testing.T) {
	_, url := start(t, setup{})
	long := strings.Repeat("x", 100_000)
	manyFields := ""
	for i := range 5000 {
		manyFields += fmt.Sprintf(`, "x%d": 1`, i)
	}
	chat := func(rest string) string {
		return `{"messages": [{"role": "user", "content": "a"}], "max_tokens": 2, ` + rest + `}`
	}
	for _, c := range []struct{ path, body string }{
		{"/v1/chat/completions", chat(`"model": "LONG"`)},
		{"/v1/messages", chat(`"model": "LONG"`)},
		{"/api/chat", chat(`"model": "LONG"`)},
		{"/api/show", `{"model": "LONG"}`},
		{"/models/load", `{"model": "LONG"}`},
		{"/v1/responses", `{"model": "LONG", "input": "a"}`},
		{"/generate", `{"model": "LONG", "prompt": "a"}`},
		{"/generate", `{"prompt": "a", "LONG": 1}`},
		{"/generate", `{"prompt": "a", "max_tokens": 2, "x_LONG": 1}`},
		{"/v1/chat/completions", chat(`"LONG": 1`)},
		{"/v1/messages", chat(`"LONG": 1`)},
		{"/v1/chat/completions", chat(`"tool_choice": "LONG"`)},
		{"/v1/chat/completions", chat(`"reasoning_effort": "LONG"`)},
		{"/v1/chat/completions", chat(`"response_format": {"type": "LONG"}`)},
		{"/v1/chat/completions", chat(`"tools": [{"type": "LONG"}]`)},
		{"/v1/chat/completions", chat(`"tools": [{"type": "function", "function": {"name": "LONG"}}], "tool_choice": {"type": "function", "function": {"name": "yLONG"}}`)},
		{"/v1/chat/completions", chat(`"seed": "LONG"`)},
		{"/v1/chat/completions", chat(`"temperature": LONG`)},
		{"/v1/chat/completions", `{"messages": [{"role": "LONG", "content": "a"}]}`},
		{"/v1/chat/completions", `{"messages": [{"role": "user", "content": [{"type": "LONG"}]}]}`},
		{"/v1/responses", `{"input": "a", "previous_response_id": "LONG"}`},
		{"/v1/responses", `{"input": [{"type": "LONG"}]}`},
		{"/generate", `{"prompt": "a", "grammar": {"builtin": "LONG"}}`},
		{"/generate", `{"prompt": "a", "max_tokens": 2, "grammar": {"builtin": "xml", "root": "LONG"}}`},
		{"/generate", `{"prompt": "a", "grammar": "root ::= LONG"}`},
		{"/generate", `{"prompt": "a", "grammar": "LONG ::= \"a\""}`},
		{"/generate", `{"prompt": "a", "regex": "(LONG"}`},
		{"/generate", `{"prompt": "a", "typescript": "type A = LONG<"}`},
		{"/generate_json", `{"prompt": "a", "schema": {"LONG": 1}}`},
		{"/generate_json", `{"prompt": "a", "schema": {"type": "LONG"}}`},
		{"/generate_json", `{"prompt": "a", "schema": {"$ref": "#/LONG"}}`},
		{"/generate_json", `{"prompt": "a", "schema": {"pattern": "(LONG"}}`},
		{"/generate_json", `{"prompt": "a", "schema": {"format": "LONG"}, "max_tokens": 1}`},
		{"/generate_json", `{"prompt": "a", "schema": {"type": "object", "properties": {"LONG": {"maxLenght": 1}}}}`},
		{"/schema/check", `{"schema": {"type": "object", "properties": {"LONG": {"maxLenght": 1}}}}`},
		{"/grammar/check", `{"grammar": "root ::= LONG"}`},
		{"/validate", `{"schema": {"properties": {"LONG": {"type": "integer"}}}, "document": {"LONG": "LONG"}}`},
		{"/validate", `{"grammar": "root ::= \"a\"", "text": "LONG"}`},
		{"/validate", `{"schema": {"enum": ["LONG"]}, "document": 1}`},
		{"/validate", `{"schema": {"additionalProperties": false}, "document": {"LONG": 1}}`},
		{"/repair", `{"strategies": ["LONG"], "text": "1"}`},
		{"/agent/run", `{"query": "a", "LONG": 1}`},
		{"/agent/run", `{"resume": "LONG", "answer": "a"}`},
		{"/feedback", `{"id": "LONG", "outcome": "good"}`},
		{"/v1/embeddings", `{"model": "LONG", "input": "a"}`},
		{"/decide", `{"text": "a", "question": "b", "type": "LONG"}`},
		{"/v1/LONG", `{}`},
		{"/generate", `{"prompt": "a", "max_tokens": 2` + manyFields + `}`},
		{"/generate_json", `{"prompt": "a", "schema": {"a": 1` + manyFields + `}}`},
		{"/completion", `{"prompt": "a", "samplers": ["LONG"]}`},
		{"/completion", `{"prompt": "a", "n_predict": 1, "logit_bias": [["LONG", "LONG"]]}`},
		{"/generate", `LONG`},
		{"/generate", `{"prompt": "a", "prompt": "LONG", "LONG"`},
	} {
		body := strings.ReplaceAll(c.body, "LONG", long)
		resp, err := http.Post(url+strings.ReplaceAll(c.path, "LONG", long), "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(raw) > 16<<10 {
			t.Errorf("%s %s: %v, %d with %d bytes: %.300s", c.path, c.body, err, resp.StatusCode, len(raw), raw)
		}
	}
	for name := range map[string]bool{"Host": true, "Origin": true, "Content-Type": true, "Content-Encoding": true} {
		req, err := http.NewRequest("POST", url+"/generate", strings.NewReader(`{"prompt": "a", "max_tokens": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(name, "http://"+long)
		if name == "Host" {
			req.Host = long + ".example"
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(raw) > 16<<10 {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
}
