package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/vocab"
)

// aboutTools returns a model that says one text to a prompt that describes tools, and another one to others.
func aboutTools(v *vocab.Vocab, with, without string) scripted.Func {
	called, prose := sayAnyhow(v, with, 1), sayAnyhow(v, without, 1)
	return func(history []int32, logits []float32) {
		if strings.Contains(named(v, history), "# Tools") {
			called(history, logits)
			return
		}
		prose(history, logits)
	}
}

// cityTools are the tools of these tests.
const cityTools = `"tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}},
	{"type": "function", "function": {"name": "now"}}]`

// afterResult is a conversation in which the tool weather has been called and has answered.
const afterResult = `"messages": [{"role": "user", "content": "How is the weather?"},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{\"days\":3,\"city\":\"Bergen\"}"}}]},
	{"role": "tool", "tool_call_id": "a", "content": "rain"}]`

// TestRepeatedCall checks that a model that answers a tool's result with the call that it has just made, in a form that is not its
// own, is asked for an answer instead, in answers and in streams; that other calls, and the same one where that is wanted, stay
// possible; and that tokens and counts are those of the answer.
func TestRepeatedCall(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const (
		prose  = "It rains in Bergen."
		same   = `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
		others = `{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}`
		now    = `{"name": "now", "arguments": {}}`
	)
	braced := "{" + same + "}"
	again := strings.Replace(afterResult, `{"role": "tool"`, `{"role": "tool", "tool_call_id": "a", "content": "rain"}, {"role": "user", "content": "And now?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}, {"role": "tool"`, 1)
	again = strings.Replace(again, `"tool_call_id": "a", "content": "rain"}]`, `"tool_call_id": "b", "content": "noon"}]`, 1)
	for _, c := range []struct {
		messages, text, fields string
		called                 string // the tool; "": an answer
		repeated               bool
	}{
		{afterResult, same, ``, "", true},
		{afterResult, braced, ``, "", true},
		{afterResult, "```json\n" + same + "\n```", ``, "", true},
		{afterResult, "[" + same + "]", ``, "", true},
		{afterResult, `weather(city="Bergen", days=3)`, ``, "", true},
		{afterResult, "<tool_call>\n" + same + "\n</tool_call>", ``, "weather", false}, // its own form
		{afterResult, same, `, "repeat_calls": true`, "weather", false},
		{afterResult, same, `, "tool_choice": "required"`, "weather", false},
		{afterResult, others, ``, "weather", false},
		{afterResult, now, ``, "now", false},
		{again, same, ``, "weather", false}, // of an earlier turn
		{again, now, ``, "", true},
		{afterResult, same, `, "tool_choice": "none"`, "", false}, // a prompt without tools
	} {
		url := serve(t, v, aboutTools(v, c.text, prose))
		body := fmt.Sprintf(`{%s, "temperature": 0, "max_tokens": 200, "call_confidence": 0, "logprobs": true, %s%s`, c.messages, cityTools, c.fields)
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		content, _ := at(got, "choices", 0, "message", "content").(string)
		name, _ := at(got, "choices", 0, "message", "tool_calls", 0, "function", "name").(string)
		repeated, _ := at(got, "x_constraint", "call_repeated").(bool)
		if want := prose; name != c.called || c.called == "" && content != want || repeated != c.repeated {
			t.Errorf("%q%s: call %q, content %q, repeated %v: %v", c.text, c.fields, name, content, repeated, got)
		}
		if c.called == "" {
			text := ""
			list, _ := at(got, "choices", 0, "logprobs", "content").([]any)
			for _, token := range list {
				text += at(token, "token").(string)
			}
			if text != prose {
				t.Errorf("%q%s: the tokens are those of %q", c.text, c.fields, text)
			}
		}
		streamed, called := streamedCall(t, url, body)
		if called != (c.called != "") || c.called == "" && streamed != prose {
			t.Errorf("%q%s: stream %q, calls %v", c.text, c.fields, streamed, called)
		}
		_, _, count := post(t, url+"/v1/chat/completions/input_tokens", body+`}`)
		if n := at(count, "input_tokens"); n != nil && n != at(got, "usage", "prompt_tokens") {
			t.Errorf("%q%s: %v tokens counted, %v reported", c.text, c.fields, n, at(got, "usage", "prompt_tokens"))
		}
	}
}

// TestRepeatedCallBesideOthers checks that of several texts only those are replaced that repeat a call, in every dialect.
func TestRepeatedCallBesideOthers(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const prose, same = "It rains in Bergen.", `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
	url := serve(t, v, aboutTools(v, same, prose))
	_, _, got := post(t, url+"/v1/chat/completions", `{`+afterResult+`, "n": 3, "seed": 4, "max_tokens": 200, "call_confidence": 0, `+cityTools+`}`)
	for i := range 3 {
		if content := at(got, "choices", i, "message", "content"); content != prose {
			t.Errorf("choice %d: %v", i, content)
		}
	}
	parameters := `{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}`
	for path, x := range map[string]struct {
		body string
		at   []any
	}{
		"/v1/messages": {`{"model": "m", "max_tokens": 200, "temperature": 0, "messages": [{"role": "user", "content": "How is the weather?"},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Bergen", "days": 3}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "rain"}]}], "tools": [{"name": "weather", "input_schema": ` + parameters + `}]}`, []any{"content", 0, "text"}},
		"/api/chat": {`{"model": "m", "stream": false, "options": {"temperature": 0, "num_predict": 200}, "messages": [{"role": "user", "content": "How is the weather?"},
			{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Bergen", "days": 3}}}]},
			{"role": "tool", "tool_name": "weather", "content": "rain"}], "tools": [{"type": "function", "function": {"name": "weather", "parameters": ` + parameters + `}}]}`, []any{"message", "content"}},
		"/v1/responses": {`{"max_output_tokens": 200, "temperature": 0, "input": [{"role": "user", "content": "How is the weather?"},
			{"type": "function_call", "call_id": "a", "name": "weather", "arguments": "{\"city\":\"Bergen\",\"days\":3}"},
			{"type": "function_call_output", "call_id": "a", "output": "rain"}], "tools": [{"type": "function", "name": "weather", "strict": false, "parameters": ` + parameters + `}]}`, []any{"output", 0, "content", 0, "text"}},
	} {
		status, _, got := post(t, url+path, x.body)
		if text := at(got, x.at...); status != 200 || text != prose {
			t.Errorf("%s: %d, %v: %v", path, status, text, got)
		}
	}
}

// TestCallsUnderNone checks that a model that has seen calls in the conversation doesn't begin its answer with one, as text, where
// no call is allowed; that it may write other JSON; and that a call further on in the text is text.
func TestCallsUnderNone(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const same = `{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}`
	for text, want := range map[string]string{
		"{" + same + "}":                     "",
		same:                                 "",
		"```json\n" + same + "\n```":         "",
		`{"rain": true}`:                     `{"rain": true}`,
		`{"name": "Oslo", "arguments": [1]}`: `{"name": "Oslo", "arguments": [1]}`,
		"It would be\n" + same:               "It would be\n" + same,
	} {
		url := serve(t, v, sayAnyhow(v, text, 1))
		body := `{` + afterResult + `, "temperature": 0, "max_tokens": 90, "tool_choice": "none", ` + cityTools
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		content, _ := at(got, "choices", 0, "message", "content").(string)
		if want == "" && (content == "" || strings.ContainsAny(content[:1], "{[`<( ")) || want != "" && content != want || at(got, "choices", 0, "message", "tool_calls") != nil {
			t.Errorf("%q: %q: %v", text, content, got)
		}
		if streamed, called := streamedCall(t, url, body); called || streamed != content {
			t.Errorf("%q: stream %q, calls %v, not %q", text, streamed, called, content)
		}
		// Without calls in the conversation, the text is as the model wrote it.
		_, _, got = post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 100, "tool_choice": "none", `+cityTools+`}`)
		if content := at(got, "choices", 0, "message", "content"); content != text {
			t.Errorf("%q: %q", text, content)
		}
	}
}

// TestCallsBesideFormat checks that, under tool_choice auto, a model may write a call as JSON where the answer has a format: told apart
// by what follows, also where a document could hold the same members; and that it writes the document instead where it wasn't sure of the
// call, or has made it before.
func TestCallsBesideFormat(t *testing.T) {
	v := familyVocab(t, "qwen25")
	format := func(schema string) string {
		return `"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": ` + schema + `}}`
	}
	closed := format(`{"type": "object", "properties": {"name": {"type": "string"}, "sky": {"type": "string"}}, "required": ["name", "sky"], "additionalProperties": false}`)
	open := format(`{"type": "object", "properties": {"sky": {"type": "string"}}, "additionalProperties": true}`)
	alike := format(`{"$id": "a:b", "type": "object", "properties": {"name": {"type": "string"}, "arguments": {"$ref": "#/$defs/x"}}, "required": ["name", "arguments"], "additionalProperties": false, "$defs": {"x": {"type": "object"}}}`)
	const (
		anyObject = `"response_format": {"type": "json_object"}`
		call      = `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
		asked     = `"messages": [{"role": "user", "content": "How is the weather?"}]`
		unlisted  = `{"name": "forecast", "arguments": {"city": "Bergen"}}`
		cityAlone = `{"name": "weather", "sky": "grey"}`
	)
	for _, c := range []struct {
		messages, format, text, without string // without: what the model says to a prompt without tools
		called                          bool
	}{
		{asked, closed, call, "", true},
		{asked, closed, strings.Replace(call, "arguments", "parameters", 1), "", true},
		{asked, closed, "<tool_call>\n" + call + "\n</tool_call>", "", true},
		{asked, closed, `{"name": "now", "arguments": {}}`, "", true},
		{asked, closed, cityAlone, "", false},
		{asked, closed, `{"name": "Bergen", "sky": "grey"}`, "", false},
		{asked, anyObject, call, "", true},
		{asked, anyObject, unlisted, "", false},
		{asked, anyObject, cityAlone, "", false},
		{asked, anyObject, `{"rain": [1, {"name": "weather", "arguments": {}}]}`, "", false},
		{asked, open, call, "", true},
		{asked, open, `{"sky": "grey", "name": "x"}`, "", false},
		{asked, alike, call, "", true},
		{asked, alike, unlisted, "", false},
		{asked, `"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array", "items": {"type": "integer"}}}}`, call, "", true},
		{afterResult, closed, call, `{"name": "Bergen", "sky": "grey"}`, false},
		{afterResult, anyObject, call, `{"sky": "grey"}`, false},
		{afterResult, closed, "<tool_call>\n" + call + "\n</tool_call>", `{"name": "Bergen", "sky": "grey"}`, false},
		{afterResult, closed, `{"name": "now", "arguments": {}}`, "", true},
	} {
		url := serve(t, v, aboutTools(v, c.text, c.without))
		body := fmt.Sprintf(`{%s, %s, "temperature": 0, "max_tokens": 200, "call_confidence": 0, %s`, c.messages, c.format, cityTools)
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		content, _ := at(got, "choices", 0, "message", "content").(string)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		want := c.text
		if c.without != "" {
			want = c.without
		}
		kind, repeated := at(got, "x_constraint", "type"), at(got, "x_constraint", "call_repeated") == true
		if (len(calls) == 1) != c.called || !c.called && content != want || c.called && content != "" || (kind == "tools") != c.called || repeated != (c.without != "") {
			t.Errorf("%s, %s: calls %v, content %q, %v, repeated %v: %v", c.format, c.text, calls, content, kind, repeated, got["error"])
		}
		if at(got, "x_constraint", "validated") != true {
			t.Errorf("%s, %s: %v", c.format, c.text, at(got, "x_constraint"))
		}
		if streamed, called := streamedCall(t, url, body); called != c.called || streamed != content {
			t.Errorf("%s, %s: stream %q, calls %v", c.format, c.text, streamed, called)
		}
	}
	// What the model wasn't sure of is no call, and the document is written instead.
	for sure, called := range map[float64]bool{0.95: true, 0.6: false} {
		unsure, document := sayUnsure(v, "assistant\n", call, `"arguments": {`, sure), sayAnyhow(v, `{"name": "Bergen", "sky": "grey"}`, 1)
		url := serve(t, v, opined(v, func(history []int32, logits []float32) {
			if strings.Contains(named(v, history), "# Tools") {
				unsure(history, logits)
			} else {
				document(history, logits)
			}
		}, 0.86))
		body := `{` + asked + `, ` + closed + `, "temperature": 0, "max_tokens": 200, ` + cityTools
		_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		content, _ := at(got, "choices", 0, "message", "content").(string)
		if confidence, _ := at(got, "x_constraint", "call_confidence").(float64); (len(calls) == 1) != called || !called && content != `{"name": "Bergen", "sky": "grey"}` || confidence == 0 {
			t.Errorf("%g: %v", sure, got)
		}
		if streamed, some := streamedCall(t, url, body); some != called || streamed != content {
			t.Errorf("%g: stream %q, %v", sure, streamed, some)
		}
	}
}
