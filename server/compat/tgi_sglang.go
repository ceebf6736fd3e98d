// Package compat implements the dialects of TGI and SGLang, which share a path with the server's
// own.
package compat

import (
	"net/http"
	"slices"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// POST /generate accepts three dialects: our own; TGI's, with inputs; and SGLang's, with text.

// DialectOf returns the dialect of a body. It refuses a mixture.
func DialectOf(o *wire.Object) (string, error) {
	var found []string
	for _, name := range []string{"inputs", "text", "prompt", "messages"} {
		if o.Given(name) {
			found = append(found, name)
		}
	}
	if len(found) > 1 && slices.ContainsFunc(found, func(name string) bool { return name == "inputs" || name == "text" }) {
		return "", &wire.Error{Param: found[1], Code: "two_dialects",
			Message: found[0] + " and " + found[1] + " belong to different dialects of this path"}
	}
	switch {
	case o.Given("inputs"):
		return "tgi", nil
	case o.Given("text"):
		return "sglang", nil
	}
	return "", nil
}

var (
	tgiNames      = wire.Names{Known: []string{"inputs", "parameters", "stream", "model", "signals"}, Constraint: []string{"grammar", "open_objects"}, Harmless: wire.HarmlessFields, Refused: []string{"sampling_params"}}
	tgiParameters = wire.Names{
		Known: slices.Concat([]string{
			"max_new_tokens", "stop", "repetition_penalty", "do_sample", "details", "return_full_text", "top_n_tokens",
		}, request.SamplingFields),
		Constraint: []string{"grammar"},
		Harmless:   []string{"watermark", "decoder_input_details", "adapter_id"},
		Refused:    []string{"best_of", "truncate"},
	}
	sglangNames      = wire.Names{Known: []string{"text", "sampling_params", "stream", "model", "rid", "signals"}, Constraint: []string{"open_objects"}, Harmless: append([]string{"return_text_in_logprobs"}, wire.HarmlessFields...), Refused: []string{"input_ids", "input_embeds", "image_data", "audio_data", "return_logprob", "lora_path", "parameters", "return_hidden_states"}}
	sglangParameters = wire.Names{
		Known:      slices.Concat([]string{"max_new_tokens", "stop", "repetition_penalty", "n", "min_new_tokens", "skip_special_tokens"}, request.SamplingFields),
		Constraint: []string{"json_schema", "regex", "ebnf"},
		Harmless:   []string{"spaces_between_special_tokens"},
		Refused:    []string{"structural_tag", "stop_token_ids", "no_stop_trim", "custom_params"},
	}
)

// A compatRequest is a decoded request of TGI's or SGLang's dialect.
type compatRequest struct {
	*request.Request
	details  bool
	fullText bool // include the prompt in the answer
}

// readForeign reads what both dialects share: a prompt and an object of parameters.
func readForeign(o *wire.Object, prompt, parameters string, top, inner *wire.Names) (*compatRequest, *wire.Object, error) {
	q := &compatRequest{Request: request.New()}
	q.Constraint.Strict = false
	var err error
	if q.Warnings, err = top.Check(o); err != nil {
		return nil, nil, err
	}
	p, err := o.Child(parameters)
	if err != nil {
		return nil, nil, err
	}
	if p == nil {
		p = &wire.Object{Path: parameters + "."}
	}
	more, err := inner.Check(p)
	if err != nil {
		return nil, nil, err
	}
	q.Warnings = append(q.Warnings, more...)
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return o.Decode(prompt, &q.Prompt, "a string") },
		func() error { return o.Boolean("stream", &q.Stream) },
		func() error { return q.ReadSignals(o) },
		func() error { return o.Boolean("open_objects", &q.Constraint.OpenObjects) },
		func() error { return q.ReadSampling(p, request.PlainSampling) },
		func() error { return p.Number("repetition_penalty", &q.Sampling.RepeatPenalty) },
		func() error { return q.ReadStop(p, "stop") },
		func() error { return p.Integer("max_new_tokens", &q.MaxTokens, 1, request.MaxTokensLimit) },
	} {
		if err := read(); err != nil {
			return nil, nil, err
		}
	}
	return q, p, nil
}

func readTGI(o *wire.Object) (*compatRequest, error) {
	q, p, err := readForeign(o, "inputs", "parameters", &tgiNames, &tgiParameters)
	if err != nil {
		return nil, err
	}
	sample, top := false, 0
	for _, err := range []error{
		q.Constraint.Set(o, "grammar", "grammar"),
		p.Boolean("do_sample", &sample), p.Boolean("details", &q.details), p.Boolean("return_full_text", &q.fullText),
		p.Integer("top_n_tokens", &top, 0, request.MaxTopLogprobs),
	} {
		if err != nil {
			return nil, err
		}
	}
	q.Logprobs, q.TopLogprobs = q.details || q.Stream, top
	if !sample && !slices.ContainsFunc([]string{"temperature", "top_k", "top_p", "typical_p"}, p.Given) {
		q.Sampling.Temperature = 0
	}
	g, err := p.Child("grammar")
	if g == nil || err != nil {
		return q, err
	}
	kind := ""
	if !g.Given("type") {
		return nil, wire.Invalid(g.Path+"type", "%stype is missing", g.Path)
	}
	for _, err := range []error{g.Only("type", "value"), g.OneOf("type", &kind, "json", "json_schema", "regex")} {
		if err != nil {
			return nil, err
		}
	}
	if !g.Given("value") {
		return nil, wire.Invalid(g.Path+"value", "%svalue is missing", g.Path)
	}
	switch kind {
	case "regex":
		return q, q.Constraint.Set(g, "value", "regex")
	case "json_schema":
		// TGI's newer form wraps the schema in an object with a name.
		if in, err := g.Child("value"); err == nil && in.Given("schema") {
			return q, q.Constraint.Set(in, "schema", "schema")
		}
	}
	return q, q.Constraint.SetJSON(g, "value")
}

func readSGLang(o *wire.Object) (*compatRequest, error) {
	q, p, err := readForeign(o, "text", "sampling_params", &sglangNames, &sglangParameters)
	if err != nil {
		return nil, err
	}
	for _, err := range []error{
		p.Integer("n", &q.N, 1, 1),
		q.ReadMinTokens(p, "min_new_tokens"),
		q.ReadSpecial(p),
		q.Constraint.SetJSON(p, "json_schema"),
		q.Constraint.Set(p, "regex", "regex"),
		q.Constraint.Set(p, "ebnf", "grammar"),
	} {
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Foreign handles POST /generate in TGI's or SGLang's dialect.
func (s *Handlers) Foreign(r *http.Request, o *wire.Object, dialect string) (wire.Answer, error) {
	start := time.Now()
	read := readTGI
	if dialect == "sglang" {
		read = readSGLang
	}
	q, err := read(o)
	if err != nil {
		return nil, err
	}
	_, g, err := s.Accept(r, q.Request)
	if err != nil {
		return nil, err
	}
	if q.Stream {
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			if dialect == "sglang" {
				return &sglangSink{EventStream: wire.NewEventStream(w), start: start, id: wire.NewID("")}
			}
			return &tgiSink{EventStream: wire.NewEventStream(w), request: q}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	if dialect == "sglang" {
		return wire.JSON{Value: sglangReplyOf(c.Message.Content, c, wire.NewID(""), start)}, nil
	}
	reply := tgiReply{Text: q.full(c.Message.Content), Constraint: c.Receipt, Appraisal: c.Appraisal(), Warnings: generation.WarningsOf(q.Request, choices)}
	if q.details {
		reply.Details = tgiDetailsOf(c)
		for _, t := range c.Tokens {
			reply.Details.Tokens = append(reply.Details.Tokens, tgiToken{t.ID, generation.Spelt(t.Bytes), max(t.Logprob, generation.LeastLogprob), false})
		}
	}
	return wire.JSON{Value: reply}, nil
}

// full returns a text, with the prompt before it if requested.
func (q *compatRequest) full(text string) string {
	if q.fullText {
		return *q.Prompt + text
	}
	return text
}

type tgiReply struct {
	Text       string              `json:"generated_text"`
	Details    *tgiDetails         `json:"details,omitempty"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type tgiDetails struct {
	FinishReason string     `json:"finish_reason"` // length, eos_token, stop_sequence
	Generated    int        `json:"generated_tokens"`
	Seed         uint64     `json:"seed"`
	Prefill      []struct{} `json:"prefill"` // always empty
	Tokens       []tgiToken `json:"tokens,omitempty"`
}

type tgiToken struct {
	ID      int32   `json:"id"`
	Text    string  `json:"text"`
	Logprob float32 `json:"logprob"`
	Special bool    `json:"special"`
}

func tgiDetailsOf(c *generation.Choice) *tgiDetails {
	reason := "eos_token"
	switch {
	case c.Result.Finish == engine.FinishLength:
		reason = "length"
	case c.Result.StopString != "":
		reason = "stop_sequence"
	}
	return &tgiDetails{FinishReason: reason, Generated: c.Result.CompletionTokens, Seed: c.Result.Seed, Prefill: []struct{}{}}
}

// tgiSink writes an event per token. The last event holds the whole text.
type tgiSink struct {
	*wire.EventStream
	request *compatRequest
	index   int
	last    *tgiEvent // not sent yet
}

type tgiEvent struct {
	Index      int                 `json:"index"`
	Token      tgiToken            `json:"token"`
	Text       *string             `json:"generated_text"`
	Details    *tgiDetails         `json:"details"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
}

func (s *tgiSink) Begin() error { return nil }

func (s *tgiSink) Piece(_ int, p layout.Piece, tokens []engine.Token) error {
	if s.last != nil {
		if err := s.Data(s.last); err != nil {
			return err
		}
	}
	s.index++
	s.last = &tgiEvent{Index: s.index, Token: tgiToken{Text: p.Text}}
	if len(tokens) > 0 {
		s.last.Token.ID, s.last.Token.Logprob = tokens[0].ID, max(tokens[0].Logprob, generation.LeastLogprob)
	}
	return nil
}

func (s *tgiSink) Done(_ int, c *generation.Choice) error {
	if s.last == nil {
		s.last = &tgiEvent{Index: 1, Token: tgiToken{Special: true}}
	}
	text := s.request.full(c.Message.Content)
	s.last.Text, s.last.Details, s.last.Constraint, s.last.Appraisal = &text, tgiDetailsOf(c), c.Receipt, c.Appraisal()
	return s.Data(s.last)
}

func (s *tgiSink) End([]generation.Choice) error { return nil }

func (s *tgiSink) Fail(f *problem.Problem) error { return s.Data(f.Reply()) }

type sglangReply struct {
	Text       string              `json:"text"`
	Meta       sglangMeta          `json:"meta_info"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
}

type sglangMeta struct {
	ID               string        `json:"id"`
	FinishReason     *sglangFinish `json:"finish_reason"` // null until the end
	PromptTokens     int           `json:"prompt_tokens"`
	CompletionTokens int           `json:"completion_tokens"`
	CachedTokens     int           `json:"cached_tokens"`
	Latency          float64       `json:"e2e_latency"` // seconds
}

type sglangFinish struct {
	Type    string `json:"type"` // stop, length
	Matched string `json:"matched,omitempty"`
}

func sglangReplyOf(text string, c *generation.Choice, id string, start time.Time) sglangReply {
	out := sglangReply{Text: text, Meta: sglangMeta{ID: id, Latency: time.Since(start).Seconds()}}
	if c != nil {
		out.Meta.FinishReason = &sglangFinish{string(c.Result.Finish), c.Result.StopString}
		out.Meta.PromptTokens, out.Meta.CompletionTokens, out.Meta.CachedTokens = c.Result.PromptTokens, c.Result.CompletionTokens, c.Result.CachedTokens
		out.Constraint, out.Appraisal = c.Receipt, c.Appraisal()
	}
	return out
}

// sglangSink writes the whole text so far in each event, as SGLang does.
type sglangSink struct {
	*wire.EventStream
	start time.Time
	id    string
	text  string
}

func (s *sglangSink) Begin() error { return nil }

func (s *sglangSink) Piece(_ int, p layout.Piece, _ []engine.Token) error {
	s.text += p.Text
	return s.Data(sglangReplyOf(s.text, nil, s.id, s.start))
}

func (s *sglangSink) Done(_ int, c *generation.Choice) error {
	return s.Data(sglangReplyOf(c.Message.Content, c, s.id, s.start))
}

func (s *sglangSink) End([]generation.Choice) error { return s.Flush("data: [DONE]\n\n") }

func (s *sglangSink) Fail(f *problem.Problem) error { return s.Data(f.Reply()) }

// Handlers implements TGI's and SGLang's dialects.
type Handlers struct{ *generation.Service }
