package server

import (
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// TestShortAnswersBesideTools checks answers of one character where
// the model may call a tool instead.
func TestShortAnswersBesideTools(t *testing.T) {
	for _, c := range []struct{ format, says, want string }{
		{`"choice":["A","B","C"]`, "B", "B"},
		{`"regex":"a"`, "a", "a"},
		{`"regex":"a?"`, "a", "a"},
		{`"grammar":"root ::= \"a\""`, "a", "a"},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"enum":[1,2]}}}`, "2", "2"},
		{`"choice":["A","AB"]`, "AB", "AB"},
		{`"choice":["<","A"]`, "<", "<"},
		{`"choice":["A","B","C"]`, `<tool_call>
{"name": "f", "arguments": {"a": 1}}
</tool_call>`, "calls f"},
	} {
		for _, more := range []string{"", `,"tool_choice":"auto"`, `,"tool_choice":"none"`, `,"parallel_tool_calls":false`, `,"logprobs":true`} {
			v := familyVocab(t, "qwen25")
			url := serve(t, v, scripted.SayText(v, c.says))
			status, _, got := post(t, url+"/v1/chat/completions", `{"model":"tiny","max_tokens":200,"temperature":0,"messages":[{"role":"user","content":"x"}],`+c.format+more+
				`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"const":1}},"required":["a"]}}}]}`)
			message := at(got, "choices", 0, "message")
			text, _ := at(message, "content").(string)
			if name, called := at(message, "tool_calls", 0, "function", "name").(string); called {
				text += "calls " + name
			}
			want := c.want
			if want == "calls f" && strings.Contains(more, "none") {
				continue
			}
			if status != 200 || text != want {
				t.Errorf("%s%s: %d %q, want %q: %v", c.format, more, status, text, want, got)
			}
		}
	}
}
