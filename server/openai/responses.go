package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// CreateResponse handles POST /v1/responses.
func (s *Handlers) CreateResponse(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readResponses(body, s.keptFor(r))
	if err != nil {
		return nil, err
	}
	if q.background {
		return s.begin(r, q)
	}
	m, g, err := s.accept(r, q)
	if err != nil {
		return nil, err
	}
	reply := q.reply(m.Name)
	if q.Stream {
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			return &responsesSink{events: wire.NewEventStream(w), generation: g, request: q, response: reply}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply.Output = append(reply.Output, q.itemsOf(g, c)...)
	reply.conclude(g, c)
	if err := q.keep(reply); err != nil {
		return nil, err
	}
	return wire.JSON{Value: reply}, nil
}

// reply returns the answer before there is any output.
func (q *responsesRequest) reply(model string) *response {
	given := func(name, otherwise string) json.RawMessage {
		if q.body.Given(name) {
			return q.body.Members[name]
		}
		return json.RawMessage(otherwise)
	}
	out := &response{
		ID: wire.NewID("resp_"), Object: "response", CreatedAt: wire.UnixNow(), Status: "in_progress", Model: model, Output: []responseItem{},
		Instructions: given("instructions", "null"), Metadata: given("metadata", "{}"), Text: q.textFormat(given("text", `{"format":{"type":"text"}}`)),
		ToolChoice: given("tool_choice", `"auto"`), Tools: given("tools", "[]"), Reasoning: given("reasoning", `{"effort":null,"summary":null}`),
		Parallel: q.Tools == nil || q.Tools.Parallel, Temperature: q.Sampling.Temperature, TopP: cmp.Or(q.Sampling.TopP, 1), Truncation: q.truncation,
		Store: q.store,
	}
	if q.previous != "" {
		out.Previous = &q.previous
	}
	if q.conversation != "" {
		out.Conversation = &conversationID{q.conversation}
	}
	if q.MaxTokens > 0 {
		out.MaxOutputTokens = &q.MaxTokens
	}
	return out
}

// textFormat returns the effective text field: a response_format, which is accepted too, is
// moved there.
func (q *responsesRequest) textFormat(given json.RawMessage) json.RawMessage {
	format, err := q.body.Child("response_format")
	if err != nil || format == nil || q.body.Given("text") && bytes.Contains(given, []byte(`"format"`)) {
		return given
	}
	members := map[string]json.RawMessage{}
	for name, value := range format.Members {
		members[name] = value
	}
	if inner, err := format.Child("json_schema"); err == nil && inner != nil {
		delete(members, "json_schema")
		for name, value := range inner.Members {
			members[name] = value
		}
	}
	text := map[string]json.RawMessage{}
	if o, err := wire.ParseObject(given, ""); err == nil && q.body.Given("text") {
		text = o.Members
	}
	if text["format"], err = wire.Marshal(members); err != nil {
		return given
	}
	out, err := wire.Marshal(text)
	if err != nil {
		return given
	}
	return out
}

// conclude fills in what is known at the end.
func (out *response) conclude(g *generation.Generation, c *generation.Choice) {
	out.Status = "completed"
	if c.Result.Finish == engine.FinishLength {
		out.Status, out.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	}
	u := generation.UsageOf([]generation.Choice{*c})
	out.Usage = &responsesUsage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, TotalTokens: u.TotalTokens}
	out.Usage.InputDetails.CachedTokens = u.PromptDetails.CachedTokens
	out.Constraint, out.Appraisal, out.Warnings = c.Receipt, c.Appraisal(), generation.WarningsOf(g.Request, []generation.Choice{*c})
}

func textPart(text string, logprobs []generation.TokenLogprob) responsePart {
	if logprobs == nil {
		logprobs = []generation.TokenLogprob{}
	}
	return responsePart{Type: "output_text", Text: text, Annotations: &[]struct{}{}, Logprobs: &logprobs}
}

func (q *responsesRequest) itemsOf(g *generation.Generation, c *generation.Choice) (out []responseItem) {
	m := &c.Message
	if m.Reasoning != "" {
		out = append(out, reasoningItem(wire.NewID("rs_"), m.Reasoning))
	}
	if m.Content != "" || len(m.Calls) == 0 {
		var logprobs []generation.TokenLogprob
		if g.Request.Logprobs {
			logprobs = generation.LogprobsOf(g.Model.Text.Vocab(), c.Tokens).Content
		}
		status := "completed"
		if c.Result.Finish == engine.FinishLength {
			status = "incomplete"
		}
		out = append(out, messageItem(wire.NewID("msg_"), status, textPart(m.Content, logprobs)))
	}
	for _, one := range m.Calls {
		out = append(out, q.callItem(wire.NewID("fc_"), "completed", one))
	}
	return out
}

func messageItem(id, status string, parts ...responsePart) responseItem {
	if parts == nil {
		parts = []responsePart{}
	}
	return responseItem{Type: "message", ID: id, Status: status, Role: "assistant", Content: &parts}
}

func reasoningItem(id, text string) responseItem {
	return responseItem{Type: "reasoning", ID: id, Summary: &[]responsePart{}, Content: &[]responsePart{{Type: "reasoning_text", Text: text}}}
}

// events are where the events of a response go.
type events interface {
	Event(name string, data any) error
	wire.Pinger
}

// A responsesSink writes the events of a response.
type responsesSink struct {
	events
	generation *generation.Generation
	request    *responsesRequest
	response   *response
	sequence   int
	item       *responseItem    // the open item; nil between items
	kind       layout.PieceKind // of the open item
	text       string           // of the open item, so far
	call       layout.Call
	tokens     []generation.TokenLogprob
	clock      generation.Clock // with timings_per_token
	written    int              // tokens so far, for clock
	timings    *generation.Timings
}

func (s *responsesSink) send(e responseEvent) error {
	e.Sequence = s.sequence
	s.sequence++
	return s.Event(e.Type, e)
}

// about returns an event about the open item and, with part, its content part.
func (s *responsesSink) about(kind string, part bool) responseEvent {
	index := len(s.response.Output)
	e := responseEvent{Type: kind, OutputIndex: &index, ItemID: s.item.ID}
	if part {
		e.ContentIndex = new(int)
	}
	return e
}

func (s *responsesSink) Begin() error {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := s.send(responseEvent{Type: kind, Response: s.response}); err != nil {
			return err
		}
	}
	return nil
}

func (s *responsesSink) Progress(p engine.Progress) error {
	e := responseEvent{Type: "response.in_progress", Response: s.response}
	var t *generation.Timings
	if e.Progress, t = generation.ProgressOf(p); s.request.timings {
		e.Timings = t
	}
	return s.send(e)
}

// start opens an item, after closing the open one.
func (s *responsesSink) start(kind layout.PieceKind, item responseItem) error {
	if err := s.stop(); err != nil {
		return err
	}
	s.item, s.kind, s.text, s.tokens = &item, kind, "", nil
	e := s.about("response.output_item.added", false)
	e.Item, e.ItemID = &item, ""
	if err := s.send(e); err != nil {
		return err
	}
	if kind != layout.PieceContent {
		return nil
	}
	e = s.about("response.content_part.added", true)
	part := textPart("", nil)
	e.Part = &part
	return s.send(e)
}

// stop closes the open item.
func (s *responsesSink) stop() error {
	if s.item == nil {
		return nil
	}
	var events []responseEvent
	var whole responseItem
	switch s.kind {
	case layout.PieceContent:
		part := textPart(s.text, s.tokens)
		done := s.about("response.output_text.done", true)
		done.Text, done.Logprobs = &s.text, part.Logprobs
		closed := s.about("response.content_part.done", true)
		closed.Part = &part
		events = append(events, done, closed)
		whole = messageItem(s.item.ID, "completed", part)
	case layout.PieceReasoning:
		done := s.about("response.reasoning_text.done", true)
		done.Text = &s.text
		events = append(events, done)
		whole = reasoningItem(s.item.ID, s.text)
	default:
		whole = s.request.callItem(s.item.ID, "completed", s.call)
		if whole.Input != nil { // the text is known once the JSON around it is complete
			delta, done := s.about("response.custom_tool_call_input.delta", false), s.about("response.custom_tool_call_input.done", false)
			delta.Delta, done.Input = whole.Input, whole.Input
			events = append(events, delta, done)
			break
		}
		done := s.about("response.function_call_arguments.done", false)
		done.Name, done.Arguments = whole.Name, &s.call.Arguments
		events = append(events, done)
	}
	last := s.about("response.output_item.done", false)
	last.Item, last.ItemID = &whole, ""
	for _, e := range append(events, last) {
		if err := s.send(e); err != nil {
			return err
		}
	}
	s.response.Output = append(s.response.Output, whole)
	s.item = nil
	return nil
}

func (s *responsesSink) Piece(_ int, p layout.Piece, tokens []engine.Token) error {
	switch p.Kind {
	case layout.PieceContent, layout.PieceReasoning:
		if p.Text == "" && len(tokens) == 0 {
			return nil
		}
		item, kind := messageItem(wire.NewID("msg_"), "in_progress"), "response.output_text.delta"
		if p.Kind == layout.PieceReasoning {
			item, kind = reasoningItem(wire.NewID("rs_"), ""), "response.reasoning_text.delta"
		}
		if s.item == nil || s.kind != p.Kind {
			if err := s.start(p.Kind, item); err != nil {
				return err
			}
		}
		s.text += p.Text
		e := s.about(kind, true)
		e.Delta = &p.Text
		if s.request.timings {
			s.written += len(tokens)
			e.Timings = s.clock.Timings(s.written)
		}
		if p.Kind == layout.PieceContent {
			list := []generation.TokenLogprob{}
			if s.generation.Request.Logprobs {
				list = generation.LogprobsOf(s.generation.Model.Text.Vocab(), tokens).Content
				s.tokens = append(s.tokens, list...)
			}
			e.Logprobs = &list
		}
		return s.send(e)
	case layout.PieceCall:
		s.call = layout.Call{ID: p.ID, Name: p.Name}
		return s.start(layout.PieceCall, s.request.callItem(wire.NewID("fc_"), "in_progress", s.call))
	case layout.PieceArguments:
		s.call.Arguments += p.Text
		if s.request.origins[s.call.Name].custom {
			return nil
		}
		e := s.about("response.function_call_arguments.delta", false)
		e.Delta = &p.Text
		return s.send(e)
	}
	return s.stop()
}

func (s *responsesSink) Done(_ int, c *generation.Choice) error {
	if len(s.response.Output) == 0 && s.item == nil { // an empty text is an item too
		if err := s.start(layout.PieceContent, messageItem(wire.NewID("msg_"), "in_progress")); err != nil {
			return err
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	s.response.conclude(s.generation, c)
	if s.request.timings {
		t := generation.TimingsOf([]generation.Choice{*c})
		s.timings = &t
	}
	return nil
}

func (s *responsesSink) End([]generation.Choice) error {
	if err := s.request.keep(s.response); err != nil {
		return err
	}
	return s.send(responseEvent{Type: "response." + s.response.Status, Response: s.response, Timings: s.timings})
}

func (s *responsesSink) Fail(f *problem.Problem) error {
	s.response.fail(f)
	return s.send(responseEvent{Type: "response.failed", Response: s.response})
}

// fail makes the answer that of a response that has failed.
func (out *response) fail(f *problem.Problem) {
	out.Status = "failed"
	out.Error = &responseError{Code: cmp.Or(f.Code, "server_error"), Message: f.Message, Details: f.Details}
}
