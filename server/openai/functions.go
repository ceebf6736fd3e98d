package openai

import (
	"encoding/json"
	"fmt"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// Functions are the predecessor of tools; an answer calls at most one.

// readFunctions reads functions and function_call.
func (q *chatRequest) readFunctions(o *wire.Object) error {
	list, err := o.List("functions")
	if err != nil {
		return err
	}
	if len(list) > 0 && q.Tools != nil {
		return wire.Invalid("functions", "functions and tools exclude each other")
	}
	if len(list) > 0 {
		q.functions = true
		q.Tools = &request.ToolSet{Mode: request.ToolsAuto}
	}
	for _, f := range list {
		if err := f.Only(request.FunctionFields...); err != nil {
			return err
		}
		if err := request.ReadFunction(q.Tools, f, "parameters"); err != nil {
			return err
		}
	}
	return q.readFunctionCall(o)
}

// readFunctionCall reads "auto", "none" or {"name"}.
func (q *chatRequest) readFunctionCall(o *wire.Object) error {
	const name = "function_call"
	word := ""
	if !o.Given(name) {
		return nil
	}
	if json.Unmarshal(o.Members[name], &word) == nil {
		if err := o.OneOf(name, &word, request.ToolsAuto, request.ToolsNone); err != nil {
			return err
		}
		if q.functions {
			q.Tools.Mode = word
		}
		return nil
	}
	c, err := o.Child(name)
	if err != nil {
		return o.WrongType(name, `"auto", "none" or an object with a name`)
	}
	if !q.functions {
		return wire.Invalid(name, "function_call needs functions")
	}
	if !c.Given("name") {
		return wire.Invalid(c.Path+"name", "%sname is missing", c.Path)
	}
	called := ""
	if err := c.Str("name", &called); err != nil {
		return err
	}
	if err := c.Only("name"); err != nil {
		return err
	}
	q.Tools.Mode = request.ToolsRequired
	return q.Tools.Allow(c.Path+"name", []string{called})
}

// readPastFunction reads the function_call of an assistant's message.
func readPastFunction(m *wire.Object, to *chat.Message) error {
	c, err := m.Child("function_call")
	if c == nil || err != nil {
		return err
	}
	past, arguments := chat.ToolCall{}, ""
	if err := c.Str("name", &past.Name); err != nil {
		return err
	}
	if json.Unmarshal(c.Members["arguments"], &arguments) != nil {
		arguments = string(c.Members["arguments"])
	}
	new(request.Lines).AddCall(to, past, arguments)
	return nil
}

// calls sets the calls of an answer in the field that the client expects.
func (q *chatRequest) calls(m *chatMessage, list []layout.Call) {
	for _, c := range list {
		switch {
		case q.functions:
			m.Function = &chatFunction{c.Name, c.Arguments}
			return
		case q.Tools.IsCustom(c.Name):
			m.Calls = append(m.Calls, chatCall{ID: c.ID, Type: "custom", Custom: &chatCustom{c.Name, request.CustomText(c.Arguments)}})
		default:
			m.Calls = append(m.Calls, chatCall{ID: c.ID, Type: "function", Function: &chatFunction{c.Name, c.Arguments}})
		}
	}
}

// finishOf returns the finish_reason, which differs for clients that use functions.
func (q *chatRequest) finishOf(c *generation.Choice) string {
	reason := finishReason(c)
	if q.functions && reason == "tool_calls" {
		return "function_call"
	}
	return reason
}

// readVerbosity reads the desired length of answers, which is not passed to models.
func readVerbosity(q *request.Request, o *wire.Object) error {
	verbosity := "medium"
	if err := o.OneOf("verbosity", &verbosity, "low", "medium", "high"); err != nil {
		return err
	}
	if verbosity != "medium" {
		q.Warnings = append(q.Warnings, fmt.Sprintf("%sverbosity %q was ignored: it is not passed to models", o.Path, verbosity))
	}
	return nil
}
