package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// An inputReader converts the items of a conversation to messages. History is never refused: an item of an unknown type
// is passed to the model as text.
type inputReader struct {
	*responsesRequest
	names map[string]string // of functions, by the id of a call
	open  []chat.ToolCall   // calls without an output so far
	found int               // calls without an id
	lines request.Lines
}

// readInput reads instructions and input: a text, or the items of a conversation.
func (q *responsesRequest) readInput(o *wire.Object) error {
	if err := q.readInstructions(o); err != nil {
		return err
	}
	in := &inputReader{responsesRequest: q, names: map[string]string{}}
	for i, raw := range q.past {
		item, err := wire.ParseObject(raw, fmt.Sprintf("%s[%d].", q.pastName, i))
		if err != nil {
			return err
		}
		if err := in.item(item); err != nil {
			return err
		}
	}
	if !o.Given("input") && len(q.past) == 0 {
		return wire.Invalid("input", "input is missing")
	}
	text := ""
	if json.Unmarshal(o.Members["input"], &text) == nil {
		if !o.Given("input") {
			return nil
		}
		q.Messages = append(q.Messages, chat.Message{Role: "user", Content: text})
		item, err := wire.Marshal(map[string]any{"type": "message", "role": "user", "content": text})
		q.items = append(q.items, item)
		return err
	}
	if !o.Given("input") {
		return nil
	}
	if list, err := o.Raws("input"); err != nil {
		return o.WrongType("input", "a string or an array of items")
	} else if len(list) == 0 && len(q.past) == 0 {
		return wire.Invalid("input", "input must not be empty")
	}
	return in.list(o, "input")
}

// list reads a list of items.
func (in *inputReader) list(o *wire.Object, name string) error {
	items, err := o.List(name)
	if err != nil {
		return o.WrongType(name, "an array of items")
	}
	raws, err := o.Raws(name)
	if err != nil {
		return err
	}
	for i, item := range items {
		raw := raws[i]
		if item, raw, err = in.referred(item, raw); err != nil {
			return err
		}
		in.items = append(in.items, raw)
		if err := in.item(item); err != nil {
			return err
		}
	}
	return nil
}

// ReadItems reads the items that a request adds to a conversation: such as a response can be made of.
func (s *Handlers) ReadItems(r *http.Request, body *wire.Object) ([]json.RawMessage, error) {
	q := &responsesRequest{Request: request.New(), kept: s.keptFor(r)}
	in := &inputReader{responsesRequest: q, names: map[string]string{}}
	err := in.list(body, "items")
	return q.items, err
}

// readInstructions reads instructions: a text, or messages.
func (q *responsesRequest) readInstructions(o *wire.Object) error {
	text := ""
	if !o.Given("instructions") {
		return nil
	}
	if json.Unmarshal(o.Members["instructions"], &text) == nil {
		if text != "" {
			q.Messages = append(q.Messages, chat.Message{Role: "system", Content: text})
		}
		return nil
	}
	list, err := o.List("instructions")
	if err != nil {
		return o.WrongType("instructions", "a string or an array of messages")
	}
	in := &inputReader{responsesRequest: q, names: map[string]string{}}
	for _, item := range list {
		if err := in.item(item); err != nil {
			return err
		}
	}
	return nil
}

// item reads one item.
func (in *inputReader) item(item *wire.Object) error {
	kind := "message"
	if err := item.Str("type", &kind); err != nil {
		return err
	}
	switch kind {
	case "message":
		one, err := readChatMessage(item)
		if err != nil {
			return err
		}
		in.Messages = append(in.Messages, one)
		return nil
	case "function_call":
		return in.call(item, "arguments")
	case "custom_tool_call":
		return in.call(item, "input")
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		return in.output(item)
	case "additional_tools":
		return in.readToolList(item, "tools")
	case "reasoning", "compaction_trigger": // earlier reasoning is not shown to the model again
		return nil
	}
	if item.Given("encrypted_content") && kind == "compaction" {
		in.Warnings = append(in.Warnings, strings.TrimSuffix(item.Path, ".")+" is encrypted for another server and was ignored")
		return nil
	}
	in.say(asText(item))
	return nil
}

// assistant returns the assistant's current turn, starting one if necessary: consecutive calls belong to one turn.
func (in *inputReader) assistant() *chat.Message {
	if n := len(in.Messages); n == 0 || in.Messages[n-1].Role != "assistant" {
		in.Messages = append(in.Messages, chat.Message{Role: "assistant"})
	}
	return &in.Messages[len(in.Messages)-1]
}

// say adds text to the assistant's current turn.
func (in *inputReader) say(text string) {
	in.lines.Add(in.assistant(), text)
}

// call reads a call whose arguments are in the given member.
func (in *inputReader) call(item *wire.Object, member string) error {
	past, name, namespace, arguments := chat.ToolCall{}, "", "", ""
	for _, err := range []error{item.Str("call_id", &past.ID), item.Str("name", &name), item.Str("namespace", &namespace)} {
		if err != nil {
			return err
		}
	}
	if json.Unmarshal(item.Members[member], &arguments) != nil {
		arguments = string(item.Members[member])
	}
	if member == "input" {
		var err error
		if arguments, err = request.CustomArguments(arguments); err != nil {
			return err
		}
	}
	past.Name = in.promptName(namespace, name)
	if past.ID == "" {
		in.found++
		past.ID = fmt.Sprintf("call_%d", in.found)
	}
	in.names[past.ID] = past.Name
	in.open = append(in.open, past)
	in.lines.AddCall(in.assistant(), past, arguments)
	return nil
}

// output reads the output of a call. An output without the call's id belongs to the last call of that name without an
// output; one without a call is text.
func (in *inputReader) output(item *wire.Object) error {
	m := chat.Message{Role: "tool"}
	name, namespace := "", ""
	for _, err := range []error{item.Str("call_id", &m.ToolCallID), item.Str("name", &name), item.Str("namespace", &namespace)} {
		if err != nil {
			return err
		}
	}
	if item.Members["output"] == nil { // null is the output of a tool that has none
		return wire.Invalid(item.Path+"output", "%soutput is missing", item.Path)
	}
	name = in.promptName(namespace, name)
	if m.ToolCallID == "" {
		for i := len(in.open) - 1; i >= 0 && m.ToolCallID == ""; i-- {
			if name == "" || in.open[i].Name == name {
				m.ToolCallID = in.open[i].ID
			}
		}
	}
	for i, c := range in.open {
		if c.ID == m.ToolCallID {
			in.open = append(in.open[:i:i], in.open[i+1:]...)
			break
		}
	}
	if err := readOutput(item, &m); err != nil {
		return err
	}
	if m.ToolCallID == "" {
		in.Messages = append(in.Messages, chat.Message{Role: "user", Content: strings.TrimPrefix(name+": ", ": ") + m.Content})
		return nil
	}
	if m.Name = in.names[m.ToolCallID]; m.Name == "" {
		m.Name = name
	}
	in.Messages = append(in.Messages, m)
	return nil
}

// readOutput reads an output: a text, parts, or the output of another kind of tool, which is passed on as JSON.
func readOutput(item *wire.Object, m *chat.Message) error {
	raw := item.Members["output"]
	output := &wire.Object{Path: item.Path, Members: map[string]json.RawMessage{"content": raw}}
	kind := ""
	if err := item.Str("type", &kind); err != nil {
		return err
	}
	if kind == "function_call_output" || kind == "custom_tool_call_output" {
		return request.ReadMessageContent(output, m)
	}
	if json.Unmarshal(raw, &m.Content) != nil {
		m.Content = string(raw)
	}
	return nil
}

// asText returns an item of an unknown type as JSON, without the members that only its server can read.
func asText(item *wire.Object) string {
	members := map[string]json.RawMessage{}
	for _, name := range item.Names {
		switch name {
		case "id", "status", "encrypted_content":
		default:
			members[name] = item.Members[name]
		}
	}
	text, err := wire.Marshal(members)
	if err != nil {
		return ""
	}
	return string(text)
}
