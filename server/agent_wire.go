package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"stencil/agent"
	"stencil/chat"
	"stencil/decoder/sampling"
)

// agentFields are the fields of a request that begins a run.
var agentFields = append([]string{
	"query", "model", "system", "stream", "interactive", "bounds", "parallel", "reasoning", "tools", "keep_alive",
}, samplingFields...)

// resumeFields are the fields of a request that goes on with one.
var resumeFields = []string{"resume", "answer", "answers", "stream", "keep_alive"}

// boundFields are the members of bounds.
var boundFields = []string{"depth", "frames", "tokens", "seconds", "frame_tokens", "tool_steps", "sub_tasks"}

// maxAgentParallel bounds how many frames of one run are asked at the same time.
const maxAgentParallel = 64

// MaxAgentBounds are the most that requests may ask for where Config says
// nothing else.
var MaxAgentBounds = agent.Bounds{
	Depth: 8, Frames: 256, Tokens: 1 << 18, Time: time.Hour, FrameTokens: 8192, ToolSteps: 32, SubTasks: 16,
}

// bounded fills in the bounds that were not configured.
func bounded(b agent.Bounds) agent.Bounds {
	d := &MaxAgentBounds
	for _, f := range []struct{ to, usual *int }{
		{&b.Depth, &d.Depth}, {&b.Frames, &d.Frames}, {&b.Tokens, &d.Tokens}, {&b.FrameTokens, &d.FrameTokens},
		{&b.ToolSteps, &d.ToolSteps}, {&b.SubTasks, &d.SubTasks},
	} {
		if *f.to <= 0 {
			*f.to = *f.usual
		}
	}
	if b.Time <= 0 {
		b.Time = d.Time
	}
	return b
}

// An agentOrder is a request to begin a run, decoded.
type agentOrder struct {
	agentSpec
	Query       string
	Bounds      agent.Bounds
	Interactive bool
	NoReasoning bool
	Seed        uint64
	Stream      bool
}

// An agentSpec is what all questions of a run have in common. It stays the same
// when the run is resumed.
type agentSpec struct {
	Model     string
	System    string // stands before the system text of every question
	Sampling  sampling.Options
	NoTools   bool
	WantTools bool // said so; else tools are used where they can be
	Parallel  int  // 0: what the model has room for
	KeepAlive *time.Duration
}

// readAgent decodes a request to begin a run.
func (s *agentAPI) readAgent(o *object) (*agentOrder, error) {
	for _, name := range []string{"answer", "answers"} {
		if o.given(name) {
			return nil, invalid(name, "%s goes with resume: which run it is for", name)
		}
	}
	if err := o.only(slices.Concat(agentFields, []string{"resume"}, harmlessFields)...); err != nil {
		return nil, err
	}
	q, a := newQuery(), new(agentOrder)
	reasoning, tools := true, len(s.agentTools()) > 0
	for _, err := range []error{
		o.str("query", &a.Query),
		o.str("model", &a.Model),
		o.str("system", &a.System),
		o.boolean("stream", &a.Stream),
		o.boolean("interactive", &a.Interactive),
		o.integer("parallel", &a.Parallel, 1, maxAgentParallel),
		o.boolean("reasoning", &reasoning),
		o.boolean("tools", &tools),
		o.keepAlive("keep_alive", &a.KeepAlive),
		q.readSampling(o, llamaSampling),
		a.readBounds(o, s.bounds),
	} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case strings.TrimSpace(a.Query) == "":
		return nil, invalid("query", "query is missing or empty")
	case tools && len(s.agentTools()) == 0:
		return nil, invalid("tools", "tools are not to be had: this server was given no folder for agents")
	}
	a.Sampling, a.NoTools, a.WantTools, a.NoReasoning = q.Sampling, !tools, tools && o.given("tools"), !reasoning
	if a.Seed = q.Sampling.Seed; !q.Seeded {
		a.Seed = rand.Uint64() >> 11 // so that JavaScript can read it back
	}
	return a, nil
}

// readBounds reads what a run is to keep to. Where the server allows less than is
// usual, its maximum is what holds for requests that say nothing.
func (a *agentOrder) readBounds(o *object, most agent.Bounds) error {
	in, err := o.child("bounds")
	if err != nil {
		return err
	}
	if in == nil {
		in = &object{path: "bounds."}
	}
	if err := in.only(boundFields...); err != nil {
		return err
	}
	b, usual := &a.Bounds, &agent.DefaultBounds
	for _, f := range []struct {
		name        string
		to          *int
		usual, most int
	}{
		{"depth", &b.Depth, usual.Depth, most.Depth}, {"frames", &b.Frames, usual.Frames, most.Frames},
		{"tokens", &b.Tokens, usual.Tokens, most.Tokens}, {"frame_tokens", &b.FrameTokens, usual.FrameTokens, most.FrameTokens},
		{"tool_steps", &b.ToolSteps, usual.ToolSteps, most.ToolSteps}, {"sub_tasks", &b.SubTasks, usual.SubTasks, most.SubTasks},
	} {
		*f.to = min(f.usual, f.most)
		if err := in.integer(f.name, f.to, 1, f.most); err != nil {
			return err
		}
	}
	seconds := min(usual.Time, most.Time).Seconds()
	if err := in.decode("seconds", &seconds, "a number"); err != nil {
		return err
	}
	if !(seconds > 0 && seconds <= most.Time.Seconds()) {
		return invalid("bounds.seconds", "bounds.seconds must be greater than 0 and at most %g, not %s", most.Time.Seconds(), sketch(in.members["seconds"]))
	}
	b.Time = max(1, time.Duration(seconds*float64(time.Second)))
	return nil
}

// A resumption is a request to go on with a paused run, decoded.
type resumption struct {
	ID        string
	Answers   []userAnswer
	Stream    bool
	KeepAlive *time.Duration
}

// A userAnswer is what the user says to a frame that asked.
type userAnswer struct {
	Frame int // 0: the one that waits
	Text  string
	param string
}

// readResumption decodes a request to go on with a run.
func readResumption(o *object) (*resumption, error) {
	for _, name := range o.names {
		if slices.Contains(agentFields, name) && !slices.Contains(resumeFields, name) {
			return nil, invalid(name, "%s can't stand beside resume: a run goes on as it was begun", name)
		}
	}
	if err := o.only(slices.Concat(resumeFields, harmlessFields)...); err != nil {
		return nil, err
	}
	r := new(resumption)
	for _, err := range []error{
		o.str("resume", &r.ID),
		o.boolean("stream", &r.Stream),
		o.keepAlive("keep_alive", &r.KeepAlive),
	} {
		if err != nil {
			return nil, err
		}
	}
	list, err := o.list("answers")
	switch {
	case err != nil:
		return nil, err
	case o.given("answer") && o.given("answers"):
		return nil, invalid("answers", "answer and answers exclude each other")
	case o.given("answer"):
		r.Answers = []userAnswer{{param: "answer"}}
		return r, o.str("answer", &r.Answers[0].Text)
	case len(list) == 0:
		return nil, invalid("answer", "answer or answers is needed: what the user says to the run's questions")
	}
	for _, in := range list {
		one := userAnswer{param: in.path + "frame"}
		for _, err := range []error{
			in.only("frame", "answer"),
			in.integer("frame", &one.Frame, 1, maxTokensLimit),
			in.str("answer", &one.Text),
		} {
			if err != nil {
				return nil, err
			}
		}
		switch {
		case one.Frame == 0:
			return nil, invalid(one.param, "%s is missing", one.param)
		case !in.given("answer"):
			return nil, invalid(in.path+"answer", "%sanswer is missing", in.path)
		case slices.ContainsFunc(r.Answers, func(a userAnswer) bool { return a.Frame == one.Frame }):
			return nil, invalid(one.param, "frame %d is answered twice", one.Frame)
		}
		r.Answers = append(r.Answers, one)
	}
	return r, nil
}

// check sees to it that every answer is for a frame that waits.
func (r *resumption) check(waiting []agent.Asked) error {
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Frame == 0 {
			if len(waiting) != 1 {
				return invalid("answer", "%d frames wait for the user (%s): answers says which one each answer is for", len(waiting), numbers(waiting))
			}
			a.Frame = waiting[0].Frame
		}
		if !slices.ContainsFunc(waiting, func(w agent.Asked) bool { return w.Frame == a.Frame }) {
			return invalid(a.param, "frame %d does not wait for the user; %s", a.Frame, waitingNow(waiting))
		}
	}
	return nil
}

func waitingNow(list []agent.Asked) string {
	if len(list) == 1 {
		return "frame " + numbers(list) + " does"
	}
	return "frames " + numbers(list) + " do"
}

func numbers(list []agent.Asked) string {
	var b strings.Builder
	for i, q := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, q.Frame)
	}
	return b.String()
}

// agentTools are the tools that runs may use.
func (s *agentAPI) agentTools() []agent.Tool {
	if s.tools == nil {
		return nil
	}
	return s.tools.Tools()
}

// messages are a question's messages as models are told them.
func (a *agentSpec) messages(list []agent.Message) []chat.Message {
	out := make([]chat.Message, 0, len(list))
	names := map[string]string{} // of the tools that were called
	for i, m := range list {
		one := chat.Message{Role: m.Role, Content: m.Content, ToolCallID: m.CallID, Name: names[m.CallID]}
		if i == 0 && m.Role == "system" {
			one.Content = join(a.System, m.Content)
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
			addCall(&one, chat.ToolCall{ID: c.ID, Name: c.Name}, string(c.Arguments))
		}
		out = append(out, one)
	}
	return out
}

// The answers.

// An agentReply is what has become of a run: the data of its answer, and of the
// last event of a stream.
type agentReply struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	*agent.Outcome
	Usage      usageReply       `json:"usage"`
	Timings    agentTimings     `json:"timings"`
	Seed       uint64           `json:"seed"`
	Assessment *assessmentReply `json:"assessment,omitempty"` // of the answer
	Warnings   []string         `json:"warnings,omitempty"`
}

// agentTimings are in milliseconds. All but Run are sums over questions, which
// may have been asked side by side.
type agentTimings struct {
	Run float64 `json:"run_ms"` // of this request
	timingsReply
}
