package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/internal/shared"
)

// oddParameters are schemas of tools' parameters that templates don't expect.
var oddParameters = map[string]string{
	"none":              ``,
	"null":              `null`,
	"empty":             `{}`,
	"true":              `true`,
	"no properties":     `{"type": "object"}`,
	"empty properties":  `{"type": "object", "properties": {}}`,
	"list of types":     `{"type": "object", "properties": {"a": {"type": ["string", "null"], "description": "d"}, "b": {"type": ["object", "array"]}}}`,
	"anyOf":             `{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object", "properties": {"x": {}}}]}}}`,
	"null and others":   `{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "any"}}}`,
	"anything":          `{"type": "object", "properties": {"a": {}, "b": true}}`,
	"enum":              `{"type": "object", "properties": {"a": {"enum": ["x", 1, null, true, {"y": []}]}, "b": {"const": 5}}, "required": ["a"]}`,
	"reference":         `{"$defs": {"n": {"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}}}}, "type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}`,
	"nested":            `{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": ["integer", "null"]}}}}}}}}}`,
	"bare containers":   `{"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object"}, "c": {"type": "array", "items": {}}, "d": {"type": "array", "items": [{"type": "string"}]}, "e": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}}}`,
	"properties anyOf":  `{"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"b": {"type": "integer"}}}]}`,
	"odd annotations":   `{"type": "object", "properties": {"a": {"type": "string", "default": null, "examples": [], "description": "", "title": 5}, "b": {"type": "number", "default": 1.5, "minimum": -1e300}}}`,
	"names of keywords": `{"type": "object", "properties": {"type": {"type": "string"}, "properties": {"type": "object", "properties": {"description": {"type": "string"}}}, "items": {"type": "integer"}, "required": {"type": "boolean"}}, "required": ["type"]}`,
	"required, unnamed": `{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": true}`,
}

// TestOddParameters checks that every template renders tools whose parameters it doesn't expect, and that they are in the prompt if
// usual ones are.
func TestOddParameters(t *testing.T) {
	for name, source := range shared.Templates(t) {
		tmpl, err := New(source, Options{BOS: "<BOS>", EOS: "<EOS>", Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for what, parameters := range oddParameters {
			for _, description := range []string{`"description": "stencildesc", `, ``} {
				if parameters != "" {
					parameters = `, "parameters": ` + strings.TrimPrefix(parameters, `, "parameters": `)
				}
				tool := json.RawMessage(`{"type": "function", "function": {` + description + `"name": "stencilodd"` + parameters + `}}`)
				text, err := tmpl.Render(Input{Messages: []Message{{Role: "user", Content: "x"}}, Tools: []json.RawMessage{tool}, AddGenerationPrompt: true})
				if err != nil {
					t.Errorf("%s: %s, %q: %v", name, what, description, err)
				} else if tmpl.Caps().Tools && !strings.Contains(text, "stencilodd") {
					t.Errorf("%s: %s, %q: the tool is not in the prompt", name, what, description)
				}
			}
		}
	}
}
