package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"stencil/agent"
	"stencil/agent/signals"
)

// agentRun is POST /agent/run: a query that is worked on as a tree of frames, or
// an answer to the questions of a run that waits.
func (s *agentAPI) agentRun(r *http.Request) (answer, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, err
	}
	var j *agentJob
	if o.given("resume") {
		j, err = s.resumeAgent(r, o)
	} else {
		j, err = s.beginAgent(r, o)
	}
	if err != nil {
		return nil, err
	}
	if j.stream {
		return &agentStreamed{j}, nil
	}
	reply, err := j.work(r.Context())
	if err != nil {
		return nil, err
	}
	return jsonAnswer{reply}, nil
}

// An agentJob is a run, as far as one request goes on with it.
type agentJob struct {
	api    *agentAPI
	id     string
	seed   uint64
	spec   agentSpec
	asker  *asker
	run    *agent.Run
	paused *pausedRun // where it goes on from; nil at the beginning
	stream bool
	tell   func(agent.Event) // nil: nobody listens
}

// beginAgent makes a new run.
func (s *agentAPI) beginAgent(r *http.Request, o *object) (*agentJob, error) {
	a, err := s.readAgent(o)
	if err != nil {
		return nil, err
	}
	j := &agentJob{api: s, id: newID("run_"), seed: a.Seed, spec: a.agentSpec, stream: a.Stream}
	c, err := j.config(r, j.spec.KeepAlive)
	if err != nil {
		return nil, err
	}
	c.Bounds, c.Interactive, c.NoReasoning, c.Seed = a.Bounds, a.Interactive, a.NoReasoning, a.Seed
	j.run, err = agent.New(a.Query, c)
	return j, err
}

// resumeAgent goes on with a run that waits. Until the request has ended nobody
// else can.
func (s *agentAPI) resumeAgent(r *http.Request, o *object) (*agentJob, error) {
	in, err := readResumption(o)
	if err != nil {
		return nil, err
	}
	p, err := s.waiting.take(in.ID)
	if err != nil {
		return nil, err
	}
	noteOf(r.Context()).atEnd(func() { s.waiting.give(p) })
	if err := in.check(p.Waiting); err != nil {
		return nil, err
	}
	j := &agentJob{api: s, id: p.ID, seed: p.Seed, spec: p.Spec, paused: p, stream: in.Stream}
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

// config is what a run is made with. The model stays in memory until the request
// has ended.
func (j *agentJob) config(r *http.Request, keep *time.Duration) (agent.Config, error) {
	s, n := j.api, noteOf(r.Context())
	n.add(slog.String("run", j.id))
	m, err := s.models.named(r.Context(), j.spec.Model, keep)
	if err != nil {
		return agent.Config{}, err
	}
	j.spec.Model = m.name
	j.asker = &asker{api: s, request: r, model: m, spec: &j.spec}
	c := agent.Config{
		Asker: j.asker, Prompts: s.prompts, Parallel: j.spec.Parallel, Emit: j.event,
		Log: s.log.With(slog.String("id", n.id), slog.String("run", j.id)),
	}
	if c.Parallel == 0 {
		c.Parallel = m.text.Parallel()
	}
	switch {
	case j.spec.NoTools || s.tools == nil:
	case !writerOf(m).abilities().tools && !j.spec.WantTools:
		j.asker.warnings = append(j.asker.warnings, "the folder's tools are not used: the upstream behind this model takes none")
	default:
		c.Toolbox = s.tools
	}
	return c, nil
}

// event counts what happens and passes it on.
func (j *agentJob) event(e agent.Event) {
	j.api.runs.event(e, j.api.agentTools)
	if j.tell != nil {
		j.tell(e)
	}
}

// work runs until the run has ended or waits for its user.
func (j *agentJob) work(ctx context.Context) (*agentReply, error) {
	s, began := j.api, time.Now()
	ctx, j.asker.giveUp = context.WithCancelCause(ctx)
	defer j.asker.giveUp(nil)
	s.runs.begin()
	out, err := j.run.Go(ctx)
	s.runs.end(out, err)
	if err != nil {
		return nil, err
	}
	noteOf(ctx).add(
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
	assessed := s.service.assess.assess(reply.Model, judged(out))
	reply.Assessment = &assessed
	return reply, nil
}

// judged is what is known of a run's answer: what the model said of it, if it said
// anything, and how surprised it was.
func judged(out *agent.Outcome) (in signals.Inputs) {
	root := &out.Frames[0]
	patched := len(root.Children) > 0 && !root.Synthesized // put together without the model
	if e := out.Answer; e.IsValid() && !patched {
		confidence := e.Confidence
		in.Own = &signals.Signals{Confidence: &confidence}
		switch {
		case e.ShouldAskUser():
			in.Own.Escalation, in.Own.Reason = signals.Human, "only the user knows"
		case e.NeedsMoreInfo:
			in.Own.Escalation, in.Own.Reason = signals.Verify, "something is missing"
		}
	}
	if s := out.Surprise; s != nil {
		surprise := *s
		in.Surprise = &surprise
	}
	return in
}

// reply says what has become of the run.
func (j *agentJob) reply(out *agent.Outcome, took time.Duration) *agentReply {
	a := j.asker
	r := &agentReply{ID: j.id, Model: a.model.name, Outcome: out, Seed: j.seed, Warnings: a.warnings}
	r.Usage = usageReply{
		PromptTokens: out.Totals.PromptTokens, CompletionTokens: out.Totals.CompletionTokens,
		TotalTokens: out.Totals.PromptTokens + out.Totals.CompletionTokens, Cost: a.spent.Cost,
	}
	r.Usage.PromptDetails.CachedTokens = a.spent.Cached
	t := a.spent.Timings
	r.Timings = agentTimings{Run: ms(took), timingsReply: timingsReply{Queue: ms(t.Queued), Prompt: ms(t.Prompt), Generate: ms(t.Generate)}}
	if t.Generate > 0 {
		r.Timings.TokensPerSecond = float64(out.Totals.CompletionTokens) / t.Generate.Seconds()
	}
	return r
}

// pause writes the run down until its user has answered.
func (j *agentJob) pause(reply *agentReply) error {
	state, err := j.run.MarshalJSON()
	if err != nil {
		return err
	}
	p := &pausedRun{
		ID: j.id, Spec: j.spec, State: state, Seed: j.seed, Waiting: reply.Questions, Spent: j.asker.spent, Noted: j.asker.warnings,
	}
	if !j.api.waiting.keep(p) {
		reply.Warnings = append(reply.Warnings[:len(reply.Warnings):len(reply.Warnings)],
			"there is no room to keep this run until it is answered: it can't be resumed from here")
	}
	return nil
}

// agentStreamed is the answer to a request that wants to see the tree grow.
type agentStreamed struct{ job *agentJob }

func (a *agentStreamed) write(w http.ResponseWriter, r *http.Request) error {
	ctx, gone := context.WithCancelCause(r.Context())
	defer gone(nil)
	out := &agentStream{eventStream: newEventStream(w), gone: gone}
	a.job.tell = func(e agent.Event) { _ = out.event(e.Type, e) } // if nobody reads, the run ends
	var reply *agentReply
	err := pinging(out, func() (err error) {
		reply, err = a.job.work(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil: // nobody is there
		return errors.Join(ctx.Err(), err)
	case err != nil:
		return errors.Join(err, out.event("error", replyTo(err)))
	case reply.Status == agent.StatusWaiting:
		return out.event("paused", reply)
	}
	return out.event("done", reply)
}

// agentStream writes events for a run that goes on at the same time as pings are
// sent. When nothing can be written any more, the client counts as gone.
type agentStream struct {
	*eventStream
	gone context.CancelCauseFunc
	mu   sync.Mutex
}

func (s *agentStream) event(name string, data any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orGone(s.eventStream.event(name, data))
}

func (s *agentStream) ping() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orGone(s.eventStream.ping())
}

// orGone ends the run if a write has failed.
func (s *agentStream) orGone(err error) error {
	if err != nil {
		s.gone(context.Canceled)
	}
	return err
}
