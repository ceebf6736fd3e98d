package vectors

import (
	"fmt"
	"slices"
	"time"

	"github.com/stencil-json/stencil/server/wire"
)

// An EmbedQuery is a decoded request for embeddings, in any dialect.
type EmbedQuery struct {
	Model      string
	Inputs     []EmbedInput
	Single     bool   // the field holds one input rather than a list
	Field      string // name of the field
	Dimensions int    // 0: all
	Base64     bool
	Raw        bool // not normalised
	Truncate   bool // truncate inputs that are too long
	Limit      int  // tokens of an input, in addition to the model's limit; 0: none
	Timeout    time.Duration
	KeepAlive  *time.Duration
	Warnings   []string
}

// place names input i in an error, all inputs for -1.
func (q *EmbedQuery) place(i int) string {
	if q.Single || i < 0 {
		return q.Field
	}
	return fmt.Sprintf("%s[%d]", q.Field, i)
}

// MaxDimensions is above every model's width.
const MaxDimensions = 1 << 20

// embeddingsNames are the fields of POST /v1/embeddings.
var embeddingsNames = wire.Names{
	Known:    []string{"model", "input", "encoding_format", "dimensions", "truncate", "timeout", "keep_alive"},
	Harmless: wire.HarmlessFields,
}

// readOpenAIEmbeddings reads the body of POST /v1/embeddings.
func readOpenAIEmbeddings(o *wire.Object) (*EmbedQuery, error) { return readEmbeddings(o, "input") }

// readEmbeddings reads a body whose texts are in the given field. The caller has read the fields in
// others.
func readEmbeddings(o *wire.Object, field string, others ...string) (*EmbedQuery, error) {
	names := embeddingsNames
	names.Known = slices.Concat(names.Known, others)
	q := &EmbedQuery{Field: field}
	format := "float"
	var err error
	if q.Warnings, err = names.Check(o); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return o.Str("model", &q.Model) },
		func() error { return o.OneOf("encoding_format", &format, "float", "base64") },
		func() error { return o.Integer("dimensions", &q.Dimensions, 1, MaxDimensions) },
		func() error { return o.Boolean("truncate", &q.Truncate) },
		func() error { return o.Seconds("timeout", &q.Timeout) },
		func() error { return o.KeepAlive("keep_alive", &q.KeepAlive) },
		func() error { return q.ReadInput(o, true) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	q.Base64 = format == "base64"
	if len(q.Inputs) == 0 {
		return nil, wire.Invalid(q.Field, "%s must not be empty", q.Field)
	}
	for i, in := range q.Inputs {
		if in.Text == "" && in.parts == nil {
			return nil, wire.Invalid(q.place(i), "%s must not be empty", q.place(i))
		}
	}
	return q, nil
}

type embeddingsReply struct {
	Object   string           `json:"object"`
	Data     []embeddingReply `json:"data"`
	Model    string           `json:"model"`
	Usage    tokenUsage       `json:"usage"`
	Warnings []string         `json:"warnings,omitempty"`
}

type embeddingReply struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or a string of base64
}

// tokenUsage is the usage of requests that generate nothing.
type tokenUsage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}
