package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// bundled returns a vocabulary with one of the chat templates of llama.cpp.
func bundled(t *testing.T, name string, control ...string) *vocab.Vocab {
	t.Helper()
	source, ok := shared.Templates(t)[name]
	if !ok {
		t.Fatalf("there is no template %q", name)
	}
	return templated(t, source, control...)
}

// TestTaggedArguments checks arguments that the model writes one by one against schemas that don't name them all, or that say more of
// strings than their type.
func TestTaggedArguments(t *testing.T) {
	v := bundled(t, "Qwen3-Coder")
	for _, c := range []struct {
		name, schema string
		written      []string // names and values
		want         string
		checked      string // a keyword that masks don't enforce
	}{
		{"required, but not named", `{"required": ["k"], "additionalProperties": true}`, []string{"k", "v"}, `{"k": "v"}`, "additionalProperties"},
		{"required, of a schema for others", `{"required": ["k"], "additionalProperties": {"type": "integer"}}`, []string{"k", "5"}, `{"k": 5}`, "additionalProperties"},
		{"others", `{"additionalProperties": {"type": "string"}}`, nil, `{}`, "additionalProperties"},
		{"about the object", `{"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`, []string{"a", "5"}, `{"a": 5}`, "anyOf"},
		{"a string that looks like another type", `{"properties": {"x": {"type": ["string", "integer"]}}}`, []string{"x", "None"}, `{"x": "None"}`, ""},
		{"a string that looks like a boolean", `{"properties": {"x": {"type": ["string", "integer"]}}}`, []string{"x", "true"}, `{"x": "true"}`, ""},
		{"a number or a string", `{"properties": {"x": {"type": ["string", "integer"]}}}`, []string{"x", "12"}, `{"x": 12}`, ""},
		{"a fraction for a string or an integer", `{"properties": {"x": {"type": ["string", "integer"]}}}`, []string{"x", "1.5"}, `{"x": "1.5"}`, ""},
		{"null or a string", `{"properties": {"x": {"type": ["string", "null"]}}}`, []string{"x", "null"}, `{"x": null}`, ""},
		{"a union of constants", `{"properties": {"x": {"anyOf": [{"const": "metric"}, {"const": "imperial"}]}}}`, []string{"x", "metres"}, `{"x": "metric"}`, ""},
		{"an empty constant", `{"properties": {"x": {"enum": ["", "asc", "desc"]}}}`, []string{"x", ""}, `{"x": ""}`, ""},
		{"a constant beside an empty one", `{"properties": {"x": {"enum": ["", "asc", "desc"]}}}`, []string{"x", "desc"}, `{"x": "desc"}`, ""},
		{"only constants", `{"properties": {"x": {"enum": ["", "asc"]}}}`, []string{"x", "ascending"}, `{"x": "asc"}`, ""},
		{"constants of several types", `{"properties": {"x": {"enum": ["auto", "", 3, null, true]}}}`, []string{"x", "3"}, `{"x": 3}`, ""},
		{"a named constant among others", `{"properties": {"x": {"enum": ["auto", 3, null, true]}}}`, []string{"x", "True"}, `{"x": true}`, ""},
		{"a constant or null", `{"properties": {"x": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}}}`, []string{"x", "None"}, `{"x": null}`, ""},
		{"a constant or a number", `{"properties": {"x": {"anyOf": [{"const": "a"}, {"type": "integer"}]}}}`, []string{"x", "7"}, `{"x": 7}`, ""},
		{"a pattern", `{"properties": {"x": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}}}`, []string{"x", "2024-055"}, `{"x": "2024-05"}`, ""},
		{"a length", `{"properties": {"x": {"type": "string", "maxLength": 3}}}`, []string{"x", "abcdef"}, `{"x": "abc"}`, ""},
		{"shorter than its length", `{"properties": {"x": {"type": "string", "maxLength": 10}}}`, []string{"x", "ab"}, `{"x": "ab"}`, ""},
		{"no text", `{"properties": {"x": {"type": "string", "maxLength": 3}}}`, []string{"x", ""}, `{"x": ""}`, ""},
		{"a text that ends as its end begins", `{"properties": {"x": {"type": "string", "pattern": "^[a-z\n<]*$"}}}`, []string{"x", "a\n<\n"}, `{"x": "a\n<\n"}`, ""},
		{"a reference to another argument", `{"properties": {"a": {"type": "array", "items": {"type": "integer", "maximum": 9}}, "b": {"$ref": "#/properties/a"}, "c": {"type": "object", "properties": {"d": {"$ref": "#/properties/a"}}}}}`,
			[]string{"b", "[1, 2]"}, `{"b": [1, 2]}`, ""},
	} {
		reply := "<tool_call>\n<function=f>\n"
		for i := 0; i < len(c.written); i += 2 {
			reply += "<parameter=" + c.written[i] + ">\n" + c.written[i+1] + "\n</parameter>\n"
		}
		url := serve(t, v, scripted.SayText(v, reply+"</function>\n</tool_call>"))
		parameters := strings.Replace(c.schema, "{", `{"type": "object", `, 1)
		body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300,
			"tools": [{"type": "function", "function": {"name": "f", "parameters": ` + parameters + `}}]}`
		_, _, got := post(t, url+"/v1/chat/completions", body)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if list := callsOf(calls); len(list) != 1 || list[0][1] != c.want || at(got, "x_constraint", "validated") != true {
			t.Errorf("%s: %v", c.name, got)
		}
		if list := readCalls(t, url, body); len(list) != 1 || list[0][1] != c.want {
			t.Errorf("%s, streamed: %v", c.name, list)
		}
		checked, _ := json.Marshal(at(got, "x_constraint", "checked"))
		if c.checked != "" && !strings.Contains(string(checked), fmt.Sprintf("%q", c.checked)) {
			t.Errorf("%s: checked afterwards: %s", c.name, checked)
		}
	}
}

// TestTextLikeCalls checks text that begins like a call in the model's own form where only the name of a tool tells them apart.
func TestTextLikeCalls(t *testing.T) {
	for _, c := range []struct {
		template, reply string
		calls           int
	}{
		{"meta-llama-Llama-3.1-8B-Instruct", `{"name": "Ann", "age": 3}`, 0},
		{"meta-llama-Llama-3.1-8B-Instruct", `{"name": "weather", "parameters": {"days": 3, "unit": "C"}}`, 1},
		{"meta-llama-Llama-3.2-3B-Instruct", `{"name": "weather report", "age": 3}`, 0},
		{"CohereForAI-c4ai-command-r-plus-tool_use", "A Call to Action: buy now!", 0},
		{"CohereForAI-c4ai-command-r-plus-tool_use", "Yes.\nAction: ```json\n[\n    {\n        \"tool_name\": \"weather\",\n        \"parameters\": {\n            \"days\": 3,\n            \"unit\": \"C\"\n        }\n    }\n]```", 1},
	} {
		url := serve(t, bundled(t, c.template, "<|python_tag|>"), scripted.SayText(bundled(t, c.template, "<|python_tag|>"), c.reply))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, `+weatherTools+`}`)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if len(calls) != c.calls || c.calls == 0 && at(got, "choices", 0, "message", "content") != c.reply {
			t.Errorf("%s: %s: %v", c.template, c.reply, got)
		}
	}
}

// TestExactRepeats checks that calls whose large numbers differ are no repetitions, and that equal numbers in other spellings are.
func TestExactRepeats(t *testing.T) {
	v := familyVocab(t, "qwen25")
	for written, want := range map[string]int{
		`9007199254740993 9007199254740992`: 2,
		`9007199254740993 9007199254740993`: 1,
		`1 1.0`:                             1,
		`-0 0`:                              1,
	} {
		var reply string
		for _, x := range strings.Fields(written) {
			reply += "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": " + x + "}}\n</tool_call>\n"
		}
		url := serve(t, v, scripted.SayText(v, strings.TrimSpace(reply)))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300,
			"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}}}}]}`)
		if calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any); len(calls) != want {
			t.Errorf("%s: %d calls: %v", written, len(calls), got)
		}
	}
}

// TestBlanksBeforeCalls checks that blanks before a call are no content, as a template may write them there itself, and that they are
// elsewhere.
func TestBlanksBeforeCalls(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const call = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"days\": 3, \"unit\": \"C\"}}\n</tool_call>"
	for reply, want := range map[string]any{
		" \n\n" + call:         nil,
		" \n\nI look. " + call: " \n\nI look. ",
		" \n\nHello":           " \n\nHello",
		" \n":                  " \n",
	} {
		url := serve(t, v, scripted.SayText(v, reply))
		body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, ` + weatherTools
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		if content := at(got, "choices", 0, "message", "content"); content != want {
			t.Errorf("%q: content %q, want %q", reply, content, want)
		}
		streamed := ""
		for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
			text, _ := at(chunk, "choices", 0, "delta", "content").(string)
			streamed += text
		}
		if text, _ := want.(string); streamed != text {
			t.Errorf("%q: streamed %q, want %q", reply, streamed, want)
		}
	}
}

// TestCallsAfterThoughts checks that the white space between reasoning and a call that must come is the template's.
func TestCallsAfterThoughts(t *testing.T) {
	for template, gap := range map[string]string{"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "\n", "Qwen3.5-4B": "\n\n", "MiniMax-M2": "\n\n\n"} {
		v := bundled(t, template)
		last := ""
		say := scripted.SayText(v, "Hm.</think>")
		url := serve(t, v, func(history []int32, logits []float32) {
			last = named(v, history)
			say(history, logits)
		})
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "reasoning": true, "tool_choice": "required", "parallel_tool_calls": false, `+weatherTools+`}`)
		_, after, ok := strings.Cut(last[strings.LastIndex(last, "Hm."):], "</think>")
		if blank := after[:len(after)-len(strings.TrimLeft(after, "\n"))]; !ok || blank != gap {
			t.Errorf("%s: %q after reasoning, want %q: %v", template, after, gap, got)
		}
	}
}
