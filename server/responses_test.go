package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// responsesBody returns a body of POST /v1/responses with further fields.
func responsesBody(more string) string {
	return `{"model": "tiny", "max_output_tokens": 60, "temperature": 0, ` + more + `}`
}

const spawnNamespace = `{"type": "namespace", "name": "agents", "description": "d", "tools": [{"type": "function", "name": "spawn", "parameters": {"type": "object", "properties": {"n": {"const": 1}}, "required": ["n"], "additionalProperties": false}}]}`

// TestHostedTools checks that tools that only OpenAI's servers can run are left out unless they are required.
func TestHostedTools(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", "tools": [{"type": "web_search", "external_web_access": true}, {"type": "image_generation"}]`))
	warnings := fmt.Sprint(got["warnings"])
	if status != 200 || !strings.Contains(warnings, "web_search") || !strings.Contains(warnings, "image_generation") {
		t.Errorf("%d %v", status, got)
	}
	plain := `{"type": "function", "name": "f"}, {"type": "web_search"}`
	for _, choice := range []string{`{"type": "web_search"}`, `{"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}`} {
		status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", "tools": [`+plain+`], "tool_choice": `+choice))
		if status != 400 || at(got, "error", "code") != "not_offered" {
			t.Errorf("%s: %d %v", choice, status, got)
		}
	}
	for tools, param := range map[string]string{
		`{"type": "teleport"}`:                                                   "tools[0].type",
		`{"type": "namespace", "tools": []}`:                                     "tools[0].name",
		`{"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}`:         "tools[0].tools[0].type",
		`{"type": "function", "name": "f", "async": true}`:                       "tools[0].async",
		`{"type": "function", "name": "f", "allowed_callers": ["programmatic"]}`: "tools[0].allowed_callers",
	} {
		status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", "tools": [`+tools+`]`))
		if status != 400 || at(got, "error", "param") != param {
			t.Errorf("%s: %d %v", tools, status, got)
		}
	}
	status, _, got = post(t, url+"/v1/responses", responsesBody(`"input": "x", "tools": [{"type": "function", "name": "f", "async": false, "allowed_callers": ["direct"], "output_schema": null}]`))
	if status != 200 {
		t.Errorf("values that mean nothing: %d %v", status, got)
	}
}

// TestNamespaces checks that functions of a namespace are ordinary functions, and that answers name the
// namespace.
func TestNamespaces(t *testing.T) {
	_, url := start(t, setup{next: scripted.Random(3)})
	same := `{"type": "function", "name": "spawn", "parameters": {"type": "object", "properties": {"n": {"const": 2}}, "required": ["n"], "additionalProperties": false}}`
	for _, c := range []struct{ tools, choice, namespace, arguments string }{
		{spawnNamespace, `"required"`, "agents", `{"n": 1}`},
		{same + "," + spawnNamespace, `{"type": "function", "name": "spawn", "namespace": "agents"}`, "agents", `{"n": 1}`},
		{same + "," + spawnNamespace, `{"type": "function", "name": "spawn"}`, "", `{"n": 2}`},
	} {
		body := `"input": "x", "parallel_tool_calls": false, "tools": [` + c.tools + `], "tool_choice": ` + c.choice
		_, _, got := post(t, url+"/v1/responses", responsesBody(body))
		call := at(got, "output", 0)
		namespace, _ := at(call, "namespace").(string)
		if at(call, "type") != "function_call" || at(call, "name") != "spawn" || namespace != c.namespace || at(call, "arguments") != c.arguments {
			t.Errorf("%s: %v", c.choice, got)
		}
		_, events := postStream(t, url+"/v1/responses", responsesBody(body+`, "stream": true`))
		for _, e := range events {
			if e.data["type"] == "response.output_item.done" && at(e.data, "item", "name") != "spawn" {
				t.Errorf("%v", e.data)
			}
		}
	}
}

// TestCustomTools checks that a custom tool is called with text.
func TestCustomTools(t *testing.T) {
	_, url := start(t, setup{next: scripted.Random(3)})
	body := `"input": "x", "parallel_tool_calls": false, "tools": [{"type": "custom", "name": "patch", "description": "d", "format": {"type": "grammar", "syntax": "regex", "definition": "a\"[bc]{3}"}}], "tool_choice": {"type": "custom", "name": "patch"}`
	_, _, got := post(t, url+"/v1/responses", responsesBody(body))
	call := at(got, "output", 0)
	input, _ := at(call, "input").(string)
	if at(call, "type") != "custom_tool_call" || at(call, "name") != "patch" || len(input) != 5 || input[:2] != `a"` || at(call, "arguments") != nil || at(call, "call_id") == nil {
		t.Fatalf("%v", got)
	}
	_, events := postStream(t, url+"/v1/responses", responsesBody(body+`, "stream": true`))
	text, done := "", ""
	for _, e := range events {
		switch e.data["type"] {
		case "response.custom_tool_call_input.delta":
			text += e.data["delta"].(string)
		case "response.custom_tool_call_input.done":
			done = e.data["input"].(string)
		case "response.function_call_arguments.delta":
			t.Errorf("%v", e.data)
		}
	}
	if len(text) != 5 || text != done {
		t.Errorf("%q, %q", text, done)
	}
	lark := `"input": "x", "tools": [{"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\""}}, {"type": "function", "name": "f"}]`
	status, _, got := post(t, url+"/v1/responses", responsesBody(lark))
	if status != 200 || !strings.Contains(fmt.Sprint(got["warnings"]), "Lark") {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/responses", responsesBody(lark+`, "tool_choice": {"type": "custom", "name": "patch"}`)); status != 400 {
		t.Errorf("%d %v", status, got)
	}
}

// TestCustomChatTools checks that custom tools are called with text in chat completions too, and that their calls can be
// sent back.
func TestCustomChatTools(t *testing.T) {
	_, url := start(t, setup{next: scripted.Random(3)})
	path := url + "/v1/chat/completions"
	const tools = `"temperature": 0, "parallel_tool_calls": false, "tools": [
		{"type": "function", "function": {"name": "look"}},
		{"type": "custom", "custom": {"name": "free", "format": {"type": "text"}}},
		{"type": "custom", "custom": {"name": "patch", "description": "d", "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a\"[bc]{3}"}}}}]`
	named := chatBody(tools + `, "tool_choice": {"type": "custom", "custom": {"name": "patch"}}`)
	_, _, got := post(t, path, named)
	call := at(got, "choices", 0, "message", "tool_calls", 0)
	input, _ := at(call, "custom", "input").(string)
	if at(call, "type") != "custom" || at(call, "custom", "name") != "patch" || len(input) != 5 || input[:2] != `a"` || at(call, "function") != nil || at(got, "choices", 0, "finish_reason") != "tool_calls" {
		t.Fatalf("%v", got)
	}
	for _, more := range []string{`, "stream": true`, `, "stream": true, "logprobs": true`} {
		text, name := "", ""
		for _, chunk := range chunksOf(t, path, strings.TrimSuffix(named, "}")+more+"}") {
			delta := at(chunk, "choices", 0, "delta", "tool_calls", 0)
			if at(delta, "function") != nil {
				t.Errorf("%v", chunk)
			}
			if piece, ok := at(delta, "custom", "input").(string); ok {
				text += piece
			}
			if begun, ok := at(delta, "custom", "name").(string); ok {
				name += begun
			}
		}
		if text != input || name != "patch" {
			t.Errorf("%s: %q %q, want %q", more, name, text, input)
		}
	}
	one := `{"type": "custom", "custom": {"name": "free"}}`
	for _, choice := range []string{one, `{"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [` + one + `]}}`} {
		_, _, got := post(t, path, chatBody(tools+`, "tool_choice": `+choice))
		if at(got, "choices", 0, "message", "tool_calls", 0, "custom", "name") != "free" {
			t.Errorf("%s: %v", choice, got)
		}
	}
	status, _, got := post(t, path, `{"messages": [{"role": "user", "content": "x"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "patch", "input": "a\"bbb"}}]},
		{"role": "tool", "tool_call_id": "c", "content": "done"}]}`)
	if status != 200 {
		t.Errorf("%v", got)
	}
	if status, _, got := post(t, path, chatBody(`"tools": [
		{"type": "custom", "custom": {"name": "patch", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: \"a\""}}}}]`)); status != 400 ||
		at(got, "error", "param") != "tools[0].custom.format" || !strings.Contains(at(got, "error", "message").(string), "the grammar of the tool patch") {
		t.Errorf("%d %v", status, got)
	}
}

// TestToolsLeftOut checks that a request that can't do without a tool that was left out names it and why.
func TestToolsLeftOut(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	const lark = `{"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\""}}`
	for _, c := range []struct{ tools, choice, param, message string }{
		{lark, `"required"`, "tools[0].format", "the grammar of the tool patch, which is in Lark's syntax"},
		{lark, `{"type": "custom", "name": "patch"}`, "tools[0].format", "the grammar of the tool patch, which is in Lark's syntax"},
		{`{"type": "function", "name": "f"}, ` + lark, `{"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "patch"}]}`, "tools[1].format", "the grammar of the tool patch"},
		{`{"type": "web_search"}`, `"required"`, "tools[0].type", `a tool of type "web_search"`},
		{`{"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "regex"}}`, `"auto"`, "tools[0].format.definition", "is missing"},
		{`{"type": "custom", "name": "patch", "format": {"type": "grammar", "definition": "a"}}`, `"auto"`, "tools[0].format.syntax", "is missing"},
		{`{"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "regex", "definition": "("}}`, `"auto"`, "tools[0].format", "pattern"},
	} {
		status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", "tools": [`+c.tools+`], "tool_choice": `+c.choice))
		message, _ := at(got, "error", "message").(string)
		if status != 400 || at(got, "error", "param") != c.param || !strings.Contains(message, c.message) {
			t.Errorf("%s under %s: %d %v", c.tools, c.choice, status, got)
		}
	}
}

// TestPastItems checks that history is never refused.
func TestPastItems(t *testing.T) {
	_, url := start(t, setup{vocab: familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>"), reply: "fine"})
	tools := `, "tools": [` + spawnNamespace + `, {"type": "function", "name": "look"}]`
	prompt := func(items string) (float64, float64, any) {
		t.Helper()
		status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": [{"role": "user", "content": "x"}, `+items+`, {"role": "user", "content": "y"}]`+tools))
		if status != 200 {
			t.Errorf("%s: %d %v", items, status, got)
			return 0, 0, nil
		}
		return at(got, "usage", "input_tokens").(float64), at(got, "usage", "input_tokens_details", "cached_tokens").(float64), got
	}
	const call = `{"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}`
	for _, c := range []struct{ name, items, like string }{
		{"an output without call_id", call + `, {"type": "function_call_output", "name": "look", "output": "seen"}`, call + `, {"type": "function_call_output", "call_id": "c", "output": "seen"}`},
		{"neither id nor name", call + `, {"type": "function_call_output", "output": "seen"}`, call + `, {"type": "function_call_output", "call_id": "c", "output": "seen"}`},
		{"of a namespace", `{"type": "function_call", "call_id": "c", "name": "spawn", "namespace": "agents", "arguments": "{}"}, {"type": "function_call_output", "name": "spawn", "namespace": "agents", "output": "seen"}`,
			`{"type": "function_call", "call_id": "c", "name": "spawn", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "seen"}`},
		{"no call at all", `{"type": "function_call_output", "name": "look", "output": "seen"}`, `{"role": "user", "content": "look: seen"}`},
		{"custom", `{"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "a"}, {"type": "custom_tool_call_output", "call_id": "c", "output": "seen"}`,
			`{"type": "function_call", "call_id": "c", "name": "patch", "arguments": "{\"input\":\"a\"}"}, {"type": "function_call_output", "call_id": "c", "output": "seen"}`},
		{"unknown", `{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}`,
			`{"role": "assistant", "content": "{\"action\":{\"type\":\"search\",\"query\":\"q\"},\"type\":\"web_search_call\"}"}`},
		{"thoughts", `{"type": "reasoning", "summary": [], "encrypted_content": "zzz"}, {"role": "assistant", "content": "a"}`, `{"role": "assistant", "content": "a"}`},
		{"encrypted", `{"type": "compaction", "encrypted_content": "zzz"}, {"role": "assistant", "content": "a"}`, `{"role": "assistant", "content": "a"}`},
	} {
		want, _, _ := prompt(c.like)
		got, cached, reply := prompt(c.items)
		if got != want || cached != want-1 {
			t.Errorf("%s: %v tokens, %v of them cached; %v are expected: %v", c.name, got, cached, want, reply)
		}
	}
	prompt(`{"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}}, {"type": "local_shell_call_output", "id": "c", "output": "a"}`)
	prompt(`{"type": "program", "code": "x"}, {"type": "mcp_list_tools", "server_label": "s", "tools": []}`)
	if status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": [{"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "later", "parameters": {"type": "object", "properties": {}, "additionalProperties": false}}]}, {"role": "user", "content": "x"}], "tool_choice": "required"`)); status != 200 || at(got, "output", 0, "name") != "later" {
		t.Errorf("%d %v", status, got)
	}
}

// TestToolsWithoutParameters checks functions without parameters; null means that a keyword is absent.
func TestToolsWithoutParameters(t *testing.T) {
	_, url := start(t, setup{next: scripted.Random(3)})
	for _, parameters := range []string{``, `, "parameters": null`} {
		_, _, got := post(t, url+"/v1/chat/completions", chatBody(`"tool_choice": "required", "parallel_tool_calls": false, "tools": [{"type": "function", "function": {"name": "ping"`+parameters+`}}]`))
		if arguments := at(got, "choices", 0, "message", "tool_calls", 0, "function", "arguments"); arguments != "{}" {
			t.Errorf("%q: %v", parameters, got)
		}
	}
	for _, schema := range []string{
		`{"type": "object", "properties": null, "required": null, "additionalProperties": false}`,
		`{"required": null, "type": "object", "additionalProperties": false}`,
	} {
		status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, `, "tool_choice": {"type": "tool", "name": "ping"}, "tools": [{"name": "ping", "input_schema": `+schema+`}]`))
		if input, ok := at(got, "content", 0, "input").(map[string]any); status != 200 || !ok || len(input) > 0 {
			t.Errorf("%s: %d %v", schema, status, got)
		}
	}
	for _, schema := range []string{`{"type": "object", "properties": {"a": {"required": null}}}`, `{"type": "object", "maxProperties": null}`} {
		if status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, `, "tools": [{"name": "ping", "input_schema": `+schema+`}]`)); status != 400 {
			t.Errorf("%s: %d %v", schema, status, got)
		}
	}
}
