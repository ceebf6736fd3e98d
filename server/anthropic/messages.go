package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// Messages handles POST /v1/messages.
func (s *Handlers) Messages(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readMessages(body, false)
	if err != nil {
		return nil, err
	}
	m, g, _, err := s.accept(r, q)
	if err != nil {
		return nil, err
	}
	reply := anthropicMessage{
		ID: wire.NewID("msg_"), Type: "message", Role: "assistant", Model: m.Name, Content: []anthropicBlock{},
		Usage: anthropicUsage{InputTokens: len(g.Job.Prompt)}, Context: q.context,
	}
	if q.Stream {
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			return &anthropicSink{EventStream: wire.NewEventStream(w), generation: g, message: reply, id: wire.NoteOf(r.Context()).ID, block: -1}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	c := &choices[0]
	reply.Content = append(reply.Content, blocksOf(&c.Message)...)
	reply.StopReason, reply.StopSequence = stopReason(c)
	reply.Usage = finalUsage(reply.Usage, c)
	reply.Constraint, reply.Appraisal, reply.Warnings = c.Receipt, c.Appraisal(), generation.WarningsOf(q.Request, choices)
	return wire.JSON{Value: reply}, nil
}

type countReply struct {
	InputTokens int           `json:"input_tokens"`
	Context     *countContext `json:"context_management,omitempty"`
}

// countContext reports the length of the prompt before its edits.
type countContext struct {
	Original int `json:"original_input_tokens"`
}

// CountTokens handles POST /v1/messages/count_tokens.
func (s *Handlers) CountTokens(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readMessages(body, true)
	if err != nil {
		return nil, err
	}
	m, g, original, err := s.accept(r, q)
	if err != nil {
		return nil, err
	}
	if !generation.WriterOf(m).Abilities().Counts {
		return nil, wire.NotOffered("model", "counting the tokens of a model behind an upstream")
	}
	reply := countReply{InputTokens: len(g.Job.Prompt)}
	if q.context != nil {
		reply.Context = &countContext{original}
	}
	return wire.JSON{Value: reply}, nil
}

// finalUsage completes the usage of a text. The prompt length of an upstream's model is known
// only at the end.
func finalUsage(u anthropicUsage, c *generation.Choice) anthropicUsage {
	u.CacheReadTokens = c.Result.CachedTokens
	u.InputTokens, u.OutputTokens = max(u.InputTokens, c.Result.PromptTokens)-u.CacheReadTokens, c.Result.CompletionTokens+c.Wasted
	return u
}

// stopReason returns Anthropic's stop_reason of a text.
func stopReason(c *generation.Choice) (reason, sequence *string) {
	word := "end_turn"
	switch {
	case c.Result.Finish == engine.FinishLength:
		word = "max_tokens"
	case len(c.Message.Calls) > 0:
		word = "tool_use"
	case c.Result.StopString != "":
		word, sequence = "stop_sequence", &c.Result.StopString
	}
	return &word, sequence
}

func blocksOf(m *layout.Message) (out []anthropicBlock) {
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
	*wire.EventStream
	generation *generation.Generation
	message    anthropicMessage
	id         string // of the request
	block      int    // index of the open or last block; -1 before the first
	open       layout.PieceKind
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
	Usage      anthropicUsage      `json:"usage"`
	Context    *contextReply       `json:"context_management,omitempty"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type bareEvent struct {
	Type string `json:"type"`
}

func (s *anthropicSink) Begin() error {
	first := s.message
	first.Context = nil // it is sent at the end
	return s.Event("message_start", messageStart{"message_start", first})
}

// start opens a block, after closing the open one.
func (s *anthropicSink) start(kind layout.PieceKind, b anthropicBlock) error {
	if err := s.stop(); err != nil {
		return err
	}
	s.block, s.open, s.isOpen = s.block+1, kind, true
	return s.Event("content_block_start", blockEvent{Type: "content_block_start", Index: s.block, Block: &b})
}

func (s *anthropicSink) stop() error {
	if !s.isOpen {
		return nil
	}
	s.isOpen = false
	return s.Event("content_block_stop", blockEvent{Type: "content_block_stop", Index: s.block})
}

func (s *anthropicSink) delta(d blockDelta) error {
	return s.Event("content_block_delta", blockEvent{Type: "content_block_delta", Index: s.block, Delta: &d})
}

func (s *anthropicSink) Piece(_ int, p layout.Piece, _ []engine.Token) error {
	empty := ""
	switch p.Kind {
	case layout.PieceContent:
		if p.Text == "" {
			return nil
		}
		if !s.isOpen || s.open != layout.PieceContent {
			if err := s.start(layout.PieceContent, anthropicBlock{Type: "text", Text: &empty}); err != nil {
				return err
			}
		}
		return s.delta(blockDelta{Type: "text_delta", Text: &p.Text})
	case layout.PieceReasoning:
		if !s.isOpen || s.open != layout.PieceReasoning {
			if err := s.start(layout.PieceReasoning, anthropicBlock{Type: "thinking", Thinking: &empty, Signature: &empty}); err != nil {
				return err
			}
		}
		return s.delta(blockDelta{Type: "thinking_delta", Thinking: &p.Text})
	case layout.PieceCall:
		return s.start(layout.PieceCall, anthropicBlock{Type: "tool_use", ID: p.ID, Name: p.Name, Input: json.RawMessage("{}")})
	case layout.PieceArguments:
		return s.delta(blockDelta{Type: "input_json_delta", JSON: &p.Text})
	}
	return s.stop()
}

func (s *anthropicSink) Done(_ int, c *generation.Choice) error {
	if s.block < 0 { // an empty text is a block too
		if err := s.start(layout.PieceContent, anthropicBlock{Type: "text", Text: new(string)}); err != nil {
			return err
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	last := messageDelta{Type: "message_delta", Usage: s.message.Usage, Context: s.message.Context, Constraint: c.Receipt, Appraisal: c.Appraisal(), Warnings: generation.WarningsOf(s.generation.Request, []generation.Choice{*c})}
	last.Delta.StopReason, last.Delta.StopSequence = stopReason(c)
	last.Usage = finalUsage(last.Usage, c)
	return s.Event("message_delta", last)
}

func (s *anthropicSink) End([]generation.Choice) error {
	return s.Event("message_stop", bareEvent{"message_stop"})
}

func (s *anthropicSink) Fail(f *problem.Problem) error { return s.Event("error", ErrorBody(f, s.id)) }

func (s *anthropicSink) Ping() error { return s.Event("ping", bareEvent{"ping"}) }

// Handlers implements Anthropic's dialect.
type Handlers struct{ *generation.Service }
