package vectors

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"stencil/embedding"
	"stencil/server/wire"
)

// An EmbedQuery is a request for vectors of any dialect, decoded.
type EmbedQuery struct {
	Model      string
	Inputs     []EmbedInput
	Single     bool   // the field holds one input instead of a list
	Field      string // its name
	Dimensions int    // 0: all
	Base64     bool
	Raw        bool // not brought to length 1
	Truncate   bool // leave out what is too long
	Limit      int  // of an input's tokens, besides the model's; 0: none
	Timeout    time.Duration
	KeepAlive  *time.Duration
	Warnings   []string
}

// EmbedInput is a text, or tokens if they are not nil.
type EmbedInput struct {
	Text   string
	tokens []int32
}

// place names an input in an error, all of them with -1.
func (q *EmbedQuery) place(i int) string {
	if q.Single || i < 0 {
		return q.Field
	}
	return fmt.Sprintf("%s[%d]", q.Field, i)
}

// MaxDimensions is beyond every model's width.
const MaxDimensions = 1 << 20

var openAIEmbeddingsNames = wire.Names{
	Known:    []string{"model", "input", "encoding_format", "dimensions", "truncate", "timeout", "keep_alive"},
	Harmless: wire.HarmlessFields,
}

// readOpenAIEmbeddings reads the body of POST /v1/embeddings.
func readOpenAIEmbeddings(o *wire.Object) (*EmbedQuery, error) {
	q := &EmbedQuery{Field: "input"}
	format := "float"
	var err error
	if q.Warnings, err = openAIEmbeddingsNames.Check(o); err != nil {
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
		if in.tokens == nil && in.Text == "" {
			return nil, wire.Invalid(q.place(i), "%s must not be empty", q.place(i))
		}
	}
	return q, nil
}

// ReadInput reads the inputs: a text, a list of texts, and if tokens may be given
// a list of tokens or a list of such lists.
func (q *EmbedQuery) ReadInput(o *wire.Object, tokens bool) error {
	want := "a string or an array of strings"
	if tokens {
		want += ", or of tokens, or of arrays of tokens"
	}
	if !o.Given(q.Field) {
		return wire.Invalid(q.Field, "%s is required: %s", q.Field, want)
	}
	raw := o.Members[q.Field]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		q.Inputs, q.Single = []EmbedInput{{Text: text}}, true
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return o.WrongType(q.Field, want)
	}
	if tokens && len(list) > 0 && isNumber(list[0]) {
		one, err := readTokens(raw, q.Field)
		q.Inputs, q.Single = []EmbedInput{{tokens: one}}, true
		return err
	}
	if len(list) > embedding.MaxInputs {
		return &wire.Error{Param: q.Field, Code: "too_many_inputs", Message: fmt.Sprintf(
			"%s has %d inputs, at most %d are possible in one request", q.Field, len(list), embedding.MaxInputs)}
	}
	lists := tokens && len(list) > 0 && list[0][0] == '['
	for i, item := range list {
		var in EmbedInput
		if lists {
			var err error
			if in.tokens, err = readTokens(item, q.place(i)); err != nil {
				return err
			}
		} else if string(item) == "null" || json.Unmarshal(item, &in.Text) != nil {
			return wire.Invalid(q.place(i), "%s must be a string, not %s", q.place(i), wire.Sketch(item))
		}
		q.Inputs = append(q.Inputs, in)
	}
	return nil
}

func isNumber(raw json.RawMessage) bool {
	return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// readTokens reads a list of tokens, which is not nil even if it is empty.
func readTokens(raw json.RawMessage, place string) ([]int32, error) {
	var list []*int32
	if json.Unmarshal(raw, &list) != nil || list == nil || slices.Contains(list, nil) {
		return nil, wire.Invalid(place, "%s must be an array of tokens, which are whole numbers", place)
	}
	out := make([]int32, 0, len(list))
	for _, t := range list {
		out = append(out, *t)
	}
	return out, nil
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

// tokenUsage is that of requests that generate nothing.
type tokenUsage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}
