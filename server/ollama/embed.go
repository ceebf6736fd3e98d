package ollama

import (
	"net/http"
	"time"

	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/vectors"
	"github.com/stencil-json/stencil/server/wire"
)

// Embed handles POST /api/embed: it returns vectors of length 1 for a list
// of texts. A request without text loads the model.
func (s *Handlers) Embed(r *http.Request) (wire.Answer, error) {
	start := time.Now()
	q, m, err := s.inputs(r, readOllamaEmbed)
	if err != nil {
		return nil, err
	}
	reply := ollamaEmbedReply{Model: m.Name, Embeddings: [][]float32{}, LoadDuration: time.Since(start), Warnings: q.Warnings}
	if len(q.Inputs) > 0 {
		result, err := s.Vectors.Embed(r, m, q)
		if err != nil {
			return nil, err
		}
		reply.Embeddings, reply.PromptEvalCount = result.Rows, result.Tokens
	}
	reply.TotalDuration = time.Since(start)
	return wire.JSON{Value: reply}, nil
}

// Embeddings handles POST /api/embeddings, superseded by /api/embed: it
// returns the unnormalised vector of one text.
func (s *Handlers) Embeddings(r *http.Request) (wire.Answer, error) {
	q, m, err := s.inputs(r, readOllamaEmbeddings)
	if err != nil {
		return nil, err
	}
	reply := ollamaEmbeddingsReply{Embedding: []float32{}, Warnings: q.Warnings}
	if len(q.Inputs) > 0 {
		result, err := s.Vectors.Embed(r, m, q)
		if err != nil {
			return nil, err
		}
		reply.Embedding = result.Rows[0]
	}
	return wire.JSON{Value: reply}, nil
}

// inputs reads a request for embeddings and finds its model.
func (s *Handlers) inputs(r *http.Request, read func(*wire.Object) (*vectors.EmbedQuery, error)) (*vectors.EmbedQuery, *registry.Model, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, nil, err
	}
	q, err := read(body)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.Models.NamedFor(r.Context(), q.Model, q.KeepAlive, registry.ToEmbed)
	return q, m, err
}

var (
	ollamaEmbedNames = wire.Names{
		Known:    []string{"model", "input", "truncate", "dimensions", "keep_alive", "options"},
		Harmless: wire.HarmlessFields,
	}
	ollamaEmbeddingsNames = wire.Names{
		Known:    []string{"model", "prompt", "keep_alive", "options"},
		Harmless: wire.HarmlessFields,
	}
)

// readOllamaEmbed reads the body of POST /api/embed.
func readOllamaEmbed(o *wire.Object) (*vectors.EmbedQuery, error) {
	q := &vectors.EmbedQuery{Field: "input", Truncate: true}
	if err := readShared(q, o, &ollamaEmbedNames); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return o.Integer("dimensions", &q.Dimensions, 0, vectors.MaxDimensions) },
		func() error { return o.Boolean("truncate", &q.Truncate) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return q, readTexts(q, o)
}

// readOllamaEmbeddings reads the body of POST /api/embeddings.
func readOllamaEmbeddings(o *wire.Object) (*vectors.EmbedQuery, error) {
	q := &vectors.EmbedQuery{Field: "prompt", Raw: true}
	if err := readShared(q, o, &ollamaEmbeddingsNames); err != nil {
		return nil, err
	}
	text := ""
	if err := o.Str("prompt", &text); err != nil {
		return nil, err
	}
	if text != "" {
		q.Inputs, q.Single = []vectors.EmbedInput{{Text: text}}, true
	}
	return q, nil
}

// readShared reads the fields that both endpoints share.
func readShared(q *vectors.EmbedQuery, o *wire.Object, fields *wire.Names) error {
	var err error
	if q.Warnings, err = fields.Check(o); err != nil {
		return err
	}
	for _, err := range []error{o.Str("model", &q.Model), o.KeepAlive("keep_alive", &q.KeepAlive)} {
		if err != nil {
			return err
		}
	}
	if q.Model == "" {
		return wire.Invalid("model", "model is required")
	}
	options, err := o.Child("options")
	if err != nil || options == nil {
		return err
	}
	// The other options concern loading or sampling.
	return options.Integer("num_ctx", &q.Limit, 1, request.MaxTokensLimit)
}

// readTexts reads the texts of input; "" counts as no text.
func readTexts(q *vectors.EmbedQuery, o *wire.Object) error {
	if !o.Given(q.Field) {
		return nil
	}
	if err := q.ReadInput(o, false); err != nil {
		return err
	}
	if q.Single && q.Inputs[0].Text == "" {
		q.Inputs = nil
	}
	return nil
}

type ollamaEmbedReply struct {
	Model           string        `json:"model"`
	Embeddings      [][]float32   `json:"embeddings"`
	TotalDuration   time.Duration `json:"total_duration"`
	LoadDuration    time.Duration `json:"load_duration"`
	PromptEvalCount int           `json:"prompt_eval_count"`
	Warnings        []string      `json:"warnings,omitempty"`
}

type ollamaEmbeddingsReply struct {
	Embedding []float32 `json:"embedding"`
	Warnings  []string  `json:"warnings,omitempty"`
}
