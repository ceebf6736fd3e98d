// Package generation runs the generating requests of all dialects, so that constraints, receipts and limits can't differ
// between them.
//
// The steps of a request, by file:
//
//	generation.go     its model, loaded if necessary; its constraint; its writer
//	constraint.go     the constraint, compiled; tools.go and tags.go: calls, tags
//	writer.go         what generates the text: an engine of this process, or an upstream
//	prompt.go         its prompt
//	plan.go           the parts that the text may have; package layout: their joint constraint
//	run.go            → engine, attempts, validation; stream.go: the same for streams
//	unconstrained.go  texts without masks: cleaned, validated, re-asked
//	layout            the text → answer, reasoning, tool calls
//	trace.go          its tokens → confidence and pressure
//	receipt.go        how the constraint was applied
//	signals*.go       the model's signals about its answer, requested and split off
package generation

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// A Generation is a request that is ready to run.
type Generation struct {
	Model      *registry.Model
	Request    *request.Request
	Job        engine.Request
	Constraint *Constraint    // nil for free text
	Layout     *layout.Layout // nil: the text has no parts

	Signals *signalPlan // nil: no signals are requested

	prose *engine.Gate // of a text that takes the place of an unwanted call

	Run Run // how its texts are produced
}

// Accept finds the model of a request and prepares the request.
func (s *Service) Accept(r *http.Request, q *request.Request) (*registry.Model, *Generation, error) {
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, nil, err
	}
	g, err := s.Prepare(r, m, q)
	return m, g, err
}

// Prepare compiles a request's constraint and builds its prompt.
func (s *Service) Prepare(r *http.Request, m *registry.Model, q *request.Request) (*Generation, error) {
	limit := s.Timeout
	if q.Timeout > 0 {
		limit = min(q.Timeout, s.Timeout)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, engine.ErrTimeout)
	defer cancel()
	g := &Generation{Model: m, Request: q}
	if err := q.Fill(s.Defaults.Over(m.Text.Model().Info().Sampling)); err != nil {
		return nil, err
	}
	if err := q.CheckSignals(); err != nil {
		return nil, err
	}
	if q.Reasoning {
		q.Variable("enable_thinking", true)
	}
	var err error
	if g.Constraint, err = constraintOf(ctx, m, q); err != nil {
		return nil, err
	}
	for _, w := range costly(g.Constraint) {
		s.Log.Warn("a schema is costly", slog.String("id", wire.NoteOf(r.Context()).ID), slog.String("pointer", w.Pointer), slog.String("cost", w.Reason), slog.String("remedy", w.Hint))
	}
	if !q.Reasoning && (q.Begun != "" || g.Constraint.fromBeginning()) && m.Prompts.Mentions("enable_thinking") {
		q.Variable("enable_thinking", false) // the prefill or the constraint leaves no room for reasoning
	}
	g.Job = engine.Request{
		ID: wire.NoteOf(r.Context()).ID, Client: wire.ClientOf(r),
		Sampling: q.Sampling, MaxTokens: q.MaxTokens, MinTokens: q.MinTokens, Choices: q.Texts(), Special: q.ShowSpecial,
		NoForced: !q.Forced, Truncate: q.OnBudget == "truncate", Solo: q.Deterministic, NoReuse: !q.CachePrompt,
		Logprobs: q.Logprobs || q.Signals != nil, Alternatives: q.TopLogprobs, Progress: q.Progress && q.Stream, Place: q.Place,
	}
	if q.Adapters != nil {
		if m.Engine == nil {
			return nil, wire.NotOffered("lora", fmt.Sprintf("lora for %q, which is behind an upstream,", m.Name))
		}
		if g.Job.Adapters, err = request.Scales(q.Adapters, len(m.Engine.Adapters())); err != nil {
			return nil, err
		}
	}
	switch g.Job.MaxTokens {
	case 0:
		g.Job.MaxTokens = max(s.Tokens, 0)
	case request.Unlimited:
		g.Job.MaxTokens = 0 // the rest of the context
	}
	if g.Job.Sampling.LogitBias, err = biasesOf(ctx, m, q); err != nil {
		return nil, err
	}
	if q.Sampling.DRYMultiplier > 0 {
		g.Job.Sampling.DRYBreakers = breakersOf(m.Text.Vocab(), q)
	}
	if !q.Seeded {
		g.Job.Sampling.Seed = rand.Uint64() >> 11 // small enough to be exact in JavaScript
	}
	g.Job.Timeout = limit
	g.Run, err = WriterOf(m).Ready(ctx, g)
	g.Job.Timeout = max(time.Millisecond, limit-time.Since(begun)) // compiling counts towards the limit
	return g, err
}

// breakersOf returns the tokens that contain a text that ends repetitions for DRY.
func breakersOf(v *vocab.Vocab, q *request.Request) sampling.TokenSet {
	texts := q.Breakers
	if texts == nil {
		texts = request.DefaultBreakers
	}
	out := sampling.TokenSet{}
	for id := range int32(v.Len()) {
		b := v.Bytes(id)
		if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(b, []byte(text)) }) {
			out[id] = true
		}
	}
	return out
}

// biasesOf returns all token biases of a request.
func biasesOf(ctx context.Context, m *registry.Model, q *request.Request) ([]sampling.Bias, error) {
	list := slices.Clip(q.Sampling.LogitBias)
	for _, b := range q.BiasTexts {
		tokens, err := m.Prompts.Append(ctx, nil, b.Text, false)
		if err != nil {
			return nil, err
		}
		for _, token := range tokens {
			list = append(list, sampling.Bias{Token: token, Add: b.Add})
		}
	}
	if q.IgnoreEnd {
		for _, token := range m.Text.Vocab().EOG() {
			list = append(list, sampling.Bias{Token: token, Add: float32(math.Inf(-1))})
		}
	}
	return list, nil
}

// Fingerprint returns the system_fingerprint of answers.
func (s *Service) Fingerprint() string {
	if s.Version == "" {
		return "stencil"
	}
	return "stencil-" + s.Version
}

// ExpectSignals prepares the request's signals, if it asks for them.
func (g *Generation) ExpectSignals() {
	q := g.Request
	if q.Signals == nil {
		return
	}
	g.Signals = new(signalPlan)
	if n := g.Constraint.callable(); n > maxRatedTools {
		q.Warnings = append(q.Warnings, fmt.Sprintf("there are %d tools, more than the %d of which a confidence each is asked for; none is", n, maxRatedTools))
	}
}

// WarnOf adds the warnings about a compiled constraint to the request's.
func WarnOf(q *request.Request, r *Constraint) {
	for _, w := range r.report.Warnings {
		q.Warnings = append(q.Warnings, r.kind+": "+w.String())
	}
}

// A Service runs the generating requests of all dialects.
type Service struct {
	Models *registry.Registry
	Assess *assess.Assessor
	Settings
	Counts *Counts
}

// Settings configure a Service.
type Settings struct {
	Log     *slog.Logger
	Timeout time.Duration // of one generation, time in the queue included
	Tokens  int           // max_tokens of requests without it
	Retries int           // re-asks after an answer that does not fit
	Version string        // of the server
	Verbose bool          // chat answers include their prompts

	Defaults request.Defaults
}

// New returns a service for the models of a registry.
func New(models *registry.Registry, assess *assess.Assessor, s Settings) *Service {
	return &Service{Models: models, Assess: assess, Settings: s, Counts: newCounts()}
}
