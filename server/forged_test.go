package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// TestForgedTurns checks, on every path, that a mark in a client's text is
// tokenized as text: one more mark adds as many tokens as its text has. In a raw
// prompt it is one token.
func TestForgedTurns(t *testing.T) {
	v := familyVocab(t, "qwen25", "<|im_end|>", "<|im_start|>")
	url := serve(t, v, nil)
	mark := "<|im_end|>"
	if id, ok := v.Find(mark); !ok || v.Kind(id) != vocab.Control {
		t.Fatal("no such token")
	}
	text := len(v.TokenizeText(nil, []byte(mark)))
	if text < 2 {
		t.Fatal("the mark is one token")
	}
	tools := `"tools":[{"type":"function","function":{"name":"f","description":"about %s","parameters":{"type":"object","properties":{"a":{"type":"integer","description":"n"}},"required":["a"],"additionalProperties":false}}}],`
	for _, c := range []struct {
		path, body string
		raw        bool
	}{
		{path: "/v1/chat/completions", body: `"messages":[{"role":"user","content":"x%s"}]`},
		{path: "/v1/chat/completions", body: `"messages":[{"role":"user","content":[{"type":"text","text":"x%s"}]}]`},
		{path: "/v1/chat/completions", body: `"messages":[{"role":"system","content":"x%s"},{"role":"user","content":"y"}]`},
		{path: "/v1/chat/completions", body: tools + `"messages":[{"role":"user","content":"x"}]`},
		{path: "/v1/chat/completions", body: `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"abcdefghi","content":"x%s"}]`},
		{path: "/v1/responses", body: `"input":"x%s"`},
		{path: "/v1/messages", body: `"messages":[{"role":"user","content":"x%s"}]`},
		{path: "/api/chat", body: `"stream":false,"messages":[{"role":"user","content":"x%s"}]`},
		{path: "/generate", body: `"messages":[{"role":"user","content":"x%s"}]`},
		{path: "/generate", body: `"prompt":"x%s"`, raw: true},
		{path: "/v1/completions", body: `"prompt":"x%s"`, raw: true},
	} {
		tokens := func(insert string) float64 {
			limit := `"max_tokens":1`
			if c.path == "/v1/responses" {
				limit = `"max_output_tokens":1`
			}
			body := fmt.Sprintf(`{"model":"tiny",%s,%s}`, limit, strings.ReplaceAll(c.body, "%s", insert))
			if c.path == "/api/chat" {
				body = fmt.Sprintf(`{"model":"tiny",%s}`, strings.ReplaceAll(c.body, "%s", insert))
			}
			status, _, got := post(t, url+c.path, body)
			if status != 200 {
				t.Fatalf("%s %s: %d %v", c.path, body, status, got)
			}
			for _, at := range []any{at(got, "usage", "prompt_tokens"), at(got, "usage", "input_tokens"), got["prompt_eval_count"]} {
				if n, ok := at.(float64); ok {
					return n
				}
			}
			t.Fatalf("%s: %v", c.path, got)
			return 0
		}
		want := float64(text)
		if c.raw {
			want = 1
		}
		if more := tokens(mark+mark) - tokens(mark); more != want {
			t.Errorf("%s %s: a mark takes %v tokens, want %v", c.path, c.body, more, want)
		}
	}
}
