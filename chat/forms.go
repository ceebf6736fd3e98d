package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A ThoughtForm is the format in which a family of models writes reasoning before its
// answer.
type ThoughtForm struct {
	Name        string
	Open, Close string
	Lead, Gap   string  // after Open, and between Close and the answer
	CallGap     *string // the white space between Close and a call; nil: unknown
}

// hermes is the format of Hermes and Qwen, and the default, since most models know it.
var hermes = CallForm{
	Name:      "hermes",
	Triggers:  []Trigger{{Mark: "<tool_call>", Then: "\n{\"name\": \""}},
	Middle:    `", "arguments": `,
	Arguments: ArgumentForm{Layout: Spaced},
	After:     "}\n</tool_call>", Next: "\n<tool_call>\n{\"name\": \"",
}

// callForms are the formats with known names. Templates that don't write calls themselves, but
// describe a format, contain the text told.
var callForms = []struct {
	told string
	CallForm
}{
	{"<｜tool▁calls▁begin｜>", CallForm{
		Name:     "deepseek-v3",
		Triggers: []Trigger{{Mark: "<｜tool▁calls▁begin｜>", Then: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"}},
		Middle:   "\n```json\n", After: "\n```<｜tool▁call▁end｜>", Next: "\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>", Close: "<｜tool▁calls▁end｜>",
	}},
	{"", CallForm{
		Name:     "deepseek-v3.1",
		Triggers: []Trigger{{Mark: "<｜tool▁calls▁begin｜>", Then: "<｜tool▁call▁begin｜>"}},
		Middle:   "<｜tool▁sep｜>", After: "<｜tool▁call▁end｜>", Next: "<｜tool▁call▁begin｜>", Close: "<｜tool▁calls▁end｜>",
	}},
	{"", CallForm{
		Name:     "mistral-args",
		Triggers: []Trigger{{Mark: "[TOOL_CALLS]"}},
		Middle:   "[ARGS]", Next: "[TOOL_CALLS]", IDs: 9,
	}},
	{"", CallForm{
		Name:     "mistral",
		Triggers: []Trigger{{Mark: "[TOOL_CALLS]", Then: ` [{"name": "`}},
		Middle:   `", "arguments": `, After: `, "id": "` + SlotID + `"}`, Next: `, {"name": "`, Close: "]", IDs: 9,
	}},
	{"<|tool|>", CallForm{
		Name:     "phi4",
		Triggers: []Trigger{{Mark: "<|tool_call|>", Then: `[{"name": "`}},
		Middle:   `", "arguments": `, After: "}", Next: `, {"name": "`, Close: "]<|/tool_call|>",
	}},
	{"<|tool_call|>", CallForm{
		Name:     "granite",
		Triggers: []Trigger{{Mark: "<|tool_call|>", Then: `[{"name": "`}},
		Middle:   `", "arguments": `, After: "}", Next: `, {"name": "`, Close: "]",
	}},
	{"", CallForm{
		Name:     "llama3",
		Triggers: []Trigger{{Mark: `{"name":`, AtStart: true, Then: ` "`}, {Mark: "<|python_tag|>", Then: `{"name": "`}},
		Middle:   `", "parameters": `, After: "}",
	}},
	{"<tool_call>", hermes},
	{"List of tools: ", lfm2},
	{"", tagged(CallForm{
		Name:     "qwen3-coder",
		Triggers: []Trigger{{Mark: "<tool_call>", Then: "\n<function="}},
		Middle:   ">\n", Arguments: ArgumentForm{Key: "<parameter="},
		After: "</function>\n</tool_call>", Next: "\n<tool_call>\n<function=",
	}, ">\n", "\n</parameter>\n", true)},
	{"", tagged(CallForm{
		Name:     "glm-4.5",
		Triggers: []Trigger{{Mark: "<tool_call>"}},
		Middle:   "\n", Arguments: ArgumentForm{Key: "<arg_key>"},
		After: "</tool_call>", Next: "\n<tool_call>",
	}, "</arg_key>\n<arg_value>", "</arg_value>\n", false)},
	{"", tagged(CallForm{
		Name:     "minimax-m2",
		Triggers: []Trigger{{Mark: "<minimax:tool_call>", Then: "\n<invoke name=\""}},
		Middle:   "\">\n", Arguments: ArgumentForm{Key: "<parameter name=\""},
		After: "</invoke>\n", Next: "<invoke name=\"", Close: "</minimax:tool_call>",
	}, "\">", "</parameter>\n", false)},
}

// tagged completes a form that writes each argument between the same texts, strings without quotes, and with python True,
// False and None.
func tagged(f CallForm, open, closing string, python bool) CallForm {
	f.Arguments.Layout, f.Arguments.Tagged = Spaced, true
	for i := range f.Arguments.Values {
		of := ValueType(i)
		f.Arguments.Values[i] = ValueForm{Open: open, Close: closing, Raw: of == StringValue, Python: python && (of == BooleanValue || of == NullValue)}
	}
	return f
}

// lfm2 is the format of LFM2, whose template lists tools but does not describe calls.
var lfm2 = func() CallForm {
	f := CallForm{
		Name:      "lfm2",
		Triggers:  []Trigger{{Mark: "<|tool_call_start|>", Then: "["}},
		Middle:    "(",
		Arguments: ArgumentForm{Layout: Spaced, Tagged: true, Between: ", "},
		After:     ")", Next: ", ", Close: "]<|tool_call_end|>",
	}
	for i := range f.Arguments.Values {
		f.Arguments.Values[i] = ValueForm{Open: "=", Python: true}
	}
	return f
}()

// CallForms returns the names of the formats that [Options].CallForm may name.
func CallForms() []string {
	var names []string
	for _, f := range callForms {
		names = append(names, f.Name)
	}
	return slices.Sorted(slices.Values(names))
}

func callFormOf(name string) (*CallForm, error) {
	for _, f := range callForms {
		if f.Name == name {
			return &f.CallForm, nil
		}
	}
	return nil, fmt.Errorf("chat: there is no format of tool calls %q; there are %s", name, strings.Join(CallForms(), ", "))
}

// CallForm returns the tool call format of the model: the configured one, else the one detected
// by rendering calls with its template. Known is false if the format is a default, because the
// template writes no calls, or in a way that can't be expressed; see
// [Template.CallFormMissing].
func (t *Template) CallForm() (form CallForm, known bool) {
	switch {
	case t.set != nil:
		return *t.set, true
	case t.fallback:
		return t.calls, false
	case t.inChannels():
		return CallForm{Name: Harmony, Arguments: ArgumentForm{Layout: Spaced}}, true
	case t.callsFail == nil:
		return t.calls, true
	}
	// The template writes no calls, or none that can be parsed; its text may describe a format to
	// the model.
	for _, f := range callForms {
		if f.told != "" && strings.Contains(t.source, f.told) && (!t.caps.ToolCalls || f.Name != "hermes") {
			return f.CallForm, true
		}
	}
	return hermes, false
}

// spells reports whether calls are rendered as text of the assistant, because the template
// writes none, or none in the configured format or the format that it describes.
func (t *Template) spells() bool {
	if t.set != nil && (t.callsFail != nil || !t.set.like(t.calls)) {
		return true
	}
	if !t.caps.ToolCalls {
		return true
	}
	_, known := t.CallForm()
	return known && t.callsFail != nil && !t.inChannels()
}

// CallFormMissing returns why the format of the model's calls is unknown, or nil.
func (t *Template) CallFormMissing() error {
	switch _, known := t.CallForm(); {
	case known:
		return nil
	case t.fallback:
		return errors.New("the model has no chat template")
	case !t.caps.ToolCalls:
		return errors.New("the chat template writes no calls")
	}
	return t.callsFail
}

// inChannels reports whether the template writes messages in channels, as gpt-oss does.
func (t *Template) inChannels() bool {
	return containsAll(t.source, []string{"<|channel|>", "<|message|>"})
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
	if t.thinks && !t.inChannels() && !t.fallback {
		return t.thoughts, true
	}
	for _, f := range thoughtForms {
		if !t.fallback && strings.Contains(t.source, f.Open) {
			return f, true
		}
	}
	return UsualThoughts, false
}

// Mentions reports whether a variable occurs in the template.
func (t *Template) Mentions(variable string) bool { return strings.Contains(t.source, variable) }
