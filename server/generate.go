package server

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"

	"stencil/engine"
	"stencil/vocab"
)

// generate is POST /generate: text, free or constrained.
func (s *Server) generate(r *http.Request) (answer, error) { return s.native(r, false) }

// native reads a native request and runs it, or begins its stream.
func (s *Server) native(r *http.Request, wantJSON bool) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readNative(body)
	if err != nil {
		return nil, err
	}
	m, err := s.named(q.Model)
	if err != nil {
		return nil, err
	}
	if wantJSON && q.Constraint.Kind == "" {
		q.Constraint.Kind, q.Constraint.Schema = "json", []byte("{}")
	}
	g, err := s.prepare(r, m, q)
	if err != nil {
		return nil, err
	}
	if q.Stream {
		stream, err := m.engine.Submit(r.Context(), g.request)
		if err != nil {
			return nil, err
		}
		return &nativeStream{server: s, generation: g, query: q, stream: stream, wantJSON: wantJSON}, nil
	}
	choices, err := s.whole(r.Context(), g)
	if err != nil {
		return nil, err
	}
	reply := generateReply{Model: m.name, Usage: usage(choices), Timings: timings(choices), Warnings: q.Warnings}
	for i := range choices {
		reply.Choices = append(reply.Choices, choiceOf(m.engine.Vocab(), i, &choices[i], q.Logprobs, wantJSON))
		reply.Warnings = append(reply.Warnings, choices[i].warnings...)
	}
	reply.choiceReply = reply.Choices[0]
	if len(choices) == 1 {
		reply.Choices = nil
	}
	return jsonAnswer{reply}, nil
}

// prepare makes a generation of a native request.
func (s *Server) prepare(r *http.Request, m *served, q *nativeRequest) (*generation, error) {
	schema, err := m.compile(q.Constraint)
	if err != nil {
		return nil, err
	}
	prompt, err := m.prompt(q, schema)
	if err != nil {
		return nil, err
	}
	g := &generation{model: m, kind: q.Constraint.Kind, schema: schema}
	g.request = engine.Request{
		ID: noteOf(r.Context()).id, Client: clientOf(r),
		Prompt: prompt, Sampling: q.Sampling, MaxTokens: q.MaxTokens, Choices: q.N,
		NoForced: !q.Forced, Truncate: q.OnBudget == "truncate",
		Logprobs: q.Logprobs, Alternatives: q.TopLogprobs, Timeout: s.cfg.RequestTimeout,
	}
	if g.request.MaxTokens == 0 {
		g.request.MaxTokens = s.cfg.DefaultTokens
	}
	if !q.Seeded {
		g.request.Sampling.Seed = rand.Uint64() >> 11 // so that JavaScript can read it back
	}
	if schema == nil {
		g.request.Stop = q.Stop
		return g, nil
	}
	g.request.Constraint = schema.Constraint
	for _, w := range schema.Report.Warnings {
		q.Warnings = append(q.Warnings, "schema: "+w.String())
	}
	if len(q.Stop) > 0 {
		q.Warnings = append(q.Warnings, "stop is not looked for in constrained text and was ignored")
	}
	return g, nil
}

// clientOf names who a request comes from, for the queue's turns: the address,
// without the port that changes with every connection.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func choiceOf(v *vocab.Vocab, index int, c *choice, logprobs, wantJSON bool) choiceReply {
	out := choiceReply{
		Index: index, Text: c.result.Text, FinishReason: string(c.result.Finish), StopString: c.result.StopString,
		Seed: c.result.Seed, Constraint: c.receipt,
	}
	if wantJSON {
		out.JSON = c.json
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
		for _, a := range t.Top {
			b := v.Bytes(a.Token)
			one.Top = append(one.Top, topReply{Token: string(b), ID: a.Token, Bytes: byteList(b), Logprob: a.Logprob})
		}
		out = append(out, one)
	}
	return out
}

// byteList is b as an array of numbers: in JSON a []byte would be base64.
func byteList(b []byte) []int {
	out := make([]int, len(b))
	for i, x := range b {
		out[i] = int(x)
	}
	return out
}

// nativeStream is the answer to a native request with stream: true.
type nativeStream struct {
	server     *Server
	generation *generation
	query      *nativeRequest
	stream     *engine.Stream
	wantJSON   bool
}

func (a *nativeStream) write(w http.ResponseWriter, r *http.Request) error {
	defer a.stream.Close()
	out := newEventStream(w)
	err := a.events(r.Context(), out)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	f := describe(err)
	if sendErr := out.event("error", errorBody{f.body}); sendErr != nil {
		return errors.Join(err, sendErr)
	}
	return err
}

func (a *nativeStream) events(ctx context.Context, out *eventStream) error {
	v := a.generation.model.engine.Vocab()
	var choices []choice
	for {
		ev, err := out.next(ctx, a.stream)
		if errors.Is(err, io.EOF) {
			a.server.noteResults(ctx, choices)
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Text != "" || len(ev.Tokens) > 0 {
			t := tokenEvent{Index: ev.Choice, Text: ev.Text}
			if a.query.Logprobs {
				t.Logprobs = tokenReplies(v, ev.Tokens)
			}
			if err := out.event("token", t); err != nil {
				return err
			}
		}
		if ev.Done == nil {
			continue
		}
		c := choice{result: ev.Done}
		if bad := a.server.conclude(ctx, a.generation, &c, 1); bad != nil {
			return &validationError{text: c.result.Text, details: c.receipt.Errors, tries: 1}
		}
		choices = append(choices, c)
		one := []choice{c}
		if err := out.event("done", doneEvent{
			Model: a.generation.model.name, choiceReply: choiceOf(v, ev.Choice, &c, false, a.wantJSON),
			Usage: usage(one), Timings: timings(one), Warnings: append(a.query.Warnings[:len(a.query.Warnings):len(a.query.Warnings)], c.warnings...),
		}); err != nil {
			return err
		}
	}
}
