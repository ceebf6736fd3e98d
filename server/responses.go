package server

import (
	"cmp"
	"encoding/json"
	"net/http"

	"stencil/engine"
)

// responses is POST /v1/responses.
func (s *openAI) responses(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readResponses(body)
	if err != nil {
		return nil, err
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	reply := q.reply(m.name)
	if q.Stream {
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			return &responsesSink{eventStream: newEventStream(w), generation: g, response: reply}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply.Output = append(reply.Output, itemsOf(g, c)...)
	reply.conclude(g, c)
	return jsonAnswer{reply}, nil
}

// reply returns the answer as it is before there is any output.
func (q *responsesRequest) reply(model string) *response {
	given := func(name, otherwise string) json.RawMessage {
		if q.body.given(name) {
			return q.body.members[name]
		}
		return json.RawMessage(otherwise)
	}
	out := &response{
		ID: newID("resp_"), Object: "response", CreatedAt: unixNow(), Status: "in_progress", Model: model, Output: []responseItem{},
		Instructions: given("instructions", "null"), Metadata: given("metadata", "{}"), Text: given("text", `{"format":{"type":"text"}}`),
		ToolChoice: given("tool_choice", `"auto"`), Tools: given("tools", "[]"), Reasoning: given("reasoning", `{"effort":null,"summary":null}`),
		Parallel: q.Tools == nil || q.Tools.Parallel, Temperature: q.Sampling.Temperature, TopP: cmp.Or(q.Sampling.TopP, 1), Truncation: "disabled",
	}
	if q.MaxTokens > 0 {
		out.MaxOutputTokens = &q.MaxTokens
	}
	return out
}

// conclude fills in what is known at the end.
func (out *response) conclude(g *generation, c *choice) {
	out.Status = "completed"
	if c.result.Finish == engine.FinishLength {
		out.Status, out.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	}
	u := usage([]choice{*c})
	out.Usage = &responsesUsage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, TotalTokens: u.TotalTokens}
	out.Usage.InputDetails.CachedTokens = u.PromptDetails.CachedTokens
	out.Constraint, out.appraisal, out.Warnings = c.receipt, c.appraisal(), warnings(g.query, []choice{*c})
}

func textPart(text string, logprobs []chatToken) responsePart {
	if logprobs == nil {
		logprobs = []chatToken{}
	}
	return responsePart{Type: "output_text", Text: text, Annotations: &[]struct{}{}, Logprobs: &logprobs}
}

func itemsOf(g *generation, c *choice) (out []responseItem) {
	m := &c.message
	if m.Reasoning != "" {
		out = append(out, reasoningItem(newID("rs_"), m.Reasoning))
	}
	if m.Content != "" || len(m.Calls) == 0 {
		var logprobs []chatToken
		if g.query.Logprobs {
			logprobs = chatTokensOf(g.model.text.Vocab(), c.tokens).Content
		}
		status := "completed"
		if c.result.Finish == engine.FinishLength {
			status = "incomplete"
		}
		out = append(out, messageItem(newID("msg_"), status, textPart(m.Content, logprobs)))
	}
	for _, one := range m.Calls {
		out = append(out, callItem(newID("fc_"), "completed", one))
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

func callItem(id, status string, c call) responseItem {
	return responseItem{Type: "function_call", ID: id, Status: status, CallID: c.ID, Name: c.Name, Arguments: &c.Arguments}
}

// responsesSink writes the events of a response.
type responsesSink struct {
	*eventStream
	generation *generation
	response   *response
	sequence   int
	item       *responseItem // the one that is open; nil between items
	kind       pieceKind     // of it
	text       string        // of it, so far
	call       call
	tokens     []chatToken
}

func (s *responsesSink) send(e responseEvent) error {
	e.Sequence = s.sequence
	s.sequence++
	return s.event(e.Type, e)
}

// about fills in which item and part an event is about.
func (s *responsesSink) about(kind string, part bool) responseEvent {
	index := len(s.response.Output)
	e := responseEvent{Type: kind, OutputIndex: &index, ItemID: s.item.ID}
	if part {
		e.ContentIndex = new(int)
	}
	return e
}

func (s *responsesSink) begin() error {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := s.send(responseEvent{Type: kind, Response: s.response}); err != nil {
			return err
		}
	}
	return nil
}

// start opens an item, after closing the one that is open.
func (s *responsesSink) start(kind pieceKind, item responseItem) error {
	if err := s.stop(); err != nil {
		return err
	}
	s.item, s.kind, s.text, s.tokens = &item, kind, "", nil
	e := s.about("response.output_item.added", false)
	e.Item, e.ItemID = &item, ""
	if err := s.send(e); err != nil {
		return err
	}
	if kind != pieceContent {
		return nil
	}
	e = s.about("response.content_part.added", true)
	part := textPart("", nil)
	e.Part = &part
	return s.send(e)
}

// stop closes the item that is open.
func (s *responsesSink) stop() error {
	if s.item == nil {
		return nil
	}
	var events []responseEvent
	var whole responseItem
	switch s.kind {
	case pieceContent:
		part := textPart(s.text, s.tokens)
		done := s.about("response.output_text.done", true)
		done.Text, done.Logprobs = &s.text, part.Logprobs
		closed := s.about("response.content_part.done", true)
		closed.Part = &part
		events = append(events, done, closed)
		whole = messageItem(s.item.ID, "completed", part)
	case pieceReasoning:
		done := s.about("response.reasoning_text.done", true)
		done.Text = &s.text
		events = append(events, done)
		whole = reasoningItem(s.item.ID, s.text)
	default:
		done := s.about("response.function_call_arguments.done", false)
		done.Name, done.Arguments = s.call.Name, &s.call.Arguments
		events = append(events, done)
		whole = callItem(s.item.ID, "completed", s.call)
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

func (s *responsesSink) piece(_ int, p piece, tokens []engine.Token) error {
	switch p.kind {
	case pieceContent, pieceReasoning:
		if p.text == "" && len(tokens) == 0 {
			return nil
		}
		item, kind := messageItem(newID("msg_"), "in_progress"), "response.output_text.delta"
		if p.kind == pieceReasoning {
			item, kind = reasoningItem(newID("rs_"), ""), "response.reasoning_text.delta"
		}
		if s.item == nil || s.kind != p.kind {
			if err := s.start(p.kind, item); err != nil {
				return err
			}
		}
		s.text += p.text
		e := s.about(kind, true)
		e.Delta = &p.text
		if p.kind == pieceContent {
			list := []chatToken{}
			if s.generation.query.Logprobs {
				list = chatTokensOf(s.generation.model.text.Vocab(), tokens).Content
				s.tokens = append(s.tokens, list...)
			}
			e.Logprobs = &list
		}
		return s.send(e)
	case pieceCall:
		s.call = call{ID: p.id, Name: p.name}
		return s.start(pieceCall, callItem(newID("fc_"), "in_progress", s.call))
	case pieceArguments:
		s.call.Arguments += p.text
		e := s.about("response.function_call_arguments.delta", false)
		e.Delta = &p.text
		return s.send(e)
	}
	return s.stop()
}

func (s *responsesSink) done(_ int, c *choice) error {
	if len(s.response.Output) == 0 && s.item == nil { // an empty text is an item too
		if err := s.start(pieceContent, messageItem(newID("msg_"), "in_progress")); err != nil {
			return err
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	s.response.conclude(s.generation, c)
	return nil
}

func (s *responsesSink) end([]choice) error {
	return s.send(responseEvent{Type: "response." + s.response.Status, Response: s.response})
}

func (s *responsesSink) fail(f *problem) error {
	s.response.Status = "failed"
	s.response.Error = &responseError{Code: cmp.Or(f.code, "server_error"), Message: f.message, Details: f.details}
	return s.send(responseEvent{Type: "response.failed", Response: s.response})
}
