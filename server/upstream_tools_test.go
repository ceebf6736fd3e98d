package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/remote"
)

// scriptedCalls returns calls, each given as a name and arguments.
func scriptedCalls(parts []string) []any {
	out := []any{}
	for i, p := range parts {
		name, arguments, _ := strings.Cut(p, " ")
		out = append(out, map[string]any{"id": fmt.Sprintf("far_%d", i), "type": "function", "function": map[string]any{"name": name, "arguments": arguments}})
	}
	return out
}

// sendCalls streams calls in pieces.
func sendCalls(send func(any), calls []any) {
	for i, c := range calls {
		one := c.(map[string]any)
		f := one["function"].(map[string]any)
		arguments := f["arguments"].(string)
		delta := map[string]any{"index": i, "id": one["id"], "type": "function", "function": map[string]any{"name": f["name"], "arguments": ""}}
		for {
			send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{delta}}}}})
			if arguments == "" {
				break
			}
			n := min(7, len(arguments))
			delta = map[string]any{"index": i, "function": map[string]any{"arguments": arguments[:n]}}
			arguments = arguments[n:]
		}
	}
}

const (
	farTools = `"tools": [
		{"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 7}, "unit": {"enum": ["C", "F"]}}, "required": ["days", "unit"], "additionalProperties": false}}},
		{"type": "function", "function": {"name": "now"}}
	]`
	fits    = `weather {"days": 2, "unit": "C"}`
	tooMany = `weather {"days": 20, "unit": "C"}`
)

// TestUpstreamTools checks calls between an upstream and a client of OpenAI's dialect,
// whole and streamed.
func TestUpstreamTools(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []string
		with   string
		status int
		want   string // content, then calls, as a script has them; or the code of the error
		tries  int
		// the stream's result, if it differs: in the same form, or "!" and the code of the
		// error
		streamed string
	}{
		{"one call", []string{"!calls |" + fits}, ``, 200, "|" + fits, 1, ""},
		{"no arguments", []string{"!calls |now"}, ``, 200, "|now {}", 1, ""},
		{"text and calls", []string{"!calls I look.|" + fits + `|now {}`}, ``, 200, "I look.|" + fits + `|now {}`, 1, ""},
		{"no call", []string{"Hello!"}, ``, 200, "Hello!", 1, ""},
		{"no tools this time", []string{"Hello!"}, `, "tool_choice": "none"`, 200, "Hello!", 1, ""},
		{"one at a time", []string{"!calls |" + fits + "|now {}"}, `, "parallel_tool_calls": false`, 200, "|" + fits, 1, ""},
		{"wrong, then good", []string{"!calls |" + tooMany, "!calls |" + fits}, ``, 200, "|" + fits, 2, ""},
		{"wrong after words, then good", []string{"!calls I look.|" + tooMany, "!calls |" + fits}, ``, 200, "|" + fits, 2, "I look.|" + tooMany},
		{"wrong, then words", []string{"!calls |" + tooMany, "Better not."}, ``, 200, "Better not.", 2, ""},
		{"wrong, then both", []string{"!calls |moon {}", "!calls So:|now {}"}, ``, 200, "So:|now {}", 2, ""},
		{"wrong for ever, loose", []string{"!calls |" + tooMany}, ``, 200, "|" + tooMany, 3, "|" + tooMany},
		{"wrong for ever", []string{"!calls |" + tooMany}, `, "strict": true`, 422, "validation_failed", 3, "!validation_failed"},
		{"wrong and not asked again", []string{"!calls |" + tooMany}, `, "strict": true, "retry_max": 0`, 422, "validation_failed", 1, "!validation_failed"},
		{"no such tool", []string{"!calls |moon {}"}, `, "retry_max": 1`, 422, "validation_failed", 2, "!validation_failed"},
		{"no such tool, then good", []string{"!calls |moon {}", "!calls |now {}"}, ``, 200, "|now {}", 2, ""},
		{"not allowed", []string{"!calls |now {}"}, `, "retry_max": 0, "tool_choice": {"type": "function", "function": {"name": "weather"}}`, 422, "validation_failed", 1, "!validation_failed"},
		{"no JSON", []string{`!calls |weather {"days": 2, "unit"`}, `, "retry_max": 0`, 422, "validation_failed", 1, "!validation_failed"},
		{"no JSON, then good", []string{`!calls |weather {"days": 2, "unit"`, "!calls |" + fits}, ``, 200, "|" + fits, 2, ""},
		{"no object", []string{`!calls |now [1]`}, `, "retry_max": 0`, 422, "validation_failed", 1, "!validation_failed"},
		{"repaired", []string{`!calls |weather {'days': "2", unit: "C",}`}, `, "repair": true, "retry_max": 0`, 200, `|weather {"days": 2, "unit": "C"}`, 1, ""},
		{"fenced", []string{"!calls |weather ```json\n{\"days\": 2, \"unit\": \"C\"}\n```"}, `, "retry_max": 0`, 200, "|" + fits, 1, ""},
		{"must and does", []string{"!calls |now {}"}, `, "tool_choice": "required"`, 200, "|now {}", 1, ""},
		{"must and does not", []string{"Hello!"}, `, "tool_choice": "required"`, 422, "validation_failed", 3, "!validation_failed"},
		{"must and does later", []string{"Hello!", "!calls |now {}"}, `, "tool_choice": "required"`, 200, "|now {}", 2, "!validation_failed"},
		{"a call or a document: call", []string{"!calls |now {}"}, `, "schema": ` + personSchema, 200, "|now {}", 1, ""},
		{"a call or a document: document", []string{good}, `, "schema": ` + personSchema, 200, good, 1, ""},
		{"a call or a document: wrong", []string{wrong, good}, `, "strict": true, "schema": ` + personSchema, 200, good, 2, "!validation_failed"},
		{"one wrong of two", []string{"!calls |" + fits + "|" + tooMany, "!calls |" + fits}, ``, 200, "|" + fits, 2, ""},
		{"429, then good", []string{"!429", "!calls |" + fits}, ``, 200, "|" + fits, 2, ""},
		{"cut", []string{"!length {"}, `, "tool_choice": "required", "retry_max": 0`, 422, "validation_failed", 1, "!validation_failed"},
		{"strict tool", []string{"!calls |s {}"}, `, "retry_max": 0, "tools": [{"type": "function", "function": {"name": "s", "strict": true, "parameters": {"type": "object", "required": ["a"]}}}]`, 422, "validation_failed", 1, "!validation_failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := `{"messages": [{"role": "user", "content": "Rain?"}]` + c.with
			if !strings.Contains(c.with, `"tools"`) {
				body += `, ` + farTools
			}
			u, url := startUpstream(t, remote.Capabilities{Tools: true}, Config{}, c.script...)
			status, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			if status != c.status || len(u.requests()) != c.tries {
				t.Fatalf("status %d after %d requests: %v", status, len(u.requests()), got)
			}
			if status != 200 {
				if at(got, "error", "code") != c.want || at(got, "error", "failure", "tries") != float64(c.tries) || len(at(got, "error", "details").([]any)) == 0 {
					t.Errorf("%v", got)
				}
			} else {
				message := at(got, "choices", 0, "message")
				content, _ := at(message, "content").(string)
				calls, _ := at(message, "tool_calls").([]any)
				for _, call := range callsOf(calls) {
					content += "|" + call[0] + " " + sameJSON(call[1])
				}
				if content != normal(c.want) {
					t.Errorf("%q, want %q", content, normal(c.want))
				}
				if finish := at(got, "choices", 0, "finish_reason"); (finish == "tool_calls") != (len(calls) > 0) {
					t.Errorf("finish_reason %v", finish)
				}
				if !strings.Contains(c.with, "none") {
					kind, strategy := "tools", "tools"
					if strings.HasPrefix(c.want, "{") {
						kind, strategy = "schema", "instructed"
					}
					valid := !strings.Contains(c.want, tooMany)
					r := got["x_constraint"]
					if at(r, "type") != kind || at(r, "strategy") != strategy || at(r, "validated") != valid || len(at(r, "enforced").([]any)) != 0 || len(at(r, "checked").([]any)) == 0 || at(r, "tries").(float64) > float64(c.tries) {
						t.Errorf("receipt %v", r)
					}
					if !valid && (got["warnings"] == nil || at(r, "errors") == nil) {
						t.Errorf("nothing said: %v", got)
					}
				}
				if c.name == "repaired" && at(got, "x_constraint", "edits", 0, "pointer") == nil || c.name == "one at a time" && got["warnings"] == nil {
					t.Errorf("%v", got)
				}
			}

			// The same, streamed: re-asked only if nothing was sent.
			want := c.streamed
			if want == "" {
				want = c.want
			}
			_, url = startUpstream(t, remote.Capabilities{Tools: true}, Config{}, c.script...)
			text, calls, failed := "", "", ""
			for _, line := range postLines(t, url+"/v1/chat/completions", body+`, "stream": true}`) {
				var chunk map[string]any
				if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &chunk) != nil && line != "data: [DONE]" {
					t.Fatal(line)
				}
				if code, ok := at(chunk, "error", "code").(string); ok {
					failed = "!" + code
				}
				piece, _ := at(chunk, "choices", 0, "delta", "content").(string)
				text += piece
				deltas, _ := at(chunk, "choices", 0, "delta", "tool_calls").([]any)
				for _, d := range deltas {
					if name, ok := at(d, "function", "name").(string); ok {
						calls += "|" + name + " "
					}
					arguments, _ := at(d, "function", "arguments").(string)
					calls += arguments
				}
			}
			switch {
			case strings.HasPrefix(want, "!"):
				if failed != want || calls != "" {
					t.Errorf("stream: %q %q %s, want %s", text, calls, failed, want)
				}
			case normal(text+calls) != normal(want) || failed != "":
				t.Errorf("stream: %q %s, want %q", text+calls, failed, want)
			}
		})
	}
}

// normal returns a script line with arguments in a normal form.
func normal(line string) string {
	parts := strings.Split(line, "|")
	for i, p := range parts[1:] {
		name, arguments, _ := strings.Cut(p, " ")
		parts[i+1] = name + " " + sameJSON(arguments)
	}
	return strings.Join(parts, "|")
}

func sameJSON(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// TestUpstreamToolRequest checks the request to the upstream.
func TestUpstreamToolRequest(t *testing.T) {
	for _, c := range []struct {
		caps   remote.Capabilities
		with   string
		judged func(b map[string]any) bool
	}{
		{remote.Capabilities{}, ``, func(b map[string]any) bool {
			return at(b, "tools", 0, "type") == "function" && at(b, "tools", 0, "function", "name") == "weather" && at(b, "tools", 0, "function", "description") == "Weather." &&
				at(b, "tools", 0, "function", "parameters", "properties", "days", "maximum") == 7.0 && at(b, "tools", 1, "function", "parameters", "type") == "object" &&
				b["tool_choice"] == "auto" && b["parallel_tool_calls"] == nil && b["response_format"] == nil && len(b["messages"].([]any)) == 1
		}},
		{remote.Capabilities{}, `, "tool_choice": "required", "parallel_tool_calls": false`, func(b map[string]any) bool {
			return b["tool_choice"] == "required" && b["parallel_tool_calls"] == false
		}},
		{remote.Capabilities{}, `, "tool_choice": {"type": "function", "function": {"name": "now"}}`, func(b map[string]any) bool {
			return at(b, "tool_choice", "function", "name") == "now" && len(b["tools"].([]any)) == 1
		}},
		{remote.Capabilities{}, `, "tool_choice": "none"`, func(b map[string]any) bool { return b["tools"] == nil && b["tool_choice"] == nil }},
		{remote.Capabilities{Engine: remote.VLLM, JSONSchema: true}, `, "schema": ` + personSchema, func(b map[string]any) bool {
			return b["structured_outputs"] == nil && strings.Contains(at(b, "messages", 0, "content").(string), "Start with {")
		}},
		{remote.Capabilities{JSONSchema: true}, `, "schema": ` + personSchema, func(b map[string]any) bool {
			return at(b, "response_format", "json_schema", "schema") != nil && b["tools"] != nil
		}},
	} {
		c.caps.Tools = true
		u, url := startUpstream(t, c.caps, Config{}, "!calls |now {}")
		post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "Rain?"}], "retry_max": 0, `+farTools+c.with+`}`)
		if len(u.requests()) == 0 || !c.judged(u.requests()[0]) {
			t.Errorf("%s: asked %v", c.with, u.requests())
		}
	}
	// An upstream without tools: they are refused before it is asked.
	u, url := startUpstream(t, remote.Capabilities{}, Config{}, "Hello!")
	status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "Rain?"}], `+farTools+`}`)
	if status != 400 || at(got, "error", "code") != "not_offered" || at(got, "error", "param") != "tools" || len(u.requests()) != 0 {
		t.Errorf("%d %v", status, got)
	}
}

// TestUpstreamToolFeedback checks that a rejected call gets its error as a result, and that
// a call that other servers could not read back becomes text.
func TestUpstreamToolFeedback(t *testing.T) {
	const body = `{"messages": [{"role": "user", "content": "Rain?"}], ` + farTools + `}`
	u, url := startUpstream(t, remote.Capabilities{Tools: true}, Config{}, "!calls |"+tooMany+"|now {}", `!calls |weather {"days"`, "!calls |"+fits)
	status, _, got := post(t, url+"/v1/chat/completions", body)
	if status != 200 || at(got, "usage", "completion_tokens") != 15.0 || at(got, "x_constraint", "tries") != 3.0 {
		t.Fatalf("%d %v", status, got)
	}
	list := at(u.requests()[1], "messages").([]any)
	if len(list) != 4 || at(list[1], "tool_calls", 0, "id") != "far_0" || at(list[1], "tool_calls", 1, "function", "name") != "now" || at(list[2], "tool_call_id") != "far_0" || at(list[3], "role") != "tool" ||
		!strings.Contains(at(list[2], "content").(string), `"/weather/days"`) || !strings.Contains(at(list[2], "content").(string), "call again") {
		t.Errorf("%v", list)
	}
	list = at(u.requests()[2], "messages").([]any)
	if len(list) != 3 || at(list[1], "content") != `weather({"days")` || at(list[2], "role") != "user" || !strings.Contains(at(list[2], "content").(string), "ends too early") {
		t.Errorf("%v", list)
	}
	// The usage of re-asks counts in streams too.
	_, url = startUpstream(t, remote.Capabilities{Tools: true}, Config{}, "!calls |"+tooMany, "!calls |"+fits)
	chunks := chatChunks(t, url, body[:len(body)-1]+`, "stream": true, "stream_options": {"include_usage": true}}`)
	if last := chunks[len(chunks)-1]; at(last, "usage", "completion_tokens") != 10.0 || at(last, "usage", "prompt_tokens") != 20.0 || at(last, "usage", "cost").(float64) < 3.9e-5 {
		t.Errorf("%v", last)
	}
	// The text of an error shows the calls.
	_, url = startUpstream(t, remote.Capabilities{Tools: true}, Config{}, "!calls |moon {}")
	if _, _, got = post(t, url+"/v1/chat/completions", body); at(got, "error", "text") != "moon({})" || at(got, "error", "details", 0, "pointer") != "/moon" {
		t.Errorf("%v", got)
	}
}

// TestUpstreamToolDialects checks that calls reach clients of every dialect, and that their
// history of calls and results reaches the upstream.
func TestUpstreamToolDialects(t *testing.T) {
	const line = "!calls I look.|" + fits + "|now {}"
	open := func(t *testing.T) (*scriptedUpstream, string) {
		return startUpstream(t, remote.Capabilities{Tools: true}, Config{}, line)
	}
	history := func(t *testing.T, u *scriptedUpstream, id string) {
		t.Helper()
		list := at(u.requests()[0], "messages").([]any)
		if len(list) != 3 || at(list[1], "tool_calls", 0, "id") != id || at(list[1], "tool_calls", 0, "function", "arguments") != `{"a":1}` || at(list[2], "role") != "tool" || at(list[2], "tool_call_id") != id || at(list[2], "content") != "noon" {
			t.Errorf("asked %v", list)
		}
	}
	t.Run("anthropic", func(t *testing.T) {
		const body = `{"model": "far", "max_tokens": 50, "tools": [{"name": "weather", "input_schema": {"type": "object"}}, {"name": "now", "input_schema": {}}], "messages": [
			{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "now", "input": {"a":1}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "noon"}]}]`
		u, url := open(t)
		status, _, got := post(t, url+"/v1/messages", body+`}`)
		if status != 200 || at(got, "content", 0, "text") != "I look." || at(got, "content", 1, "type") != "tool_use" || at(got, "content", 1, "input", "days") != 2.0 || at(got, "content", 2, "name") != "now" ||
			got["stop_reason"] != "tool_use" || at(got, "content", 1, "id") != "far_0" || at(got, "x_constraint", "validated") != true || at(got, "usage", "input_tokens") != 10.0 {
			t.Errorf("%d %v", status, got)
		}
		history(t, u, "t1")
		_, events := postStream(t, url+"/v1/messages", body+`, "stream": true}`)
		names, arguments, last := "", "", ""
		var used any
		for _, e := range events {
			if name, ok := at(e.data, "content_block", "name").(string); ok {
				names += name + " "
			}
			part, _ := at(e.data, "delta", "partial_json").(string)
			arguments += part
			if reason, ok := at(e.data, "delta", "stop_reason").(string); ok {
				last, used = reason, at(e.data, "usage", "input_tokens")
			}
		}
		if names != "weather now " || arguments != `{"days": 2, "unit": "C"}{}` || last != "tool_use" || used != 10.0 {
			t.Errorf("%q %q %q %v", names, arguments, last, used)
		}
	})
	t.Run("ollama", func(t *testing.T) {
		const body = `{"model": "far", ` + farTools + `, "messages": [{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "now", "arguments": {"a":1}}}]},
			{"role": "tool", "tool_name": "now", "content": "noon"}]`
		u, url := open(t)
		status, _, got := post(t, url+"/api/chat", body+`, "stream": false}`)
		if status != 200 || at(got, "message", "content") != "I look." || at(got, "message", "tool_calls", 0, "function", "arguments", "days") != 2.0 || at(got, "message", "tool_calls", 1, "function", "name") != "now" {
			t.Errorf("%d %v", status, got)
		}
		history(t, u, "call_1")
		var calls []any
		for _, l := range postLines(t, url+"/api/chat", body+`}`) {
			var one map[string]any
			if err := json.Unmarshal([]byte(l), &one); err != nil {
				t.Fatal(err)
			}
			more, _ := at(one, "message", "tool_calls").([]any)
			calls = append(calls, more...)
		}
		if len(calls) != 2 || at(calls[0], "function", "arguments", "unit") != "C" || at(calls[1], "function", "name") != "now" {
			t.Errorf("%v", calls)
		}
	})
	t.Run("responses", func(t *testing.T) {
		const body = `{"model": "far", "input": "Rain?", "tools": [{"type": "function", "name": "weather"}, {"type": "function", "name": "now"}]`
		_, url := open(t)
		status, _, got := post(t, url+"/v1/responses", body+`}`)
		if status != 200 || at(got, "output", 0, "content", 0, "text") != "I look." || at(got, "output", 1, "type") != "function_call" || at(got, "output", 1, "call_id") != "far_0" || at(got, "output", 2, "name") != "now" {
			t.Errorf("%d %v", status, got)
		}
		_, events := postStream(t, url+"/v1/responses", body+`, "stream": true}`)
		last := events[len(events)-1]
		if last.name != "response.completed" || at(last.data, "response", "output", 1, "arguments") != `{"days": 2, "unit": "C"}` || at(last.data, "response", "output", 2, "name") != "now" {
			t.Errorf("%v", last)
		}
	})
}
