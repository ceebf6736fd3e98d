package server

import (
	"fmt"
	"io"
	"net/http"
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

// TestCutCharacter checks that a text that max_tokens ends within a character is without the part of it, on each path, whole and in
// streams, and that the tokens keep its bytes.
func TestCutCharacter(t *testing.T) {
	const reply = "日𝄞é 🦀"
	_, url := start(t, setup{reply: reply})
	for path, body := range map[string]string{
		"/v1/chat/completions": `"messages": [{"role": "user", "content": "x"}], "max_tokens": `,
		"/v1/completions":      `"prompt": "x", "max_tokens": `,
		"/v1/responses":        `"input": "x", "max_output_tokens": `,
		"/v1/messages":         `"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": `,
		"/api/chat":            `"model": "m", "messages": [{"role": "user", "content": "x"}], "options": {"temperature": 0, "num_predict": `,
		"/api/generate":        `"model": "m", "prompt": "x", "options": {"temperature": 0, "num_predict": `,
		"/generate":            `"prompt": "x", "max_tokens": `,
		"/completion":          `"prompt": "x", "n_predict": `,
	} {
		for n := 1; n <= len(reply); n++ {
			for _, stream := range []bool{false, true} {
				end := ", \"temperature\": 0"
				if strings.Contains(body, "options") {
					end = "}"
				}
				sent := fmt.Sprintf(`{%s%d%s, "stream": %v}`, body, n, end, stream)
				resp, err := http.Post(url+path, "application/json", strings.NewReader(sent))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || strings.Contains(string(text), "\uFFFD") || strings.Contains(strings.ToLower(string(text)), `\ufffd`) {
					t.Errorf("%s %s: %d %v\n%s", path, sent, resp.StatusCode, err, text)
				}
			}
		}
	}
	cut := false
	for n := 1; n < len(reply); n++ {
		_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": %d, "logprobs": true}`, n))
		content, _ := at(got, "choices", 0, "message", "content").(string)
		var bytes []byte
		list, _ := at(got, "choices", 0, "logprobs", "content").([]any)
		for _, token := range list {
			for _, b := range at(token, "bytes").([]any) {
				bytes = append(bytes, byte(b.(float64)))
			}
		}
		if !strings.HasPrefix(reply, string(bytes)) || !strings.HasPrefix(string(bytes), content) || len(bytes)-len(content) > 3 {
			t.Errorf("%d tokens: text %q, bytes %q", n, content, bytes)
		}
		cut = cut || len(bytes) > len(content)
	}
	if !cut {
		t.Error("no text ended within a character")
	}
}
