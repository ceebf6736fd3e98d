package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"stencil/agent/signals"
	"stencil/asking"
	"stencil/backend"
	"stencil/backend/remote"
	"stencil/decoder/sampling"
	"stencil/decoder/walk"
	"stencil/engine"
	"stencil/vocab"
)

// A generator is what the server needs of an engine.
type generator interface {
	Submit(ctx context.Context, r engine.Request) (*engine.Stream, error)
	Vocab() *vocab.Vocab
	Model() backend.Model
	ContextLimit() int
	Parallel() int
	Stats() engine.Stats
}

// upstream stands for the engine of a model that is behind someone else's API.
type upstream struct {
	client *remote.Client
	model  *remote.Model
}

// upstreamParallel is how many texts an upstream is taken to write at the same
// time, where nobody says.
const upstreamParallel = 4

var errUpstream = errors.New("server: a text of an upstream is not submitted to an engine")

func (u *upstream) Submit(context.Context, engine.Request) (*engine.Stream, error) {
	return nil, errUpstream
}
func (u *upstream) Vocab() *vocab.Vocab  { return u.model.Vocab() }
func (u *upstream) Model() backend.Model { return u.model }
func (u *upstream) ContextLimit() int    { return 0 } // nobody says
func (u *upstream) Parallel() int        { return upstreamParallel }
func (u *upstream) Stats() engine.Stats {
	total := u.client.Total()
	return engine.Stats{PromptTokens: uint64(total.Prompt), ReusedTokens: uint64(total.Cached), GeneratedTokens: uint64(total.Completion)}
}

// AddUpstream makes a model that is behind someone else's API available under a
// name.
func (s *Server) AddUpstream(name string, c *remote.Client) {
	u := &upstream{client: c, model: remote.NewModel(c)}
	h := &host{name: name, created: time.Now(), server: s, keep: -1}
	v, limit := u.Vocab(), s.cfg.SchemaCache
	h.current = &served{
		host: h, name: name, created: h.created, engine: u, upstream: u,
		prompts: engine.NewPrompts(v), schemas: engine.NewSchemas(v, limit), grammars: engine.NewGrammars(v, limit),
		tokens: sync.OnceValue(func() *walk.Tokens { return walk.NewTokens(v) }),
	}
	s.addHost(h)
	caps := c.Capabilities()
	for _, f := range []*asking.Format{{JSON: true, Schema: anyObject}, {Regex: "."}, {Grammar: "root ::= ."}} {
		strategy, _ := asking.Choose(caps, f)
		kind := map[bool]string{true: "json", false: "grammar"}[f.JSON]
		if f.Regex != "" {
			kind = "regex"
		}
		s.cfg.Log.Info("an upstream's strategy", slog.String("model", name), slog.String("engine", caps.Engine), slog.Any("capabilities", caps.Names()), slog.String("for", kind), slog.String("strategy", string(strategy)))
	}
}

// why is the reason why an upstream's texts are only checked.
func (u *upstream) why() string {
	return "the model is behind an upstream, whose logits can't be reached"
}

// upstreamLayout is that of an upstream's texts: reasoning, which it sends
// apart, and the answer.
var upstreamLayout = &layout{nodes: []node{{Role: roleReasoning, Free: true}, {Role: roleContent, Free: true}}}

// prepareThere makes a query ready for an upstream.
func (g *generation) prepareThere(id string) error {
	q := g.query
	switch {
	case q.PromptTokens != nil:
		return notOffered("prompt", "a prompt of tokens for a model behind an upstream")
	case q.Begun != "":
		return notOffered("messages", "going on with an answer of a model behind an upstream")
	case g.callsThere() && !g.model.upstream.client.Capabilities().Tools:
		return notOffered("tools", "calling tools with a model behind an upstream that takes none")
	case q.TopLogprobs > 0 && !g.model.upstream.client.Capabilities().Logprobs, q.Logprobs && !g.model.upstream.client.Capabilities().Logprobs:
		return notOffered("logprobs", "logprobs, which the upstream does not give,")
	}
	if g.rule != nil {
		q.warnOf(g.rule)
	}
	g.layout = upstreamLayout
	g.chooseThere()
	g.warnOfSignals()
	g.request = engine.Request{ID: id, MaxTokens: g.request.MaxTokens, Choices: g.request.Choices, Timeout: g.request.Timeout, Sampling: q.Sampling}
	return nil
}

// ask is the request for an upstream.
func (g *generation) askThere(turns []asking.Turn, index, number int) *remote.Request {
	q := g.query
	r := &remote.Request{MaxTokens: g.request.MaxTokens, Stop: q.Stop, Logprobs: q.Logprobs || q.Signals != nil && g.model.upstream.client.Capabilities().Logprobs, TopLogprobs: q.TopLogprobs, Extra: g.extra}
	if g.callsThere() {
		g.addTools(r)
	}
	instruction := ""
	switch {
	case g.rule == nil || q.PromptSchema == "never":
	case g.strategy == asking.Instructed:
		instruction = join(g.rule.instruction, g.format().Rules())
	case q.PromptSchema == "always":
		instruction = g.rule.instruction
	}
	if g.noted != nil && g.leavesRoom() && q.PromptSchema != "never" {
		if g.noted.wrapped {
			instruction = q.withNote(instruction, signals.Instruction(q.Signals.Mode, signals.Beside, nil))
		} else {
			instruction = q.withSignals(instruction, g.rule)
		}
	}
	next := q.with(turns)
	if q.Messages == nil {
		// A prompt alone is what the user says.
		if instruction != "" {
			r.Messages = append(r.Messages, remote.Message{Role: "system", Content: instruction})
		}
		r.Messages = append(r.Messages, remote.Message{Role: "user", Content: *q.Prompt})
		for _, t := range turns {
			r.Messages = append(r.Messages, remote.Message{Role: t.Role, Content: t.Content})
		}
	} else {
		for _, m := range withIDs(withSystem(next.Messages, instruction)) {
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
	o := &g.request.Sampling
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
		seed := o.Seed + uint64(index) + uint64(number)*retrySeed>>11 // what JSON's numbers hold
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

// writeThere has an upstream write a text.
func (g *generation) writeThere(ctx context.Context, turns []asking.Turn, index, number int) (*choice, *asking.Written, error) {
	began := time.Now()
	answer, err := g.model.upstream.client.Complete(ctx, g.askThere(turns, index, number))
	if err != nil {
		return nil, nil, err
	}
	c := &choice{result: g.resultOf(answer, time.Since(began)), tokens: tokensOf(answer.Tokens)}
	c.message = message{Reasoning: answer.Reasoning, Content: answer.Text}
	g.unveil(c, c.result.Finish == engine.FinishLength)
	if data := (message{Content: string(answer.Data)}); g.noted != nil && g.noted.wrapped && unwrap(&data) {
		answer.Data = json.RawMessage(data.Content)
		c.said = g.told(&data)
	}
	return c, &asking.Written{
		Text: c.message.Content, Data: answer.Data, Refusal: answer.Refusal, Cut: c.result.Finish == engine.FinishLength, Usage: answer.Usage,
		Calls: identified(answer.Calls),
	}, nil
}

// resultOf is an upstream's answer as an engine would tell it.
func (g *generation) resultOf(a *remote.Completion, took time.Duration) *engine.Result {
	out := &engine.Result{
		Text: a.Text, Finish: engine.FinishStop, Seed: g.request.Sampling.Seed,
		PromptTokens: a.Usage.Prompt, CachedTokens: a.Usage.Cached, CompletionTokens: a.Usage.Completion, Timings: engine.Timings{Generate: took},
	}
	if a.Finish == string(engine.FinishLength) {
		out.Finish = engine.FinishLength
	}
	return out
}

// noToken is the number of tokens that are no vocabulary's here.
const noToken = -1

func tokensOf(list []remote.Token) []engine.Token {
	out := make([]engine.Token, 0, len(list))
	for _, t := range list {
		one := engine.Token{ID: noToken, Bytes: t.Bytes, Logprob: t.Logprob, Allowed: 1}
		for _, a := range t.Top {
			one.Top = append(one.Top, sampling.Alternative{Token: noToken, Logprob: a.Logprob})
			one.TopBytes = append(one.TopBytes, a.Bytes)
		}
		out = append(out, one)
	}
	return out
}

// upstreamTrace reads the confidence of a document's values out of the tokens
// that an upstream reported, if they are those of the text.
func (g *generation) upstreamTrace(tokens []engine.Token, text string) *trace {
	// Nothing is known of alternatives, so that an enumeration is a value like
	// any other.
	r := g.rule.answers().afterwards("")
	r.enums.read(nil)
	t := newTrace(g)
	t.rule, t.layout, t.begin = r, nil, 0 // the text is all document
	t.add(tokens)
	t.end()
	t.fresh()
	if string(t.text) != text {
		return nil
	}
	return t
}

// events are what a stream is read from.
type events interface {
	Next(ctx context.Context) (engine.Event, error)
	Close()
}

// submit starts a generation whose text is streamed.
func (g *generation) submit(ctx context.Context, s *Server) (events, error) {
	if g.model.upstream == nil {
		return g.submitHere(ctx, g.request)
	}
	ctx, cancel := context.WithTimeout(ctx, g.request.Timeout)
	translate := func(err error) error { return asking.Translate(ctx, s.cfg.Log, err, g.strategy, g.model.name) }
	u := &upstreamEvents{
		generation: g, cancel: cancel, translate: translate, list: make(chan upstreamEvent), closed: make(chan struct{}), began: time.Now(),
		done: make([]*remote.Completion, max(1, g.request.Choices)),
	}
	streams, err := g.openThere(ctx, len(u.done))
	if err != nil {
		defer cancel()
		return nil, translate(err)
	}
	go u.run(ctx, streams)
	return u, nil
}

// openThere begins the streams of all texts, side by side.
func (g *generation) openThere(ctx context.Context, n int) ([]*remote.Stream, error) {
	streams, failed := make([]*remote.Stream, n), make([]error, n)
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() { streams[i], failed[i] = g.model.upstream.client.Stream(ctx, g.askThere(nil, i, 0)) })
	}
	all.Wait()
	for _, err := range failed {
		if err == nil {
			continue
		}
		for _, s := range streams {
			if s != nil {
				_ = s.Close() // the first error says it all
			}
		}
		return nil, err
	}
	return streams, nil
}

// upstreamEvents turns an upstream's streams into events. Goroutines of its own
// read the streams, so that waiting for the next event can end without ending
// them.
type upstreamEvents struct {
	generation *generation
	cancel     context.CancelFunc
	translate  func(error) error
	list       chan upstreamEvent
	closed     chan struct{}
	began      time.Time
	done       []*remote.Completion // of each text, there when the event is that ends it
}

type upstreamEvent struct {
	event engine.Event
	err   error
}

// Next returns the next event, io.EOF after the last one.
func (u *upstreamEvents) Next(ctx context.Context) (engine.Event, error) {
	select {
	case e := <-u.list:
		return e.event, e.err
	case <-ctx.Done():
		return engine.Event{}, context.Cause(ctx)
	}
}

// Close ends the request. It is called once.
func (u *upstreamEvents) Close() {
	close(u.closed)
	u.cancel()
}

// run reads all streams and says when they have ended.
func (u *upstreamEvents) run(ctx context.Context, streams []*remote.Stream) {
	defer u.cancel()
	var all sync.WaitGroup
	for i, s := range streams {
		all.Go(func() { u.read(ctx, i, s) })
	}
	all.Wait()
	u.send(ctx, upstreamEvent{err: io.EOF})
}

func (u *upstreamEvents) send(ctx context.Context, e upstreamEvent) bool {
	select {
	case u.list <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// read reads one stream.
func (u *upstreamEvents) read(ctx context.Context, index int, s *remote.Stream) {
	defer s.Close()
	for {
		p, err := s.Next()
		if errors.Is(err, io.EOF) {
			done := s.Completion()
			u.done[index] = done
			u.send(ctx, upstreamEvent{event: engine.Event{Choice: index, Done: u.generation.resultOf(done, time.Since(u.began))}})
			return
		}
		if err != nil {
			// The reader must learn of it even when it was the time limit.
			select {
			case u.list <- upstreamEvent{err: u.translate(err)}:
			case <-u.closed:
			case <-time.After(writeTimeout):
			}
			return
		}
		e := engine.Event{Choice: index, Text: p.Text, Tokens: tokensOf(p.Tokens)}
		for segment, text := range []string{p.Reasoning, p.Text} {
			if text != "" {
				e.Passages = append(e.Passages, engine.Passage{Segment: segment, Visit: segment, Text: text})
			}
		}
		if !u.send(ctx, upstreamEvent{event: e}) {
			return
		}
	}
}
