package vectors

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server/wire"
)

// A rerankQuery is a decoded body of POST /v1/rerank.
type rerankQuery struct {
	Model           string
	Query           string
	Documents       []string
	TopN            int // 0: all
	ReturnDocuments bool
	Sigmoid         bool // scale scores to between 0 and 1
	TEI             bool // the request is in the form of Text Embeddings Inference
	Truncate        bool // truncate documents that are too long
	Timeout         time.Duration
	KeepAlive       *time.Duration
	Warnings        []string
}

// place names document i in an error, all documents for -1.
func (q *rerankQuery) place(i int) string {
	if i < 0 {
		return q.field()
	}
	return fmt.Sprintf("%s[%d]", q.field(), i)
}

func (q *rerankQuery) field() string {
	if q.TEI {
		return "texts"
	}
	return "documents"
}

var rerankNames = wire.Names{
	Known:    []string{"model", "query", "documents", "top_n", "return_documents", "texts", "return_text", "raw_scores", "truncation_direction", "truncate", "timeout", "keep_alive"},
	Harmless: wire.HarmlessFields,
	Refused:  []string{"rank_fields"},
}

// readRerank reads the body of POST /v1/rerank. With texts instead of documents, it is Text Embeddings
// Inference's.
func readRerank(o *wire.Object) (*rerankQuery, error) {
	q := new(rerankQuery)
	var err error
	if q.Warnings, err = rerankNames.Check(o); err != nil {
		return nil, err
	}
	q.TEI = o.Given("texts") && !o.Given("documents")
	raw, end := true, ""
	for _, read := range []func() error{
		func() error { return o.Boolean("return_text", &q.ReturnDocuments) },
		func() error { return o.Boolean("raw_scores", &raw) },
		func() error { return o.OneOf("truncation_direction", &end, "Right", "right") },
		func() error { return o.Str("model", &q.Model) },
		func() error { return o.Str("query", &q.Query) },
		func() error { return o.Integer("top_n", &q.TopN, 1, math.MaxInt32) },
		func() error { return o.Boolean("return_documents", &q.ReturnDocuments) },
		func() error { return o.Boolean("truncate", &q.Truncate) },
		func() error { return o.Seconds("timeout", &q.Timeout) },
		func() error { return o.KeepAlive("keep_alive", &q.KeepAlive) },
		func() error { return q.readDocuments(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	q.Sigmoid = !raw
	if !q.TEI {
		for _, name := range []string{"texts", "return_text", "raw_scores", "truncation_direction"} {
			if o.Given(name) {
				return nil, wire.Invalid(name, "%s has no meaning beside documents", name)
			}
		}
	}
	if q.Query == "" {
		return nil, wire.Invalid("query", "query is required and must not be empty")
	}
	return q, nil
}

// readDocuments reads the documents: strings, or objects with a text.
func (q *rerankQuery) readDocuments(o *wire.Object) error {
	field := q.field()
	list, err := o.Raws(field)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return wire.Invalid(field, "%s is required and must not be empty", field)
	}
	if len(list) > embedding.MaxInputs {
		return &wire.Error{Param: field, Code: "too_many_inputs", Message: fmt.Sprintf(
			"%s has %d inputs, at most %d are possible in one request", field, len(list), embedding.MaxInputs)}
	}
	for i, raw := range list {
		place, text := q.place(i), ""
		switch raw[0] {
		case '"':
			if err := json.Unmarshal(raw, &text); err != nil {
				return wire.Invalid(place, "%s is not a text: %v", place, err)
			}
		case '{':
			one, err := wire.ParseObject(raw, place+".")
			if err != nil {
				return err
			}
			if err := one.Only("text"); err != nil {
				return err
			}
			if !one.Given("text") {
				return wire.Invalid(place+".text", "%s.text is required", place)
			}
			if err := one.Str("text", &text); err != nil {
				return err
			}
		default:
			return wire.Invalid(place, "%s must be a string or an object with a text, not %s", place, wire.Sketch(raw))
		}
		q.Documents = append(q.Documents, text)
	}
	return nil
}

type rerankReply struct {
	Model    string         `json:"model"`
	Object   string         `json:"object"`
	Usage    tokenUsage     `json:"usage"`
	Results  []rerankResult `json:"results"`
	Warnings []string       `json:"warnings,omitempty"`
}

type rerankResult struct {
	Index    int             `json:"index"`
	Score    float32         `json:"relevance_score"` // the output of the model's classification head
	Document *rerankDocument `json:"document,omitempty"`
}

// A teiResult is a result in the form of Text Embeddings Inference.
type teiResult struct {
	Index int     `json:"index"`
	Score float32 `json:"score"`
	Text  *string `json:"text,omitempty"`
}

type rerankDocument struct {
	Text string `json:"text"`
}
