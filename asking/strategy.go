package asking

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/stencil-json/stencil/backend/remote"
)

// A Strategy is a way of asking for a document.
type Strategy string

// The strategies. Constrained decoding of the local model is not among them: it needs
// no validation and retry.
const (
	// Masks: constrained decoding, which is named where its documents fail keywords that masks don't enforce.
	Masks Strategy = "masks"
	// Free: the local model generates without masks.
	Free Strategy = "free"
	// Native: the upstream's engine enforces the constraint, passed in the
	// fields of that engine.
	Native Strategy = "native"
	// Structured: the upstream enforces a response_format.
	Structured Strategy = "structured"
	// StructuredLogprobs: like Structured, with log probabilities.
	StructuredLogprobs Strategy = "structured_with_logprobs"
	// Instructed: the prompt contains the schema and the rules.
	Instructed Strategy = "instructed"
	// ByTools: the upstream supports tools and returns tool calls.
	ByTools Strategy = "tools"
	// Plain: the text is unconstrained.
	Plain Strategy = "plain"
)

// A Format is the required format of a text. At most one of Schema, Regex, Grammar and
// Choices is set; none means any JSON, if JSON is set.
type Format struct {
	JSON    bool            // the text is a JSON document
	Schema  json.RawMessage // schema of the document
	Shown   json.RawMessage // the example to show; nil: one that is made from the schema
	Regex   string
	Grammar string // GBNF
	Choices []string
}

// wire returns the format as request fields of an upstream.
func (f *Format) wire() remote.Format {
	w := remote.Format{Regex: f.Regex, Grammar: f.Grammar, Choices: f.Choices}
	if f.JSON {
		w.Schema = f.Schema
	}
	return w
}

// Choose returns the strategy for a format at an upstream, and the request fields for
// it. The choice is deterministic.
func Choose(caps remote.Capabilities, f *Format) (Strategy, map[string]any) {
	if f == nil {
		return Plain, nil
	}
	if extra, ok := caps.Format(f.wire()); ok {
		switch {
		case caps.Engine != remote.OpenAI:
			return Native, extra
		case caps.Logprobs:
			extra = maps.Clone(extra)
			extra["logprobs"] = true
			return StructuredLogprobs, extra
		}
		return Structured, extra
	}
	if f.JSON && objectOnly(f.Schema) {
		// This does not enforce the format, but makes JSON likely.
		extra, _ := caps.Format(remote.Format{Object: true})
		return Instructed, extra
	}
	return Instructed, nil
}

// objectOnly reports whether the top level of a schema allows objects only.
func objectOnly(schema json.RawMessage) bool {
	var top struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &top) == nil && top.Type == "object"
}

// Rules returns the rules in the prompt of strategy Instructed, beside the schema.
func (f *Format) Rules() string {
	var b strings.Builder
	if !f.JSON {
		b.WriteString("Answer with that text and nothing else: no explanation, no quotes around it, no code fence.")
		return b.String()
	}
	b.WriteString("Answer with raw JSON only: no code fences, no markdown, no text before or after it, no comments. " +
		"Use double quotes, and write every value out: no arithmetic such as \"amount\": 100 * price, no placeholders, no ellipsis. " +
		"Strings are plain text, without bold or italics, unless the task asks for markdown in them.")
	if objectOnly(f.Schema) {
		b.WriteString(" Start with { and end with }.")
	}
	return b.String()
}
