package openai

import (
	"net/http"
	"strings"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// Chat handles POST /v1/chat/completions.
func (s *Handlers) Chat(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	own := !strings.HasPrefix(r.URL.Path, "/v1/")
	q, err := readChatAs(body, own)
	if err != nil {
		return nil, err
	}
	m, g, err := s.Accept(r, q.Request)
	if err != nil {
		return nil, err
	}
	head := chatHead{ID: wire.NewID("chatcmpl-"), Object: "chat.completion", Created: wire.UnixNow(), Model: m.Name, Fingerprint: s.Fingerprint()}
	if q.Stream {
		head.Object = "chat.completion.chunk"
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			return &chatSink{EventStream: wire.NewEventStream(w), generation: g, head: head, request: q}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	reply := chatReply{chatHead: head, Usage: generation.UsageOf(choices), Constraint: choices[0].Receipt, Appraisal: choices[0].Appraisal(), Timings: generation.TimingsOf(choices), Warnings: generation.WarningsOf(q.Request, choices)}
	if q.verbose || s.Verbose {
		reply.Verbose = &verbose{m.Text.Vocab().Detokenize(g.Job.Prompt, false, true)}
	}
	for i := range choices {
		reply.Choices = append(reply.Choices, q.choiceOf(m.Text.Vocab(), i, &choices[i]))
	}
	return wire.JSON{Value: reply}, nil
}

// chatHead holds the common fields of an answer and of a stream's chunks.
type chatHead struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`

	Fingerprint string `json:"system_fingerprint,omitempty"` // not in the responses API
}

type chatReply struct {
	chatHead
	Choices    []chatChoice        `json:"choices"`
	Usage      generation.Usage    `json:"usage"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"` // of the first choice
	assess.Appraisal
	Timings  generation.Timings `json:"timings"`
	Warnings []string           `json:"warnings,omitempty"`
	Verbose  *verbose           `json:"__verbose,omitempty"`
}

// verbose is an addition of llama-server, on request.
type verbose struct {
	Prompt string `json:"prompt"`
}

type chatChoice struct {
	Index        int                  `json:"index"`
	Message      chatMessage          `json:"message"`
	Logprobs     *generation.Logprobs `json:"logprobs"`
	FinishReason string               `json:"finish_reason"`
	Constraint   *generation.Receipt  `json:"x_constraint,omitempty"` // of the other choices
	assess.Appraisal
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"` // always null
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`

	Function *chatFunction `json:"function_call,omitempty"` // replaces Calls for clients that use functions
}

type chatCall struct {
	Index    *int          `json:"index,omitempty"` // in streams
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function *chatFunction `json:"function,omitempty"`
	Custom   *chatCustom   `json:"custom,omitempty"`
}

type chatCustom struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// finishReason returns OpenAI's finish_reason of a text.
func finishReason(c *generation.Choice) string {
	if len(c.Message.Calls) > 0 && c.Result.Finish == engine.FinishStop {
		return "tool_calls"
	}
	return string(c.Result.Finish)
}

func (q *chatRequest) choiceOf(v *vocab.Vocab, index int, c *generation.Choice) chatChoice {
	out := chatChoice{Index: index, FinishReason: q.finishOf(c)}
	out.Message = chatMessage{Role: "assistant", Reasoning: c.Message.Reasoning}
	if c.Message.Content != "" || len(c.Message.Calls) == 0 {
		out.Message.Content = &c.Message.Content
	}
	q.calls(&out.Message, c.Message.Calls)
	if q.Logprobs {
		out.Logprobs = generation.LogprobsOf(v, c.Tokens)
	}
	if index > 0 {
		out.Constraint, out.Appraisal = c.Receipt, c.Appraisal()
	}
	return out
}

// chatSink writes chat.completion.chunk events.
type chatSink struct {
	*wire.EventStream
	generation *generation.Generation
	head       chatHead
	request    *chatRequest
	clock      []generation.Clock // by choice, with timings_per_token
	tokens     []int
	custom     map[int]string // by choice: the arguments of a custom tool's call so far
}

type chatChunk struct {
	chatHead
	Choices    []chunkChoice       `json:"choices"`
	Usage      *generation.Usage   `json:"usage,omitempty"`
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Timings  *generation.Timings  `json:"timings,omitempty"`
	Progress *generation.Progress `json:"prompt_progress,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
}

type chunkChoice struct {
	Index        int                  `json:"index"`
	Delta        chatDelta            `json:"delta"`
	Logprobs     *generation.Logprobs `json:"logprobs,omitempty"`
	FinishReason *string              `json:"finish_reason"`
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`

	Function *chatFunction `json:"function_call,omitempty"`

	null bool // write content as null
}

// MarshalJSON writes content as null in a first event, since it is not known yet whether there will be text. OpenAI
// sends "" before text and null before calls, so clients accept both.
func (d chatDelta) MarshalJSON() ([]byte, error) {
	type plain chatDelta
	if !d.null {
		return wire.Marshal(plain(d))
	}
	return wire.Marshal(struct {
		plain
		Content *string `json:"content"`
	}{plain: plain(d)})
}

func (s *chatSink) chunk(choices ...chunkChoice) chatChunk {
	return chatChunk{chatHead: s.head, Choices: choices}
}

func (s *chatSink) Begin() error {
	for i := range max(1, s.generation.Job.Choices) {
		if err := s.Data(s.chunk(chunkChoice{Index: i, Delta: chatDelta{Role: "assistant", null: true}})); err != nil {
			return err
		}
	}
	return nil
}

func (s *chatSink) Progress(p engine.Progress) error {
	chunk := s.chunk(chunkChoice{Delta: chatDelta{}})
	var t *generation.Timings
	if chunk.Progress, t = generation.ProgressOf(p); s.request.timings {
		chunk.Timings = t
	}
	return s.Data(chunk)
}

func (s *chatSink) Piece(index int, p layout.Piece, tokens []engine.Token) error {
	one := chunkChoice{Index: index}
	switch p.Kind {
	case layout.PieceContent:
		one.Delta.Content = &p.Text
	case layout.PieceReasoning:
		one.Delta.Reasoning = p.Text
	case layout.PieceCall:
		if s.request.functions {
			one.Delta.Function = &chatFunction{Name: p.Name}
			break
		}
		one.Delta.Calls = []chatCall{{Index: &p.Call, ID: p.ID, Type: "function", Function: &chatFunction{Name: p.Name}}}
		if s.request.Tools.IsCustom(p.Name) {
			if s.custom == nil {
				s.custom = map[int]string{}
			}
			s.custom[index] = ""
			one.Delta.Calls = []chatCall{{Index: &p.Call, ID: p.ID, Type: "custom", Custom: &chatCustom{Name: p.Name}}}
		}
	case layout.PieceArguments:
		if so, custom := s.custom[index]; custom {
			s.custom[index] = so + p.Text
			if len(tokens) == 0 || !s.generation.Request.Logprobs {
				return nil
			}
			break
		}
		if s.request.functions {
			one.Delta.Function = &chatFunction{Arguments: p.Text}
			break
		}
		one.Delta.Calls = []chatCall{{Index: &p.Call, Function: &chatFunction{Arguments: p.Text}}}
	case layout.PieceCallEnd:
		if arguments, custom := s.custom[index]; custom { // the text is known once the JSON around it is complete
			delete(s.custom, index)
			one.Delta.Calls = []chatCall{{Index: &p.Call, Custom: &chatCustom{Input: request.CustomText(arguments)}}}
		} else if len(tokens) == 0 || !s.generation.Request.Logprobs {
			return nil
		}
	}
	if s.generation.Request.Logprobs && len(tokens) > 0 {
		one.Logprobs = generation.LogprobsOf(s.generation.Model.Text.Vocab(), tokens)
	}
	chunk := s.chunk(one)
	if s.request.timings {
		for len(s.clock) <= index {
			s.clock, s.tokens = append(s.clock, generation.Clock{}), append(s.tokens, 0)
		}
		s.tokens[index] += len(tokens)
		chunk.Timings = s.clock[index].Timings(s.tokens[index])
	}
	return s.Data(chunk)
}

func (s *chatSink) Done(index int, c *generation.Choice) error {
	reason := s.request.finishOf(c)
	last := s.chunk(chunkChoice{Index: index, FinishReason: &reason})
	one := []generation.Choice{*c}
	last.Constraint, last.Appraisal, last.Warnings = c.Receipt, c.Appraisal(), generation.WarningsOf(s.generation.Request, one)
	if !s.request.includeUsage { // what has timings is the last event for clients of llama-server
		t := generation.TimingsOf(one)
		last.Timings = &t
	}
	return s.Data(last)
}

func (s *chatSink) End(choices []generation.Choice) error {
	if s.request.includeUsage {
		last := s.chunk()
		last.Choices = []chunkChoice{}
		u := generation.UsageOf(choices)
		last.Usage = &u
		t := generation.TimingsOf(choices)
		last.Timings = &t
		if err := s.Data(last); err != nil {
			return err
		}
	}
	return s.Flush("data: [DONE]\n\n")
}

func (s *chatSink) Fail(f *problem.Problem) error { return s.Data(f.Reply()) }

// Handlers implements OpenAI's dialect.
type Handlers struct {
	*generation.Service
	Responses  *stored.Store
	Background *background.Runs
	Ended      func(w Work) // is told of responses in the background that have ended
}
