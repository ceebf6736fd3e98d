package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/wire"
)

// ContinueLast makes the last message, which must be the assistant's, the assistant prefill.
func (q *Request) ContinueLast(param string) error {
	if len(q.Messages) == 0 {
		return wire.Invalid(param, "the last message is empty")
	}
	last := q.Messages[len(q.Messages)-1]
	if last.Role != "assistant" || len(last.ToolCalls) > 0 || last.Reasoning != "" && last.Content == "" {
		return wire.Invalid(param, "only a text of the assistant can be continued")
	}
	if last.Reasoning != "" {
		q.Warnings = append(q.Warnings, "the reasoning before the continued text was ignored")
	}
	q.Begun, q.Messages = last.Content, q.Messages[:len(q.Messages)-1]
	return nil
}

// ReadModel reads the model's name; without one, the server's default is used.
func (q *Request) ReadModel(o *wire.Object) error { return o.Str("model", &q.Model) }

// ReadMaxTokens reads the token budget from the last of the fields that is given.
func (q *Request) ReadMaxTokens(o *wire.Object, names ...string) error {
	for _, name := range names {
		given := 0
		if err := o.Integer(name, &given, -1, MaxTokensLimit); err != nil {
			return err
		}
		switch {
		case !o.Given(name):
		case given == 0 && name == "n_predict": // llama.vim has prompts read ahead so
			q.MaxTokens = 1
			q.Warnings = append(q.Warnings, o.Path+name+" must be at least 1; 1 was used instead of 0")
		case given == 0:
			return wire.Invalid(o.Path+name, "%s must be at least 1, or -1 for no limit of its own", o.Path+name)
		default:
			q.MaxTokens = max(given, 0) // LM Studio's and llama.cpp's clients send -1
		}
	}
	return nil
}

// ReadMinTokens reads how many tokens free text has at least. The budget must have been read before.
func (q *Request) ReadMinTokens(o *wire.Object, name string) error {
	if err := o.Integer(name, &q.MinTokens, 0, MaxTokensLimit); err != nil {
		return err
	}
	if q.MaxTokens > 0 && q.MinTokens > q.MaxTokens {
		return wire.Invalid(o.Path+name, "%s is %d, more than the most tokens that the text may have, %d", o.Path+name, q.MinTokens, q.MaxTokens)
	}
	return nil
}

// ReadSpecial reads skip_special_tokens.
func (q *Request) ReadSpecial(o *wire.Object) error {
	skip := true
	err := o.Boolean("skip_special_tokens", &skip)
	q.ShowSpecial = !skip
	return err
}

// Effort passes the reasoning effort to the chat template, for templates that have variables for it.
func (q *Request) Effort(effort string) {
	q.Variable("reasoning_effort", effort)
	if effort == "none" {
		q.Variable("enable_thinking", false)
		q.NoThoughts = true
	}
}

// Variable sets a variable of the chat template unless the request sets it.
func (q *Request) Variable(name string, value any) {
	if q.Variables == nil {
		q.Variables = map[string]any{}
	}
	if _, given := q.Variables[name]; !given {
		q.Variables[name] = value
	}
}

// ReadMessageContent reads content: a text or a list of text parts.
func ReadMessageContent(m *wire.Object, to *chat.Message) error {
	if !m.Given("content") {
		return m.Str("refusal", &to.Content)
	}
	if json.Unmarshal(m.Members["content"], &to.Content) == nil {
		return nil
	}
	parts, err := m.List("content")
	if err != nil {
		return m.WrongType("content", "a string or an array of parts")
	}
	var texts []string
	for _, p := range parts {
		kind, text := "", ""
		if err := p.Str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "text", "input_text", "output_text", "refusal":
			name := "text"
			if kind == "refusal" {
				name = "refusal"
			}
			if !p.Given(name) {
				return wire.Invalid(p.Path+name, "%s%s is missing", p.Path, name)
			}
			if err := p.Str(name, &text); err != nil {
				return err
			}
			texts = append(texts, text)
		case "":
			return wire.Invalid(p.Path+"type", "%stype is missing", p.Path)
		default:
			return wire.NotOffered(p.Path+"type", fmt.Sprintf("content of type %q", kind))
		}
	}
	to.Content = strings.Join(texts, "\n")
	return nil
}

// ReadPastCalls reads the tool calls of an assistant message. History is never refused: a call that can't be read is
// passed on as text.
func ReadPastCalls(m *wire.Object, to *chat.Message) error {
	if !m.Given("tool_calls") {
		return nil
	}
	calls, err := m.List("tool_calls")
	if err != nil {
		return err
	}
	var lines Lines
	for _, c := range calls {
		past := chat.ToolCall{}
		custom, err := c.Child("custom")
		if err != nil {
			return err
		}
		f := custom
		if f == nil {
			if f, err = c.Child("function"); err != nil || f == nil {
				return wire.Invalid(c.Path+"function", "%sfunction must be an object with name and arguments", c.Path)
			}
		}
		arguments := ""
		for _, err := range []error{c.Str("id", &past.ID), f.Str("name", &past.Name), f.Str("input", &arguments)} {
			if err != nil {
				return err
			}
		}
		if custom != nil {
			if arguments, err = CustomArguments(arguments); err != nil {
				return err
			}
		} else if json.Unmarshal(f.Members["arguments"], &arguments) != nil {
			arguments = string(f.Members["arguments"]) // an object, as sent by Ollama's clients
		}
		lines.AddCall(to, past, arguments)
	}
	return nil
}

// Lines append to the contents of messages. Many texts for one message take linear time, which adding strings does not.
type Lines struct{ last strings.Builder }

// Add appends a text to a message, on a line of its own.
func (l *Lines) Add(to *chat.Message, text string) {
	if l.last.String() != to.Content { // at once, if it is what was added last
		l.last.Reset()
		l.last.WriteString(to.Content)
	}
	if to.Content != "" {
		l.last.WriteByte('\n')
	}
	l.last.WriteString(text)
	to.Content = l.last.String()
}

// AddCall adds a past call to a message, as text if its arguments are not a JSON object.
func (l *Lines) AddCall(to *chat.Message, past chat.ToolCall, arguments string) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if _, err := wire.ParseObject([]byte(arguments), ""); err != nil {
		l.Add(to, past.Name+"("+arguments+")")
		return
	}
	past.Arguments = json.RawMessage(arguments)
	to.ToolCalls = append(to.ToolCalls, past)
}

// ReadTools reads OpenAI's list of tools, which with custom may have custom tools.
func (q *Request) ReadTools(o *wire.Object, custom bool) error {
	list, err := o.List("tools")
	if err != nil {
		return err
	}
	set := &ToolSet{Mode: ToolsAuto, Parallel: true}
	for _, t := range list {
		if err := q.readTool(set, t, custom); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	if err := o.Boolean("parallel_tool_calls", &set.Parallel); err != nil {
		return err
	}
	return nil
}

func (q *Request) readTool(set *ToolSet, t *wire.Object, custom bool) error {
	kind := ""
	if !t.Given("type") {
		return wire.Invalid(t.Path+"type", "%stype is missing", t.Path)
	}
	if err := t.Str("type", &kind); err != nil {
		return err
	}
	if kind != "function" && !(custom && kind == "custom") {
		return wire.NotOffered(t.Path+"type", fmt.Sprintf("a tool of type %q", kind))
	}
	known := []string{"type", kind, "cache_control"}
	if inner, err := t.Child(kind); err == nil && inner != nil {
		for _, name := range []string{"name", "description", "parameters", "strict"} {
			if said, again := t.Members[name], inner.Members[name]; said != nil && bytes.Equal(said, again) {
				known = append(known, name)
				q.Warnings = append(q.Warnings, fmt.Sprintf("%s%s repeats %s%s, which counts", t.Path, name, inner.Path, name))
			}
		}
	}
	if err := t.Only(known...); err != nil {
		return err
	}
	if kind == "custom" {
		return readCustom(set, t)
	}
	f, err := t.Child("function")
	if err != nil {
		return err
	}
	if f == nil {
		return wire.Invalid(t.Path+"function", "%sfunction is missing", t.Path)
	}
	if err := f.Only(FunctionFields...); err != nil {
		return err
	}
	return ReadFunction(set, f, "parameters")
}

// FunctionFields are the members of a function in OpenAI's form, with those that libraries add for the result.
var FunctionFields = []string{"name", "description", "parameters", "strict", "return", "returns"}

// ReadFunction reads the name, description and schema of a tool.
func ReadFunction(set *ToolSet, f *wire.Object, schema string) error {
	one := Tool{Parameters: withoutNulls(f.Members[schema]), Param: f.Path + schema}
	for _, err := range []error{
		f.Str("name", &one.Name), f.Str("description", &one.Description), f.Boolean("strict", &one.Strict),
	} {
		if err != nil {
			return err
		}
	}
	for _, name := range []string{"returns", "return"} {
		if f.Given(name) && f.Members[name][0] == '{' {
			one.Returns = f.Members[name]
		}
	}
	return set.add(one, f.Path)
}

// withoutNulls returns a tool's schema without null properties and required, which some client libraries send for tools
// without parameters.
func withoutNulls(schema json.RawMessage) json.RawMessage {
	o, err := wire.ParseObject(schema, "")
	if err != nil {
		return schema // compiling it reports the error
	}
	var b bytes.Buffer
	dropped := false
	for _, name := range o.Names {
		if (name == "properties" || name == "required") && !o.Given(name) {
			dropped = true
			continue
		}
		quoted, err := wire.Marshal(name)
		if err != nil {
			return schema
		}
		b.WriteByte("{,"[min(b.Len(), 1)])
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(o.Members[name])
	}
	if !dropped {
		return schema
	}
	if b.Len() == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes()
}

// ReadToolChoice reads OpenAI's tool_choice: a word, a named tool, or a list of allowed tools.
func (q *Request) ReadToolChoice(o *wire.Object) error {
	if !o.Given("tool_choice") {
		return nil
	}
	var word string
	if json.Unmarshal(o.Members["tool_choice"], &word) == nil {
		if err := o.OneOf("tool_choice", &word, ToolsAuto, ToolsNone, ToolsRequired, "any"); err != nil {
			return err
		}
		if word == "any" { // Mistral's word
			word = ToolsRequired
		}
		if q.Tools == nil {
			if word == ToolsRequired {
				return wire.Invalid("tool_choice", "tool_choice needs tools")
			}
			return nil
		}
		q.Tools.Mode = word
		return nil
	}
	c, err := o.Child("tool_choice")
	if err != nil {
		return o.WrongType("tool_choice", `"auto", "none", "required" or an object`)
	}
	if q.Tools == nil {
		return wire.Invalid("tool_choice", "tool_choice needs tools")
	}
	kind := ""
	if err := c.OneOf("type", &kind, "function", "custom", "allowed_tools"); err != nil {
		return err
	}
	switch kind {
	case "function", "custom":
		return q.readNamedTool(c, kind)
	case "allowed_tools":
		return q.readAllowedTools(c)
	}
	return wire.Invalid(c.Path+"type", "%stype is missing", c.Path)
}

// readNamedTool reads {"type": "function", "function": {"name"}}, or {"type": "function", "name"} as in /v1/responses; the
// same for custom tools.
func (q *Request) readNamedTool(c *wire.Object, kind string) error {
	if err := c.Only("type", kind, "name"); err != nil {
		return err
	}
	f := c
	if c.Given(kind) {
		var err error
		if f, err = c.Child(kind); err != nil {
			return err
		}
		if err := f.Only("name"); err != nil {
			return err
		}
	}
	name := ""
	if !f.Given("name") {
		return wire.Invalid(f.Path+"name", "%sname is missing", f.Path)
	}
	if err := f.Str("name", &name); err != nil {
		return err
	}
	q.Tools.Mode = ToolsRequired
	q.Tools.Parallel = false // a named tool means a single call
	return q.Tools.Allow(f.Path+"name", []string{name})
}

// readAllowedTools reads {"type": "allowed_tools", "allowed_tools": {"mode",
// "tools"}} or the same without the inner object.
func (q *Request) readAllowedTools(c *wire.Object) error {
	in := c
	if c.Given("allowed_tools") {
		var err error
		if in, err = c.Child("allowed_tools"); err != nil {
			return err
		}
	}
	if err := in.Only("type", "mode", "tools"); err != nil {
		return err
	}
	if err := in.OneOf("mode", &q.Tools.Mode, ToolsAuto, ToolsRequired); err != nil {
		return err
	}
	list, err := in.List("tools")
	if err != nil {
		return err
	}
	var allowed []string
	for _, t := range list {
		f := t
		for _, kind := range []string{"function", "custom"} {
			if t.Given(kind) {
				if f, err = t.Child(kind); err != nil {
					return err
				}
			}
		}
		name := ""
		if !f.Given("name") {
			return wire.Invalid(f.Path+"name", "%sname is missing", f.Path)
		}
		if err := f.Str("name", &name); err != nil {
			return err
		}
		allowed = append(allowed, name)
	}
	if len(allowed) == 0 {
		return wire.Invalid(in.Path+"tools", "%stools must not be empty", in.Path)
	}
	return q.Tools.Allow(in.Path+"tools", allowed)
}
