package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// A toolOrigin is the client's tool behind a function of the prompt: a function of a namespace, which has another name
// there, or a custom tool, whose input is text.
type toolOrigin struct {
	namespace, name string
	custom          bool
}

// hostedTools are prefixes of the types of tools that OpenAI's servers run. Under tool_choice auto they are left out.
var hostedTools = []string{
	"web_search", "file_search", "code_interpreter", "image_generation", "mcp", "computer", "tool_search", "programmatic_tool_calling",
	"local_shell", "shell", "apply_patch",
}

func hosted(kind string) bool {
	return slices.ContainsFunc(hostedTools, func(begin string) bool { return strings.HasPrefix(kind, begin) })
}

// readResponsesTools reads tools, which have no inner object in this API.
func (q *responsesRequest) readResponsesTools(o *wire.Object) error {
	if err := q.readToolList(o, "tools"); err != nil {
		return err
	}
	parallel := true
	if err := o.Boolean("parallel_tool_calls", &parallel); err != nil {
		return err
	}
	if q.Tools != nil {
		q.Tools.Parallel = parallel
	}
	return nil
}

// readToolList adds the tools of a list to the request's.
func (q *responsesRequest) readToolList(o *wire.Object, name string) error {
	list, err := o.List(name)
	if err != nil {
		return err
	}
	set := q.Tools
	if set == nil {
		set = &request.ToolSet{Mode: request.ToolsAuto, Parallel: true}
	}
	for _, t := range list {
		if err := q.readResponsesTool(set, t); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	return nil
}

func (q *responsesRequest) readResponsesTool(set *request.ToolSet, t *wire.Object) error {
	kind := ""
	if err := t.Str("type", &kind); err != nil {
		return err
	}
	switch {
	case kind == "":
		return wire.Invalid(t.Path+"type", "%stype is missing", t.Path)
	case kind == "function" || kind == "custom":
		return q.readResponsesFunction(set, t, kind, "")
	case kind == "namespace":
		return q.readNamespace(set, t)
	case hosted(kind):
		q.leaveOut(kind, noTool(t.Path, kind), fmt.Sprintf("the tool %s is run by its provider, which this server is not; the model was not told of it", kind))
		return nil
	}
	return noTool(t.Path, kind)
}

func noTool(path, kind string) *wire.Error {
	return wire.NotOffered(path+"type", fmt.Sprintf("a tool of type %q", kind))
}

// A leftTool is a tool that the model doesn't get. reason is the error for a request that can't do without it.
type leftTool struct {
	name   string
	reason *wire.Error
}

// leaveOut records that a tool is not offered to the model.
func (q *responsesRequest) leaveOut(name string, reason *wire.Error, warning string) {
	q.leftOut = append(q.leftOut, leftTool{name, reason})
	q.Warnings = append(q.Warnings, warning)
}

// readNamespace reads a namespace, whose functions become ordinary functions.
func (q *responsesRequest) readNamespace(set *request.ToolSet, t *wire.Object) error {
	name, description := "", ""
	for _, err := range []error{
		t.Only("type", "name", "description", "tools"), t.Str("name", &name), t.Str("description", &description),
	} {
		if err != nil {
			return err
		}
	}
	if name == "" {
		return wire.Invalid(t.Path+"name", "%sname is missing", t.Path)
	}
	list, err := t.List("tools")
	if err != nil {
		return err
	}
	for _, f := range list {
		kind := "function"
		if err := f.OneOf("type", &kind, "function", "custom"); err != nil {
			return err
		}
		if err := q.readResponsesFunction(set, f, kind, name); err != nil {
			return err
		}
	}
	return nil
}

// readResponsesFunction reads a function or a custom tool.
func (q *responsesRequest) readResponsesFunction(set *request.ToolSet, t *wire.Object, kind, namespace string) error {
	if err := t.Only(append([]string{"type", "defer_loading", "async", "allowed_callers", "output_schema", "format"}, request.FunctionFields...)...); err != nil {
		return err
	}
	name, async := "", false
	for _, err := range []error{t.Str("name", &name), t.Boolean("async", &async), directCallers(t)} {
		if err != nil {
			return err
		}
	}
	if async {
		return wire.NotOffered(t.Path+"async", t.Path+"async: true")
	}
	one := t
	if kind == "custom" {
		parameters, err := request.CustomSchema(t)
		if err != nil {
			return err
		}
		if parameters == nil {
			q.leaveOut(name, request.NoGrammar(t, name), fmt.Sprintf("the grammar of the tool %s is written in Lark's syntax, which is not offered here; the model was not told of the tool", name))
			return nil
		}
		one = &wire.Object{Path: t.Path, Members: map[string]json.RawMessage{"name": t.Members["name"], "parameters": parameters}}
		if t.Given("description") {
			one.Members["description"] = t.Members["description"]
		}
	} else if t.Given("format") {
		return wire.UnknownField(t.Path+"format", "")
	}
	shown := name
	if namespace != "" && slices.ContainsFunc(set.Tools, func(t request.Tool) bool { return t.Name == name }) {
		shown = namespace + "__" + name
		members := map[string]json.RawMessage{}
		for key, value := range one.Members {
			members[key] = value
		}
		quoted, err := wire.Marshal(shown)
		if err != nil {
			return err
		}
		members["name"] = quoted
		one = &wire.Object{Path: t.Path, Members: members}
	}
	if err := request.ReadFunction(set, one, "parameters"); err != nil {
		return err
	}
	if kind == "custom" {
		set.Tools[len(set.Tools)-1].Param = t.Path + "format"
	}
	if namespace != "" || kind == "custom" {
		if q.origins == nil {
			q.origins = map[string]toolOrigin{}
		}
		q.origins[shown] = toolOrigin{namespace, name, kind == "custom"}
	}
	return nil
}

// directCallers refuses tools that only programs may call.
func directCallers(t *wire.Object) error {
	var callers []string
	if err := t.Decode("allowed_callers", &callers, "an array of strings"); err != nil {
		return err
	}
	if t.Given("allowed_callers") && !slices.Contains(callers, "direct") {
		return wire.NotOffered(t.Path+"allowed_callers", t.Path+`allowed_callers without "direct"`)
	}
	return nil
}

// promptName returns the name of a function in the prompt.
func (q *responsesRequest) promptName(namespace, name string) string {
	for shown, origin := range q.origins {
		if origin.name == name && origin.namespace == namespace {
			return shown
		}
	}
	return name
}

// readResponsesChoice reads tool_choice. It can't name a tool that was left out.
func (q *responsesRequest) readResponsesChoice(o *wire.Object) error {
	word := ""
	if !o.Given("tool_choice") || json.Unmarshal(o.Members["tool_choice"], &word) == nil {
		if word == request.ToolsRequired && q.Tools == nil && len(q.leftOut) > 0 {
			return q.leftOut[0].reason
		}
		return q.ReadToolChoice(o)
	}
	c, err := o.Child("tool_choice")
	if err != nil {
		return o.WrongType("tool_choice", `"auto", "none", "required" or an object`)
	}
	kind := ""
	if err := c.Str("type", &kind); err != nil {
		return err
	}
	if hosted(kind) {
		return noTool(c.Path, kind)
	}
	named := []*wire.Object{c}
	if kind == "allowed_tools" {
		if named, err = c.List("tools"); err != nil {
			return err
		}
	}
	for _, one := range named {
		if err := q.renamed(one); err != nil {
			return err
		}
	}
	if kind == "allowed_tools" {
		list := make([]map[string]json.RawMessage, len(named))
		for i, one := range named {
			list[i] = one.Members
		}
		if c.Members["tools"], err = wire.Marshal(list); err != nil {
			return err
		}
	}
	choice, err := wire.Marshal(c.Members)
	if err != nil {
		return err
	}
	return q.ReadToolChoice(&wire.Object{Path: o.Path, Names: o.Names, Members: map[string]json.RawMessage{"tool_choice": choice}})
}

// renamed replaces the client's name of a tool by its name in the prompt.
func (q *responsesRequest) renamed(one *wire.Object) error {
	kind, name, namespace := "", "", ""
	for _, err := range []error{one.Str("type", &kind), one.Str("name", &name), one.Str("namespace", &namespace)} {
		if err != nil {
			return err
		}
	}
	if hosted(kind) {
		return wire.NotOffered(one.Path+"name", fmt.Sprintf("the tool %q", strings.TrimSpace(kind+" "+name)))
	}
	for _, left := range q.leftOut {
		if left.name == name {
			return left.reason
		}
	}
	if kind == "custom" || namespace != "" {
		quoted, err := wire.Marshal(q.promptName(namespace, name))
		if err != nil {
			return err
		}
		one.Members["type"], one.Members["name"] = json.RawMessage(`"function"`), quoted
		delete(one.Members, "namespace")
	}
	return nil
}

// callItem returns a call under the client's name of the tool.
func (q *responsesRequest) callItem(id, status string, c layout.Call) responseItem {
	out := responseItem{Type: "function_call", ID: id, Status: status, CallID: c.ID, Name: c.Name, Arguments: &c.Arguments}
	origin, ok := q.origins[c.Name]
	if !ok {
		return out
	}
	out.Name, out.Namespace = origin.name, origin.namespace
	if origin.custom {
		text := request.CustomText(c.Arguments)
		out.Type, out.Arguments, out.Input = "custom_tool_call", nil, &text
	}
	return out
}
