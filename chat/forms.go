package chat

import (
	"encoding/json"
	"strings"
)

// A CallForm is the format in which a family of models writes tool calls: in free text
// one of the triggers, then the name of a tool, Middle, the arguments as a JSON object,
// and After. Tokens without text are written as their names.
type CallForm struct {
	Name     string
	Triggers []Trigger
	Middle   string // between the name and the arguments
	After    string // what ends a call
	Next     string // what goes on to the name of a further call; "": there is one only
	Close    string // what ends the last one
	IDs      int    // how many letters and digits the id of a call has; 0: any text
}

// A Trigger is the text before a tool call in free text.
type Trigger struct {
	Mark    string
	AtStart bool   // only at the beginning of the text
	Then    string // between the mark and the name
}

// A ThoughtForm is the format in which a family of models writes reasoning before its
// answer.
type ThoughtForm struct {
	Name        string
	Open, Close string
	Lead, Gap   string // after Open, and between Close and the answer
}

// Harmony is the name of the formats of gpt-oss, in which each channel is a message of
// its own; they do not use the other fields of [CallForm] and [ThoughtForm].
const Harmony = "harmony"

// hermes is the format of Hermes and Qwen, and the default, since most models know it.
var hermes = CallForm{
	Name:     "hermes",
	Triggers: []Trigger{{Mark: "<tool_call>", Then: "\n{\"name\": \""}},
	Middle:   `", "arguments": `, After: "}\n</tool_call>", Next: "\n<tool_call>\n{\"name\": \"",
}

// callForms are the other formats, with the texts by which their templates are
// recognised.
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

// CallForm returns the tool call format of the model, detected from its template. If
// the template shows none, known is false and the format is hermes.
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

// CallFormOf returns the tool call format that a vocabulary has tokens for; has reports
// whether there is a token with a text.
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

// spelling adjusts the text around the name in a call if the template writes it with
// different white space, because the model was trained on what the template writes.
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

// sameButBlanks reports whether two texts differ only in spaces and line breaks.
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

// UsualThoughts is the most common reasoning format, that of DeepSeek and Qwen.
var UsualThoughts = ThoughtForm{Name: "think", Open: "<think>", Close: "</think>", Lead: "\n", Gap: "\n\n"}

// thoughtForms are the reasoning formats, recognised by Open.
var thoughtForms = []ThoughtForm{
	{Name: Harmony, Open: "<|channel|>", Close: "<|end|>"},
	UsualThoughts,
	{Name: "mistral", Open: "[THINK]", Close: "[/THINK]"},
	{Name: "command", Open: "<|START_THINKING|>", Close: "<|END_THINKING|>"},
	{Name: "seed", Open: "<seed:think>", Close: "</seed:think>"},
}

// ThoughtForm returns the reasoning format of the model, detected from its template.
// If the template shows none, known is false and the format is UsualThoughts.
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
