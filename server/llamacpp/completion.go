package llamacpp

import (
	"errors"
	"math"
	"net/http"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// Completion handles POST /completion and /completions: it generates a text for each prompt.
func (s *Handlers) Completion(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readCompletion(body)
	if err != nil {
		return nil, err
	}
	return s.complete(r, q)
}

// complete answers a request, with a stream if it asks for one.
func (s *Handlers) complete(r *http.Request, q *completionRequest) (wire.Answer, error) {
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, err
	}
	list := make([]*generation.Generation, len(q.prompts))
	for i, p := range q.prompts {
		one := *q.Request
		if p.hasTokens() && !generation.WriterOf(m).Abilities().Counts {
			return nil, noTokens(m)
		}
		if err := p.fill(r.Context(), &one, m); err != nil {
			return nil, err
		}
		if list[i], err = s.Prepare(r, m, &one); err != nil {
			return nil, err
		}
		list[i].Job.Until = q.until()
	}
	if q.Stream {
		return s.stream(r, q, list)
	}
	replies := []any{}
	for i, g := range list {
		choices, err := s.Whole(r.Context(), g)
		if err != nil {
			return nil, err
		}
		for j := range choices {
			reply, err := q.pick(q.replyOf(g, i*q.N+j, &choices[j]))
			if err != nil {
				return nil, err
			}
			replies = append(replies, reply)
		}
	}
	if len(replies) == 1 && !q.many {
		return wire.JSON{Value: replies[0]}, nil
	}
	return wire.JSON{Value: replies}, nil
}

// A completionReply is a complete text, or the last event of a stream, which has no text.
type completionReply struct {
	ID            string              `json:"id"`
	Index         int                 `json:"index"`
	Content       string              `json:"content"`
	Tokens        []int32             `json:"tokens"`
	Slot          int                 `json:"id_slot"`
	Stop          bool                `json:"stop"` // always true
	Model         string              `json:"model"`
	Predicted     int                 `json:"tokens_predicted"`
	Evaluated     int                 `json:"tokens_evaluated"`
	Settings      settings            `json:"generation_settings"`
	Prompt        string              `json:"prompt"`
	NewLine       bool                `json:"has_new_line"`
	Truncated     bool                `json:"truncated"` // the context has no room for more tokens
	StopType      string              `json:"stop_type"` // eos, limit, word
	StoppingWord  string              `json:"stopping_word"`
	Cached        int                 `json:"tokens_cached"` // tokens of prompt and text in the context
	Timings       generation.Timings  `json:"timings"`
	Probabilities []tokenReply        `json:"completion_probabilities,omitempty"`
	Seed          uint64              `json:"seed"`
	Reasoning     string              `json:"reasoning_content,omitempty"`
	Constraint    *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

// A tokenReply is a token with its alternatives. A forced token was not sampled and counts as certain. After
// sampling, probabilities replace log probabilities.
type tokenReply struct {
	topReply
	Top  *[]topReply `json:"top_logprobs,omitempty"`
	Post *[]topReply `json:"top_probs,omitempty"`
}

type topReply struct {
	ID      int32    `json:"id"`
	Token   string   `json:"token"`
	Bytes   []int    `json:"bytes"`
	Logprob *float32 `json:"logprob,omitempty"`
	Prob    *float64 `json:"prob,omitempty"`
}

func topReplyOf(id int32, b []byte, logprob float32, post bool) topReply {
	out := topReply{ID: id, Token: generation.Spelt(b), Bytes: generation.ByteList(b)}
	if post {
		p := math.Exp(float64(logprob))
		out.Prob = &p
	} else {
		least := max(logprob, generation.LeastLogprob)
		out.Logprob = &least
	}
	return out
}

func (q *completionRequest) tokenReplies(v *vocab.Vocab, tokens []engine.Token) []tokenReply {
	out := make([]tokenReply, 0, len(tokens))
	for _, t := range tokens {
		top := []topReply{}
		if q.post {
			for _, a := range t.Kept {
				top = append(top, topReplyOf(a.Token, v.Bytes(a.Token), a.Logprob, true))
			}
			out = append(out, tokenReply{topReply: topReplyOf(t.ID, t.Bytes, t.KeptLogprob, true), Post: &top})
			continue
		}
		for i, a := range t.Top {
			top = append(top, topReplyOf(a.Token, generation.TopBytes(v, &t, i), a.Logprob, false))
		}
		out = append(out, tokenReply{topReply: topReplyOf(t.ID, t.Bytes, t.Logprob, false), Top: &top})
	}
	return out
}

func idsOf(tokens []engine.Token) []int32 {
	out := make([]int32, 0, len(tokens))
	for _, t := range tokens {
		out = append(out, t.ID)
	}
	return out
}

// replyOf returns the answer for a complete text.
func (q *completionRequest) replyOf(g *generation.Generation, index int, c *generation.Choice) completionReply {
	one := []generation.Choice{*c}
	text := c.Message.Content
	out := completionReply{
		ID:    wire.NewID("cmpl-"),
		Index: index, Content: text, Tokens: []int32{}, Slot: c.Result.Place, Stop: true, Model: g.Model.Name, Predicted: c.Result.CompletionTokens, Evaluated: c.Result.PromptTokens,
		Settings: q.settings(g), Prompt: promptText(g), NewLine: hasNewLine(text), StopType: "eos", StoppingWord: c.Result.StopString,
		Cached: c.Result.PromptTokens + max(0, c.Result.CompletionTokens-1), Timings: generation.TimingsOf(one), Seed: c.Result.Seed,
		Reasoning: c.Message.Reasoning, Constraint: c.Receipt, Appraisal: c.Appraisal(), Warnings: generation.WarningsOf(g.Request, one),
	}
	switch {
	case c.Result.Finish == engine.FinishLength:
		out.StopType = "limit"
		out.Truncated = c.Result.PromptTokens+c.Result.CompletionTokens >= contextOf(g.Model)
	case c.Result.StopString != "":
		out.StopType = "word"
	}
	if q.returnTokens {
		out.Tokens = idsOf(c.Tokens)
	}
	if q.probs > 0 {
		out.Probabilities = q.tokenReplies(g.Model.Text.Vocab(), c.Tokens)
	}
	return out
}

// promptText returns the prompt as the model read it, including control tokens.
func promptText(g *generation.Generation) string {
	return g.Model.Text.Vocab().Detokenize(g.Job.Prompt, false, true)
}

func hasNewLine(text string) bool {
	for i := range len(text) {
		if text[i] == '\n' {
			return true
		}
	}
	return false
}

// stream answers with a stream of all prompts, one after another.
func (s *Handlers) stream(r *http.Request, q *completionRequest, list []*generation.Generation) (wire.Answer, error) {
	out := &streams{server: s, request: q, list: list}
	first, err := s.Begin(r.Context(), list[0], func(w http.ResponseWriter) generation.Sink {
		out.sink = newSink(w, q, list[0])
		return out.sink
	})
	if err != nil {
		return nil, err
	}
	out.Answer = first
	return out, nil
}

// streams streams the first prompt, then the others, to the same sink.
type streams struct {
	wire.Answer
	server  *Handlers
	request *completionRequest
	list    []*generation.Generation
	sink    *sink
}

func (a *streams) Write(w http.ResponseWriter, r *http.Request) error {
	err := a.Answer.Write(w, r)
	for i := 1; i < len(a.list) && err == nil; i++ {
		next := a.list[i]
		var more wire.Answer
		more, err = a.server.Begin(r.Context(), next, func(http.ResponseWriter) generation.Sink {
			a.sink.next(next, i*a.request.N)
			return a.sink
		})
		if err != nil {
			p := problem.Describe(err)
			return errors.Join(err, a.sink.Fail(&p))
		}
		err = more.Write(w, r)
	}
	return err
}

// A sink writes the events of a stream.
type sink struct {
	*wire.EventStream
	request    *completionRequest
	generation *generation.Generation
	base       int   // index of the current prompt's first choice
	predicted  []int // tokens so far, by choice
	clock      []generation.Clock
}

func newSink(w http.ResponseWriter, q *completionRequest, g *generation.Generation) *sink {
	s := &sink{EventStream: wire.NewEventStream(w), request: q}
	s.next(g, 0)
	return s
}

// next continues with another prompt.
func (s *sink) next(g *generation.Generation, base int) {
	s.generation, s.base, s.predicted = g, base, make([]int, max(1, g.Job.Choices))
	s.clock = make([]generation.Clock, len(s.predicted))
}

// A pieceEvent is a part of a text.
type pieceEvent struct {
	Index         int          `json:"index"`
	Content       string       `json:"content"`
	Reasoning     string       `json:"reasoning_content,omitempty"`
	Tokens        []int32      `json:"tokens"`
	Stop          bool         `json:"stop"` // always false
	Slot          int          `json:"id_slot"`
	Predicted     int          `json:"tokens_predicted"`
	Evaluated     int          `json:"tokens_evaluated"`
	Probabilities []tokenReply `json:"completion_probabilities,omitempty"`

	Timings  *generation.Timings  `json:"timings,omitempty"`
	Progress *generation.Progress `json:"prompt_progress,omitempty"`
}

func (s *sink) Begin() error { return nil }

func (s *sink) Progress(p engine.Progress) error {
	e := pieceEvent{Index: s.base, Tokens: []int32{}, Evaluated: p.Total}
	var t *generation.Timings
	if e.Progress, t = generation.ProgressOf(p); s.request.timings {
		e.Timings = t
	}
	return s.Data(e)
}

func (s *sink) Piece(index int, p layout.Piece, tokens []engine.Token) error {
	s.predicted[index] += len(tokens)
	e := pieceEvent{Index: s.base + index, Content: p.Text, Tokens: idsOf(tokens), Predicted: s.predicted[index], Evaluated: len(s.generation.Job.Prompt)}
	if p.Kind == layout.PieceReasoning {
		e.Content, e.Reasoning = "", p.Text
	}
	if s.request.probs > 0 {
		e.Probabilities = s.request.tokenReplies(s.generation.Model.Text.Vocab(), tokens)
	}
	if s.request.timings {
		e.Timings = s.clock[index].Timings(s.predicted[index])
	}
	return s.Data(e)
}

func (s *sink) Done(index int, c *generation.Choice) error {
	reply := s.request.replyOf(s.generation, s.base+index, c)
	reply.Content, reply.Tokens, reply.Probabilities, reply.Reasoning = "", []int32{}, nil, ""
	picked, err := s.request.pick(reply)
	if err != nil {
		return err
	}
	return s.Data(picked)
}

func (s *sink) End([]generation.Choice) error { return nil }

func (s *sink) Fail(f *problem.Problem) error { return s.Data(ErrorBody(f, "")) }

// modelOf returns the model that a request names, for endpoints that generate nothing.
func (s *Handlers) modelOf(r *http.Request, o *wire.Object) (*registry.Model, error) {
	var q request.Request
	if err := q.ReadModel(o); err != nil {
		return nil, err
	}
	m, err := s.Models.AnyNamed(r.Context(), q.Model, nil)
	if err == nil && !generation.WriterOf(m).Abilities().Counts {
		return nil, noTokens(m)
	}
	return m, err
}

// noTokens refuses an operation that needs the tokenizer of an upstream's model.
func noTokens(m *registry.Model) error {
	return notSupported("no_tokenizer", "the model %q is behind an upstream, which doesn't say what its tokens are", m.Name)
}
