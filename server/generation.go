package server

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"stencil/engine"
)

// A generation is a query made ready to run.
type generation struct {
	model   *served
	query   *query
	request engine.Request
	rule    *rule   // nil for free text
	layout  *layout // nil: the text has no parts

	noted *noted // nil: no signals are wanted

	run run // how its texts come about
}

// accept finds the model of a query and prepares it.
func (s *service) accept(r *http.Request, q *query) (*served, *generation, error) {
	m, err := s.models.named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, nil, err
	}
	g, err := s.prepare(r, m, q)
	return m, g, err
}

// prepare compiles a query's constraint and writes its prompt.
func (s *service) prepare(r *http.Request, m *served, q *query) (*generation, error) {
	g := &generation{model: m, query: q}
	if err := q.checkSignals(); err != nil {
		return nil, err
	}
	if q.Reasoning {
		q.variable("enable_thinking", true)
	}
	var err error
	if g.rule, err = ruleOf(m, q); err != nil {
		return nil, err
	}
	if !q.Reasoning && (q.Begun != "" || g.rule.fromBeginning()) && m.prompts.Mentions("enable_thinking") {
		q.variable("enable_thinking", false) // there is no place for thoughts
	}
	g.request = engine.Request{
		ID: noteOf(r.Context()).id, Client: clientOf(r),
		Sampling: q.Sampling, MaxTokens: q.MaxTokens, Choices: q.texts(),
		NoForced: !q.Forced, Truncate: q.OnBudget == "truncate", Solo: q.Deterministic,
		Logprobs: q.Logprobs || q.Signals != nil, Alternatives: q.TopLogprobs, Timeout: s.timeout,
	}
	if q.Timeout > 0 {
		g.request.Timeout = min(q.Timeout, s.timeout)
	}
	if g.request.MaxTokens == 0 {
		g.request.MaxTokens = s.tokens
	}
	if !q.Seeded {
		g.request.Sampling.Seed = rand.Uint64() >> 11 // so that JavaScript can read it back
	}
	g.run, err = writerOf(m).ready(g)
	return g, err
}

// expectSignals says that the model assesses its answer, if that is wanted.
func (g *generation) expectSignals() {
	q := g.query
	if q.Signals == nil {
		return
	}
	g.noted = new(noted)
	if n := g.rule.callable(); n > maxRatedTools {
		q.Warnings = append(q.Warnings, fmt.Sprintf("there are %d tools, more than the %d of which a confidence each is asked for; none is", n, maxRatedTools))
	}
}

// warnOf passes on what is doubtful about a constraint.
func warnOf(q *query, r *rule) {
	for _, w := range r.report.Warnings {
		q.Warnings = append(q.Warnings, r.kind+": "+w.String())
	}
}
