package chat

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/chat/jinja"
)

// fixedTime is the time with which the expected results were generated.
func fixedTime() time.Time { return time.Date(2025, 3, 9, 14, 5, 6, 0, time.UTC) }

// testCase is a conversation in the format of OpenAI's API, with the output of
// Python's Jinja for the same template.
type testCase struct {
	Name  string
	Input struct {
		Messages            []map[string]json.RawMessage
		Tools               []json.RawMessage
		AddGenerationPrompt bool   `json:"add_generation_prompt"`
		BOS                 string `json:"bos_token"`
		EOS                 string `json:"eos_token"`
		Extra               map[string]any
	}
	Want  *string
	Error string
}

// message converts a message of a test case.
func message(t *testing.T, from map[string]json.RawMessage) Message {
	t.Helper()
	var m Message
	read := func(key string, to any) {
		if err := json.Unmarshal(from[key], to); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	for key, raw := range from {
		switch key {
		case "role":
			read(key, &m.Role)
		case "content":
			if raw[0] == '"' {
				read(key, &m.Content)
				continue
			}
			if string(raw) != "null" {
				m.Extra = map[string]any{"content": raw}
			}
		case "name":
			read(key, &m.Name)
		case "tool_call_id":
			read(key, &m.ToolCallID)
		case "thinking", "reasoning_content":
			read(key, &m.Reasoning)
		case "tool_calls":
			var calls []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			}
			read(key, &calls)
			for _, c := range calls {
				m.ToolCalls = append(m.ToolCalls, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
			}
		default:
			m.Extra = map[string]any{key: raw}
		}
	}
	return m
}

// TestFamilies renders conversations with templates like those of well-known
// model families.
func TestFamilies(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jinja")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d templates (%v)", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(file, ".jinja") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []testCase
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				template, err := New(string(source), Options{BOS: c.Input.BOS, EOS: c.Input.EOS, Now: fixedTime})
				if err != nil {
					t.Fatal(err)
				}
				in := Input{Tools: c.Input.Tools, AddGenerationPrompt: c.Input.AddGenerationPrompt, Extra: c.Input.Extra}
				for _, m := range c.Input.Messages {
					in.Messages = append(in.Messages, message(t, m))
				}
				got, err := template.Render(in)
				switch {
				case c.Want == nil:
					if refusal, ok := Refusal(err); !ok || refusal != c.Error {
						t.Errorf("got %q %v, want the template to refuse: %s", got, err, c.Error)
					}
				case err != nil:
					t.Error(err)
				case got != *c.Want:
					t.Errorf("got\n%s\nwant\n%s", got, *c.Want)
				}
			})
		}
	}
}

func render(t *testing.T, source string, in Input) string {
	t.Helper()
	template, err := New(source, Options{BOS: "<s>", EOS: "</s>", Now: fixedTime})
	if err != nil {
		t.Fatal(err)
	}
	text, err := template.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFallback(t *testing.T) {
	template, err := New("", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !template.Fallback() || template.Source() != ChatML {
		t.Error("a model without a template gets ChatML, and is told so")
	}
	if caps := template.Caps(); caps != (Caps{true, true, true, true}) {
		t.Errorf("ChatML: %+v", caps)
	}
	call := Message{Role: "assistant", ToolCalls: []ToolCall{{ID: "1", Name: "now", Arguments: json.RawMessage(`{"utc":true}`)}}}
	tool := json.RawMessage(`{"type":"function","function":{"name":"now"}}`)
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{Messages: []Message{{Role: "user", Content: "hi"}}, AddGenerationPrompt: true},
			"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"},
		{Input{Messages: []Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}, call, {Role: "tool", Content: "noon"}}, Tools: []json.RawMessage{tool}},
			"<|im_start|>system\ns\n\nTo call a function, answer with <tool_call>{\"name\": …, \"arguments\": {…}}</tool_call>. Functions:\n" +
				`{"type": "function", "function": {"name": "now"}}` + "<|im_end|>\n<|im_start|>user\nu<|im_end|>\n" +
				"<|im_start|>assistant\n\n<tool_call>{\"name\": \"now\", \"arguments\": {\"utc\": true}}</tool_call><|im_end|>\n<|im_start|>tool\nnoon<|im_end|>\n"},
	} {
		got, err := template.Render(c.in)
		if err != nil || got != c.want {
			t.Errorf("got %q %v, want %q", got, err, c.want)
		}
	}
	if other, err := New("{{ messages }}", Options{}); err != nil || other.Fallback() {
		t.Errorf("a template of the model's own is no fallback (%v)", err)
	}
}

// plainTemplate writes only roles and contents.
const plainTemplate = `{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}`

func TestAdaptation(t *testing.T) {
	noSystem := `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}[{{ m.role }}:{{ m.content }}]{% endfor %}`
	silent := `{% for m in messages if m.role != 'system' %}[{{ m.role }}:{{ m.content }}]{% endfor %}`
	developer := `{% for m in messages %}{% if m.role == 'developer' %}D{% endif %}[{{ m.role }}:{{ m.content }}]{% endfor %}`
	sys, user := Message{Role: "system", Content: "s"}, Message{Role: "user", Content: "u"}
	for _, c := range []struct {
		name, template, want string
		messages             []Message
		caps                 Caps
	}{
		{"system kept", plainTemplate, "[system:s][user:u]", []Message{sys, user}, Caps{System: true}},
		{"system refused", noSystem, "[user:s\n\nu]", []Message{sys, user}, Caps{}},
		{"system dropped", silent, "[user:s\n\nu]", []Message{sys, user}, Caps{}},
		{"later system", noSystem, "[user:u][assistant:a][user:s\n\ns\n\nu]", []Message{user, {Role: "assistant", Content: "a"}, sys, sys, user}, Caps{}},
		{"system alone", noSystem, "[user:s]", []Message{sys}, Caps{}},
		{"developer unknown", plainTemplate, "[system:d][user:u]", []Message{{Role: "developer", Content: "d"}, user}, Caps{System: true}},
		{"developer known", developer, "D[developer:d]", []Message{{Role: "developer", Content: "d"}}, Caps{System: true}},
		{"parts of text", plainTemplate, "[user:a\nb]", []Message{{Role: "user", Parts: []Part{{"text", "a"}, {"text", "b"}}}}, Caps{System: true}},
		{"parts", plainTemplate, "[user:[{'type': 'text', 'text': 'a'}, {'type': 'image'}]]", []Message{{Role: "user", Parts: []Part{{"text", "a"}, {"image", ""}}}}, Caps{System: true}},
		{"further keys", "{{ messages[0].x }}{{ messages[0].content }}", "1new", []Message{{Role: "user", Content: "u", Extra: map[string]any{"x": 1, "content": "new"}}}, Caps{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := render(t, c.template, Input{Messages: c.messages}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if template, _ := New(c.template, Options{}); c.name != "further keys" && template.Caps().System != c.caps.System || template.Caps().Tools != c.caps.Tools {
				t.Errorf("got %+v, want %+v", template.Caps(), c.caps)
			}
		})
	}
}

// TestToolCallForms renders a tool call with templates that expect its parts in
// different forms.
func TestToolCallForms(t *testing.T) {
	call := Message{Role: "assistant", ToolCalls: []ToolCall{{Name: "f", Arguments: json.RawMessage(`{"b":1, "a":2}`)}}}
	for template, want := range map[string]string{
		`{{ messages[0].tool_calls[0].function.arguments | tojson }}`:                                           `{"b": 1, "a": 2}`,
		`{{ 'args ' + messages[0].tool_calls[0].function.arguments }}`:                                          `args {"b":1, "a":2}`,
		`{{ messages[0].content is none }}`:                                                                     "True",
		`{{ 'x' + messages[0].content + (messages[-1].tool_calls or [])|map(attribute='function.name')|join }}`: "xf",
		`{{ 'x' + messages[0].content + messages[0].tool_calls[0].function.arguments[:3] }}`:                    `x{"b`,
		`{{ messages[0].tool_calls[0].id is defined }}`:                                                         "False",
	} {
		if got := render(t, template, Input{Messages: []Message{call}}); got != want {
			t.Errorf("%s gives %q, want %q", template, got, want)
		}
	}
}

// TestToolsSpeltOut renders a conversation with tools with templates that don't
// support them.
func TestToolsSpeltOut(t *testing.T) {
	alternating := `{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('take turns') }}{% endif %}[{{ m.role }}:{{ m.content }}]{% endfor %}`
	messages := []Message{
		{Role: "user", Content: "u"},
		{Role: "assistant", Content: "Let me see.", ToolCalls: []ToolCall{{ID: "1", Name: "f", Arguments: json.RawMessage(`{"x": [1, 2]}`)}, {ID: "2", Name: "g"}}},
		{Role: "tool", ToolCallID: "1", Name: "f", Content: "one"},
		{Role: "tool", ToolCallID: "2", Content: "two"},
		{Role: "assistant", Content: "done"},
	}
	want := `[user:u][assistant:Let me see.` + "\n" + "<tool_call>\n" + `{"name": "f", "arguments": {"x": [1, 2]}}` + "\n</tool_call>\n<tool_call>\n" + `{"name": "g", "arguments": {}}` + "\n</tool_call>]"
	if got := render(t, alternating, Input{Messages: messages}); got != want+`[user:{"tool_result":{"name":"f","id":"1","content":"one"}}`+"\n"+`{"tool_result":{"id":"2","content":"two"}}][assistant:done]` {
		t.Errorf("got %s", got)
	}
	if got := render(t, plainTemplate, Input{Messages: messages}); got != want+"[tool:one][tool:two][assistant:done]" {
		t.Errorf("got %s", got)
	}
	template, err := New(alternating, Options{})
	if err != nil || template.Caps() != (Caps{}) {
		t.Errorf("%+v %v", template.Caps(), err)
	}
	// A template that would write missing content as "None" gets "".
	printing := `{% for m in messages %}[{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}<{{ c.function.name }}>{% endfor %}]{% endfor %}`
	messages[1].Content = ""
	if got := render(t, printing, Input{Messages: messages[:2]}); got != "[user:u][assistant:<f><g>]" {
		t.Errorf("got %s", got)
	}
}

func TestErrors(t *testing.T) {
	_, err := New("{{ a }}\n  {% if %}", Options{})
	var e *jinja.Error
	if !errors.As(err, &e) || e.Line != 2 || e.Column != 9 || !strings.HasPrefix(err.Error(), "chat: the model's template: jinja: 2:9: ") {
		t.Errorf("a broken template: %v", err)
	}
	template, err := New("{{ raise_exception('only ' ~ messages|length) }}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = template.Render(Input{Messages: []Message{{Role: "user"}}})
	if message, ok := Refusal(err); !ok || message != "only 1" {
		t.Errorf("refusal: %q %v %v", message, ok, err)
	}
	if _, ok := Refusal(errors.New("x")); ok {
		t.Error("any error is a refusal")
	}
	for want, in := range map[string]Input{
		"chat: tool 0: ":                      {Tools: []json.RawMessage{json.RawMessage(`{"a":`)}},
		`chat: message 0: arguments of "f": `: {Messages: []Message{{ToolCalls: []ToolCall{{Name: "f", Arguments: json.RawMessage(`{`)}}}}},
		`chat: variable "x": `:                {Extra: map[string]any{"x": func() {}}},
		`chat: message 0: key "x": `:          {Messages: []Message{{Extra: map[string]any{"x": make(chan int)}}}},
		"chat: jinja: 1:":                     {Messages: []Message{{Role: "user"}}},
	} {
		if _, err := template.Render(in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLimits checks that a template that never ends is stopped, both when it is
// loaded and when it is used.
func TestLimits(t *testing.T) {
	template, err := New("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", Options{Limits: jinja.Limits{Steps: 100_000}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = template.Render(Input{Messages: []Message{{Role: "user"}}})
	var e *jinja.Error
	if !errors.As(err, &e) || e.Kind != jinja.Limit {
		t.Errorf("got %v", err)
	}
}

func TestRenderConcurrently(t *testing.T) {
	template, err := New(ChatML, Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Messages: []Message{{Role: "user", Content: "u"}}, AddGenerationPrompt: true}
	want, err := template.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	for range 8 {
		go func() {
			var got string
			for range 20 {
				got, _ = template.Render(in)
			}
			done <- got
		}()
	}
	for range 8 {
		if got := <-done; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	source, err := os.ReadFile("testdata/qwen3.jinja")
	if err != nil {
		b.Fatal(err)
	}
	template, err := New(string(source), Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := Input{AddGenerationPrompt: true}
	for range 10 {
		in.Messages = append(in.Messages, Message{Role: "user", Content: "What is it?"}, Message{Role: "assistant", Content: "It is this."})
	}
	for b.Loop() {
		if _, err := template.Render(in); err != nil {
			b.Fatal(err)
		}
	}
}

// Llama's templates would otherwise show a constant date.
func TestDateString(t *testing.T) {
	const source = `{% if not date_string is defined %}{% set date_string = "26 Jul 2024" %}{% endif %}{{ date_string }}: {{ messages[0].content }}`
	now := func() time.Time { return time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC) }
	tmpl, err := New(source, Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Messages: []Message{{Role: "user", Content: "hi"}}}
	for want, extra := range map[string]map[string]any{"03 Feb 2031: hi": nil, "today: hi": {"date_string": "today"}} {
		in.Extra = extra
		if got, err := tmpl.Render(in); err != nil || got != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
}
