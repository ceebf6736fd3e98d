package chat

import (
	"encoding/json"
	"strings"
)

// A CallForm is how a family of models writes calls of tools: in free text one of
// the triggers, then the name of a tool, Middle, the arguments as a JSON object,
// and After. Tokens that add no text stand in it by their names.
type CallForm struct {
	Name     string
	Triggers []Trigger
	Middle   string // between the name and the arguments
	After    string // what ends a call
	Next     string // what goes on to the name of a further call; "": there is one only
	Close    string // what ends the last one
	IDs      int    // how many letters and digits the id of a call has; 0: any text
}

// A Trigger begins calls in free text.
type Trigger struct {
	Mark    string
	AtStart bool   // only at the beginning of the text
	Then    string // between the mark and the name
}

// A ThoughtForm is how a family of models writes what it thinks before it answers.
type ThoughtForm struct {
	Name        string
	Open, Close string
	Lead, Gap   string // after Open, and between Close and the answer
}

// Harmony is the name of the forms in which texts go into channels, each with its
// own message; see [CallForm] and [ThoughtForm], whose other fields it does not
// use.
const Harmony = "harmony"

// hermes is what most models know that know none of the others: Hermes, Qwen.
var hermes = CallForm{
	Name:     "hermes",
	Triggers: []Trigger{{Mark: "<tool_call>", Then: "\n{\"name\": \""}},
	Middle:   `", "arguments": `, After: "}\n</tool_call>", Next: "\n<tool_call>\n{\"name\": \"",
}

// callForms are the others, with what tells the templates that use them.
var callForms = []struct {
	all  []string // in the template
	none []string // not in it
	CallForm
}{
	{[]string{"<|channel|>", "<|message|>"}, nil, CallForm{Name: Harmony}},
	{[]string{"<｜tool▁calls▁begin｜>", "```json"}, nil, CallForm{
		Name:     "deepseek-v3",
		Triggers: []Trigger{{Mark: "<｜tool▁calls▁begin｜>", Then: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"}},
		Middle:   "\n```json\n", After: "\n```<｜tool▁call▁end｜>", Next: "\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>", Close: "<｜tool▁calls▁end｜>",
	}},
	{[]string{"<｜tool▁calls▁begin｜>"}, nil, CallForm{
		Name:     "deepseek-v3.1",
		Triggers: []Trigger{{Mark: "<｜tool▁calls▁begin｜>", Then: "<｜tool▁call▁begin｜>"}},
		Middle:   "<｜tool▁sep｜>", After: "<｜tool▁call▁end｜>", Next: "<｜tool▁call▁begin｜>", Close: "<｜tool▁calls▁end｜>",
	}},
	{[]string{"[TOOL_CALLS]", "[ARGS]"}, nil, CallForm{
		Name:     "mistral-args",
		Triggers: []Trigger{{Mark: "[TOOL_CALLS]"}},
		Middle:   "[ARGS]", Next: "[TOOL_CALLS]", IDs: 9,
	}},
	{[]string{"[TOOL_CALLS]"}, nil, CallForm{
		Name:     "mistral",
		Triggers: []Trigger{{Mark: "[TOOL_CALLS]", Then: ` [{"name": "`}},
		Middle:   `", "arguments": `, After: "}", Next: `, {"name": "`, Close: "]", IDs: 9,
	}},
	{[]string{"<|tool|>"}, nil, CallForm{
		Name:     "phi4",
		Triggers: []Trigger{{Mark: "<|tool_call|>", Then: `[{"name": "`}},
		Middle:   `", "arguments": `, After: "}", Next: `, {"name": "`, Close: "]<|/tool_call|>",
	}},
	{[]string{"<|start_header_id|>", "ipython"}, nil, CallForm{
		Name:     "llama3",
		Triggers: []Trigger{{Mark: `{"name":`, AtStart: true, Then: ` "`}, {Mark: "<|python_tag|>", Then: `{"name": "`}},
		Middle:   `", "parameters": `, After: "}",
	}},
	{[]string{"<tool_call>"}, []string{"<function="}, hermes},
}

// CallForm returns how the model that the template belongs to writes calls. If
// the template doesn't say, known is false and the form is that of Hermes.
func (t *Template) CallForm() (form CallForm, known bool) {
	if t.fallback {
		return hermes, false
	}
	for _, f := range callForms {
		if containsAll(t.source, f.all) && (f.none == nil || !containsAll(t.source, f.none)) {
			return t.spelling(f.CallForm), true
		}
	}
	return hermes, false
}

// CallFormOf returns the form that a vocabulary has tokens for; has says whether
// there is a token of that text.
func CallFormOf(has func(token string) bool) (form CallForm, known bool) {
	for _, f := range callForms {
		for _, t := range f.Triggers {
			if !t.AtStart && has(t.Mark) && (f.Middle != "[ARGS]" || has(f.Middle)) {
				return f.CallForm, true
			}
		}
	}
	return hermes, false
}

// spelling corrects what stands around the name of a call where the template
// writes it a little differently, as with a blank more or less. What it writes is
// what the model was trained on.
func (t *Template) spelling(f CallForm) CallForm {
	const name, arguments = "stencil7c1e", `"stencil93ab"`
	if len(f.Triggers) != 1 {
		return f
	}
	text, err := t.render(Input{Messages: []Message{
		{Role: "user", Content: "x"},
		{Role: "assistant", ToolCalls: []ToolCall{{ID: "abcdefghi", Name: name, Arguments: json.RawMessage(`{` + arguments + `:1}`)}}},
	}})
	if err != nil {
		return f
	}
	before, after, ok := strings.Cut(text, name)
	if !ok {
		return f
	}
	trigger := &f.Triggers[0]
	at := strings.LastIndex(before, trigger.Mark)
	middle, _, ok := strings.Cut(after, "{"+arguments)
	if at < 0 || !ok || !sameButBlanks(before[at+len(trigger.Mark):], trigger.Then) || !sameButBlanks(middle, f.Middle) {
		return f
	}
	f.Triggers = []Trigger{{Mark: trigger.Mark, Then: before[at+len(trigger.Mark):]}}
	f.Middle = middle
	return f
}

// sameButBlanks reports whether two texts differ in blanks and line breaks only.
func sameButBlanks(a, b string) bool {
	blanks := strings.NewReplacer(" ", "", "\n", "")
	return blanks.Replace(a) == blanks.Replace(b)
}

func containsAll(s string, list []string) bool {
	for _, x := range list {
		if !strings.Contains(s, x) {
			return false
		}
	}
	return true
}

// UsualThoughts is the commonest form, that of DeepSeek's and Qwen's models.
var UsualThoughts = ThoughtForm{Name: "think", Open: "<think>", Close: "</think>", Lead: "\n", Gap: "\n\n"}

// thoughtForms are known by Open.
var thoughtForms = []ThoughtForm{
	{Name: Harmony, Open: "<|channel|>", Close: "<|end|>"},
	UsualThoughts,
	{Name: "mistral", Open: "[THINK]", Close: "[/THINK]"},
	{Name: "command", Open: "<|START_THINKING|>", Close: "<|END_THINKING|>"},
	{Name: "seed", Open: "<seed:think>", Close: "</seed:think>"},
}

// ThoughtForm returns how the model that the template belongs to writes its
// thoughts. If the template doesn't say, known is false and the form is the
// commonest.
func (t *Template) ThoughtForm() (form ThoughtForm, known bool) {
	for _, f := range thoughtForms {
		if !t.fallback && strings.Contains(t.source, f.Open) {
			return f, true
		}
	}
	return UsualThoughts, false
}

// Mentions reports whether a variable occurs in the template.
func (t *Template) Mentions(variable string) bool { return strings.Contains(t.source, variable) }
