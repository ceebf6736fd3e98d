package chat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stencil-json/stencil/chat/jinja"
)

// ChatML is the template for models without one: each message is between <|im_start|>
// with the role and <|im_end|>. Tools are listed in the system message.
const ChatML = `{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{% endif %}
    {{- 'To call a function, answer with <tool_call>{"name": …, "arguments": {…}}</tool_call>. Functions:' }}
    {%- for tool in tools %}{{- '\n' + tool | tojson }}{% endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if not (tools and loop.first and message.role == 'system') %}
        {{- '<|im_start|>' + message.role + '\n' + (message.content or '') }}
        {%- for call in message.tool_calls or [] %}
            {{- '\n<tool_call>' + {'name': call.function.name, 'arguments': call.function.arguments} | tojson + '</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}`

// Options configure a template.
type Options struct {
	BOS, EOS string           // texts of these tokens, as bos_token and eos_token
	Now      func() time.Time // the time for strftime_now; default time.Now
	Limits   jinja.Limits
	CallForm string // format of tool calls, one of CallForms(); "": the template's

	left func() time.Duration // in place of a clock: how long New may still take
}

// Template is a chat template. It is immutable and safe for concurrent use.
type Template struct {
	source   string
	fallback bool
	parsed   *jinja.Template
	opt      Options
	caps     Caps
	noNone   bool // missing content would be written as "None"
	drops    bool // calls are omitted from messages with text

	set       *CallForm // Options.CallForm
	calls     CallForm  // the form in which it writes calls, if callsFail is nil
	callsFail error     // why that form is unknown
	thoughts  ThoughtForm
	thinks    bool // it writes reasoning

	left func() time.Duration // while New runs: how long it may still take
}

// Caps are the capabilities of a template.
type Caps struct {
	System      bool // system messages; otherwise they are added to the first user message
	Tools       bool // the list of tools; otherwise the caller must describe them to the model
	ToolCalls   bool // tool calls; otherwise they become text of the assistant
	ToolResults bool // messages of the role "tool"; otherwise they become user messages
}

// Message is one message of a conversation.
type Message struct {
	Role       string // "system", "developer", "user", "assistant", "tool"
	Content    string
	Parts      []Part // instead of Content
	Reasoning  string // the assistant's reasoning before its answer
	ToolCalls  []ToolCall
	ToolCallID string         // of the call that a "tool" message answers
	Name       string         // of the tool, or of the speaker
	Extra      map[string]any // additional keys for the template, which come first
}

// Part is a part of a message.
type Part struct {
	Type string // "text", "image", …
	Text string
}

// ToolCall is a tool call of the assistant.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage // a JSON object
}

// Input is the conversation to render.
type Input struct {
	Messages []Message
	// Tools are in the format of OpenAI's API: {"type": "function", "function": {"name":
	// …, "description": …, "parameters": …}}. The order of their keys is kept.
	Tools               []json.RawMessage
	AddGenerationPrompt bool           // end with the start of the answer
	Begun               string         // and with this prefix of the answer
	Joined              bool           // neighbours of one role, users or assistants, become one message
	Extra               map[string]any // additional variables, such as enable_thinking

	kept []*keptTool // for each of Tools; nil, or without an element: it is parsed
}

// New parses the template of a model. If it is empty, New uses [ChatML], see
// [Template.Fallback]. Errors wrap *jinja.Error, which has line and column.
func New(template string, opt Options) (*Template, error) {
	t := &Template{source: template, fallback: template == "", opt: opt}
	if t.fallback {
		t.source = ChatML
	}
	var err error
	if t.parsed, err = jinja.Parse(t.source); err != nil {
		return nil, fmt.Errorf("chat: the model's template: %w", err)
	}
	until := time.Now().Add(detecting)
	if t.left = opt.left; t.left == nil {
		t.left = func() time.Duration { return time.Until(until) }
	}
	defer func() { t.left = nil }()
	t.probe()
	t.calls, t.callsFail = t.askCalls()
	if t.left() <= 0 {
		t.caps, t.calls, t.callsFail = Caps{true, true, true, true}, CallForm{}, errLate
		return t, nil
	}
	if opt.CallForm != "" {
		if t.set, err = callFormOf(opt.CallForm); err != nil {
			return nil, err
		}
	}
	t.thoughts, t.thinks = t.askThoughts()
	return t, nil
}

// Check returns an error if a template can't be parsed, as [New] does.
func Check(template string) error {
	if _, err := jinja.Parse(template); err != nil {
		return fmt.Errorf("chat: the model's template: %w", err)
	}
	return nil
}

// detecting is how long finding out what a template can do, and how it writes calls and reasoning, may take: each rendering is bounded, but
// there are dozens. The templates of llama.cpp's sources take 5 to 60 ms each.
const detecting = 2 * time.Second

// detectingSteps is how many steps each of the renderings may take, whose conversations are small.
const detectingSteps = 1 << 19

var errLate = fmt.Errorf("the template takes so long to render that its form of calls was not found within %v", detecting)

// Fallback reports whether the model had no template, so that [ChatML] is used.
func (t *Template) Fallback() bool { return t.fallback }

// Source returns the template's text.
func (t *Template) Source() string { return t.source }

// Caps returns the capabilities of the template.
func (t *Template) Caps() Caps { return t.caps }

// Render renders a conversation. If the template rejects it with raise_exception,
// [Refusal] returns the reason from the error. The text includes a BOS token if the
// template writes one; the caller must not add another one then.
func (t *Template) Render(in Input) (string, error) {
	var err error
	if in.Messages, err = t.adapt(in.Messages); err != nil {
		return "", err
	}
	if in.Joined {
		in.Messages = joined(in.Messages)
	}
	text, err := t.render(in)
	return text + in.Begun, err
}

// render renders messages in the first form that the template accepts.
func (t *Template) render(in Input) (string, error) { return t.renderAs(in, t.calls) }

// renderAs renders messages with calls in the given form.
func (t *Template) renderAs(in Input, form CallForm) (string, error) {
	var first error
	for _, v := range t.variants(in.Messages) {
		limits := t.opt.Limits
		if t.left != nil {
			if limits.Time = t.left(); limits.Time <= 0 {
				return "", errLate
			}
			limits.Steps = cmp.Or(limits.Steps, detectingSteps)
		}
		v.arguments = &form.Arguments
		vars, err := t.vars(in, v)
		if err != nil {
			return "", err
		}
		text, err := t.parsed.Render(vars, jinja.Options{Limits: limits, Now: t.opt.Now})
		if err != nil && in.kept != nil {
			in.kept = nil // supply changes tools
			var err2 error
			if vars, err2 = t.vars(in, v); err2 != nil {
				return "", err2
			}
		}
		if err != nil && t.supply(vars, in) {
			if again, err2 := t.parsed.Render(vars, jinja.Options{Limits: limits, Now: t.opt.Now}); err2 == nil {
				text, err = again, nil
			}
		}
		if tools, ok := vars["tools"].(*jinja.List); ok && err != nil && len(in.Tools) > 0 {
			for _, how := range []plainness{plain, plainest} {
				simplify(tools, how)
				t.supply(vars, in)
				if again, err2 := t.parsed.Render(vars, jinja.Options{Limits: limits, Now: t.opt.Now}); err2 == nil {
					text, err = again, nil
					break
				}
			}
		}
		if err == nil {
			return text, nil
		}
		if first == nil {
			first = err
		}
		var e *jinja.Error
		if errors.As(err, &e) && e.Kind != jinja.Runtime {
			break // another form of the same message would not help
		}
	}
	return "", fmt.Errorf("chat: %w", first)
}

// Refusal returns the message with which a template rejected a conversation.
func Refusal(err error) (message string, ok bool) {
	var e *jinja.Error
	if errors.As(err, &e) && e.Kind == jinja.Raised {
		return e.Message, true
	}
	return "", false
}
