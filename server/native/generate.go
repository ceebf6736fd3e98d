package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/server/compat"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// Generate handles POST /generate: text, free or constrained.
func (s *Handlers) Generate(r *http.Request) (wire.Answer, error) { return s.native(r, false) }

// native reads a native request and runs it, or starts its stream.
func (s *Handlers) native(r *http.Request, wantJSON bool) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if !wantJSON {
		dialect, err := compat.DialectOf(body)
		if err != nil {
			return nil, err
		}
		if dialect != "" {
			return (&compat.Handlers{Service: s.Service}).Foreign(r, body, dialect)
		}
	}
	q, err := readNative(body)
	if err != nil {
		return nil, err
	}
	if wantJSON {
		q.Constraint.SetAny()
	}
	if err := q.CheckOptions(body); err != nil {
		return nil, err
	}
	m, g, err := s.Accept(r, q.Request)
	if err != nil {
		return nil, err
	}
	if q.Stream {
		return s.Begin(r.Context(), g, func(w http.ResponseWriter) generation.Sink {
			return &nativeSink{EventStream: wire.NewEventStream(w), generation: g, wantJSON: wantJSON}
		})
	}
	choices, err := s.Whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	if wantJSON {
		for i := range choices {
			if err := readDocument(&choices[i]); err != nil {
				return nil, err
			}
		}
	}
	reply := generateReply{Model: m.Name, Usage: generation.UsageOf(choices), Timings: generation.TimingsOf(choices), Warnings: generation.WarningsOf(q.Request, choices)}
	for i := range choices {
		reply.Choices = append(reply.Choices, choiceOf(m.Text.Vocab(), i, &choices[i], q.Logprobs, wantJSON))
	}
	reply.choiceReply = reply.Choices[0]
	if len(choices) == 1 {
		reply.Choices = nil
	}
	return wire.JSON{Value: reply}, nil
}

func choiceOf(v *vocab.Vocab, index int, c *generation.Choice, logprobs, wantJSON bool) choiceReply {
	out := choiceReply{
		Index: index, Text: c.Message.Content, Reasoning: c.Message.Reasoning, FinishReason: string(c.Result.Finish), StopString: c.Result.StopString,
		Seed: c.Result.Seed, Constraint: c.Receipt, Signals: c.Said.Reply(), Assessment: c.Assessment,
	}
	if wantJSON {
		out.JSON = c.Json
		if c.Trace != nil {
			out.Fields = c.Trace.Replies()
		}
	}
	if logprobs {
		out.Logprobs = tokenReplies(v, c.Tokens)
	}
	return out
}

func tokenReplies(v *vocab.Vocab, tokens []engine.Token) []tokenReply {
	out := make([]tokenReply, 0, len(tokens))
	for _, t := range tokens {
		one := tokenReply{Token: string(t.Bytes), ID: t.ID, Bytes: generation.ByteList(t.Bytes), Forced: t.Forced}
		if !t.Forced {
			one.Logprob = &t.Logprob
		}
		for i, a := range t.Top {
			b := generation.TopBytes(v, &t, i)
			one.Top = append(one.Top, topReply{Token: string(b), ID: a.Token, Bytes: generation.ByteList(b), Logprob: a.Logprob})
		}
		out = append(out, one)
	}
	return out
}

// maxDepth is the largest nesting depth of a document parsed from a text.
const maxDepth = 10000

// readDocument parses the document in a text whose constraint, such as a grammar, is not specific to JSON.
func readDocument(c *generation.Choice) error {
	if c.Json != nil || c.Result.Finish != engine.FinishStop || c.Receipt == nil || c.Receipt.Type == "schema" || c.Receipt.Type == "json" {
		return nil
	}
	text := c.Message.Content
	if json.Valid([]byte(text)) {
		c.Json = json.RawMessage(text)
		return nil
	}
	if c.Receipt.Validated == nil || !*c.Receipt.Validated {
		return nil // the receipt reports it, as requested
	}
	_, err := jsondoc.Parse(text, maxDepth)
	where, d := "", wire.Detail{Keyword: c.Receipt.Type, Reason: "it can't be read"}
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		d.Reason, d.Line, d.Column = syntax.Reason, syntax.Line, syntax.Column
		where = fmt.Sprintf("line %d, column %d: ", d.Line, d.Column)
	}
	return problem.New(problem.Problem{
		Status: http.StatusUnprocessableEntity, Kind: problem.Invalid, Param: c.Receipt.Type, Code: "validation_failed", Text: &text, Details: []wire.Detail{d},
		Message: fmt.Sprintf("the text fits the %s but is not JSON: %s; /generate answers with the text alone", c.Receipt.Type, where+d.Reason),
	})
}

// A nativeSink writes token, field, done and error events.
type nativeSink struct {
	*wire.EventStream
	generation *generation.Generation
	wantJSON   bool
}

func (s *nativeSink) Begin() error { return nil }

func (s *nativeSink) Piece(index int, p layout.Piece, tokens []engine.Token) error {
	t := tokenEvent{Index: index, Text: p.Text}
	if s.generation.Request.Logprobs {
		t.Logprobs = tokenReplies(s.generation.Model.Text.Vocab(), tokens)
	}
	if p.Kind == layout.PieceReasoning {
		return s.Event("reasoning", t)
	}
	return s.Event("token", t)
}

func (s *nativeSink) Fields(index int, t *generation.Trace, list []wire.Field) error {
	for _, f := range list {
		e := fieldEvent{Index: index, Pointer: f.Pointer, Value: t.Text[f.Start:f.End]}
		if f.Leaf {
			r := t.Reply(f)
			e.Confidence, e.Alternatives = &r.Confidence, r.Alternatives
		}
		if err := s.Event("field", e); err != nil {
			return err
		}
	}
	return nil
}

func (s *nativeSink) Done(index int, c *generation.Choice) error {
	if s.wantJSON {
		if err := readDocument(c); err != nil {
			return err
		}
	}
	one := []generation.Choice{*c}
	m := s.generation.Model
	return s.Event("done", doneEvent{
		Model: m.Name, choiceReply: choiceOf(m.Text.Vocab(), index, c, false, s.wantJSON),
		Usage: generation.UsageOf(one), Timings: generation.TimingsOf(one), Warnings: generation.WarningsOf(s.generation.Request, one),
	})
}

func (s *nativeSink) End([]generation.Choice) error { return nil }

func (s *nativeSink) Fail(f *problem.Problem) error { return s.Event("error", f.Reply()) }

// Handlers implements the server's own dialect.
type Handlers struct{ *generation.Service }

// GenerateJSON handles POST /generate_json: a JSON document that fits a schema, or any JSON document.
func (s *Handlers) GenerateJSON(r *http.Request) (wire.Answer, error) { return s.native(r, true) }
