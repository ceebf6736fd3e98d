package server

import (
	"net/http"

	"stencil/engine"
	"stencil/vocab"
)

// generate is POST /generate: text, free or constrained.
func (s *nativeAPI) generate(r *http.Request) (answer, error) { return s.native(r, false) }

// native reads a native request and runs it, or begins its stream.
func (s *nativeAPI) native(r *http.Request, wantJSON bool) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if !wantJSON {
		dialect, err := dialectOf(body)
		if err != nil {
			return nil, err
		}
		if dialect != "" {
			return (&compatAPI{s.service}).foreign(r, body, dialect)
		}
	}
	q, err := readNative(body)
	if err != nil {
		return nil, err
	}
	if wantJSON && q.Constraint.Kind == "" {
		q.Constraint.Kind, q.Constraint.Schema = "json", []byte("{}")
	}
	m, g, err := s.accept(r, q.query)
	if err != nil {
		return nil, err
	}
	if q.Stream {
		return s.begin(r.Context(), g, func(w http.ResponseWriter) sink {
			return &nativeSink{eventStream: newEventStream(w), generation: g, wantJSON: wantJSON}
		})
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	reply := generateReply{Model: m.name, Usage: usage(choices), Timings: timings(choices), Warnings: warnings(q.query, choices)}
	for i := range choices {
		reply.Choices = append(reply.Choices, choiceOf(m.text.Vocab(), i, &choices[i], q.Logprobs, wantJSON))
	}
	reply.choiceReply = reply.Choices[0]
	if len(choices) == 1 {
		reply.Choices = nil
	}
	return jsonAnswer{reply}, nil
}

func choiceOf(v *vocab.Vocab, index int, c *choice, logprobs, wantJSON bool) choiceReply {
	out := choiceReply{
		Index: index, Text: c.message.Content, Reasoning: c.message.Reasoning, FinishReason: string(c.result.Finish), StopString: c.result.StopString,
		Seed: c.result.Seed, Constraint: c.receipt, Signals: c.said.reply(), Assessment: c.assessment,
	}
	if wantJSON {
		out.JSON = c.json
		if c.trace != nil {
			out.Fields = c.trace.replies()
		}
	}
	if logprobs {
		out.Logprobs = tokenReplies(v, c.tokens)
	}
	return out
}

func tokenReplies(v *vocab.Vocab, tokens []engine.Token) []tokenReply {
	out := make([]tokenReply, 0, len(tokens))
	for _, t := range tokens {
		one := tokenReply{Token: string(t.Bytes), ID: t.ID, Bytes: byteList(t.Bytes), Forced: t.Forced}
		if !t.Forced {
			one.Logprob = &t.Logprob
		}
		for i, a := range t.Top {
			b := topBytes(v, &t, i)
			one.Top = append(one.Top, topReply{Token: string(b), ID: a.Token, Bytes: byteList(b), Logprob: a.Logprob})
		}
		out = append(out, one)
	}
	return out
}

// nativeSink writes token, field, done and error events.
type nativeSink struct {
	*eventStream
	generation *generation
	wantJSON   bool
}

func (s *nativeSink) begin() error { return nil }

func (s *nativeSink) piece(index int, p piece, tokens []engine.Token) error {
	t := tokenEvent{Index: index, Text: p.text}
	if s.generation.query.Logprobs {
		t.Logprobs = tokenReplies(s.generation.model.text.Vocab(), tokens)
	}
	if p.kind == pieceReasoning {
		return s.event("reasoning", t)
	}
	return s.event("token", t)
}

func (s *nativeSink) fields(index int, t *trace, list []field) error {
	for _, f := range list {
		e := fieldEvent{Index: index, Pointer: f.pointer, Value: t.text[f.start:f.end]}
		if f.leaf {
			r := t.reply(f)
			e.Confidence, e.Alternatives = &r.Confidence, r.Alternatives
		}
		if err := s.event("field", e); err != nil {
			return err
		}
	}
	return nil
}

func (s *nativeSink) done(index int, c *choice) error {
	one := []choice{*c}
	m := s.generation.model
	return s.event("done", doneEvent{
		Model: m.name, choiceReply: choiceOf(m.text.Vocab(), index, c, false, s.wantJSON),
		Usage: usage(one), Timings: timings(one), Warnings: warnings(s.generation.query, one),
	})
}

func (s *nativeSink) end([]choice) error { return nil }

func (s *nativeSink) fail(f *problem) error { return s.event("error", f.reply()) }

// nativeAPI answers in the server's own dialect.
type nativeAPI struct{ *service }
