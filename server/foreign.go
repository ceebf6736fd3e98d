package server

import (
	"net/http"
	"slices"
	"time"

	"stencil/engine"
)

// POST /generate is spoken in three dialects: our own; TGI's, with inputs; and
// SGLang's, with text.

// dialectOf returns which of them a body is in. A mixture is refused.
func dialectOf(o *object) (string, error) {
	var found []string
	for _, name := range []string{"inputs", "text", "prompt", "messages"} {
		if o.given(name) {
			found = append(found, name)
		}
	}
	if len(found) > 1 && slices.ContainsFunc(found, func(name string) bool { return name == "inputs" || name == "text" }) {
		return "", &requestError{Param: found[1], Code: "two_dialects",
			Message: found[0] + " and " + found[1] + " belong to different dialects of this path"}
	}
	switch {
	case o.given("inputs"):
		return "tgi", nil
	case o.given("text"):
		return "sglang", nil
	}
	return "", nil
}

var (
	tgiNames      = names{known: []string{"inputs", "parameters", "stream", "model", "signals"}, constraint: []string{"grammar"}, harmless: harmlessFields, refused: []string{"sampling_params"}}
	tgiParameters = names{
		known: slices.Concat([]string{
			"max_new_tokens", "stop", "repetition_penalty", "do_sample", "details", "return_full_text", "top_n_tokens",
		}, samplingFields),
		constraint: []string{"grammar"},
		harmless:   []string{"watermark", "decoder_input_details", "adapter_id"},
		refused:    []string{"best_of", "truncate"},
	}
	sglangNames      = names{known: []string{"text", "sampling_params", "stream", "model", "rid", "signals"}, harmless: append([]string{"return_text_in_logprobs"}, harmlessFields...), refused: []string{"input_ids", "input_embeds", "image_data", "audio_data", "return_logprob", "lora_path", "parameters", "return_hidden_states"}}
	sglangParameters = names{
		known:      slices.Concat([]string{"max_new_tokens", "stop", "repetition_penalty", "n"}, samplingFields),
		constraint: []string{"json_schema", "regex", "ebnf"},
		harmless:   []string{"skip_special_tokens", "spaces_between_special_tokens"},
		refused:    []string{"structural_tag", "min_new_tokens", "ignore_eos", "stop_token_ids", "no_stop_trim", "custom_params"},
	}
)

// A foreignRequest is a request in TGI's or SGLang's dialect.
type foreignRequest struct {
	*query
	details  bool
	fullText bool // the prompt is part of the answer
}

// readForeign reads what the two have in common: a prompt and an object of
// parameters.
func readForeign(o *object, prompt, parameters string, top, inner *names) (*foreignRequest, *object, error) {
	q := &foreignRequest{query: newQuery()}
	q.Constraint.Strict = false
	var err error
	if q.Warnings, err = top.check(o); err != nil {
		return nil, nil, err
	}
	p, err := o.child(parameters)
	if err != nil {
		return nil, nil, err
	}
	if p == nil {
		p = &object{path: parameters + "."}
	}
	more, err := inner.check(p)
	if err != nil {
		return nil, nil, err
	}
	q.Warnings = append(q.Warnings, more...)
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return o.decode(prompt, &q.Prompt, "a string") },
		func() error { return o.boolean("stream", &q.Stream) },
		func() error { return q.readSignals(o) },
		func() error { return q.readSampling(p, plainSampling) },
		func() error { return p.number("repetition_penalty", &q.Sampling.RepeatPenalty) },
		func() error { return q.readStop(p, "stop") },
		func() error { return p.integer("max_new_tokens", &q.MaxTokens, 1, maxTokensLimit) },
	} {
		if err := read(); err != nil {
			return nil, nil, err
		}
	}
	return q, p, nil
}

func readTGI(o *object) (*foreignRequest, error) {
	q, p, err := readForeign(o, "inputs", "parameters", &tgiNames, &tgiParameters)
	if err != nil {
		return nil, err
	}
	sample, top := false, 0
	for _, err := range []error{
		p.boolean("do_sample", &sample), p.boolean("details", &q.details), p.boolean("return_full_text", &q.fullText),
		p.integer("top_n_tokens", &top, 0, maxTopLogprobs),
	} {
		if err != nil {
			return nil, err
		}
	}
	q.Logprobs, q.TopLogprobs = q.details || q.Stream, top
	if !sample && !slices.ContainsFunc([]string{"temperature", "top_k", "top_p", "typical_p"}, p.given) {
		q.Sampling.Temperature = 0
	}
	g, err := p.child("grammar")
	if g == nil || err != nil {
		return q, err
	}
	kind := ""
	if !g.given("type") {
		return nil, invalid(g.path+"type", "%stype is missing", g.path)
	}
	for _, err := range []error{g.only("type", "value"), g.oneOf("type", &kind, "json", "json_schema", "regex")} {
		if err != nil {
			return nil, err
		}
	}
	if !g.given("value") {
		return nil, invalid(g.path+"value", "%svalue is missing", g.path)
	}
	switch kind {
	case "regex":
		return q, q.Constraint.set(g, "value", "regex")
	case "json_schema":
		// TGI's newer form has the schema in an object with a name.
		if in, err := g.child("value"); err == nil && in.given("schema") {
			return q, q.Constraint.set(in, "schema", "schema")
		}
	}
	return q, q.Constraint.setJSON(g, "value")
}

func readSGLang(o *object) (*foreignRequest, error) {
	q, p, err := readForeign(o, "text", "sampling_params", &sglangNames, &sglangParameters)
	if err != nil {
		return nil, err
	}
	for _, err := range []error{
		p.integer("n", &q.N, 1, 1),
		q.Constraint.setJSON(p, "json_schema"),
		q.Constraint.set(p, "regex", "regex"),
		q.Constraint.set(p, "ebnf", "grammar"),
	} {
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// foreign answers POST /generate in TGI's or SGLang's dialect.
func (s *compatAPI) foreign(r *http.Request, o *object, dialect string) (answer, error) {
	start := time.Now()
	read := readTGI
	if dialect == "sglang" {
		read = readSGLang
	}
	q, err := read(o)
	if err != nil {
		return nil, err
	}
	_, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	if q.Stream {
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			if dialect == "sglang" {
				return &sglangSink{eventStream: newEventStream(w), start: start, id: newID("")}
			}
			return &tgiSink{eventStream: newEventStream(w), request: q}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	if dialect == "sglang" {
		return jsonAnswer{sglangReplyOf(c.message.Content, c, newID(""), start)}, nil
	}
	reply := tgiReply{Text: q.full(c.message.Content), Constraint: c.receipt, appraisal: c.appraisal(), Warnings: warnings(q.query, choices)}
	if q.details {
		reply.Details = tgiDetailsOf(c)
		for _, t := range c.tokens {
			reply.Details.Tokens = append(reply.Details.Tokens, tgiToken{t.ID, spelt(t.Bytes), max(t.Logprob, leastLogprob), false})
		}
	}
	return jsonAnswer{reply}, nil
}

// full returns a text with the prompt before it, if that is wanted.
func (q *foreignRequest) full(text string) string {
	if q.fullText {
		return *q.Prompt + text
	}
	return text
}

type tgiReply struct {
	Text       string      `json:"generated_text"`
	Details    *tgiDetails `json:"details,omitempty"`
	Constraint *receipt    `json:"x_constraint,omitempty"`
	appraisal
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

func tgiDetailsOf(c *choice) *tgiDetails {
	reason := "eos_token"
	switch {
	case c.result.Finish == engine.FinishLength:
		reason = "length"
	case c.result.StopString != "":
		reason = "stop_sequence"
	}
	return &tgiDetails{FinishReason: reason, Generated: c.result.CompletionTokens, Seed: c.result.Seed, Prefill: []struct{}{}}
}

// tgiSink writes an event for each token. The last one holds the whole text.
type tgiSink struct {
	*eventStream
	request *foreignRequest
	index   int
	last    *tgiEvent // not sent yet
}

type tgiEvent struct {
	Index      int         `json:"index"`
	Token      tgiToken    `json:"token"`
	Text       *string     `json:"generated_text"`
	Details    *tgiDetails `json:"details"`
	Constraint *receipt    `json:"x_constraint,omitempty"`
	appraisal
}

func (s *tgiSink) begin() error { return nil }

func (s *tgiSink) piece(_ int, p piece, tokens []engine.Token) error {
	if s.last != nil {
		if err := s.data(s.last); err != nil {
			return err
		}
	}
	s.index++
	s.last = &tgiEvent{Index: s.index, Token: tgiToken{Text: p.text}}
	if len(tokens) > 0 {
		s.last.Token.ID, s.last.Token.Logprob = tokens[0].ID, max(tokens[0].Logprob, leastLogprob)
	}
	return nil
}

func (s *tgiSink) done(_ int, c *choice) error {
	if s.last == nil {
		s.last = &tgiEvent{Index: 1, Token: tgiToken{Special: true}}
	}
	text := s.request.full(c.message.Content)
	s.last.Text, s.last.Details, s.last.Constraint, s.last.appraisal = &text, tgiDetailsOf(c), c.receipt, c.appraisal()
	return s.data(s.last)
}

func (s *tgiSink) end([]choice) error { return nil }

func (s *tgiSink) fail(f *problem) error { return s.data(f.reply()) }

type sglangReply struct {
	Text       string     `json:"text"`
	Meta       sglangMeta `json:"meta_info"`
	Constraint *receipt   `json:"x_constraint,omitempty"`
	appraisal
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

func sglangReplyOf(text string, c *choice, id string, start time.Time) sglangReply {
	out := sglangReply{Text: text, Meta: sglangMeta{ID: id, Latency: time.Since(start).Seconds()}}
	if c != nil {
		out.Meta.FinishReason = &sglangFinish{string(c.result.Finish), c.result.StopString}
		out.Meta.PromptTokens, out.Meta.CompletionTokens, out.Meta.CachedTokens = c.result.PromptTokens, c.result.CompletionTokens, c.result.CachedTokens
		out.Constraint, out.appraisal = c.receipt, c.appraisal()
	}
	return out
}

// sglangSink writes the text so far in each event, as SGLang does.
type sglangSink struct {
	*eventStream
	start time.Time
	id    string
	text  string
}

func (s *sglangSink) begin() error { return nil }

func (s *sglangSink) piece(_ int, p piece, _ []engine.Token) error {
	s.text += p.text
	return s.data(sglangReplyOf(s.text, nil, s.id, s.start))
}

func (s *sglangSink) done(_ int, c *choice) error {
	return s.data(sglangReplyOf(c.message.Content, c, s.id, s.start))
}

func (s *sglangSink) end([]choice) error { return s.flush("data: [DONE]\n\n") }

func (s *sglangSink) fail(f *problem) error { return s.data(f.reply()) }

// compatAPI answers in TGI's and SGLang's dialects.
type compatAPI struct{ *service }
