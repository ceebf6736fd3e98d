package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// A step is the work on a frame that goes on beside the rest of the run. It has
// a copy of the frame, which takes the frame's place when the step has ended.
type step struct {
	run       *Run
	frame     Frame
	synthesis bool
	final     bool // nothing can come after it
	system    string
	messages  []Message // of the synthesis
	tokens    int       // for the first question
}

// begin asks a frame, in a goroutine of its own. ended is called first of all
// once that is over.
func (r *Run) begin(ctx context.Context, f *Frame, tokens int, ended func()) {
	s := &step{run: r, frame: *f, synthesis: f.Status == StatusSplit, tokens: tokens}
	before := f.Status
	var err error
	if s.final = s.synthesis || r.closing != ""; r.closing != "" {
		r.reached(f, r.closing)
		s.frame.Bound = f.Bound
	}
	situation := r.situation(f)
	if s.final {
		situation.CanContinue, situation.CanAskUser, situation.Tools = false, false, nil
	}
	if s.synthesis {
		err = s.bringTogether(situation)
	}
	if err == nil {
		s.system, err = r.c.Prompts.text(promptSystem, situation)
	}
	f.Status = StatusRunning
	r.emit(Event{Type: pick(s.synthesis, EventSynthesis, EventStarted)}, f)
	go func() {
		var e *Envelope
		if err == nil {
			e, err = s.ask(ctx)
		} else {
			r.purse.giveBack(tokens)
		}
		r.notes <- func() {
			ended()
			s.frame.Status = before
			*f = s.frame
			r.concluded(ctx, f, s, e, err)
		}
	}()
}

// concluded takes in what a step has come to.
func (r *Run) concluded(ctx context.Context, f *Frame, s *step, e *Envelope, err error) {
	late := errors.Is(context.Cause(ctx), ErrTime)
	switch {
	case err == nil:
		f.Synthesized = s.synthesis
		r.answered(f, e, s.final)
		return
	case late:
		r.close(BoundTime)
		r.reached(f, BoundTime)
		err = ErrTime
	case ctx.Err() != nil:
		return // the caller gave up; the frame can be asked again
	case errors.Is(err, ErrNoRoom):
		r.reached(f, BoundTokens)
		if f.ID == 1 && !s.final {
			r.close(BoundTokens) // it is asked again, with what is set aside
			return
		}
	}
	if !s.synthesis {
		_ = r.fail(f, err)
		return
	}
	// What was known before stands; the root says what its parts came to.
	f.Error = "synthesis: " + strings.TrimPrefix(err.Error(), "agent: ")
	if f.ID == 1 {
		r.joined(f)
	}
	r.finish(f)
}

// ask puts the question, runs the tools that are called, and reads the answer.
func (s *step) ask(ctx context.Context) (*Envelope, error) {
	r, f, began := s.run, &s.frame, time.Now()
	defer func() { f.TimeMS += millis(time.Since(began)) }()
	schema := Schema(SchemaOptions{
		NoContinue: s.final || f.Depth >= r.c.Bounds.Depth, NoAskUser: s.final || !r.c.Interactive,
		NoReasoning: r.c.NoReasoning, MaxSubTasks: r.c.Bounds.SubTasks,
	})
	var tools []Tool
	if r.c.Toolbox != nil && !s.final {
		tools = r.c.Toolbox.Tools()
	}
	grant := s.tokens
	for round := 0; ; round++ {
		if round == r.c.Bounds.ToolSteps {
			tools = nil // now it has to answer
		}
		messages := f.Messages
		if s.synthesis {
			messages = s.messages
		}
		q := &Question{
			Frame: f.ID, Synthesis: s.synthesis, Schema: schema, Tools: tools, MaxTokens: grant, Seed: seed(r.c.Seed, f.Place, f.Asked),
			Messages: append([]Message{{Role: "system", Content: s.system}}, messages...),
		}
		f.Asked++
		reply, err := r.c.Asker.Ask(ctx, q)
		if err != nil {
			r.purse.giveBack(grant)
			return nil, err
		}
		r.purse.giveBack(grant - reply.CompletionTokens)
		f.PromptTokens += reply.PromptTokens
		f.CompletionTokens += reply.CompletionTokens
		if len(reply.Calls) == 0 || len(tools) == 0 {
			return s.read(reply), nil
		}
		f.Messages = append(f.Messages, Message{Role: "assistant", Content: reply.Text, Calls: reply.Calls})
		for _, c := range reply.Calls {
			f.Messages = append(f.Messages, s.call(ctx, c))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if grant = r.purse.take(r.c.Bounds.FrameTokens, r.c.Bounds.tokenReserve()); grant == 0 {
			return nil, ErrNoRoom
		}
	}
}

// call runs a tool.
func (s *step) call(ctx context.Context, c Call) Message {
	began := time.Now()
	result := s.run.c.Toolbox.Call(ctx, c.Name, c.Arguments)
	use := ToolUse{Name: c.Name, Arguments: c.Arguments, Bytes: len(result), TimeMS: millis(time.Since(began))}
	s.frame.Tools = append(s.frame.Tools, use)
	now := s.frame
	now.Status = StatusRunning
	s.run.notes <- func() { s.run.emit(Event{Type: EventTool, Tool: &use}, &now) }
	return Message{Role: "tool", Content: result, CallID: c.ID}
}

// read makes an envelope of a reply, and counts what it saved.
func (s *step) read(reply *Reply) *Envelope {
	f, e := &s.frame, Parse(reply.Text)
	f.Surprise, f.Constrained = reply.Surprise, reply.Constrained
	if !e.IsValid() {
		return &e
	}
	spent, known := s.run.c.Asker.CountTokens(reply.Text)
	if !known {
		return &e
	}
	prose, _ := s.run.c.Asker.CountTokens(e.Prose())
	if f.TokensSaved == nil {
		f.TokensSaved = new(int)
	} else {
		before := *f.TokensSaved
		f.TokensSaved = &before // events have the other one
	}
	*f.TokensSaved += prose - spent
	s.run.c.Log.Debug("an envelope", slog.Int("frame", f.ID), slog.Int("tokens", spent), slog.Int("prose_tokens", prose))
	return &e
}

// maxDigest is how many bytes of conclusions a synthesis is shown.
const maxDigest = 16 << 10

// bringTogether writes the conversation of a synthesis.
func (s *step) bringTogether(situation *Situation) error {
	r, f := s.run, &s.frame
	situation.Own = f.Conclusion
	situation.Results = r.results(f, 0)
	situation.Bound = f.Bound
	if f.ID == 1 {
		situation.Bound = r.bound
	}
	most := maxDigest / (len(situation.Results) + 1)
	situation.Own = cut(situation.Own, most)
	for i := range situation.Results {
		x := &situation.Results[i]
		x.Query, x.Conclusion, x.Missing = cut(x.Query, most/4), cut(x.Conclusion, most), cut(x.Missing, most/4)
	}
	text, err := r.c.Prompts.text(promptSynthesis, situation)
	s.messages = []Message{{Role: "user", Content: text}}
	return err
}

// results lists what the sub-tasks of a frame came to, and theirs where they
// were not brought together.
func (r *Run) results(f *Frame, level int) (out []Result) {
	for _, id := range f.Children {
		c := r.frame(id)
		out = append(out, Result{Level: level, Query: c.Query, Conclusion: c.Conclusion, Confidence: c.Confidence, Missing: c.missing()})
		if len(c.Children) > 0 && !c.Synthesized {
			out = append(out, r.results(c, level+1)...)
		}
	}
	for _, s := range f.Skipped {
		x := Result{Level: level, Query: s.Query, Missing: "no room for it (" + s.Reason + ")"}
		if s.Frame != 0 {
			if c := r.frame(s.Frame); c.ended() && c.Conclusion != "" {
				x.Conclusion, x.Confidence, x.Missing = c.Conclusion, c.Confidence, ""
			} else {
				x.Missing = "the same as a task that is not done yet"
			}
		}
		out = append(out, x)
	}
	return out
}

// missing says why a frame has no conclusion; "" if it has one.
func (f *Frame) missing() string {
	if f.Conclusion != "" {
		return ""
	}
	return cmp.Or(f.Error, "no conclusion")
}

// errorSynthesis is the error of an answer that was put together without the
// model.
const errorSynthesis = "synthesis_failed"

// joined makes the root's answer of what its parts came to, where the model
// could not be asked for it.
func (r *Run) joined(f *Frame) {
	var b strings.Builder
	b.WriteString(f.Conclusion)
	e := &Envelope{Confidence: f.Confidence, NextAction: Finalize, NeedsMoreInfo: true, Error: errorSynthesis}
	for _, x := range r.results(f, 0) {
		if x.Missing != "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "%s: %s", strings.TrimRight(x.Query, " .:?"), x.Conclusion)
		e.Confidence = min(e.Confidence, x.Confidence)
	}
	e.Conclusion = b.String()
	f.Envelope, f.Conclusion, f.Confidence = e, e.Conclusion, e.Confidence
}

// cut shortens a text to at most n bytes and shows that it did.
func cut(text string, n int) string {
	const mark = " […]"
	if len(text) <= n {
		return text
	}
	n = max(0, n-len(mark))
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark
}

// seed makes the seed of a question from the run's and from where the question
// stands, so that it doesn't depend on which frames ran at the same time.
func seed(run uint64, place []int, asked int) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, run, place, asked)
	return h.Sum64() >> 11 // JavaScript reads it
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
