package server

import (
	"encoding/json"
	"net/http"
	"time"

	"stencil/engine"
)

// ollamaChat is POST /api/chat.
func (s *ollamaAPI) ollamaChat(r *http.Request) (answer, error) {
	return s.ollama(r, readOllamaChat, true)
}

// ollamaGenerate is POST /api/generate.
func (s *ollamaAPI) ollamaGenerate(r *http.Request) (answer, error) {
	return s.ollama(r, readOllamaGenerate, false)
}

func (s *ollamaAPI) ollama(r *http.Request, read func(*object) (*ollamaRequest, error), isChat bool) (answer, error) {
	start := time.Now()
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := read(body)
	if err != nil {
		return nil, err
	}
	d := &ollamaDialect{isChat: isChat, start: start}
	if q.Prompt == nil && len(q.Messages) == 0 {
		return s.ollamaLoad(r, q.query, d)
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	d.generation, d.model, d.loaded = g, m.name, time.Now()
	if q.Stream {
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			return &ollamaSink{lineStream: newLineStream(w), dialect: d}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply := d.last(c)
	d.fill(&reply, c.message.Content, c.message.Reasoning, d.calls(c.message.Calls, 0))
	if q.Logprobs {
		reply.Logprobs = chatTokensOf(m.text.Vocab(), c.tokens).Content
	}
	return jsonAnswer{reply}, nil
}

// ollamaLoad answers a request without a prompt, which only loads the model
// or, with a keep_alive of nothing, unloads it.
func (s *ollamaAPI) ollamaLoad(r *http.Request, q *query, d *ollamaDialect) (answer, error) {
	reason := "load"
	if q.KeepAlive != nil && *q.KeepAlive == 0 {
		reason = "unload"
	}
	h, err := s.models.find(q.Model)
	if err != nil {
		return nil, err
	}
	if reason == "unload" {
		err = h.unloadNow()
	} else {
		_, err = s.models.named(r.Context(), q.Model, q.KeepAlive)
	}
	if err != nil {
		return nil, err
	}
	d.model = h.name
	reply := d.line()
	d.fill(&reply, "", "", nil)
	reply.Done, reply.DoneReason = true, reason
	return jsonAnswer{reply}, nil
}

// ollamaDialect writes answers of one of the two endpoints.
type ollamaDialect struct {
	generation *generation
	model      string
	isChat     bool
	start      time.Time // of the request
	loaded     time.Time // when its model was ready
}

func (d *ollamaDialect) line() ollamaReply {
	return ollamaReply{Model: d.model, CreatedAt: time.Now().UTC()}
}

// fill puts a text where the endpoint has it.
func (d *ollamaDialect) fill(reply *ollamaReply, content, thinking string, calls []ollamaCall) {
	if d.isChat {
		reply.Message = &ollamaMessage{Role: "assistant", Content: content, Thinking: thinking, Calls: calls}
		return
	}
	reply.Response, reply.Thinking = &content, thinking
}

func (d *ollamaDialect) calls(list []call, from int) (out []ollamaCall) {
	for i, c := range list {
		out = append(out, ollamaCall{c.ID, ollamaFunction{from + i, c.Name, json.RawMessage(c.Arguments)}})
	}
	return out
}

// last returns the line that ends an answer, without its text.
func (d *ollamaDialect) last(c *choice) ollamaReply {
	out := d.line()
	r := c.result
	out.Done, out.DoneReason = true, string(r.Finish)
	out.ollamaMetrics = &ollamaMetrics{
		TotalDuration: time.Since(d.start), LoadDuration: d.loaded.Sub(d.start),
		PromptEvalCount: r.PromptTokens, PromptEvalDuration: r.Timings.Prompt,
		EvalCount: r.CompletionTokens + c.wasted, EvalDuration: r.Timings.Generate,
	}
	out.Constraint, out.appraisal, out.Warnings = c.receipt, c.appraisal(), warnings(d.generation.query, []choice{*c})
	return out
}

// ollamaSink writes lines of JSON.
type ollamaSink struct {
	*lineStream
	dialect *ollamaDialect
	call    call // the call that is being read: Ollama sends it whole
}

func (s *ollamaSink) begin() error { return nil }

func (s *ollamaSink) piece(_ int, p piece, tokens []engine.Token) error {
	line := s.dialect.line()
	if s.dialect.generation.query.Logprobs {
		line.Logprobs = chatTokensOf(s.dialect.generation.model.text.Vocab(), tokens).Content
	}
	switch p.kind {
	case pieceContent:
		s.dialect.fill(&line, p.text, "", nil)
	case pieceReasoning:
		s.dialect.fill(&line, "", p.text, nil)
	case pieceCall:
		s.call = call{ID: p.id, Name: p.name}
		return nil
	case pieceArguments:
		s.call.Arguments += p.text
		return nil
	case pieceCallEnd:
		s.dialect.fill(&line, "", "", s.dialect.calls([]call{s.call}, p.call))
	}
	return s.line(line)
}

func (s *ollamaSink) done(_ int, c *choice) error {
	line := s.dialect.last(c)
	s.dialect.fill(&line, "", "", nil)
	return s.line(line)
}

func (s *ollamaSink) end([]choice) error { return nil }

func (s *ollamaSink) fail(f *problem) error { return s.line(ollamaErrorBody(f, "")) }

// ping does nothing: lines of JSON have no comments, and the connection's
// keep-alive probes are enough.
func (s *ollamaSink) ping() error { return nil }

// ollamaAPI answers in Ollama's dialect.
type ollamaAPI struct {
	*service
	vectors *vectorsAPI
	version string
}
