package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// TestAddressed checks models that begin each message with whom they address: with and without tools, whole and streamed.
func TestAddressed(t *testing.T) {
	for _, c := range []struct {
		template, reply, fields string
		content, thought        any
		calls                   int
	}{
		{"meetkai-functionary-medium-v3.2", "all\nHello >>> there", ``, "Hello >>> there", nil, 0},
		{"meetkai-functionary-medium-v3.2", "all\nHello", weatherTools, "Hello", nil, 0},
		{"meetkai-functionary-medium-v3.2", "weather\n{\"days\":3,\"unit\":\"C\"}", weatherTools, nil, nil, 1},
		{"meetkai-functionary-medium-v3.2", "all\nI look.>>>weather\n{\"days\":3,\"unit\":\"C\"}>>>now\n{}", weatherTools, "I look.", nil, 2},
		{"meetkai-functionary-medium-v3.2", "all\n", weatherTools + `, "tool_choice": "required"`, nil, nil, 1},
		{"meetkai-functionary-medium-v3.2", "all\n{\"a\": 7}", `"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {"const": 7}}, "required": ["a"]}}}`, `{"a": 7}`, nil, 0},
		{"muse-glimmer", " to=user<|message|>Hello", ``, "Hello", nil, 0},
		{"muse-glimmer", " to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>Hello", ``, "Hello", "Hm.", 0},
		{"muse-glimmer", " to=self<|message|>Hm.<|eom|><|start|>assistant to=weather<|message|><atem:function_calls>\n<atem:invoke name=\"weather\">\n<atem:parameter name=\"days\">3</atem:parameter>\n<atem:parameter name=\"unit\">C</atem:parameter>\n</atem:invoke>\n</atem:function_calls>", weatherTools, nil, "Hm.", 1},
	} {
		v := bundled(t, c.template, "<|start|>", "<|message|>", "<|eom|>", "<|eot|>")
		url := serve(t, v, sayAnyhow(v, c.reply, 3))
		if c.fields == weatherTools+`, "tool_choice": "required"` {
			url = serve(t, v, scripted.Random(5))
		}
		body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300`
		if c.fields != "" {
			body += `, ` + c.fields
		}
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if content := at(got, "choices", 0, "message", "content"); content != c.content || len(calls) < c.calls || c.calls == 0 && len(calls) > 0 || at(got, "choices", 0, "message", "reasoning_content") != c.thought {
			t.Errorf("%s: %q: %v", c.template, c.reply, got)
		}
		if want, ok := c.content.(string); ok {
			streamed := ""
			for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
				text, _ := at(chunk, "choices", 0, "delta", "content").(string)
				streamed += text
			}
			if streamed != want {
				t.Errorf("%s: %q: streamed %q", c.template, c.reply, streamed)
			}
		}
	}
	v := bundled(t, "muse-glimmer", "<|start|>", "<|message|>", "<|eom|>", "<|eot|>")
	_, _, got := post(t, serve(t, v, sayAnyhow(v, " to=user<|message|>No.", 1))+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 300, "tool_confidence": 0.9, `+weatherTools+`}`)
	if warnings, _ := got["warnings"].([]any); !strings.Contains(fmt.Sprint(warnings), "tool_confidence") {
		t.Errorf("tool_confidence: %v", got)
	}
}
