package request

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/stencil-json/stencil/server/wire"
)

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema for an object
	Strict      bool
	Returns     json.RawMessage // a JSON Schema of its result, which some templates show; nil: none
	Custom      bool            // called with text by the client
	Param       string          // the schema's field in the request
}

// The modes of a ToolSet.
const (
	ToolsAuto     = "auto"
	ToolsNone     = "none"
	ToolsRequired = "required"
)

// A ToolSet holds the tools of a request and how they may be called.
type ToolSet struct {
	Tools    []Tool
	Mode     string
	Allowed  []string // names of callable tools; nil: all
	Parallel bool     // allow several calls in one answer
}

// Callable returns the tools that may be called.
func (s *ToolSet) Callable() []Tool {
	if s.Allowed == nil {
		return s.Tools
	}
	var out []Tool
	for _, t := range s.Tools {
		if slices.Contains(s.Allowed, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// has reports whether the set contains a tool of that name.
func (s *ToolSet) has(name string) bool {
	return slices.ContainsFunc(s.Tools, func(t Tool) bool { return t.Name == name })
}

// Limits of tools. Names follow OpenAI's and Anthropic's specifications, so that they need
// no escapes anywhere.
const (
	maxTools    = 512
	maxToolName = 128
)

// checkName returns an error unless a tool's name has only characters that need no escapes.
func checkName(param, name string) error {
	fit := name != "" && len(name) <= maxToolName
	for i := 0; i < len(name) && fit; i++ {
		c := name[i]
		fit = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c == '/'
	}
	if !fit {
		return wire.Invalid(param, "%s must be 1 to %d letters, digits, underscores, dashes, dots, colons or slashes, not %s", param, maxToolName, wire.Sketch(json.RawMessage(strconv.Quote(name))))
	}
	return nil
}

// add validates a tool by the rules that all dialects share, and appends it.
func (s *ToolSet) add(t Tool, path string) error {
	if err := checkName(path+"name", t.Name); err != nil {
		return err
	}
	if s.has(t.Name) {
		return wire.Invalid(path+"name", "the tool %s is given twice", t.Name)
	}
	if len(s.Tools) >= maxTools {
		return wire.Invalid("tools", "tools must have at most %d entries", maxTools)
	}
	var err error
	if t.Parameters, err = schemaOf(t.Parameters, t.Param); err != nil {
		return err
	}
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		t.Parameters = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	s.Tools = append(s.Tools, t)
	return nil
}

// Allow restricts calls to the named tools.
func (s *ToolSet) Allow(param string, names []string) error {
	for _, name := range names {
		if !s.has(name) {
			return wire.Invalid(param, "%s names the tool %q, which is not among the tools", param, name)
		}
	}
	s.Allowed = names
	return nil
}

// OpenAI returns the tool in the form that chat templates expect.
func (t *Tool) OpenAI() (json.RawMessage, error) {
	function, err := wire.Marshal(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"` // some templates require one
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, t.Parameters})
	if err != nil {
		return nil, err
	}
	if t.Returns != nil { // as transformers has it
		function = fmt.Appendf(function[:len(function)-1], `,"return":%s}`, t.Returns)
	}
	return wire.Marshal(map[string]any{"type": "function", "function": json.RawMessage(function)})
}
