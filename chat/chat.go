package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stencil/chat/jinja"
)

// ChatML is the template for models that bring none: each message between
// <|im_start|> with the role and <|im_end|>. Tools are listed in the system
// message.
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

// Options say what a template is used with.
type Options struct {
	BOS, EOS string           // texts of these tokens, as bos_token and eos_token
	Now      func() time.Time // what strftime_now shows; default time.Now
	Limits   jinja.Limits
}

// Template is a chat template. It is immutable and safe for concurrent use.
type Template struct {
	source   string
	fallback bool
	parsed   *jinja.Template
	opt      Options
	caps     Caps
}

// Caps are what a template can write down.
type Caps struct {
	System bool // system messages; otherwise they go into the first user message
	Tools  bool // the list of tools; otherwise the caller must tell the model of them
}

// Message is one message of a conversation.
type Message struct {
	Role       string // "system", "developer", "user", "assistant", "tool"
	Content    string
	Parts      []Part // instead of Content
	Reasoning  string // what the assistant thought before it answered
	ToolCalls  []ToolCall
	ToolCallID string         // of the call that a "tool" message answers
	Name       string         // of the tool, or of who speaks
	Extra      map[string]any // further keys for the template, before all others
}

// Part is a part of a message.
type Part struct {
	Type string // "text", "image", …
	Text string
}

// ToolCall is a call that the assistant made.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage // a JSON object
}

// Input is what a template writes down.
type Input struct {
	Messages []Message
	// Tools are as OpenAI's API has them: {"type": "function", "function":
	// {"name": …, "description": …, "parameters": …}}. Their keys keep their
	// order.
	Tools               []json.RawMessage
	AddGenerationPrompt bool           // end with the beginning of the answer
	Extra               map[string]any // further variables, such as enable_thinking
}

// New parses a model's template; with an empty one it takes [ChatML], see
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
	t.caps = t.probe()
	return t, nil
}

// Fallback reports whether the model had no template, so that [ChatML] is used.
func (t *Template) Fallback() bool { return t.fallback }

// Source returns the template's text.
func (t *Template) Source() string { return t.source }

// Caps returns what the template can write down.
func (t *Template) Caps() Caps { return t.caps }

// probe renders small conversations to see what is left of them. Where even
// the plainest fails, nothing is known and all is assumed.
func (t *Template) probe() Caps {
	const mark = "stencil-7c1e"
	user := Message{Role: "user", Content: "hello"}
	shows := func(in Input) bool {
		vars, err := t.vars(in, variant{})
		if err != nil {
			return false
		}
		text, err := t.run(vars)
		return err == nil && strings.Contains(text, mark)
	}
	if !shows(Input{Messages: []Message{{Role: "user", Content: mark}}, AddGenerationPrompt: true}) {
		return Caps{System: true, Tools: true}
	}
	tool := json.RawMessage(`{"type":"function","function":{"name":"` + mark + `","description":"d","parameters":{"type":"object","properties":{}}}}`)
	return Caps{
		System: shows(Input{Messages: []Message{{Role: "system", Content: mark}, user}, AddGenerationPrompt: true}),
		Tools:  shows(Input{Messages: []Message{user}, Tools: []json.RawMessage{tool}, AddGenerationPrompt: true}),
	}
}

// Render writes a conversation down. When the template itself refuses it, with
// raise_exception, [Refusal] returns why. The text holds whatever the template
// puts first, so a BOS token must not be added if it begins with one.
func (t *Template) Render(in Input) (string, error) {
	in.Messages = t.adapt(in.Messages)
	var first error
	for _, v := range variants(in.Messages) {
		vars, err := t.vars(in, v)
		if err != nil {
			return "", err
		}
		text, err := t.run(vars)
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

// Refusal returns the message with which a template refused a conversation.
func Refusal(err error) (message string, ok bool) {
	var e *jinja.Error
	if errors.As(err, &e) && e.Kind == jinja.Raised {
		return e.Message, true
	}
	return "", false
}

func (t *Template) run(vars map[string]any) (string, error) {
	return t.parsed.Render(vars, jinja.Options{Limits: t.opt.Limits, Now: t.opt.Now})
}

// adapt gives messages the roles that the template knows.
func (t *Template) adapt(messages []Message) []Message {
	developer := strings.Contains(t.source, "developer")
	var out []Message
	var system []string // to be put into the next user message
	for _, m := range messages {
		if m.Role == "developer" && !developer {
			m.Role = "system"
		}
		switch {
		case m.Role == "system" && !t.caps.System:
			system = append(system, m.text())
			continue
		case m.Role == "user" && len(system) > 0:
			m.Content, m.Parts = strings.Join(append(system, m.text()), "\n\n"), nil
			system = nil
		}
		out = append(out, m)
	}
	if len(system) > 0 {
		out = append(out, Message{Role: "user", Content: strings.Join(system, "\n\n")})
	}
	return out
}

// text returns the text of a message, of its parts one a line.
func (m *Message) text() string {
	if m.Parts == nil {
		return m.Content
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// variant is a form in which messages with tool calls are given to a template.
type variant struct {
	textArguments bool // arguments as JSON text
	emptyContent  bool // no content is "" rather than none
}

// variants returns the forms to be tried, one after the other.
func variants(messages []Message) []variant {
	for _, m := range messages {
		if len(m.ToolCalls) > 0 {
			return []variant{{}, {emptyContent: true}, {textArguments: true}, {true, true}}
		}
	}
	return []variant{{}}
}
