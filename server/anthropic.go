package server

import (
	"encoding/json"
	"net/http"

	"stencil/engine"
)

// messages is POST /v1/messages.
func (s *anthropicAPI) messages(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readMessages(body, false)
	if err != nil {
		return nil, err
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	reply := anthropicMessage{
		ID: newID("msg_"), Type: "message", Role: "assistant", Model: m.name, Content: []anthropicBlock{},
		Usage: anthropicUsage{InputTokens: len(g.request.Prompt)},
	}
	if q.Stream {
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			return &anthropicSink{eventStream: newEventStream(w), generation: g, message: reply, id: noteOf(r.Context()).id, block: -1}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply.Content = append(reply.Content, blocksOf(&c.message)...)
	reply.StopReason, reply.StopSequence = stopReason(c)
	reply.Usage = finalUsage(reply.Usage, c)
	reply.Constraint, reply.appraisal, reply.Warnings = c.receipt, c.appraisal(), warnings(q.query, choices)
	return jsonAnswer{reply}, nil
}

type countReply struct {
	InputTokens int `json:"input_tokens"`
}

// countTokens is POST /v1/messages/count_tokens.
func (s *anthropicAPI) countTokens(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readMessages(body, true)
	if err != nil {
		return nil, err
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	if !writerOf(m).abilities().counts {
		return nil, notOffered("model", "counting the tokens of a model behind an upstream")
	}
	return jsonAnswer{countReply{len(g.request.Prompt)}}, nil
}

// finalUsage completes what a text has taken. How long a prompt is for a model
// behind an upstream is known only now.
func finalUsage(u anthropicUsage, c *choice) anthropicUsage {
	u.InputTokens, u.OutputTokens = max(u.InputTokens, c.result.PromptTokens), c.result.CompletionTokens+c.wasted
	return u
}

// stopReason is why a text ended in Anthropic's words.
func stopReason(c *choice) (reason, sequence *string) {
	word := "end_turn"
	switch {
	case c.result.Finish == engine.FinishLength:
		word = "max_tokens"
	case len(c.message.Calls) > 0:
		word = "tool_use"
	case c.result.StopString != "":
		word, sequence = "stop_sequence", &c.result.StopString
	}
	return &word, sequence
}

func blocksOf(m *message) (out []anthropicBlock) {
	if m.Reasoning != "" {
		out = append(out, anthropicBlock{Type: "thinking", Thinking: &m.Reasoning, Signature: new(string)})
	}
	if m.Content != "" || len(m.Calls) == 0 {
		out = append(out, anthropicBlock{Type: "text", Text: &m.Content})
	}
	for _, c := range m.Calls {
		out = append(out, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
	}
	return out
}

// anthropicSink writes the events of a message.
type anthropicSink struct {
	*eventStream
	generation *generation
	message    anthropicMessage
	id         string // of the request
	block      int    // the number of the block that is open, or was last; -1 before the first
	open       pieceKind
	isOpen     bool
}

type messageStart struct {
	Type    string           `json:"type"`
	Message anthropicMessage `json:"message"`
}

type blockEvent struct {
	Type  string          `json:"type"`
	Index int             `json:"index"`
	Block *anthropicBlock `json:"content_block,omitempty"`
	Delta *blockDelta     `json:"delta,omitempty"`
}

type blockDelta struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	Thinking *string `json:"thinking,omitempty"`
	JSON     *string `json:"partial_json,omitempty"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	} `json:"delta"`
	Usage      anthropicUsage `json:"usage"`
	Constraint *receipt       `json:"x_constraint,omitempty"`
	appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type bareEvent struct {
	Type string `json:"type"`
}

func (s *anthropicSink) begin() error {
	return s.event("message_start", messageStart{"message_start", s.message})
}

// start opens a block, after closing the one that is open.
func (s *anthropicSink) start(kind pieceKind, b anthropicBlock) error {
	if err := s.stop(); err != nil {
		return err
	}
	s.block, s.open, s.isOpen = s.block+1, kind, true
	return s.event("content_block_start", blockEvent{Type: "content_block_start", Index: s.block, Block: &b})
}

func (s *anthropicSink) stop() error {
	if !s.isOpen {
		return nil
	}
	s.isOpen = false
	return s.event("content_block_stop", blockEvent{Type: "content_block_stop", Index: s.block})
}

func (s *anthropicSink) delta(d blockDelta) error {
	return s.event("content_block_delta", blockEvent{Type: "content_block_delta", Index: s.block, Delta: &d})
}

func (s *anthropicSink) piece(_ int, p piece, _ []engine.Token) error {
	empty := ""
	switch p.kind {
	case pieceContent:
		if p.text == "" {
			return nil
		}
		if !s.isOpen || s.open != pieceContent {
			if err := s.start(pieceContent, anthropicBlock{Type: "text", Text: &empty}); err != nil {
				return err
			}
		}
		return s.delta(blockDelta{Type: "text_delta", Text: &p.text})
	case pieceReasoning:
		if !s.isOpen || s.open != pieceReasoning {
			if err := s.start(pieceReasoning, anthropicBlock{Type: "thinking", Thinking: &empty, Signature: &empty}); err != nil {
				return err
			}
		}
		return s.delta(blockDelta{Type: "thinking_delta", Thinking: &p.text})
	case pieceCall:
		return s.start(pieceCall, anthropicBlock{Type: "tool_use", ID: p.id, Name: p.name, Input: json.RawMessage("{}")})
	case pieceArguments:
		return s.delta(blockDelta{Type: "input_json_delta", JSON: &p.text})
	}
	return s.stop()
}

func (s *anthropicSink) done(_ int, c *choice) error {
	if s.block < 0 { // an empty text is a block too
		if err := s.start(pieceContent, anthropicBlock{Type: "text", Text: new(string)}); err != nil {
			return err
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	last := messageDelta{Type: "message_delta", Usage: s.message.Usage, Constraint: c.receipt, appraisal: c.appraisal(), Warnings: warnings(s.generation.query, []choice{*c})}
	last.Delta.StopReason, last.Delta.StopSequence = stopReason(c)
	last.Usage = finalUsage(last.Usage, c)
	return s.event("message_delta", last)
}

func (s *anthropicSink) end([]choice) error {
	return s.event("message_stop", bareEvent{"message_stop"})
}

func (s *anthropicSink) fail(f *problem) error { return s.event("error", anthropicErrorBody(f, s.id)) }

func (s *anthropicSink) ping() error { return s.event("ping", bareEvent{"ping"}) }

// anthropicAPI answers in Anthropic's dialect.
type anthropicAPI struct{ *service }
