package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config configures a run. Asker is required.
type Config struct {
	Asker       Asker
	Toolbox     Toolbox  // nil: no tools
	Prompts     *Prompts // nil: DefaultPrompts
	Bounds      Bounds
	Parallel    int  // maximum number of frames that ask the model at the same time; default 1
	Interactive bool // frames may ask the user
	NoReasoning bool // answers without a chain of thought
	Seed        uint64
	Log         *slog.Logger // default slog.Default()
	Emit        func(Event)  // receives events, on the goroutine that called Go; may be nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Asker == nil {
		return c, errors.New("agent: Config.Asker is nil")
	}
	var err error
	if c.Bounds, err = c.Bounds.withDefaults(); err != nil {
		return c, err
	}
	if c.Prompts == nil {
		c.Prompts = DefaultPrompts()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Emit == nil {
		c.Emit = func(Event) {}
	}
	c.Parallel = max(1, c.Parallel)
	return c, nil
}

// A Run works on one query. It is used by one goroutine at a time.
type Run struct {
	c       Config
	frames  []*Frame       // by ID - 1
	asked   map[string]int // key of a query: its frame
	purse   *purse
	spent   time.Duration
	bound   string // the first bound that was reached
	closing string // the bound that ends the run; only the root may ask once more
	failed  error  // why the root has no answer

	notes chan func() // while Go runs: results of the goroutines of frames
}

// New returns a run. It asks nothing until Go is called.
func New(query string, c Config) (*Run, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(query) == "" {
		return nil, errors.New("agent: the query is empty")
	}
	r := &Run{c: c, asked: map[string]int{}, purse: &purse{left: c.Bounds.Tokens}}
	_, err = r.add(nil, SubTask{Query: query}, 0)
	return r, err
}

// add appends a frame. place is its index among its siblings.
func (r *Run) add(parent *Frame, t SubTask, place int) (*Frame, error) {
	f := &Frame{ID: len(r.frames) + 1, Depth: 1, Query: t.Query, Priority: t.Priority, Status: StatusReady}
	if parent != nil {
		f.Parent, f.Depth, f.Place = parent.ID, parent.Depth+1, append(slices.Clone(parent.Place), place)
	}
	r.frames = append(r.frames, f)
	r.asked[key(f.Query)] = f.ID
	text, err := r.c.Prompts.text(promptQuestion, r.situation(f))
	if err != nil {
		return nil, err
	}
	f.Messages = []Message{{Role: "user", Content: text}}
	return f, nil
}

func (r *Run) frame(id int) *Frame { return r.frames[id-1] }

func (r *Run) root() *Frame { return r.frames[0] }

// situation returns the data of the templates for a frame.
func (r *Run) situation(f *Frame) *Situation {
	s := &Situation{
		Query: f.Query, Task: r.root().Query, Depth: f.Depth, CanContinue: f.Depth < r.c.Bounds.Depth,
		CanAskUser: r.c.Interactive, MaxSubTasks: r.c.Bounds.SubTasks,
	}
	for id := f.Parent; id != 0; id = r.frame(id).Parent {
		s.Path = append(s.Path, r.frame(id).Query)
	}
	slices.Reverse(s.Path)
	if r.c.Toolbox != nil {
		s.Tools = r.c.Toolbox.Tools()
	}
	return s
}

// ErrTime means that a run reached its time limit before it had an answer.
var ErrTime = errors.New("agent: time limit reached")

// Go runs until there is an answer, or until all remaining frames wait for the user; the
// caller then calls Answer, and Go again. If ctx ends first, Go returns its cause, and may
// be called again; it then repeats the questions that were interrupted. Other errors are
// those of the root, among them ErrTime, ErrNoRoom and errors of the Asker, and are final.
func (r *Run) Go(ctx context.Context) (*Outcome, error) {
	began := time.Now()
	defer func() { r.spent += time.Since(began) }()
	left := r.c.Bounds.Time - r.spent
	work, endWork := context.WithTimeoutCause(ctx, left-r.c.Bounds.timeReserve(), ErrTime)
	defer endWork()
	last, endLast := context.WithTimeoutCause(ctx, left, ErrTime)
	defer endLast()

	r.notes = make(chan func())
	running := 0
	for {
		for running < r.c.Parallel && ctx.Err() == nil {
			if work.Err() != nil {
				r.close(BoundTime)
			}
			f := r.next(r.root())
			if f == nil {
				break
			}
			tokens, ok := r.grant(f)
			if !ok {
				if running > 0 {
					break // running frames will return some of their tokens
				}
				before := r.closing
				r.close(BoundTokens)
				switch {
				case before == "" || f.ID != 1: // the root may use the reserve
				case f.Status == StatusSplit:
					r.joined(f)
					r.finish(f)
				default:
					_ = r.fail(f, ErrNoRoom)
				}
				continue
			}
			running++
			r.begin(pick(f.ID == 1, last, work), f, tokens, func() { running-- })
		}
		if running == 0 {
			break
		}
		(<-r.notes)()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return r.outcome(), nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// close ends the run, except for running frames and one last question of the root: its
// synthesis, or its answer to the user's reply.
func (r *Run) close(bound string) {
	if r.closing == "" {
		r.closing = bound
		r.reached(nil, bound)
	}
}

// reached records that a bound limited a frame, or the run.
func (r *Run) reached(f *Frame, bound string) {
	if r.bound == "" {
		r.bound = bound
	}
	if f != nil && f.Bound == "" {
		f.Bound = bound
	}
}

// next returns the first frame in the subtree of f that can ask, depth first and in
// order of priority. In a closing run it ends the frames that it passes.
func (r *Run) next(f *Frame) *Frame {
	closing := r.closing != "" && f.ID != 1
	switch f.Status {
	case StatusReady:
		if !closing {
			return f
		}
		r.reached(f, r.closing)
		_ = r.fail(f, fmt.Errorf("not started: the limit on %s was reached", r.closing))
	case StatusWaiting:
		if closing {
			r.reached(f, r.closing)
			r.finish(f)
		}
	case StatusSplit:
		for _, id := range f.Children {
			if g := r.next(r.frame(id)); g != nil {
				return g
			}
		}
		for _, id := range f.Children {
			if !r.frame(id).ended() {
				return nil
			}
		}
		if !closing {
			return f
		}
		r.reached(f, r.closing)
		r.finish(f)
	}
	return nil
}

// fewTokens is the minimum number of tokens for a question.
const fewTokens = 64

// grant takes the tokens for the next answer of a frame from the budget.
func (r *Run) grant(f *Frame) (int, bool) {
	keep := r.c.Bounds.tokenReserve()
	if f.ID == 1 && (f.Status == StatusSplit || r.closing != "") {
		keep = 0
	}
	n := r.purse.take(r.c.Bounds.FrameTokens, keep)
	if n == 0 || n < min(fewTokens, r.c.Bounds.FrameTokens) && len(r.frames) > 1 {
		r.purse.giveBack(n)
		return 0, false
	}
	return n, true
}

// finish ends a frame with its present conclusion. The answer of a finished frame is its
// last one, so finish turns it into a final one even if the model asked to continue, as a
// model that is not constrained may.
func (r *Run) finish(f *Frame) {
	f.Status = StatusDone
	if f.Envelope != nil && (f.Envelope.NextAction != Finalize || f.Envelope.SubTasks != nil) {
		last := *f.Envelope
		last.NeedsMoreInfo = last.NeedsMoreInfo || last.NextAction == AskUser
		last.NextAction, last.SubTasks = Finalize, nil
		f.Envelope = &last
	}
	r.emit(Event{Type: EventFinished}, f)
}

// fail ends a frame without a conclusion.
func (r *Run) fail(f *Frame, err error) error {
	f.Status, f.Error = StatusFailed, strings.TrimPrefix(err.Error(), "agent: ")
	if f.ID == 1 {
		r.failed = err
	}
	r.emit(Event{Type: EventFinished}, f)
	return err
}

// emit reports an event with the current state of a frame.
func (r *Run) emit(e Event, f *Frame) {
	now := f.told()
	e.Frame = &now
	r.c.Emit(e)
}

// told returns a copy of a frame without its conversation and place.
func (f *Frame) told() Frame {
	out := *f
	out.Messages, out.Place = nil, nil
	return out
}

// answered acts on the answer of a frame. A final answer ends the frame.
func (r *Run) answered(f *Frame, e *Envelope, final bool) {
	f.Envelope, f.Conclusion, f.Confidence = e, e.Conclusion, e.Confidence
	f.Invalid = e.Invalid()
	switch {
	case final:
		r.finish(f)
	case e.ShouldContinue():
		r.split(f)
		r.emit(Event{Type: EventAnswer}, f)
	case e.ShouldAskUser() && r.c.Interactive: // it asks, or says that something is missing
		f.Status = StatusWaiting
		r.emit(Event{Type: EventAnswer}, f)
	default:
		r.finish(f)
	}
}

// split creates a frame for each sub-task.
func (r *Run) split(f *Frame) {
	f.Status = StatusSplit
	list := slices.Clone(f.Envelope.SubTasks)
	slices.SortStableFunc(list, func(a, b SubTask) int { return a.Priority - b.Priority })
	for i, t := range list {
		s := Skipped{SubTask: t}
		switch first := r.asked[key(t.Query)]; {
		case first != 0:
			s.Reason, s.Frame = reasonRepeated, first
		case f.Depth >= r.c.Bounds.Depth:
			s.Reason = BoundDepth
		case i >= r.c.Bounds.SubTasks:
			s.Reason = BoundSubTasks
		case len(r.frames) >= r.c.Bounds.Frames:
			s.Reason = BoundFrames
		}
		if s.Reason == "" {
			child, err := r.add(f, t, i)
			f.Children = append(f.Children, child.ID)
			if err != nil {
				_ = r.fail(child, err)
			}
			continue
		}
		if s.Reason != reasonRepeated {
			r.reached(f, s.Reason)
		}
		f.Skipped = append(f.Skipped, s)
		r.emit(Event{Type: EventSkipped, Skipped: &s}, f)
	}
	r.c.Log.Info("task split", slog.Int("frame", f.ID), slog.Int("depth", f.Depth), slog.Any("into", f.Children), slog.Int("skipped", len(f.Skipped)))
}

// Answer passes the answer of the user to a waiting frame.
func (r *Run) Answer(frame int, text string) error {
	if frame < 1 || frame > len(r.frames) {
		return fmt.Errorf("agent: there is no frame %d", frame)
	}
	f := r.frame(frame)
	if f.Status != StatusWaiting {
		return fmt.Errorf("agent: frame %d is not waiting for an answer, its status is %s", frame, f.Status)
	}
	f.Messages = append(f.Messages, Message{Role: "assistant", Content: string(mustJSON(f.Envelope.said()))}, Message{Role: "user", Content: text})
	f.Status = StatusReady
	return nil
}

// An Outcome is the result of a run that is done or paused.
type Outcome struct {
	Status    Status    `json:"status"` // done or waiting
	Bound     string    `json:"bound,omitempty"`
	Answer    *Envelope `json:"answer,omitempty"`    // if the run is done
	Questions []Asked   `json:"questions,omitempty"` // if the run is waiting
	Frames    []Frame   `json:"frames"`              // by ID
	Totals    RunTotals `json:"totals"`
	Surprise  *float64  `json:"surprise,omitempty"` // surprise of the answer
}

// Asked is a question to the user.
type Asked struct {
	Frame    int    `json:"frame"`
	Question string `json:"question"`
}

// RunTotals are sums over the frames of a run.
type RunTotals struct {
	Frames           int     `json:"frames"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	ProseTokensSaved *int    `json:"prose_tokens_saved,omitempty"` // nil: there is no tokenizer
	TimeMS           float64 `json:"time_ms"`                      // sum over the frames, more than the duration of the run if frames ran in parallel
}

func (r *Run) outcome() *Outcome {
	out := &Outcome{Status: StatusDone, Bound: r.bound}
	for _, f := range r.frames {
		out.Frames = append(out.Frames, f.told())
		if f.Status == StatusWaiting {
			out.Questions = append(out.Questions, Asked{f.ID, f.Conclusion})
		}
		t := &out.Totals
		t.Frames++
		t.PromptTokens += f.PromptTokens
		t.CompletionTokens += f.CompletionTokens
		t.TimeMS += f.TimeMS
		if f.ProseTokensSaved != nil {
			if t.ProseTokensSaved == nil {
				t.ProseTokensSaved = new(int)
			}
			*t.ProseTokensSaved += *f.ProseTokensSaved
		}
	}
	if len(out.Questions) > 0 {
		out.Status = StatusWaiting
		return out
	}
	out.Answer, out.Surprise = r.root().Envelope, r.root().Surprise
	attrs := []any{
		slog.Int("frames", out.Totals.Frames), slog.Int("prompt_tokens", out.Totals.PromptTokens),
		slog.Int("completion_tokens", out.Totals.CompletionTokens), slog.String("bound", out.Bound),
	}
	if saved := out.Totals.ProseTokensSaved; saved != nil {
		attrs = append(attrs, slog.Int("prose_tokens_saved", *saved))
	}
	r.c.Log.Info("agent run ended", attrs...)
	return out
}

// state is a saved run.
type state struct {
	Version     int           `json:"version"`
	Bounds      Bounds        `json:"bounds"`
	Interactive bool          `json:"interactive"`
	NoReasoning bool          `json:"no_reasoning"`
	Seed        uint64        `json:"seed"`
	Tokens      int           `json:"tokens"` // remaining
	Spent       time.Duration `json:"spent"`
	Bound       string        `json:"bound,omitempty"`
	Closing     string        `json:"closing,omitempty"`
	Frames      []*Frame      `json:"frames"`
}

// stateVersion changes with the meaning of state.
const stateVersion = 1

// MarshalJSON saves a run. It must not be called while Go runs.
func (r *Run) MarshalJSON() ([]byte, error) {
	return json.Marshal(state{
		stateVersion, r.c.Bounds, r.c.Interactive, r.c.NoReasoning, r.c.Seed, r.purse.rest(), r.spent, r.bound, r.closing, r.frames,
	})
}

// Restore returns a run saved by MarshalJSON. The saved bounds, seed and Interactive
// replace those of the config.
func Restore(data []byte, c Config) (*Run, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("agent: saved run: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("agent: saved run has version %d, want %d", s.Version, stateVersion)
	}
	c.Bounds, c.Interactive, c.NoReasoning, c.Seed = s.Bounds, s.Interactive, s.NoReasoning, s.Seed
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Run{c: c, asked: map[string]int{}, purse: &purse{left: s.Tokens}, spent: s.Spent, bound: s.Bound, closing: s.Closing, frames: s.Frames}
	if len(r.frames) == 0 {
		return nil, errors.New("agent: saved run has no frames")
	}
	for i, f := range r.frames {
		if err := r.check(i, f); err != nil {
			return nil, err
		}
		r.asked[key(f.Query)] = f.ID
	}
	return r, nil
}

// check validates a saved frame.
func (r *Run) check(i int, f *Frame) error {
	bad := f == nil || f.ID != i+1 || f.Parent < 0 || f.Parent >= f.ID || (f.Parent == 0) != (i == 0) || len(f.Messages) == 0
	if bad {
		return fmt.Errorf("agent: saved run: frame %d is invalid", i+1)
	}
	for _, id := range f.Children {
		if id <= f.ID || id > len(r.frames) {
			return fmt.Errorf("agent: saved run: frame %d has the invalid sub-task %d", f.ID, id)
		}
	}
	switch f.Status {
	case StatusReady, StatusDone, StatusFailed:
		return nil
	case StatusWaiting, StatusSplit:
		if f.Envelope != nil {
			return nil
		}
	}
	return fmt.Errorf("agent: saved run: frame %d has the invalid status %q", f.ID, f.Status)
}
