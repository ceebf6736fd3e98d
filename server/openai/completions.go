package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/infill"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// completionNames are the fields of POST /v1/completions.
var completionNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "prompt", "max_tokens", "stop", "n", "stream", "stream_options", "logprobs", "repetition_penalty", "n_predict", "echo", "suffix",
	}, beside, request.SamplingFields, request.OwnFields),
	Constraint: request.ConstraintAliases,
	Harmless:   chatNames.Harmless,
	Refused: append([]string{
		"messages", "tools", "tool_choice", "max_completion_tokens", "top_logprobs", "continue_final_message", "add_generation_prompt",
	}, refusedFields...),
}

// maxPrompts is the largest number of prompts in a request.
const maxPrompts = 32

// A completionRequest is the body of POST /v1/completions.
type completionRequest struct {
	*request.Request
	prompts      []request.Request // one per prompt; the first has the request's own prompt
	echo         bool              // include the prompt in the text
	suffix       string            // what follows the text; "": the prompt is continued
	includeUsage bool
}

func readCompletion(o *wire.Object) (*completionRequest, error) {
	q := &completionRequest{Request: request.New()}
	var err error
	if q.Constraint, err = request.ReadAliases(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = completionNames.Check(o); err != nil {
		return nil, err
	}
	top := -1
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return readOpenAISampling(q.Request, o) },
		func() error { return q.ReadMaxTokens(o, "n_predict", "max_tokens") },
		func() error { return readBeside(q.Request, o) },
		func() error { return o.Integer("logprobs", &top, 0, request.MaxTopLogprobs) },
		func() error { return o.Boolean("echo", &q.echo) },
		func() error { return o.Str("suffix", &q.suffix) },
		func() error { return readStreaming(q.Request, o, &q.includeUsage) },
		func() error { return q.readPrompts(o) },
		func() error { return q.CheckOptions(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if top >= 0 {
		if q.echo {
			return nil, wire.NotOffered("echo", "echo with logprobs")
		}
		q.Logprobs, q.TopLogprobs = true, top
	}
	for i := range q.prompts {
		one := *q.Request
		one.Prompt, one.PromptTokens = q.prompts[i].Prompt, q.prompts[i].PromptTokens
		q.prompts[i] = one
	}
	return q, nil
}

// readPrompts reads a text, a list of tokens, or a list of either.
func (q *completionRequest) readPrompts(o *wire.Object) error {
	const want = "a string, an array of strings, or an array of token numbers"
	if !o.Given("prompt") {
		return wire.Invalid("prompt", "prompt is missing")
	}
	var text string
	var tokens []int32
	if json.Unmarshal(o.Members["prompt"], &text) == nil {
		q.prompts = []request.Request{{Prompt: &text}}
		return nil
	}
	list, err := o.Raws("prompt")
	if err != nil {
		return o.WrongType("prompt", want)
	}
	if json.Unmarshal(o.Members["prompt"], &tokens) == nil && len(tokens) > 0 && !wire.HasNull(o.Members["prompt"]) {
		q.prompts = []request.Request{{PromptTokens: tokens}}
		return nil
	}
	if len(list) == 0 || len(list) > maxPrompts {
		return wire.Invalid("prompt", "prompt must have between 1 and %d entries, not %d", maxPrompts, len(list))
	}
	for _, raw := range list {
		var one string
		var ids []int32
		switch {
		case json.Unmarshal(raw, &one) == nil && string(raw) != "null":
			q.prompts = append(q.prompts, request.Request{Prompt: &one})
		case json.Unmarshal(raw, &ids) == nil && len(ids) > 0 && !wire.HasNull(raw):
			q.prompts = append(q.prompts, request.Request{PromptTokens: ids})
		default:
			return o.WrongType("prompt", want)
		}
	}
	return nil
}

// Completions handles POST /v1/completions.
func (s *Handlers) Completions(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readCompletion(body)
	if err != nil {
		return nil, err
	}
	reply := completionReply{chatHead: chatHead{ID: wire.NewID("cmpl-"), Object: "text_completion", Created: wire.UnixNow(), Fingerprint: s.Fingerprint()}}
	list := make([]*generation.Generation, len(q.prompts))
	for i := range q.prompts {
		if err := s.fill(r, q, &q.prompts[i]); err != nil {
			return nil, err
		}
		m, g, err := s.Accept(r, &q.prompts[i])
		if err != nil {
			return nil, err
		}
		reply.Model, list[i] = m.Name, g
	}
	if q.Stream {
		return s.completionStream(r, q, list, reply.chatHead)
	}
	var all []generation.Choice
	for i, g := range list {
		choices, err := s.Whole(r.Context(), g)
		if err != nil {
			return nil, err
		}
		u := generation.UsageOf(choices)
		reply.Usage.Add(u)
		for j := range choices {
			one := completionChoiceOf(g.Model.Text.Vocab(), len(reply.Choices), &choices[j], &q.prompts[i])
			one.Text = q.echoed(g) + one.Text
			if one.Index > 0 {
				one.Appraisal = choices[j].Appraisal()
			}
			reply.Choices = append(reply.Choices, one)
		}
		reply.Warnings = append(reply.Warnings, generation.WarningsOf(&q.prompts[i], choices)...)
		all = append(all, choices...)
	}
	reply.Constraint, reply.Appraisal, reply.Timings = all[0].Receipt, all[0].Appraisal(), generation.TimingsOf(all)
	return wire.JSON{Value: reply}, nil
}

// fill makes the text before a suffix that of a prompt: the model writes what is between. The prompt itself stays for echo.
func (s *Handlers) fill(r *http.Request, q *completionRequest, one *request.Request) error {
	if q.suffix == "" {
		return nil
	}
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return err
	}
	gap := &infill.Gap{Tokens: one.PromptTokens, Suffix: q.suffix}
	if one.Prompt != nil {
		gap.Prefix = *one.Prompt
	} else {
		text := generation.Spelt(m.Text.Vocab().Decode(one.PromptTokens))
		one.Prompt = &text
	}
	one.PromptTokens, err = gap.Prompt(r.Context(), m, q.MaxTokens)
	if errors.Is(err, infill.ErrNotSupported) {
		return wire.NotOffered("suffix", fmt.Sprintf("suffix for the model %q, which has no tokens for filling in text,", m.Name))
	}
	return err
}

// echoed returns the prompt if the answer is to include it.
func (q *completionRequest) echoed(g *generation.Generation) string {
	switch {
	case !q.echo:
		return ""
	case g.Request.Prompt != nil:
		return *g.Request.Prompt
	}
	return generation.Spelt(g.Model.Text.Vocab().Decode(g.Request.PromptTokens))
}

// completionStream answers with a stream of all prompts, one after another.
func (s *Handlers) completionStream(r *http.Request, q *completionRequest, list []*generation.Generation, head chatHead) (wire.Answer, error) {
	out := &completionsAnswer{request: q, list: list}
	first, err := s.Begin(r.Context(), list[0], func(w http.ResponseWriter) generation.Sink {
		out.sink = &completionSink{EventStream: wire.NewEventStream(w), generation: list[0], head: head, request: q, left: len(list)}
		return out.sink
	})
	if err != nil {
		return nil, err
	}
	out.Answer, out.server = first, s
	return out, nil
}

// completionsAnswer streams the first prompt, then the others, to the same sink.
type completionsAnswer struct {
	wire.Answer
	server  *Handlers
	request *completionRequest
	list    []*generation.Generation
	sink    *completionSink
}

func (a *completionsAnswer) Write(w http.ResponseWriter, r *http.Request) error {
	err := a.Answer.Write(w, r)
	for i := 1; i < len(a.list) && err == nil; i++ {
		next := a.list[i]
		var more wire.Answer
		more, err = a.server.Begin(r.Context(), next, func(http.ResponseWriter) generation.Sink {
			a.sink.generation, a.sink.base, a.sink.offset = next, i*a.request.N, 0
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

type completionReply struct {
	chatHead
	Choices    []completionChoice  `json:"choices"`
	Usage      generation.Usage    `json:"usage"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Timings  generation.Timings `json:"timings"`
	Warnings []string           `json:"warnings,omitempty"`
}

type completionChoice struct {
	Index            int               `json:"index"`
	Text             string            `json:"text"`
	Logprobs         *completionTokens `json:"logprobs"`
	FinishReason     *string           `json:"finish_reason"`
	assess.Appraisal                   // of the other choices
}

type completionTokens struct {
	Tokens   []string             `json:"tokens"`
	Logprobs []float32            `json:"token_logprobs"`
	Top      []map[string]float32 `json:"top_logprobs"`
	Offsets  []int                `json:"text_offset"`
}

func completionTokensOf(v *vocab.Vocab, tokens []engine.Token, from int) *completionTokens {
	out := &completionTokens{Tokens: []string{}, Logprobs: []float32{}, Top: []map[string]float32{}, Offsets: []int{}}
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, generation.Spelt(t.Bytes))
		out.Logprobs = append(out.Logprobs, max(t.Logprob, generation.LeastLogprob))
		top := map[string]float32{}
		for i, a := range t.Top {
			top[generation.Spelt(generation.TopBytes(v, &t, i))] = max(a.Logprob, generation.LeastLogprob)
		}
		if len(top) > 0 { // the token itself is always included
			top[generation.Spelt(t.Bytes)] = max(t.Logprob, generation.LeastLogprob)
		}
		out.Top = append(out.Top, top)
		out.Offsets = append(out.Offsets, from)
		from += len(t.Bytes)
	}
	return out
}

func completionChoiceOf(v *vocab.Vocab, index int, c *generation.Choice, q *request.Request) completionChoice {
	reason := string(c.Result.Finish)
	out := completionChoice{Index: index, Text: c.Message.Content, FinishReason: &reason}
	if q.Logprobs {
		out.Logprobs = completionTokensOf(v, c.Tokens, 0)
	}
	return out
}

// completionSink writes text_completion events.
type completionSink struct {
	*wire.EventStream
	generation *generation.Generation
	head       chatHead
	request    *completionRequest
	offset     int
	base       int // index of the current prompt's first choice
	left       int // prompts that have not ended
	usage      generation.Usage
}

type completionChunk struct {
	chatHead
	Choices    []completionChoice  `json:"choices"`
	Usage      *generation.Usage   `json:"usage,omitempty"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

func (s *completionSink) Begin() error {
	text := s.request.echoed(s.generation)
	for i := 0; i < s.request.N && text != ""; i++ {
		if err := s.Piece(i, layout.Piece{Text: text}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *completionSink) Piece(index int, p layout.Piece, tokens []engine.Token) error {
	if p.Kind != layout.PieceContent && len(tokens) == 0 {
		return nil
	}
	one := completionChoice{Index: s.base + index}
	if p.Kind == layout.PieceContent {
		one.Text = p.Text
	}
	if s.generation.Request.Logprobs {
		one.Logprobs = completionTokensOf(s.generation.Model.Text.Vocab(), tokens, s.offset)
		s.offset += len(p.Text)
	}
	return s.Data(completionChunk{chatHead: s.head, Choices: []completionChoice{one}})
}

func (s *completionSink) Done(index int, c *generation.Choice) error {
	reason := string(c.Result.Finish)
	return s.Data(completionChunk{
		chatHead: s.head, Choices: []completionChoice{{Index: s.base + index, FinishReason: &reason}},
		Constraint: c.Receipt, Appraisal: c.Appraisal(), Warnings: generation.WarningsOf(s.generation.Request, []generation.Choice{*c}),
	})
}

func (s *completionSink) End(choices []generation.Choice) error {
	s.usage.Add(generation.UsageOf(choices))
	if s.left--; s.left > 0 {
		return nil
	}
	if s.request.includeUsage {
		if err := s.Data(completionChunk{chatHead: s.head, Choices: []completionChoice{}, Usage: &s.usage}); err != nil {
			return err
		}
	}
	return s.Flush("data: [DONE]\n\n")
}

func (s *completionSink) Fail(f *problem.Problem) error { return s.Data(f.Reply()) }
