package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stencil/chat"
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
		Description string          `json:"description"` // there are templates that want one
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, t.Parameters}})
}

// toolInstruction tells a model of the tools whose template can't, and how to call
// them.
func toolInstruction(tools []tool, form chat.CallForm) string {
	var b strings.Builder
	t := form.Triggers[0]
	fmt.Fprintf(&b, "You can call functions. A call is written %s%sFUNCTION%s{…}%s%s with an object that fits its schema. Functions:", t.Mark, t.Then, form.Middle, form.After, form.Close)
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

// A compiledTool is a tool with the schema of its arguments: as it was given, and
// as one for objects only, which arguments are.
type compiledTool struct {
	tool
	compiled  *engine.CompiledSchema
	arguments engine.Document
}

// compileTools compiles the arguments of every tool that may be called.
// Keywords that can't be enforced are left to the validator: tools are often
// written by others than who sends them.
func (m *served) compileTools(tools []tool) ([]compiledTool, error) {
	out := make([]compiledTool, 0, len(tools))
	for _, t := range tools {
		opt := schema.Options{OnUnsupported: schema.UnsupportedIsChecked, Strict: t.Strict}
		compiled, err := m.schemas.Compile(t.Parameters, opt)
		if err != nil {
			return nil, inField(err, t.Param)
		}
		object, err := objectOnly(t.Parameters)
		if err != nil {
			return nil, err
		}
		arguments := compiled
		if object != nil {
			opt.Strict = false // it has been said
			if arguments, err = m.schemas.Compile(object, opt); err != nil {
				return nil, &requestError{Param: t.Param, Code: "unsatisfiable_schema", Message: t.Param + " must allow objects, which the arguments of a call are: " + err.Error()}
			}
		}
		out = append(out, compiledTool{t, compiled, arguments.Document()})
	}
	return out, nil
}

// objectOnly returns a schema as one for objects, nil if it is one.
func objectOnly(src json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(src, "")
	if err != nil { // true or false
		return json.RawMessage(fmt.Sprintf(`{"type":"object","allOf":[%s]}`, src)), nil
	}
	if string(o.members["type"]) == `"object"` {
		return nil, nil
	}
	inside := src
	if !o.given("$id") && !o.given("id") {
		// With an identifier its references keep their meaning.
		var b bytes.Buffer
		b.WriteString(`{"$id":"tool:///arguments"`)
		for _, key := range o.names {
			quoted, err := marshal(key)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, ",%s:%s", quoted, o.members[key])
		}
		b.WriteByte('}')
		inside = b.Bytes()
	}
	draft := ""
	if o.given("$schema") {
		draft = fmt.Sprintf(`"$schema":%s,`, o.members["$schema"])
	}
	return json.RawMessage(fmt.Sprintf(`{%s"type":"object","allOf":[%s]}`, draft, inside)), nil
}

// toolRule makes the rule of a text that holds calls, must or may.
func (m *served) toolRule(set *toolSet, format *rule) (*rule, error) {
	tools, err := m.compileTools(set.callable())
	if err != nil {
		return nil, err
	}
	r := &rule{kind: "tools", report: mergeReports(tools), tools: tools, must: set.Mode == toolsRequired, parallel: set.Parallel}
	if format != nil && format.tags != nil {
		return nil, &requestError{Param: "tools", Code: "two_constraints", Message: "tools and structural tags exclude each other"}
	}
	if format != nil && (format.part != nil || m.upstream != nil) && !r.must {
		r.format = format
		if format.kind != "json" || m.upstream != nil {
			r.instruction, r.named = format.instruction, format.named
		}
	}
	r.check = func(msg *message) error { return checkCalls(tools, msg) }
	return r, nil
}

// mergeReports says of all tools together what is enforced. Pointers begin
// with the tool's name; the hash is over all names and hashes.
func mergeReports(tools []compiledTool) schema.Report {
	h := sha256.New()
	var out schema.Report
	for _, t := range tools {
		r := t.compiled.Report
		fmt.Fprintf(h, "%s %s\n", t.Name, r.Hash)
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
	out.Hash = fmt.Sprintf("sha256:%x", h.Sum(nil))
	return out
}

// checkCalls validates the arguments of every call.
func checkCalls(tools []compiledTool, msg *message) error {
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
