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

// A step is the work on one question of a frame, concurrent with the rest of the run.
// It works on a copy of the frame, which replaces the frame when the step has ended.
type step struct {
	run       *Run
	frame     Frame
	synthesis bool
	final     bool // the answer must be the last one
	system    string
	messages  []Message // conversation of the synthesis
	tokens    int       // granted for the first question
}

// begin starts the step of a frame in a goroutine. When the step has ended, ended is called before
// anything else.
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

// concluded applies the result of a step.
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
		return // the caller cancelled; the frame can ask again
	case errors.Is(err, ErrNoRoom):
		r.reached(f, BoundTokens)
		if f.ID == 1 && !s.final {
			r.close(BoundTokens) // the root asks again, with the reserve
			return
		}
	}
	if !s.synthesis {
		_ = r.fail(f, err)
		return
	}
	// The earlier conclusion stands; the root joins the results of its sub-tasks.
	f.Error = "synthesis: " + strings.TrimPrefix(err.Error(), "agent: ")
	if f.ID == 1 {
		r.joined(f)
	}
	r.finish(f)
}

// ask sends the question, runs the tools that the model calls, and reads the answer.
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
			tools = nil // the model must answer now
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

// read returns the envelope of a reply, and records the tokens that it saved.
func (s *step) read(reply *Reply) *Envelope {
	f, e := &s.frame, Parse(reply.Text)
	if !reply.Constrained {
		e.RawResponse = cut(cmp.Or(reply.Raw, reply.Text), maxRaw)
	}
	f.Surprise, f.Constrained = reply.Surprise, reply.Constrained
	if e.Error == ErrorInvalidJSON || e.Error == ErrorNoConclusion {
		return &e // no envelope to compare with prose
	}
	spent, known := s.run.c.Asker.CountTokens(reply.Text)
	if !known {
		return &e
	}
	prose, _ := s.run.c.Asker.CountTokens(e.Prose())
	if f.ProseTokensSaved == nil {
		f.ProseTokensSaved = new(int)
	} else {
		before := *f.ProseTokensSaved
		f.ProseTokensSaved = &before // events hold the other pointer
	}
	*f.ProseTokensSaved += prose - spent
	s.run.c.Log.Debug("envelope", slog.Int("frame", f.ID), slog.Int("tokens", spent), slog.Int("prose_tokens", prose))
	return &e
}

// maxRaw is the maximum size of Envelope.RawResponse, in bytes.
const maxRaw = 16 << 10

// maxDigest is the maximum size of the conclusions in a synthesis, in bytes.
const maxDigest = 16 << 10

// bringTogether builds the conversation of a synthesis.
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

// results lists the results of the sub-tasks of a frame and, for those without a
// synthesis, of their own sub-tasks.
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

// missing returns why a frame has no conclusion; "" if it has one.
func (f *Frame) missing() string {
	if f.Conclusion != "" {
		return ""
	}
	return cmp.Or(f.Error, "no conclusion")
}

// errorSynthesis is the error of an answer that was joined without the model.
const errorSynthesis = "synthesis_failed"

// joined builds the answer of the root from the results of its sub-tasks, for a synthesis that
// failed or could not be asked for.
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
	f.Envelope, f.Conclusion, f.Confidence, f.Invalid = e, e.Conclusion, e.Confidence, e.Invalid()
}

// cut shortens a text to at most n bytes, with a mark where it was cut.
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

// seed derives the seed of a question from the seed of the run and the position of
// the question, so that it doesn't depend on which frames ran at the same time.
func seed(run uint64, place []int, asked int) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, run, place, asked)
	return h.Sum64() >> 11 // fits into a JavaScript number
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
