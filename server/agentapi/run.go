package agentapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// Run handles POST /agent/run: a query, worked on as a tree of frames, or an answer to the
// questions of a paused run.
func (s *Handlers) Run(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	var j *job
	if o.Given("resume") {
		j, err = s.resume(r, o)
	} else {
		j, err = s.begin(r, o)
	}
	if err != nil {
		return nil, err
	}
	wire.NoteOf(r.Context()).Prepared()
	if j.stream {
		return &streamed{j}, nil
	}
	reply, err := j.work(r.Context())
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: reply}, nil
}

// A job is the part of a run that one request executes.
type job struct {
	api    *Handlers
	owner  string
	id     string
	seed   uint64
	spec   spec
	asker  *asker
	run    *agent.Run
	paused *pausedRun // the run being resumed; nil for a new run
	stream bool
	tell   func(agent.Event) // nil: events are not streamed
}

// begin creates a new run.
func (s *Handlers) begin(r *http.Request, o *wire.Object) (*job, error) {
	a, err := s.readAgent(o)
	if err != nil {
		return nil, err
	}
	j := &job{api: s, owner: access.Owner(r), id: wire.NewID("run_"), seed: a.Seed, spec: a.spec, stream: a.Stream}
	c, err := j.config(r, j.spec.KeepAlive)
	if err != nil {
		return nil, err
	}
	c.Bounds, c.Interactive, c.NoReasoning, c.Seed = a.Bounds, a.Interactive, a.NoReasoning, a.Seed
	j.run, err = agent.New(a.Query, c)
	return j, err
}

// resume resumes a paused run. No other request can resume it until this one has ended.
func (s *Handlers) resume(r *http.Request, o *wire.Object) (*job, error) {
	in, err := readResumption(o)
	if err != nil {
		return nil, err
	}
	p, err := s.waiting.take(access.Owner(r), in.ID)
	if err != nil {
		return nil, err
	}
	wire.NoteOf(r.Context()).AtEnd(func() { s.waiting.give(p) })
	if err := in.check(p.Waiting); err != nil {
		return nil, err
	}
	j := &job{api: s, owner: p.Owner, id: p.ID, seed: p.Seed, spec: p.Spec, paused: p, stream: in.Stream}
	keep := p.Spec.KeepAlive
	if in.KeepAlive != nil {
		keep = in.KeepAlive
	}
	c, err := j.config(r, keep)
	if err != nil {
		return nil, err
	}
	j.asker.spent, j.asker.warnings = p.Spent, slices.Clone(p.Noted)
	if j.run, err = agent.Restore(p.State, c); err != nil {
		return nil, err
	}
	for _, a := range in.Answers {
		if err := j.run.Answer(a.Frame, a.Text); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// config returns the configuration of a run. The model stays in memory until the request has
// ended.
func (j *job) config(r *http.Request, keep *time.Duration) (agent.Config, error) {
	s, n := j.api, wire.NoteOf(r.Context())
	n.Add(slog.String("run", j.id))
	m, err := s.Models.Named(r.Context(), j.spec.Model, keep)
	if err != nil {
		return agent.Config{}, err
	}
	j.spec.Model = m.Name
	j.asker = &asker{api: s, request: r, model: m, spec: &j.spec}
	c := agent.Config{
		Asker: j.asker, Prompts: s.Prompts, Parallel: j.spec.Parallel, Emit: j.event,
		Log: s.Log.With(slog.String("id", n.ID), slog.String("run", j.id)),
	}
	if c.Parallel == 0 {
		c.Parallel = m.Text.Parallel()
	}
	switch {
	case j.spec.NoTools || s.Tools == nil:
	case !generation.WriterOf(m).Abilities().Tools && !j.spec.WantTools:
		j.asker.warnings = append(j.asker.warnings, "the folder's tools are not used: the upstream behind this model takes none")
	default:
		c.Toolbox = s.Tools
	}
	return c, nil
}

// event counts an event and passes it on.
func (j *job) event(e agent.Event) {
	j.api.counts.event(e, j.api.toolList)
	if j.tell != nil {
		j.tell(e)
	}
}

// work executes the run until it ends or waits for its user.
func (j *job) work(ctx context.Context) (*Reply, error) {
	s, began := j.api, time.Now()
	ctx, j.asker.giveUp = context.WithCancelCause(ctx)
	defer j.asker.giveUp(nil)
	s.counts.active.Inc()
	out, err := j.run.Go(ctx)
	s.counts.end(out, err)
	if err != nil {
		return nil, err
	}
	wire.NoteOf(ctx).Add(
		slog.String("run_status", string(out.Status)), slog.String("bound", out.Bound), slog.Int("frames", out.Totals.Frames),
		slog.Int("prompt_tokens", out.Totals.PromptTokens), slog.Int("completion_tokens", out.Totals.CompletionTokens),
	)
	reply := j.reply(out, time.Since(began))
	if out.Status == agent.StatusWaiting {
		return reply, j.pause(reply)
	}
	if j.paused != nil {
		s.waiting.drop(j.paused)
	}
	assessed := s.Service.Assess.Assess(reply.Model, judged(out))
	reply.Assessment = &assessed
	return reply, nil
}

// judged returns the signals and measurements of a run's answer: the model's own, if any, and its
// surprise.
func judged(out *agent.Outcome) (in signals.Inputs) {
	root := &out.Frames[0]
	patched := len(root.Children) > 0 && !root.Synthesized // assembled without the model
	if e := out.Answer; e.IsValid() && !patched {
		confidence := e.Confidence
		in.Own = &signals.Signals{Confidence: &confidence}
		if e.ShouldAskUser() {
			in.Own.Escalation, in.Own.Reason = signals.Human, "only the user knows what is missing"
		}
	}
	if s := out.Surprise; s != nil {
		surprise := *s
		in.Surprise = &surprise
	}
	return in
}

// reply returns the result of the run.
func (j *job) reply(out *agent.Outcome, took time.Duration) *Reply {
	a := j.asker
	r := &Reply{ID: j.id, Model: a.model.Name, Outcome: out, Seed: j.seed, Warnings: a.warnings}
	r.Usage = generation.Usage{
		PromptTokens: out.Totals.PromptTokens, CompletionTokens: out.Totals.CompletionTokens,
		TotalTokens: out.Totals.PromptTokens + out.Totals.CompletionTokens, Cost: a.spent.Cost,
	}
	r.Usage.PromptDetails.CachedTokens = a.spent.Cached
	t := a.spent.Timings
	r.Timings = Timings{Run: generation.Milliseconds(took), Timings: generation.Timings{Queue: generation.Milliseconds(t.Queued), Prompt: generation.Milliseconds(t.Prompt), Generate: generation.Milliseconds(t.Generate)}}
	r.Timings.TokensPerSecond = generation.Rate(out.Totals.CompletionTokens-1, t.Generate)
	return r
}

// pause stores the run until its user has answered.
func (j *job) pause(reply *Reply) error {
	state, err := j.run.MarshalJSON()
	if err != nil {
		return err
	}
	p := &pausedRun{
		ID: j.id, Owner: j.owner, Spec: j.spec, State: state, Seed: j.seed, Waiting: reply.Questions, Spent: j.asker.spent, Noted: j.asker.warnings,
	}
	if !j.api.waiting.keep(p) {
		reply.Warnings = append(reply.Warnings[:len(reply.Warnings):len(reply.Warnings)],
			"there is no room to keep this run until it is answered: it can't be resumed from here")
	}
	return nil
}

// streamed is the answer to a request that streams a run's events.
type streamed struct{ job *job }

func (a *streamed) Write(w http.ResponseWriter, r *http.Request) error {
	ctx, gone := context.WithCancelCause(r.Context())
	defer gone(nil)
	out := &agentStream{EventStream: wire.NewEventStream(w), gone: gone}
	a.job.tell = func(e agent.Event) { _ = out.event(e.Type, e) } // a failed write ends the run
	var reply *Reply
	err := wire.Pinging(out, func() (err error) {
		reply, err = a.job.work(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil: // the client is gone
		return errors.Join(ctx.Err(), err)
	case err != nil:
		return errors.Join(err, out.event("error", problem.ReplyTo(err)))
	case reply.Status == agent.StatusWaiting:
		return out.event("paused", reply)
	}
	return out.event("done", reply)
}

// agentStream writes events concurrently with pings. After a failed write, the client counts as
// gone.
type agentStream struct {
	*wire.EventStream
	gone context.CancelCauseFunc
	mu   sync.Mutex
}

func (s *agentStream) event(name string, data any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orGone(s.EventStream.Event(name, data))
}

func (s *agentStream) Ping() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orGone(s.EventStream.Ping())
}

// orGone cancels the run after a failed write.
func (s *agentStream) orGone(err error) error {
	if err != nil {
		s.gone(context.Canceled)
	}
	return err
}
