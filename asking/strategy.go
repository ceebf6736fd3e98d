package asking

import (
	"encoding/json"
	"maps"
	"strings"

	"stencil/backend/remote"
)

// A Strategy is a way of asking for a document.
type Strategy string

// The strategies. Masks over local logits are not among them: a text that they
// constrain needs no asking.
const (
	// Free: the local model writes what it wants to.
	Free Strategy = "free"
	// Native: the upstream's engine lays masks of its own, told in its own
	// spelling.
	Native Strategy = "native"
	// Structured: the upstream promises to keep to a response_format.
	Structured Strategy = "structured"
	// StructuredLogprobs: the same, and it reports probabilities.
	StructuredLogprobs Strategy = "structured_with_logprobs"
	// Instructed: the schema and the rules are written into the prompt.
	Instructed Strategy = "instructed"
	// ByTools: the upstream takes tools and gives calls apart from the text.
	ByTools Strategy = "tools"
	// Plain: nothing is wanted of the text.
	Plain Strategy = "plain"
)

// A Format is what a text must look like. At most one of Schema, Regex,
// Grammar and Choices is given; none means any JSON, if JSON is set.
type Format struct {
	JSON    bool            // the text is a JSON document
	Schema  json.RawMessage // that fits this
	Regex   string
	Grammar string // GBNF
	Choices []string
}

// wire returns the format in an upstream's terms.
func (f *Format) wire() remote.Format {
	w := remote.Format{Regex: f.Regex, Grammar: f.Grammar, Choices: f.Choices}
	if f.JSON {
		w.Schema = f.Schema
	}
	return w
}

// Choose returns the strategy for a format at an upstream, and the members of
// the request that go with it. The choice depends on nothing but the two, so
// that a model is asked in the same way every time.
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
		// Not the format, but better than nothing.
		extra, _ := caps.Format(remote.Format{Object: true})
		return Instructed, extra
	}
	return Instructed, nil
}

// objectOnly reports whether a schema says at its top that it is for objects.
func objectOnly(schema json.RawMessage) bool {
	var top struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &top) == nil && top.Type == "object"
}

// Rules are what an instructed model is told beside the schema.
func (f *Format) Rules() string {
	var b strings.Builder
	if !f.JSON {
		b.WriteString("Answer with that text and nothing else: no explanation, no quotes around it, no code fence.")
		return b.String()
	}
	b.WriteString("Answer with raw JSON only: no code fences, no markdown, no text before or after it, no comments. " +
		"Use double quotes, and write every value out: no arithmetic such as \"amount\": 100 * price, no placeholders, no ellipsis.")
	if objectOnly(f.Schema) {
		b.WriteString(" Start with { and end with }.")
	}
	return b.String()
}
