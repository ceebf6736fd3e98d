package server

import (
	"net/http"

	"stencil/engine"
	"stencil/vocab"
)

// chatCompletions is POST /v1/chat/completions.
func (s *openAI) chatCompletions(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readChat(body)
	if err != nil {
		return nil, err
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	head := chatHead{ID: newID("chatcmpl-"), Object: "chat.completion", Created: unixNow(), Model: m.name}
	if q.Stream {
		head.Object = "chat.completion.chunk"
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			return &chatSink{eventStream: newEventStream(w), generation: g, head: head, includeUsage: q.includeUsage}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	reply := chatReply{chatHead: head, Usage: usage(choices), Constraint: choices[0].receipt, appraisal: choices[0].appraisal(), Timings: timings(choices), Warnings: warnings(q.query, choices)}
	for i := range choices {
		reply.Choices = append(reply.Choices, chatChoiceOf(m.text.Vocab(), i, &choices[i], q.query))
	}
	return jsonAnswer{reply}, nil
}

// chatHead is what an answer and every chunk of a stream begin with.
type chatHead struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

type chatReply struct {
	chatHead
	Choices    []chatChoice `json:"choices"`
	Usage      usageReply   `json:"usage"`
	Constraint *receipt     `json:"x_constraint,omitempty"` // of the first choice
	appraisal
	Timings  timingsReply `json:"timings"`
	Warnings []string     `json:"warnings,omitempty"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Logprobs     *chatTokens `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
	Constraint   *receipt    `json:"x_constraint,omitempty"` // of further choices
	appraisal
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"` // always null
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in streams
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// finishReason is why a text ended in OpenAI's words.
func finishReason(c *choice) string {
	if len(c.message.Calls) > 0 && c.result.Finish == engine.FinishStop {
		return "tool_calls"
	}
	return string(c.result.Finish)
}

func chatChoiceOf(v *vocab.Vocab, index int, c *choice, q *query) chatChoice {
	out := chatChoice{Index: index, FinishReason: finishReason(c)}
	out.Message = chatMessage{Role: "assistant", Reasoning: c.message.Reasoning}
	if c.message.Content != "" || len(c.message.Calls) == 0 {
		out.Message.Content = &c.message.Content
	}
	for _, call := range c.message.Calls {
		out.Message.Calls = append(out.Message.Calls, chatCall{
			ID: call.ID, Type: "function", Function: chatFunction{call.Name, call.Arguments},
		})
	}
	if q.Logprobs {
		out.Logprobs = chatTokensOf(v, c.tokens)
	}
	if index > 0 {
		out.Constraint, out.appraisal = c.receipt, c.appraisal()
	}
	return out
}

// chatSink writes chat.completion.chunk events.
type chatSink struct {
	*eventStream
	generation   *generation
	head         chatHead
	includeUsage bool
}

type chatChunk struct {
	chatHead
	Choices    []chunkChoice `json:"choices"`
	Usage      *usageReply   `json:"usage,omitempty"`
	Constraint *receipt      `json:"x_constraint,omitempty"`
	appraisal
	Timings  *timingsReply `json:"timings,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

type chunkChoice struct {
	Index        int         `json:"index"`
	Delta        chatDelta   `json:"delta"`
	Logprobs     *chatTokens `json:"logprobs,omitempty"`
	FinishReason *string     `json:"finish_reason"`
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`
}

func (s *chatSink) chunk(choices ...chunkChoice) chatChunk {
	return chatChunk{chatHead: s.head, Choices: choices}
}

func (s *chatSink) begin() error {
	empty := ""
	for i := range max(1, s.generation.request.Choices) {
		if err := s.data(s.chunk(chunkChoice{Index: i, Delta: chatDelta{Role: "assistant", Content: &empty}})); err != nil {
			return err
		}
	}
	return nil
}

func (s *chatSink) piece(index int, p piece, tokens []engine.Token) error {
	one := chunkChoice{Index: index}
	switch p.kind {
	case pieceContent:
		one.Delta.Content = &p.text
	case pieceReasoning:
		one.Delta.Reasoning = p.text
	case pieceCall:
		one.Delta.Calls = []chatCall{{Index: &p.call, ID: p.id, Type: "function", Function: chatFunction{Name: p.name}}}
	case pieceArguments:
		one.Delta.Calls = []chatCall{{Index: &p.call, Function: chatFunction{Arguments: p.text}}}
	case pieceCallEnd:
		if len(tokens) == 0 {
			return nil
		}
	}
	if s.generation.query.Logprobs && len(tokens) > 0 {
		one.Logprobs = chatTokensOf(s.generation.model.text.Vocab(), tokens)
	}
	return s.data(s.chunk(one))
}

func (s *chatSink) done(index int, c *choice) error {
	reason := finishReason(c)
	last := s.chunk(chunkChoice{Index: index, FinishReason: &reason})
	one := []choice{*c}
	t := timings(one)
	last.Constraint, last.appraisal, last.Timings, last.Warnings = c.receipt, c.appraisal(), &t, warnings(s.generation.query, one)
	return s.data(last)
}

func (s *chatSink) end(choices []choice) error {
	if s.includeUsage {
		last := s.chunk()
		last.Choices = []chunkChoice{}
		u := usage(choices)
		last.Usage = &u
		if err := s.data(last); err != nil {
			return err
		}
	}
	return s.flush("data: [DONE]\n\n")
}

func (s *chatSink) fail(f *problem) error { return s.data(f.reply()) }

// openAI answers in OpenAI's dialect.
type openAI struct{ *service }
