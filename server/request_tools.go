package server

import (
	"encoding/json"
	"slices"
	"strconv"
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
