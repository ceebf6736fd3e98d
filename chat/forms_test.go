package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func formsOf(t *testing.T, source string) *Template {
	t.Helper()
	tmpl, err := New(source, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// Templates show how their models write calls and reasoning.
func TestForms(t *testing.T) {
	for name, want := range map[string]struct {
		calls       string
		callsKnown  bool
		then        string // after the trigger
		thoughts    string
		thinksKnown bool
	}{
		"gemma":   {"hermes", false, "\n{\"name\": \"", "think", false},
		"gptoss":  {"harmony", true, "", "harmony", true},
		"hermes":  {"hermes", false, "\n{\"name\": \"", "think", false}, // it lists tools but writes no calls
		"llama3":  {"llama3", true, ` "`, "think", false},
		"mistral": {"mistral", true, ` [{"name": "`, "think", false},
		"phi3":    {"hermes", false, "\n{\"name\": \"", "think", false},
		"phi4":    {"phi4", true, `[{"name": "`, "think", false},
		"qwen25":  {"hermes", true, "\n{\"name\": \"", "think", false},
		"qwen3":   {"hermes", true, "\n{\"name\": \"", "think", true},
	} {
		source, err := os.ReadFile(filepath.Join("testdata", name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		tmpl := formsOf(t, string(source))
		calls, known := tmpl.CallForm()
		then := ""
		if len(calls.Triggers) > 0 {
			then = calls.Triggers[0].Then
		}
		if calls.Name != want.calls || known != want.callsKnown || then != want.then {
			t.Errorf("%s: calls %q, %t, %q", name, calls.Name, known, then)
		}
		if thoughts, known := tmpl.ThoughtForm(); thoughts.Name != want.thoughts || known != want.thinksKnown {
			t.Errorf("%s: thoughts %q, %t", name, thoughts.Name, known)
		}
	}
	if form, known := formsOf(t, "").CallForm(); form.Name != "hermes" || known {
		t.Errorf("without a template: %q, %t", form.Name, known)
	}
}

// The texts around a call are those of the template.
func TestFormsAreSpeltAsInTemplates(t *testing.T) {
	const calls = `{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ 'BEFORE' + c.function.name + 'MIDDLE' }}{{ c.function.arguments | tojson }}{{ 'AFTER' }}{% endfor %}{% endfor %}`
	for _, c := range []struct{ before, middle, then, want string }{
		{`[TOOL_CALLS][{"name":"`, `","arguments":`, `[{"name":"`, `","arguments":`},
		{`[TOOL_CALLS] [{"name": "`, `", "arguments": `, ` [{"name": "`, `", "arguments": `},
		{`[TOOL_CALLS] [{"function": "`, `", "with": `, ` [{"function": "`, `", "with": `},
	} {
		source := strings.NewReplacer("BEFORE", c.before, "MIDDLE", c.middle, "AFTER", "}").Replace(calls)
		form, known := formsOf(t, source).CallForm()
		if !known || form.Triggers[0].Then != c.then || form.Middle != c.want {
			t.Errorf("%s: %+v", source, form)
		}
	}
}

// A configured form is used for the model's calls and for calls of earlier turns.
func TestSetForm(t *testing.T) {
	source, err := os.ReadFile("testdata/qwen25.jinja")
	if err != nil {
		t.Fatal(err)
	}
	call := ToolCall{ID: "abcdefghi", Name: "weather", Arguments: []byte(`{"city":"Rome"}`)}
	in := Input{Messages: []Message{{Role: "user", Content: "Rome?"}, {Role: "assistant", ToolCalls: []ToolCall{call}}}}
	for name, want := range map[string]string{
		"":        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>",
		"hermes":  "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>",
		"mistral": `[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Rome"}, "id": "abcdefghi"}]`,
		"lfm2":    `<|tool_call_start|>[weather(city="Rome")]<|tool_call_end|>`,
	} {
		tmpl, err := New(string(source), Options{CallForm: name})
		if err != nil {
			t.Fatal(err)
		}
		if form, known := tmpl.CallForm(); name != "" && form.Name != name || !known {
			t.Errorf("%q: %q, %t", name, form.Name, known)
		}
		if text, err := tmpl.Render(in); err != nil || !strings.Contains(text, want) {
			t.Errorf("%q: %q %v", name, text, err)
		}
	}
	if _, err := New("", Options{CallForm: "qwen"}); err == nil || !strings.Contains(err.Error(), "hermes, lfm2") {
		t.Error(err)
	}
}
