package agentapi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// agentFields are the fields of a request that starts a run.
var agentFields = append([]string{
	"query", "model", "system", "stream", "interactive", "bounds", "parallel", "reasoning", "tools", "keep_alive", "retry_max", "strict",
}, request.SamplingFields...)

// resumeFields are the fields of a request that resumes a run.
var resumeFields = []string{"resume", "answer", "answers", "stream", "keep_alive"}

// boundFields are the members of bounds.
var boundFields = []string{"depth", "frames", "tokens", "seconds", "frame_tokens", "tool_steps", "sub_tasks"}

// maxAgentParallel is the largest number of frames of a run asked in parallel.
const maxAgentParallel = 64

// MaxBounds are the largest bounds that requests may set unless Config changes them.
var MaxBounds = agent.Bounds{
	Depth: 8, Frames: 256, Tokens: 1 << 18, Time: time.Hour, FrameTokens: 8192, ToolSteps: 32, SubTasks: 16,
}

// Bounded returns b with unset bounds taken from MaxBounds.
func Bounded(b agent.Bounds) agent.Bounds {
	d := &MaxBounds
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

// An order is a decoded request to start a run.
type order struct {
	spec
	Query       string
	Bounds      agent.Bounds
	Interactive bool
	NoReasoning bool
	Seed        uint64
	Stream      bool
}

// A spec holds what all questions of a run share. It does not change when the run is resumed.
type spec struct {
	Model     string
	System    string // precedes the system text of every question
	Sampling  sampling.Options
	NoTools   bool
	WantTools bool // tools were requested explicitly; otherwise they are used if possible
	Parallel  int  // 0: as many as the model can run
	KeepAlive *time.Duration
	RetryMax  *int // re-asks of an upstream after an invalid answer; nil: the server's setting
	Strict    bool // an answer of an upstream that does not fit the envelope's schema is an error
}

// readAgent decodes a request to start a run.
func (s *Handlers) readAgent(o *wire.Object) (*order, error) {
	for _, name := range []string{"answer", "answers"} {
		if o.Given(name) {
			return nil, wire.Invalid(name, "%s requires resume, which names the run", name)
		}
	}
	if err := o.Only(slices.Concat(agentFields, []string{"resume"}, wire.HarmlessFields)...); err != nil {
		return nil, err
	}
	q, a := request.New(), new(order)
	reasoning, tools := true, len(s.toolList()) > 0
	for _, err := range []error{
		o.Str("query", &a.Query),
		o.Str("model", &a.Model),
		o.Str("system", &a.System),
		o.Boolean("stream", &a.Stream),
		o.Boolean("interactive", &a.Interactive),
		o.Integer("parallel", &a.Parallel, 1, maxAgentParallel),
		o.Boolean("reasoning", &reasoning),
		o.Boolean("tools", &tools),
		o.KeepAlive("keep_alive", &a.KeepAlive),
		o.Boolean("strict", &a.Strict),
		a.readRetries(o),
		q.ReadSampling(o, request.LlamaSampling),
		a.readBounds(o, s.Bounds),
	} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case strings.TrimSpace(a.Query) == "":
		return nil, wire.Invalid("query", "query is missing or empty")
	case tools && len(s.toolList()) == 0:
		return nil, wire.Invalid("tools", "tools are not available: the server was started without --agent-folder")
	}
	a.Sampling, a.NoTools, a.WantTools, a.NoReasoning = q.Sampling, !tools, tools && o.Given("tools"), !reasoning
	if a.Seed = q.Sampling.Seed; !q.Seeded {
		a.Seed = rand.Uint64() >> 11 // small enough to be exact in JavaScript
	}
	return a, nil
}

func (a *order) readRetries(o *wire.Object) error {
	if !o.Given("retry_max") {
		return nil
	}
	n := 0
	a.RetryMax = &n
	return o.Integer("retry_max", &n, 0, request.MaxRetries)
}

// readBounds reads the bounds of a run. If the server's maximum is below a default, it is the default.
func (a *order) readBounds(o *wire.Object, most agent.Bounds) error {
	in, err := o.Child("bounds")
	if err != nil {
		return err
	}
	if in == nil {
		in = &wire.Object{Path: "bounds."}
	}
	if err := in.Only(boundFields...); err != nil {
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
		if err := in.Integer(f.name, f.to, 1, f.most); err != nil {
			return err
		}
	}
	seconds := min(usual.Time, most.Time).Seconds()
	if err := in.Decode("seconds", &seconds, "a number"); err != nil {
		return err
	}
	if !(seconds > 0 && seconds <= most.Time.Seconds()) {
		return wire.Invalid("bounds.seconds", "bounds.seconds must be greater than 0 and at most %g, not %s", most.Time.Seconds(), wire.Sketch(in.Members["seconds"]))
	}
	b.Time = max(1, time.Duration(seconds*float64(time.Second)))
	return nil
}

// A resumption is a decoded request to resume a paused run.
type resumption struct {
	ID        string
	Answers   []userAnswer
	Stream    bool
	KeepAlive *time.Duration
	RetryMax  *int // re-asks of an upstream after an invalid answer; nil: the server's setting
	Strict    bool // an answer of an upstream that does not fit the envelope's schema is an error
}

// A userAnswer is the user's answer to a frame's question.
type userAnswer struct {
	Frame int // 0: the only one that waits
	Text  string
	param string
}

// readResumption decodes a request to resume a run.
func readResumption(o *wire.Object) (*resumption, error) {
	for _, name := range o.Names {
		if slices.Contains(agentFields, name) && !slices.Contains(resumeFields, name) {
			return nil, wire.Invalid(name, "%s can't be combined with resume: a run continues as it was started", name)
		}
	}
	if err := o.Only(slices.Concat(resumeFields, wire.HarmlessFields)...); err != nil {
		return nil, err
	}
	r := new(resumption)
	for _, err := range []error{
		o.Str("resume", &r.ID),
		o.Boolean("stream", &r.Stream),
		o.KeepAlive("keep_alive", &r.KeepAlive),
	} {
		if err != nil {
			return nil, err
		}
	}
	list, err := o.List("answers")
	switch {
	case err != nil:
		return nil, err
	case o.Given("answer") && o.Given("answers"):
		return nil, wire.Invalid("answers", "answer and answers exclude each other")
	case o.Given("answer"):
		r.Answers = []userAnswer{{param: "answer"}}
		return r, o.Str("answer", &r.Answers[0].Text)
	case len(list) == 0:
		return nil, wire.Invalid("answer", "answer or answers is required: the user's answers to the run's questions")
	}
	for _, in := range list {
		one := userAnswer{param: in.Path + "frame"}
		for _, err := range []error{
			in.Only("frame", "answer"),
			in.Integer("frame", &one.Frame, 1, request.MaxTokensLimit),
			in.Str("answer", &one.Text),
		} {
			if err != nil {
				return nil, err
			}
		}
		switch {
		case one.Frame == 0:
			return nil, wire.Invalid(one.param, "%s is missing", one.param)
		case !in.Given("answer"):
			return nil, wire.Invalid(in.Path+"answer", "%sanswer is missing", in.Path)
		case slices.ContainsFunc(r.Answers, func(a userAnswer) bool { return a.Frame == one.Frame }):
			return nil, wire.Invalid(one.param, "frame %d is answered twice", one.Frame)
		}
		r.Answers = append(r.Answers, one)
	}
	return r, nil
}

// check verifies that every answer is for a frame that waits.
func (r *resumption) check(waiting []agent.Asked) error {
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Frame == 0 {
			if len(waiting) != 1 {
				return wire.Invalid("answer", "%d frames wait for the user (%s): answers says which one each answer is for", len(waiting), numbers(waiting))
			}
			a.Frame = waiting[0].Frame
		}
		if !slices.ContainsFunc(waiting, func(w agent.Asked) bool { return w.Frame == a.Frame }) {
			return wire.Invalid(a.param, "frame %d does not wait for the user; %s", a.Frame, waitingNow(waiting))
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

// toolList returns the tools that runs may use.
func (s *Handlers) toolList() []agent.Tool {
	if s.Tools == nil {
		return nil
	}
	return s.Tools.Tools()
}

// messages converts a question's messages for a model.
func (a *spec) messages(list []agent.Message) []chat.Message {
	out := make([]chat.Message, 0, len(list))
	names := map[string]string{} // of the called tools, by call id
	for i, m := range list {
		one := chat.Message{Role: m.Role, Content: m.Content, ToolCallID: m.CallID, Name: names[m.CallID]}
		if i == 0 && m.Role == "system" {
			one.Content = generation.Join(a.System, m.Content)
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
			new(request.Lines).AddCall(&one, chat.ToolCall{ID: c.ID, Name: c.Name}, string(c.Arguments))
		}
		out = append(out, one)
	}
	return out
}

// Replies.

// A Reply is the result of a run: the answer's data, and that of a stream's last event.
type Reply struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	*agent.Outcome
	Usage      generation.Usage   `json:"usage"`
	Timings    Timings            `json:"timings"`
	Seed       uint64             `json:"seed"`
	Assessment *assess.Assessment `json:"assessment,omitempty"` // of the answer
	Warnings   []string           `json:"warnings,omitempty"`
}

// Timings are in milliseconds. All but Run are sums over questions, which may have run in parallel.
type Timings struct {
	Run float64 `json:"run_ms"` // of this request
	generation.Timings
}
