package server

import (
	"net/http"
	"time"
)

// ollamaEmbed is POST /api/embed: vectors of length 1 for a list of texts. A
// request without a text loads the model.
func (s *ollamaAPI) ollamaEmbed(r *http.Request) (answer, error) {
	start := time.Now()
	q, m, err := s.ollamaInputs(r, readOllamaEmbed)
	if err != nil {
		return nil, err
	}
	reply := ollamaEmbedReply{Model: m.name, Embeddings: [][]float32{}, LoadDuration: time.Since(start), Warnings: q.Warnings}
	if len(q.Inputs) > 0 {
		result, err := s.vectors.embed(r, m, q)
		if err != nil {
			return nil, err
		}
		reply.Embeddings, reply.PromptEvalCount = result.Rows, result.Tokens
	}
	reply.TotalDuration = time.Since(start)
	return jsonAnswer{reply}, nil
}

// ollamaEmbeddings is POST /api/embeddings, which /api/embed has superseded: the
// vector of one text as the model gives it.
func (s *ollamaAPI) ollamaEmbeddings(r *http.Request) (answer, error) {
	q, m, err := s.ollamaInputs(r, readOllamaEmbeddings)
	if err != nil {
		return nil, err
	}
	reply := ollamaEmbeddingsReply{Embedding: []float32{}, Warnings: q.Warnings}
	if len(q.Inputs) > 0 {
		result, err := s.vectors.embed(r, m, q)
		if err != nil {
			return nil, err
		}
		reply.Embedding = result.Rows[0]
	}
	return jsonAnswer{reply}, nil
}

// ollamaInputs reads a request for vectors and finds its model.
func (s *ollamaAPI) ollamaInputs(r *http.Request, read func(*object) (*embedQuery, error)) (*embedQuery, *served, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, nil, err
	}
	q, err := read(body)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.models.namedFor(r.Context(), q.Model, q.KeepAlive, toEmbed)
	return q, m, err
}

var (
	ollamaEmbedNames = names{
		known:    []string{"model", "input", "truncate", "dimensions", "keep_alive", "options"},
		harmless: harmlessFields,
	}
	ollamaEmbeddingsNames = names{
		known:    []string{"model", "prompt", "keep_alive", "options"},
		harmless: harmlessFields,
	}
)

// readOllamaEmbed reads the body of POST /api/embed.
func readOllamaEmbed(o *object) (*embedQuery, error) {
	q := &embedQuery{Field: "input", Truncate: true}
	if err := q.readOllama(o, &ollamaEmbedNames); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return o.integer("dimensions", &q.Dimensions, 0, maxDimensions) },
		func() error { return o.boolean("truncate", &q.Truncate) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return q, q.readTexts(o)
}

// readOllamaEmbeddings reads the body of POST /api/embeddings.
func readOllamaEmbeddings(o *object) (*embedQuery, error) {
	q := &embedQuery{Field: "prompt", Raw: true}
	if err := q.readOllama(o, &ollamaEmbeddingsNames); err != nil {
		return nil, err
	}
	text := ""
	if err := o.str("prompt", &text); err != nil {
		return nil, err
	}
	if text != "" {
		q.Inputs, q.Single = []embedInput{{text: text}}, true
	}
	return q, nil
}

// readOllama reads what the two share.
func (q *embedQuery) readOllama(o *object, fields *names) error {
	var err error
	if q.Warnings, err = fields.check(o); err != nil {
		return err
	}
	for _, err := range []error{o.str("model", &q.Model), o.keepAlive("keep_alive", &q.KeepAlive)} {
		if err != nil {
			return err
		}
	}
	if q.Model == "" {
		return invalid("model", "model is required")
	}
	options, err := o.child("options")
	if err != nil || options == nil {
		return err
	}
	// The others are about how a model is loaded or how text is sampled.
	return options.integer("num_ctx", &q.Limit, 1, maxTokensLimit)
}

// readTexts reads the texts of input; none of "" or nothing at all.
func (q *embedQuery) readTexts(o *object) error {
	if !o.given(q.Field) {
		return nil
	}
	if err := q.readInput(o, false); err != nil {
		return err
	}
	if q.Single && q.Inputs[0].text == "" {
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
