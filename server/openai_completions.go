package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"stencil/engine"
	"stencil/vocab"
)

// completionNames are the fields of POST /v1/completions.
var completionNames = names{
	known: slices.Concat([]string{
		"model", "prompt", "max_tokens", "stop", "n", "stream", "stream_options", "logprobs", "repetition_penalty", "n_predict", "echo",
	}, samplingFields, ownFields),
	constraint: constraintSpellings,
	harmless:   chatNames.harmless,
	refused: append([]string{
		"messages", "tools", "tool_choice", "max_completion_tokens", "top_logprobs", "continue_final_message", "add_generation_prompt",
	}, slices.DeleteFunc(slices.Clone(chatNames.refused), func(s string) bool { return s == "prompt" || s == "echo" })...),
}

// maxPrompts is how many prompts one request may have.
const maxPrompts = 32

// A completionRequest is the body of POST /v1/completions.
type completionRequest struct {
	*query
	prompts      []query // one for each prompt; the query's own prompt is the first
	echo         bool    // the prompt is part of the text
	includeUsage bool
}

func readCompletion(o *object) (*completionRequest, error) {
	q := &completionRequest{query: newQuery()}
	var err error
	if q.Constraint, err = readSpellings(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = completionNames.check(o); err != nil {
		return nil, err
	}
	top := -1
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return readOpenAISampling(q.query, o) },
		func() error { return q.readMaxTokens(o, "n_predict", "max_tokens") },
		func() error { return o.integer("logprobs", &top, 0, maxTopLogprobs) },
		func() error { return o.boolean("echo", &q.echo) },
		func() error { return readStreaming(q.query, o, &q.includeUsage) },
		func() error { return q.readPrompts(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if top >= 0 {
		if q.echo {
			return nil, notOffered("echo", "echo with logprobs")
		}
		q.Logprobs, q.TopLogprobs = true, top
	}
	for i := range q.prompts {
		one := *q.query
		one.Prompt, one.PromptTokens = q.prompts[i].Prompt, q.prompts[i].PromptTokens
		q.prompts[i] = one
	}
	return q, nil
}

// readPrompts reads a text, a list of tokens, or a list of either.
func (q *completionRequest) readPrompts(o *object) error {
	const want = "a string, an array of strings, or an array of token numbers"
	if !o.given("prompt") {
		return invalid("prompt", "prompt is missing")
	}
	var text string
	var tokens []int32
	if json.Unmarshal(o.members["prompt"], &text) == nil {
		q.prompts = []query{{Prompt: &text}}
		return nil
	}
	list, err := o.raws("prompt")
	if err != nil {
		return o.wrongType("prompt", want)
	}
	if json.Unmarshal(o.members["prompt"], &tokens) == nil && len(tokens) > 0 {
		q.prompts = []query{{PromptTokens: tokens}}
		return nil
	}
	if len(list) == 0 || len(list) > maxPrompts {
		return invalid("prompt", "prompt must have between 1 and %d entries, not %d", maxPrompts, len(list))
	}
	for _, raw := range list {
		var one string
		var ids []int32
		switch {
		case json.Unmarshal(raw, &one) == nil && string(raw) != "null":
			q.prompts = append(q.prompts, query{Prompt: &one})
		case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
			q.prompts = append(q.prompts, query{PromptTokens: ids})
		default:
			return o.wrongType("prompt", want)
		}
	}
	return nil
}

// completions is POST /v1/completions.
func (s *openAI) completions(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readCompletion(body)
	if err != nil {
		return nil, err
	}
	reply := completionReply{chatHead: chatHead{ID: newID("cmpl-"), Object: "text_completion", Created: unixNow()}}
	list := make([]*generation, len(q.prompts))
	for i := range q.prompts {
		m, g, err := s.accept(r, &q.prompts[i])
		if err != nil {
			return nil, err
		}
		reply.Model, list[i] = m.name, g
	}
	if q.Stream {
		return s.completionStream(r, q, list, reply.chatHead)
	}
	var all []choice
	for i, g := range list {
		choices, err := s.whole(r.Context(), g)
		if err != nil {
			return nil, err
		}
		u := usage(choices)
		reply.Usage.add(u)
		for j := range choices {
			one := completionChoiceOf(g.model.text.Vocab(), len(reply.Choices), &choices[j], &q.prompts[i])
			one.Text = q.echoed(g) + one.Text
			if one.Index > 0 {
				one.appraisal = choices[j].appraisal()
			}
			reply.Choices = append(reply.Choices, one)
		}
		reply.Warnings = append(reply.Warnings, warnings(&q.prompts[i], choices)...)
		all = append(all, choices...)
	}
	reply.Constraint, reply.appraisal, reply.Timings = all[0].receipt, all[0].appraisal(), timings(all)
	return jsonAnswer{reply}, nil
}

// echoed returns the prompt if it is to be part of the text.
func (q *completionRequest) echoed(g *generation) string {
	switch {
	case !q.echo:
		return ""
	case g.query.Prompt != nil:
		return *g.query.Prompt
	}
	return spelt(g.model.text.Vocab().Decode(g.query.PromptTokens))
}

// completionStream answers with a stream of all prompts, one after the other.
func (s *openAI) completionStream(r *http.Request, q *completionRequest, list []*generation, head chatHead) (answer, error) {
	out := &completionsAnswer{request: q, list: list}
	first, err := s.begin(r.Context(), list[0], func(w http.ResponseWriter) sink {
		out.sink = &completionSink{eventStream: newEventStream(w), generation: list[0], head: head, request: q, left: len(list)}
		return out.sink
	})
	if err != nil {
		return nil, err
	}
	out.answer, out.server = first, s
	return out, nil
}

// completionsAnswer is the stream of the first prompt, and then those of the others
// into the same sink.
type completionsAnswer struct {
	answer
	server  *openAI
	request *completionRequest
	list    []*generation
	sink    *completionSink
}

func (a *completionsAnswer) write(w http.ResponseWriter, r *http.Request) error {
	err := a.answer.write(w, r)
	for i := 1; i < len(a.list) && err == nil; i++ {
		next := a.list[i]
		var more answer
		more, err = a.server.begin(r.Context(), next, func(http.ResponseWriter) sink {
			a.sink.generation, a.sink.base, a.sink.offset = next, i*a.request.N, 0
			return a.sink
		})
		if err != nil {
			p := describe(err)
			return errors.Join(err, a.sink.fail(&p))
		}
		err = more.write(w, r)
	}
	return err
}

type completionReply struct {
	chatHead
	Choices    []completionChoice `json:"choices"`
	Usage      usageReply         `json:"usage"`
	Constraint *receipt           `json:"x_constraint,omitempty"`
	appraisal
	Timings  timingsReply `json:"timings"`
	Warnings []string     `json:"warnings,omitempty"`
}

type completionChoice struct {
	Index        int               `json:"index"`
	Text         string            `json:"text"`
	Logprobs     *completionTokens `json:"logprobs"`
	FinishReason *string           `json:"finish_reason"`
	appraisal                      // of further choices
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
		out.Tokens = append(out.Tokens, spelt(t.Bytes))
		out.Logprobs = append(out.Logprobs, max(t.Logprob, leastLogprob))
		top := map[string]float32{}
		for i, a := range t.Top {
			top[spelt(topBytes(v, &t, i))] = max(a.Logprob, leastLogprob)
		}
		out.Top = append(out.Top, top)
		out.Offsets = append(out.Offsets, from)
		from += len(t.Bytes)
	}
	return out
}

func completionChoiceOf(v *vocab.Vocab, index int, c *choice, q *query) completionChoice {
	reason := string(c.result.Finish)
	out := completionChoice{Index: index, Text: c.message.Content, FinishReason: &reason}
	if q.Logprobs {
		out.Logprobs = completionTokensOf(v, c.tokens, 0)
	}
	return out
}

// completionSink writes text_completion events.
type completionSink struct {
	*eventStream
	generation *generation
	head       chatHead
	request    *completionRequest
	offset     int
	base       int // the number of the prompt's first choice
	left       int // how many prompts have not ended
	usage      usageReply
}

type completionChunk struct {
	chatHead
	Choices    []completionChoice `json:"choices"`
	Usage      *usageReply        `json:"usage,omitempty"`
	Constraint *receipt           `json:"x_constraint,omitempty"`
	appraisal
	Warnings []string `json:"warnings,omitempty"`
}

func (s *completionSink) begin() error {
	text := s.request.echoed(s.generation)
	for i := 0; i < s.request.N && text != ""; i++ {
		if err := s.piece(i, piece{text: text}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *completionSink) piece(index int, p piece, tokens []engine.Token) error {
	if p.kind != pieceContent && len(tokens) == 0 {
		return nil
	}
	one := completionChoice{Index: s.base + index}
	if p.kind == pieceContent {
		one.Text = p.text
	}
	if s.generation.query.Logprobs {
		one.Logprobs = completionTokensOf(s.generation.model.text.Vocab(), tokens, s.offset)
		s.offset += len(p.text)
	}
	return s.data(completionChunk{chatHead: s.head, Choices: []completionChoice{one}})
}

func (s *completionSink) done(index int, c *choice) error {
	reason := string(c.result.Finish)
	return s.data(completionChunk{
		chatHead: s.head, Choices: []completionChoice{{Index: s.base + index, FinishReason: &reason}},
		Constraint: c.receipt, appraisal: c.appraisal(), Warnings: warnings(s.generation.query, []choice{*c}),
	})
}

func (s *completionSink) end(choices []choice) error {
	s.usage.add(usage(choices))
	if s.left--; s.left > 0 {
		return nil
	}
	if s.request.includeUsage {
		if err := s.data(completionChunk{chatHead: s.head, Choices: []completionChoice{}, Usage: &s.usage}); err != nil {
			return err
		}
	}
	return s.flush("data: [DONE]\n\n")
}

func (s *completionSink) fail(f *problem) error { return s.data(f.reply()) }
