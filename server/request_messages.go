package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"stencil/chat"
)

// continueLast makes of the last message, which is the assistant's, the beginning
// of the answer.
func (q *query) continueLast(param string) error {
	if len(q.Messages) == 0 {
		return invalid(param, "the last message is empty")
	}
	last := q.Messages[len(q.Messages)-1]
	if last.Role != "assistant" || len(last.ToolCalls) > 0 || last.Reasoning != "" {
		return invalid(param, "only a text of the assistant can be gone on with")
	}
	q.Begun, q.Messages = last.Content, q.Messages[:len(q.Messages)-1]
	return nil
}

// readModel reads which model is asked for; none is whichever there is.
func (q *query) readModel(o *object) error { return o.str("model", &q.Model) }

// readMaxTokens reads the budget from the first of several fields.
func (q *query) readMaxTokens(o *object, names ...string) error {
	for _, name := range names {
		if err := o.integer(name, &q.MaxTokens, 1, maxTokensLimit); err != nil {
			return err
		}
	}
	return nil
}

// effort tells the chat template how much the model is to think, in the words
// of those templates that know any.
func (q *query) effort(effort string) {
	q.variable("reasoning_effort", effort)
	if effort == "none" {
		q.variable("enable_thinking", false)
		q.NoThoughts = true
	}
}

// variable sets a variable of the chat template unless the request has.
func (q *query) variable(name string, value any) {
	if q.Variables == nil {
		q.Variables = map[string]any{}
	}
	if _, given := q.Variables[name]; !given {
		q.Variables[name] = value
	}
}

// readMessageContent reads a text or a list of parts, all of which must be text.
func readMessageContent(m *object, to *chat.Message) error {
	if !m.given("content") {
		return m.str("refusal", &to.Content)
	}
	if json.Unmarshal(m.members["content"], &to.Content) == nil {
		return nil
	}
	parts, err := m.list("content")
	if err != nil {
		return m.wrongType("content", "a string or an array of parts")
	}
	var texts []string
	for _, p := range parts {
		kind, text := "", ""
		if err := p.str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "text", "input_text", "output_text", "refusal":
			name := "text"
			if kind == "refusal" {
				name = "refusal"
			}
			if !p.given(name) {
				return invalid(p.path+name, "%s%s is missing", p.path, name)
			}
			if err := p.str(name, &text); err != nil {
				return err
			}
			texts = append(texts, text)
		case "":
			return invalid(p.path+"type", "%stype is missing", p.path)
		default:
			return notOffered(p.path+"type", fmt.Sprintf("content of type %q", kind))
		}
	}
	to.Content = strings.Join(texts, "\n")
	return nil
}

// readPastCalls reads the calls of an assistant's message. History is never
// refused: a call that can't be read is passed on as text.
func readPastCalls(m *object, to *chat.Message) error {
	if !m.given("tool_calls") {
		return nil
	}
	calls, err := m.list("tool_calls")
	if err != nil {
		return err
	}
	for _, c := range calls {
		past := chat.ToolCall{}
		f, err := c.child("function")
		if err != nil || f == nil {
			return invalid(c.path+"function", "%sfunction must be an object with name and arguments", c.path)
		}
		arguments := ""
		for _, err := range []error{c.str("id", &past.ID), f.str("name", &past.Name)} {
			if err != nil {
				return err
			}
		}
		if json.Unmarshal(f.members["arguments"], &arguments) != nil {
			arguments = string(f.members["arguments"]) // an object, as Ollama's clients have it
		}
		addCall(to, past, arguments)
	}
	return nil
}

// addCall adds a past call to a message, as text if its arguments are not an
// object.
func addCall(to *chat.Message, past chat.ToolCall, arguments string) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if _, err := parseObject([]byte(arguments), ""); err != nil {
		if to.Content != "" {
			to.Content += "\n"
		}
		to.Content += past.Name + "(" + arguments + ")"
		return
	}
	past.Arguments = json.RawMessage(arguments)
	to.ToolCalls = append(to.ToolCalls, past)
}

// readTools reads OpenAI's list of tools.
func (q *query) readTools(o *object) error {
	list, err := o.list("tools")
	if err != nil {
		return err
	}
	set := &toolSet{Mode: toolsAuto, Parallel: true}
	for _, t := range list {
		if err := readTool(set, t); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	if err := o.boolean("parallel_tool_calls", &set.Parallel); err != nil {
		return err
	}
	return nil
}

func readTool(set *toolSet, t *object) error {
	kind := ""
	if !t.given("type") {
		return invalid(t.path+"type", "%stype is missing", t.path)
	}
	if err := t.str("type", &kind); err != nil {
		return err
	}
	if kind != "function" {
		return notOffered(t.path+"type", fmt.Sprintf("a tool of type %q", kind))
	}
	if err := t.only("type", "function", "cache_control"); err != nil {
		return err
	}
	f, err := t.child("function")
	if err != nil {
		return err
	}
	if f == nil {
		return invalid(t.path+"function", "%sfunction is missing", t.path)
	}
	if err := f.only("name", "description", "parameters", "strict"); err != nil {
		return err
	}
	return readFunction(set, f, "parameters")
}

// readFunction reads the name, description and schema of a tool.
func readFunction(set *toolSet, f *object, schema string) error {
	one := tool{Parameters: f.members[schema], Param: f.path + schema}
	for _, err := range []error{
		f.str("name", &one.Name), f.str("description", &one.Description), f.boolean("strict", &one.Strict),
	} {
		if err != nil {
			return err
		}
	}
	return set.add(one, f.path)
}

// readToolChoice reads OpenAI's tool_choice: a word, a named tool, or a list of
// those that are allowed.
func (q *query) readToolChoice(o *object) error {
	if !o.given("tool_choice") {
		return nil
	}
	var word string
	if json.Unmarshal(o.members["tool_choice"], &word) == nil {
		if err := o.oneOf("tool_choice", &word, toolsAuto, toolsNone, toolsRequired, "any"); err != nil {
			return err
		}
		if word == "any" { // as Mistral has it
			word = toolsRequired
		}
		if q.Tools == nil {
			if word == toolsRequired {
				return invalid("tool_choice", "tool_choice needs tools")
			}
			return nil
		}
		q.Tools.Mode = word
		return nil
	}
	c, err := o.child("tool_choice")
	if err != nil {
		return o.wrongType("tool_choice", `"auto", "none", "required" or an object`)
	}
	if q.Tools == nil {
		return invalid("tool_choice", "tool_choice needs tools")
	}
	kind := ""
	if err := c.oneOf("type", &kind, "function", "allowed_tools"); err != nil {
		return err
	}
	switch kind {
	case "function":
		return q.readNamedTool(c)
	case "allowed_tools":
		return q.readAllowedTools(c)
	}
	return invalid(c.path+"type", "%stype is missing", c.path)
}

// readNamedTool reads {"type": "function", "function": {"name"}} or, as
// /v1/responses has it, {"type": "function", "name"}.
func (q *query) readNamedTool(c *object) error {
	if err := c.only("type", "function", "name"); err != nil {
		return err
	}
	f := c
	if c.given("function") {
		var err error
		if f, err = c.child("function"); err != nil {
			return err
		}
		if err := f.only("name"); err != nil {
			return err
		}
	}
	name := ""
	if !f.given("name") {
		return invalid(f.path+"name", "%sname is missing", f.path)
	}
	if err := f.str("name", &name); err != nil {
		return err
	}
	q.Tools.Mode = toolsRequired
	q.Tools.Parallel = false // one name, one call
	return q.Tools.allow(f.path+"name", []string{name})
}

// readAllowedTools reads {"type": "allowed_tools", "allowed_tools": {"mode",
// "tools"}} or the same without the inner object.
func (q *query) readAllowedTools(c *object) error {
	in := c
	if c.given("allowed_tools") {
		var err error
		if in, err = c.child("allowed_tools"); err != nil {
			return err
		}
	}
	if err := in.only("type", "mode", "tools"); err != nil {
		return err
	}
	if err := in.oneOf("mode", &q.Tools.Mode, toolsAuto, toolsRequired); err != nil {
		return err
	}
	list, err := in.list("tools")
	if err != nil {
		return err
	}
	var allowed []string
	for _, t := range list {
		f := t
		if t.given("function") {
			if f, err = t.child("function"); err != nil {
				return err
			}
		}
		name := ""
		if !f.given("name") {
			return invalid(f.path+"name", "%sname is missing", f.path)
		}
		if err := f.str("name", &name); err != nil {
			return err
		}
		allowed = append(allowed, name)
	}
	if len(allowed) == 0 {
		return invalid(in.path+"tools", "%stools must not be empty", in.path)
	}
	return q.Tools.allow(in.path+"tools", allowed)
}
