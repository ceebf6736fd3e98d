package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stencil/engine"
	"stencil/schema"
)

// A tool is a function that the model may call.
type tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema for an object
	Strict      bool
	Param       string // where its schema stands in the request
}

// How tools are to be used.
const (
	toolsAuto     = "auto"
	toolsNone     = "none"
	toolsRequired = "required"
)

// A toolSet is the tools of a request and which of them are to be called.
type toolSet struct {
	Tools    []tool
	Mode     string
	Allowed  []string // names that may be called; nil: all
	Parallel bool     // several calls in one answer
}

// callable returns the tools that may be called.
func (s *toolSet) callable() []tool {
	if s.Allowed == nil {
		return s.Tools
	}
	var out []tool
	for _, t := range s.Tools {
		if slices.Contains(s.Allowed, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// has reports whether there is a tool of that name.
func (s *toolSet) has(name string) bool {
	return slices.ContainsFunc(s.Tools, func(t tool) bool { return t.Name == name })
}

// Limits of tools. A name is what OpenAI's and Anthropic's specifications
// allow, so that it needs no escapes anywhere.
const (
	maxTools    = 512
	maxToolName = 128
)

// checkName says whether a tool's name is fit to be written down anywhere.
func checkName(param, name string) error {
	fit := name != "" && len(name) <= maxToolName
	for i := 0; i < len(name) && fit; i++ {
		c := name[i]
		fit = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c == '/'
	}
	if !fit {
		return invalid(param, "%s must be 1 to %d letters, digits, underscores, dashes, dots, colons or slashes, not %s", param, maxToolName, sketch(json.RawMessage(strconv.Quote(name))))
	}
	return nil
}

// add appends a tool after checking what all dialects have in common.
func (s *toolSet) add(t tool, path string) error {
	if err := checkName(path+"name", t.Name); err != nil {
		return err
	}
	if s.has(t.Name) {
		return invalid(path+"name", "the tool %s is given twice", t.Name)
	}
	if len(s.Tools) >= maxTools {
		return invalid("tools", "tools must have at most %d entries", maxTools)
	}
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	s.Tools = append(s.Tools, t)
	return nil
}

// allow restricts the calls to some of the tools.
func (s *toolSet) allow(param string, names []string) error {
	for _, name := range names {
		if !s.has(name) {
			return invalid(param, "%s names the tool %q, which is not among the tools", param, name)
		}
	}
	s.Allowed = names
	return nil
}

// openAI returns a tool as chat templates expect it.
func (t *tool) openAI() (json.RawMessage, error) {
	return marshal(map[string]any{"type": "function", "function": struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, t.Parameters}})
}

// toolInstruction tells a model of the tools whose template can't.
func toolInstruction(tools []tool) string {
	var b strings.Builder
	b.WriteString("You can call functions. A call is written <tool_call>\n{\"name\": the function, \"arguments\": an object that fits its schema}\n</tool_call>. Functions:")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s", t.Name)
		if t.Description != "" {
			fmt.Fprintf(&b, ": %s", t.Description)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, t.Parameters) == nil {
			fmt.Fprintf(&b, "\n  schema: %s", compact.String())
		}
	}
	return b.String()
}

// A compiledTool is a tool with the schema of its arguments.
type compiledTool struct {
	tool
	compiled *engine.CompiledSchema
}

// compileTools compiles the arguments of every tool that may be called.
// Keywords that can't be enforced are left to the validator: tools are often
// written by others than who sends them.
func (m *served) compileTools(tools []tool) ([]compiledTool, error) {
	out := make([]compiledTool, 0, len(tools))
	for _, t := range tools {
		compiled, err := m.schemas.Compile(t.Parameters, schema.Options{OnUnsupported: schema.UnsupportedIsChecked, Strict: t.Strict})
		if err != nil {
			return nil, inField(err, t.Param)
		}
		out = append(out, compiledTool{t, compiled})
	}
	return out, nil
}

// How calls are marked in a text: as Hermes' and Qwen's models were trained to.
// Others learn it from the instruction or their template.
const (
	callOpening = "<tool_call>"
	callClosing = "</tool_call>"
)

// toolRule makes the rule of a text that holds calls, must or may. If it may
// and there is a format, the text is either calls or in the format.
func (m *served) toolRule(set *toolSet, format *rule) (*rule, layout, error) {
	tools, err := m.compileTools(set.callable())
	if err != nil {
		return nil, layout{}, err
	}
	doc, err := callSchema(tools)
	if err != nil {
		return nil, layout{}, err
	}
	compiled, err := m.schemas.Compile(doc, schema.Options{OnUnsupported: schema.UnsupportedIsChecked})
	if err != nil {
		return nil, layout{}, inField(err, "tools")
	}
	r := &rule{kind: "tools", report: mergeReports(tools, compiled.Report.Hash)}
	// The calls: segments 1 to 5. What begins the text is segment 0.
	list := []engine.Segment{
		{},
		{Kind: engine.SegmentGiven, Text: callOpening + "\n", Next: 2},
		{Kind: engine.SegmentDocument, Grammar: compiled.Bound, Next: 3},
		{Kind: engine.SegmentGiven, Text: "\n" + callClosing, Next: 4},
		{Kind: engine.SegmentGiven, Text: "\n" + callOpening + "\n", MayEnd: true, Next: 2},
		{Kind: engine.SegmentEnd},
	}
	if !set.Parallel {
		list[3].Next = 5
	}
	l := layout{calls: true}
	switch {
	case set.Mode == toolsRequired:
		list[0] = list[1]
	case format != nil && format.bound != nil:
		r.format, r.instruction = format, format.instruction
		l = layout{trigger: callOpening, fork: true}
		list[0] = engine.Segment{Kind: engine.SegmentFork, Next: 1, Or: len(list)}
		list = append(list, engine.Segment{Kind: engine.SegmentDocument, Grammar: format.bound, MayEnd: true})
	default:
		l = layout{trigger: callOpening}
		list[0] = engine.Segment{Kind: engine.SegmentFree, Text: callOpening, MayEnd: true, Next: len(list)}
		list = append(list, engine.Segment{Kind: engine.SegmentGiven, Text: "\n", Next: 2})
	}
	r.segments = list
	r.constraint = engine.Segments(m.engine.Vocab(), list)
	r.check = func(text string) error { return checkCalls(tools, l.parse(text)) }
	return r, l, nil
}

// callSchema returns the schema of a call.
func callSchema(tools []compiledTool) (json.RawMessage, error) {
	var calls []json.RawMessage
	for _, t := range tools {
		arguments, err := embedded(t.Parameters, t.Name)
		if err != nil {
			return nil, err
		}
		name, err := marshal(t.Name)
		if err != nil {
			return nil, err
		}
		calls = append(calls, json.RawMessage(fmt.Sprintf(
			`{"type":"object","properties":{"name":{"const":%s},"arguments":{"type":"object","allOf":[%s]}},"required":["name","arguments"],"additionalProperties":false}`, name, arguments)))
	}
	return marshal(map[string]any{"anyOf": calls})
}

// embedded returns a schema to be put into another one: with an identifier, so
// that its references keep their meaning.
func embedded(src json.RawMessage, name string) (json.RawMessage, error) {
	o, err := parseObject(src, "")
	if err != nil || o.given("$id") || o.given("id") {
		return src, nil // not an object, or at home already
	}
	delete(o.members, "$schema")
	var b bytes.Buffer
	id, err := marshal("tool:///" + name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `{"$id":%s`, id)
	for _, key := range o.names {
		if raw, ok := o.members[key]; ok {
			quoted, err := marshal(key)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, ",%s:%s", quoted, raw)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mergeReports says of all tools together what is enforced. Pointers begin
// with the tool's name.
func mergeReports(tools []compiledTool, hash string) schema.Report {
	out := schema.Report{Hash: hash}
	for _, t := range tools {
		r := t.compiled.Report
		for _, k := range r.Enforced {
			if !slices.Contains(out.Enforced, k) {
				out.Enforced = append(out.Enforced, k)
			}
		}
		add := func(to *[]schema.Issue, from []schema.Issue) {
			for _, i := range from {
				i.Pointer = "/" + t.Name + i.Pointer
				*to = append(*to, i)
			}
		}
		add(&out.Checked, r.Checked)
		add(&out.Ignored, r.Ignored)
		add(&out.Warnings, r.Warnings)
	}
	return out
}

// checkCalls validates the arguments of every call.
func checkCalls(tools []compiledTool, msg message) error {
	var all engine.InvalidDocumentError
	for _, c := range msg.Calls {
		i := slices.IndexFunc(tools, func(t compiledTool) bool { return t.Name == c.Name })
		if i < 0 {
			all.Issues = append(all.Issues, schema.Issue{Pointer: "/name", Reason: fmt.Sprintf("there is no tool %q", c.Name)})
			continue
		}
		err := tools[i].compiled.Validate([]byte(c.Arguments))
		var bad *engine.InvalidDocumentError
		if errors.As(err, &bad) {
			for _, issue := range bad.Issues {
				issue.Pointer = "/" + c.Name + issue.Pointer
				all.Issues = append(all.Issues, issue)
			}
		} else if err != nil {
			return err
		}
	}
	if len(all.Issues) > 0 {
		return &all
	}
	return nil
}
