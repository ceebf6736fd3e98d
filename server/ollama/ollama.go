package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/infill"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/vectors"
	"github.com/stencil-json/stencil/server/wire"
)

// Chat handles POST /api/chat.
func (s *Handlers) Chat(r *http.Request) (wire.Answer, error) {
	return s.generateText(r, readOllamaChat, true)
}

// Generate handles POST /api/generate.
func (s *Handlers) Generate(r *http.Request) (wire.Answer, error) {
	return s.generateText(r, readOllamaGenerate, false)
}

func (s *Handlers) generateText(r *http.Request, read func(*wire.Object) (*ollamaRequest, error), isChat bool) (wire.Answer, error) {
	start := time.Now()
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := read(body)
	if err != nil {
		return nil, err
	}
	d := &ollamaDialect{isChat: isChat, start: start}
	if q.Prompt == nil && len(q.Messages) == 0 {
		return s.load(r, q.Request, d)
	}
	if err := s.fill(r, q); err != nil {
		return nil, err
	}
	m, g, err := s.Accept(r, q.Request)
	if err != nil {
		return nil, err
	}
	d.continues = !isChat && q.Messages != nil && q.Signals == nil
	if q.Reasoning && !m.ThoughtsSaid && generation.WriterOf(m).Abilities().Counts {
		return nil, wire.Invalid("think", "%q does not support thinking", m.Name)
	}
	d.generation, d.model, d.loaded = g, m.Name, time.Now()
	if q.Stream {
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			return &ollamaSink{LineStream: wire.NewLineStream(w), dialect: d}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply := d.last(c)
	d.fill(&reply, c.Message.Content, c.Message.Reasoning, d.calls(c.Message.Calls, 0))
	if q.Logprobs {
		reply.Logprobs = generation.LogprobsOf(m.Text.Vocab(), c.Tokens).Content
	}
	return wire.JSON{Value: reply}, nil
}

// fill makes the text before a suffix that of a prompt: the model writes what is between.
func (s *Handlers) fill(r *http.Request, q *ollamaRequest) error {
	if q.suffix == "" {
		return nil
	}
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return err
	}
	gap := &infill.Gap{Prefix: *q.Prompt, Suffix: q.suffix}
	q.PromptTokens, err = gap.Prompt(r.Context(), m, q.MaxTokens)
	if errors.Is(err, infill.ErrNotSupported) {
		return wire.NotOffered("suffix", fmt.Sprintf("suffix for the model %q, which does not support insert,", m.Name))
	}
	return err
}

// load answers a request without a prompt, which only loads the model or,
// with keep_alive 0, unloads it.
func (s *Handlers) load(r *http.Request, q *request.Request, d *ollamaDialect) (wire.Answer, error) {
	reason := "load"
	if q.KeepAlive != nil && *q.KeepAlive == 0 {
		reason = "unload"
	}
	h, err := s.Models.Find(q.Model)
	if err != nil {
		return nil, err
	}
	if reason == "unload" {
		err = h.UnloadNow()
	} else {
		_, err = s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	}
	if err != nil {
		return nil, err
	}
	d.model = h.Name
	reply := d.line()
	d.fill(&reply, "", "", nil)
	reply.Done, reply.DoneReason = true, reason
	return wire.JSON{Value: reply}, nil
}

// ollamaDialect writes the answers of one of the two endpoints.
type ollamaDialect struct {
	generation *generation.Generation
	model      string
	isChat     bool
	continues  bool      // answers have a context
	start      time.Time // of the request
	loaded     time.Time // when its model was ready
}

func (d *ollamaDialect) line() ollamaReply {
	return ollamaReply{Model: d.model, CreatedAt: time.Now().UTC()}
}

// fill sets the text in the field of the endpoint.
func (d *ollamaDialect) fill(reply *ollamaReply, content, thinking string, calls []ollamaCall) {
	if d.isChat {
		reply.Message = &ollamaMessage{Role: "assistant", Content: content, Thinking: thinking, Calls: calls}
		return
	}
	reply.Response, reply.Thinking = &content, thinking
}

func (d *ollamaDialect) calls(list []layout.Call, from int) (out []ollamaCall) {
	for i, c := range list {
		out = append(out, ollamaCall{c.ID, ollamaFunction{from + i, c.Name, json.RawMessage(c.Arguments)}})
	}
	return out
}

// last returns the final line of an answer, without text.
func (d *ollamaDialect) last(c *generation.Choice) ollamaReply {
	out := d.line()
	r := c.Result
	out.Done, out.DoneReason = true, string(r.Finish)
	out.ollamaMetrics = &ollamaMetrics{
		TotalDuration: time.Since(d.start), LoadDuration: d.loaded.Sub(d.start),
		PromptEvalCount: r.PromptTokens, PromptEvalDuration: r.Timings.Prompt,
		EvalCount: r.CompletionTokens + c.Wasted, EvalDuration: r.Timings.Generate,
	}
	if d.continues && len(r.Tokens) > 0 {
		out.Context = slices.Concat(d.generation.Job.Prompt, r.Tokens)
	}
	out.Constraint, out.Appraisal, out.Warnings = c.Receipt, c.Appraisal(), generation.WarningsOf(d.generation.Request, []generation.Choice{*c})
	return out
}

// ollamaSink writes JSON lines.
type ollamaSink struct {
	*wire.LineStream
	dialect *ollamaDialect
	call    layout.Call // the call being read: Ollama sends calls whole
}

func (s *ollamaSink) Begin() error { return nil }

func (s *ollamaSink) Piece(_ int, p layout.Piece, tokens []engine.Token) error {
	line := s.dialect.line()
	if s.dialect.generation.Request.Logprobs {
		line.Logprobs = generation.LogprobsOf(s.dialect.generation.Model.Text.Vocab(), tokens).Content
	}
	switch p.Kind {
	case layout.PieceContent:
		s.dialect.fill(&line, p.Text, "", nil)
	case layout.PieceReasoning:
		s.dialect.fill(&line, "", p.Text, nil)
	case layout.PieceCall:
		s.call = layout.Call{ID: p.ID, Name: p.Name}
		return nil
	case layout.PieceArguments:
		s.call.Arguments += p.Text
		return nil
	case layout.PieceCallEnd:
		s.dialect.fill(&line, "", "", s.dialect.calls([]layout.Call{s.call}, p.Call))
	}
	return s.Line(line)
}

func (s *ollamaSink) Done(_ int, c *generation.Choice) error {
	line := s.dialect.last(c)
	s.dialect.fill(&line, "", "", nil)
	return s.Line(line)
}

func (s *ollamaSink) End([]generation.Choice) error { return nil }

func (s *ollamaSink) Fail(f *problem.Problem) error { return s.Line(ErrorBody(f, "")) }

// Ping does nothing: JSON lines have no comments, and TCP keep-alive
// suffices.
func (s *ollamaSink) Ping() error { return nil }

// Handlers implements Ollama's dialect.
type Handlers struct {
	*generation.Service
	Vectors *vectors.Handlers
}
