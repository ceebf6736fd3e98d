package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// An upstream generates the texts of a model behind an upstream API.
type upstream struct {
	client *remote.Client
	model  *remote.Model
	log    *slog.Logger
}

// unmasked is the reason why an upstream's texts are only validated.
const unmasked = "the model is behind an upstream, whose logits can't be reached"

// Add makes an upstream's model available under a name.
func Add(models *registry.Registry, log *slog.Logger, name string, c *remote.Client) {
	models.AddRemote(name, &upstream{client: c, model: remote.NewModel(c), log: log}, unmasked)
	caps := c.Capabilities()
	for _, f := range []*asking.Format{{JSON: true, Schema: request.AnyObject}, {Regex: "."}, {Grammar: "root ::= ."}} {
		strategy, _ := asking.Choose(caps, f)
		kind := map[bool]string{true: "json", false: "grammar"}[f.JSON]
		if f.Regex != "" {
			kind = "regex"
		}
		log.Info("an upstream's strategy", slog.String("model", name), slog.String("engine", caps.Engine), slog.Any("capabilities", caps.Names()), slog.String("for", kind), slog.String("strategy", string(strategy)))
	}
}

func (u *upstream) Abilities() generation.Abilities {
	caps := u.client.Capabilities()
	return generation.Abilities{Tools: caps.Tools, OnRequest: caps.Logprobs}
}

// upstreamParallel is the number of texts that an upstream is assumed to generate in parallel, since none
// reports it.
const upstreamParallel = 4

func (u *upstream) Vocab() *vocab.Vocab  { return u.model.Vocab() }
func (u *upstream) Model() backend.Model { return u.model }
func (u *upstream) ContextLimit() int    { return 0 } // unknown
func (u *upstream) Parallel() int        { return upstreamParallel }
func (u *upstream) Stats() engine.Stats {
	total := u.client.Total()
	return engine.Stats{PromptTokens: uint64(total.Prompt), ReusedTokens: uint64(total.Cached), GeneratedTokens: uint64(total.Completion)}
}

// parts is the layout of an upstream's texts: reasoning, which it sends separately, and the answer.
var parts = &layout.Layout{Nodes: []layout.Node{{Role: layout.RoleReasoning, Free: true}, {Role: layout.RoleContent, Free: true}}}

func (u *upstream) Ready(ctx context.Context, g *generation.Generation) (generation.Run, error) {
	g.ExpectSignals()
	q, caps := g.Request, u.client.Capabilities()
	r := &run{Generation: g, from: u}
	switch {
	case q.PromptTokens != nil:
		return nil, wire.NotOffered("prompt", "a prompt of tokens for a model behind an upstream")
	case q.Before != nil:
		return nil, wire.NotOffered("context", "a context of tokens for a model behind an upstream")
	case q.Begun != "":
		return nil, wire.NotOffered("messages", "a prefilled answer of a model behind an upstream")
	case r.calls() && !caps.Tools:
		return nil, wire.NotOffered("tools", "calling tools with a model behind an upstream that takes none")
	case (q.TopLogprobs > 0 || q.Logprobs) && !caps.Logprobs:
		return nil, wire.NotOffered("logprobs", "logprobs, which the upstream does not give,")
	case q.Sampling.Chained():
		return nil, wire.NotOffered("samplers", "a sampler of llama.cpp's for a model behind an upstream")
	case len(q.BiasTexts) > 0:
		return nil, wire.NotOffered("logit_bias", "logit_bias by text, for a model behind an upstream")
	case q.IgnoreEnd:
		return nil, wire.NotOffered("ignore_eos", "ignore_eos for a model behind an upstream")
	case q.MinTokens > 0:
		return nil, wire.NotOffered("min_tokens", "min_tokens for a model behind an upstream")
	case q.ShowSpecial:
		return nil, wire.NotOffered("skip_special_tokens", "skip_special_tokens: false for a model behind an upstream")
	}
	if g.Constraint != nil {
		generation.WarnOf(q, g.Constraint)
	}
	g.Layout = parts
	r.choose()
	if f := g.Format(); r.strategy == asking.Instructed && f != nil && q.PromptSchema != "never" && !r.calls() { // after an answer, fewer call
		r.example = f.Example(func(document []byte) bool {
			v, err := constraint.NewValidator(ctx, f.Schema, "2020-12") // what an older draft reads otherwise has no example, at worst
			return err == nil && v.Validate(ctx, document) == nil
		})
	}
	r.warnOfSignals()
	g.Job = engine.Request{ID: g.Job.ID, MaxTokens: g.Job.MaxTokens, Choices: g.Job.Choices, Timeout: g.Job.Timeout, Sampling: q.Sampling}
	return r, nil
}

// A run is the run of an upstream's generation.
type run struct {
	*generation.Generation
	from     *upstream
	strategy asking.Strategy
	extra    map[string]any // request fields that make the upstream enforce a format
	example  string         // for strategy Instructed
}

func (r *run) Asked() bool { return true }

func (r *run) Again() bool { return r.calls() }

func (r *run) Describe(ctx context.Context, t *asking.Task) {
	t.Strategy = r.strategy
	if r.calls() {
		t.Tools = r.tools(ctx)
	}
}

func (r *run) Settled(c *generation.Choice, a *asking.Answer, raw string) {
	c.Receipt.Strategy = string(r.strategy)
	if len(a.Calls) > 0 {
		c.Receipt.Strategy = string(asking.ByTools)
	}
	if a.JSON && a.Text == raw && len(c.Tokens) > 0 {
		c.Trace = r.trace(c.Tokens, raw)
	}
}

// withExample puts the exchange with the example before a conversation that begins with its user.
func (g *run) withExample(messages []remote.Message) []remote.Message {
	i := slices.IndexFunc(messages, func(m remote.Message) bool { return m.Role != "system" && m.Role != "developer" })
	if g.example == "" || i < 0 || messages[i].Role != "user" {
		return messages
	}
	return slices.Insert(messages, i, remote.Message{Role: "user", Content: asking.ExampleQuestion}, remote.Message{Role: "assistant", Content: g.example})
}

// asking returns the request for a text.
func (g *run) asking(turns []asking.Turn, index, number int) *remote.Request {
	q := g.Request
	r := &remote.Request{MaxTokens: g.Job.MaxTokens, Stop: q.Stop, Logprobs: q.Logprobs || q.Signals != nil && g.from.client.Capabilities().Logprobs, TopLogprobs: q.TopLogprobs, Extra: g.extra}
	if g.calls() {
		g.addTools(r)
	}
	instruction := ""
	switch {
	case g.Constraint == nil || q.PromptSchema == "never":
	case g.strategy == asking.Instructed:
		instruction = generation.Join(g.Constraint.Instruction, g.Format().Rules())
	case q.PromptSchema == "always":
		instruction = g.Constraint.Instruction
		if g.Format() != nil {
			instruction = generation.Join(instruction, g.Format().Rules())
		}
	}
	if g.Signals != nil && g.leavesRoom() && q.PromptSchema != "never" {
		if g.Signals.Wrapped {
			instruction = generation.AlsoOf(instruction, signals.Instruction(q.Signals.Mode, signals.Beside, nil))
		} else {
			instruction = generation.WithSignals(q, instruction, g.Constraint)
		}
	}
	next := generation.Continued(q, turns)
	if q.Messages == nil {
		// A plain prompt becomes a user message.
		if instruction != "" {
			r.Messages = append(r.Messages, remote.Message{Role: "system", Content: instruction})
		}
		r.Messages = append(r.Messages, remote.Message{Role: "user", Content: *q.Prompt})
		for _, t := range turns {
			r.Messages = append(r.Messages, remote.Message{Role: t.Role, Content: t.Content})
		}
	} else {
		for _, m := range withIDs(generation.WithSystem(next.Messages, instruction)) {
			one := remote.Message{Role: m.Role, Content: m.Content, CallID: m.ToolCallID}
			for _, c := range m.ToolCalls {
				one.Calls = append(one.Calls, remote.Call{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
			}
			for _, p := range m.Parts {
				one.Content += p.Text
			}
			r.Messages = append(r.Messages, one)
		}
	}
	r.Messages = g.withExample(r.Messages)
	o := &g.Job.Sampling
	r.Temperature = &o.Temperature
	given := func(v float32, off float32) *float32 {
		if v == off {
			return nil
		}
		return &v
	}
	r.TopP, r.MinP = given(o.TopP, 0), given(o.MinP, 0)
	if r.TopP != nil && *r.TopP == 1 {
		r.TopP = nil
	}
	r.PresencePenalty, r.FrequencyPenalty = given(o.PresencePenalty, 0), given(o.FrequencyPenalty, 0)
	if o.TopK > 0 {
		r.TopK = &o.TopK
	}
	if q.Seeded {
		seed := o.Seed + uint64(index) + uint64(number)*generation.RetrySeed>>11 // exact in JSON numbers
		r.Seed = &seed
	}
	for _, b := range o.LogitBias {
		if r.LogitBias == nil {
			r.LogitBias = map[string]float32{}
		}
		r.LogitBias[strconv.Itoa(int(b.Token))] = max(b.Add, -100)
	}
	return r
}

func (g *run) Write(ctx context.Context, turns []asking.Turn, index, number int) (*generation.Choice, *asking.Written, error) {
	wire.NoteOf(ctx).Prepared()
	began := time.Now()
	answer, err := g.from.client.Complete(ctx, g.asking(turns, index, number))
	if err != nil {
		return nil, nil, err
	}
	c := &generation.Choice{Result: g.resultOf(answer, time.Since(began)), Tokens: tokensOf(answer.Tokens)}
	c.Message = layout.Message{Reasoning: answer.Reasoning, Content: answer.Text}
	g.TakeSignals(c, c.Result.Finish == engine.FinishLength)
	if data := (layout.Message{Content: string(answer.Data)}); g.Signals != nil && g.Signals.Wrapped && generation.UnwrapSignals(&data) {
		answer.Data = json.RawMessage(data.Content)
		c.Said = generation.ToldSignals(&data)
	}
	return c, &asking.Written{
		Text: c.Message.Content, Data: answer.Data, Refusal: answer.Refusal, Cut: c.Result.Finish == engine.FinishLength, Usage: answer.Usage,
		Calls: identified(answer.Calls),
	}, nil
}

// resultOf converts an upstream's answer to an engine's result.
func (g *run) resultOf(a *remote.Completion, took time.Duration) *engine.Result {
	out := &engine.Result{
		Text: a.Text, Finish: engine.FinishStop, Seed: g.Job.Sampling.Seed,
		PromptTokens: a.Usage.Prompt, CachedTokens: a.Usage.Cached, CompletionTokens: a.Usage.Completion, Timings: engine.Timings{Generate: took},
	}
	if a.Finish == string(engine.FinishLength) {
		out.Finish = engine.FinishLength
	}
	return out
}

func tokensOf(list []remote.Token) []engine.Token {
	out := make([]engine.Token, 0, len(list))
	for _, t := range list {
		one := engine.Token{ID: layout.NoToken, Bytes: t.Bytes, Logprob: t.Logprob, Allowed: 1}
		for _, a := range t.Top {
			one.Top = append(one.Top, sampling.Alternative{Token: layout.NoToken, Logprob: a.Logprob})
			one.TopBytes = append(one.TopBytes, a.Bytes)
		}
		out = append(out, one)
	}
	return out
}

// trace derives the confidence of a document's values from the tokens that an upstream reported; nil if
// they don't match the text.
func (g *run) trace(tokens []engine.Token, text string) *generation.Trace {
	// Alternatives are unknown, so an enumeration is treated like any other value.
	r := g.Constraint.Answers().Afterwards("")
	r.Enums.Read(nil)
	t := generation.NewTrace(g.Generation)
	t.Rule, t.Layout, t.Begin = r, nil, 0 // the text is the whole document
	t.Add(tokens)
	t.End()
	t.Fresh()
	if string(t.Text) != text {
		return nil
	}
	return t
}

// open opens the streams of all texts, in parallel.
func (g *run) open(ctx context.Context, n int) ([]*remote.Stream, error) {
	streams, failed := make([]*remote.Stream, n), make([]error, n)
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() { streams[i], failed[i] = g.from.client.Stream(ctx, g.asking(nil, i, 0)) })
	}
	all.Wait()
	for _, err := range failed {
		if err == nil {
			continue
		}
		for _, s := range streams {
			if s != nil {
				_ = s.Close() // only the first error is returned
			}
		}
		return nil, err
	}
	return streams, nil
}

func (g *run) Stream(ctx context.Context) (generation.Events, error) {
	wire.NoteOf(ctx).Prepared()
	ctx, cancel := context.WithTimeout(ctx, g.Job.Timeout)
	translate := func(err error) error { return asking.Translate(ctx, g.from.log, err, g.strategy, g.Model.Name) }
	u := &events{
		run: g, cancel: cancel, translate: translate, list: make(chan event), closed: make(chan struct{}), began: time.Now(),
		done: make([]*remote.Completion, max(1, g.Job.Choices)),
	}
	streams, err := g.open(ctx, len(u.done))
	if err != nil {
		defer cancel()
		return nil, translate(err)
	}
	go u.read(ctx, streams)
	return u, nil
}

// events converts an upstream's streams to events. Goroutines of its own read the streams, so that giving
// up the wait for an event does not end them.
type events struct {
	run       *run
	cancel    context.CancelFunc
	translate func(error) error
	list      chan event
	closed    chan struct{}
	began     time.Time
	done      []*remote.Completion // by choice; set before the event that ends the choice
}

type event struct {
	event engine.Event
	err   error
}

// Next returns the next event, io.EOF after the last one.
func (u *events) Next(ctx context.Context) (engine.Event, error) {
	select {
	case e := <-u.list:
		return e.event, e.err
	case <-ctx.Done():
		return engine.Event{}, context.Cause(ctx)
	}
}

func (u *events) Beside(index int) asking.Written {
	done := u.done[index]
	if done == nil {
		return asking.Written{}
	}
	return asking.Written{Calls: identified(done.Calls), Refusal: done.Refusal, Usage: done.Usage}
}

// Close cancels the request. It must be called once.
func (u *events) Close() {
	close(u.closed)
	u.cancel()
}

// read reads all streams and sends io.EOF once they have ended.
func (u *events) read(ctx context.Context, streams []*remote.Stream) {
	defer u.cancel()
	var all sync.WaitGroup
	for i, s := range streams {
		all.Go(func() { u.readOne(ctx, i, s) })
	}
	all.Wait()
	u.end(io.EOF)
}

// send sends an event, and reports whether ctx was still active.
func (u *events) send(ctx context.Context, e event) bool {
	select {
	case u.list <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// end sends the final event, even after the time limit. It returns once the reader has received it or
// closed the stream.
func (u *events) end(err error) {
	select {
	case u.list <- event{err: err}:
	case <-u.closed:
	}
}

// readOne reads one stream.
func (u *events) readOne(ctx context.Context, index int, s *remote.Stream) {
	defer s.Close()
	for {
		p, err := s.Next()
		if errors.Is(err, io.EOF) {
			done := s.Completion()
			u.done[index] = done
			if !u.send(ctx, event{event: engine.Event{Choice: index, Done: u.run.resultOf(done, time.Since(u.began))}}) {
				u.end(u.translate(context.Cause(ctx)))
			}
			return
		}
		if err != nil {
			u.end(u.translate(err))
			return
		}
		e := engine.Event{Choice: index, Text: p.Text, Tokens: tokensOf(p.Tokens)}
		for segment, text := range []string{p.Reasoning, p.Text} {
			if text != "" {
				e.Passages = append(e.Passages, engine.Passage{Segment: segment, Visit: segment, Text: text})
			}
		}
		if !u.send(ctx, event{event: e}) {
			u.end(u.translate(context.Cause(ctx)))
			return
		}
	}
}
