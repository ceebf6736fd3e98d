package asking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
)

// A Task is a request for one answer.
type Task struct {
	Model    string // for logs and errors
	Strategy Strategy
	Format   *Format // nil: any text is valid
	// Check validates a document, for JSON formats.
	Check repair.Check
	// Match reports whether a text fits a format that is not JSON.
	Match func(text string) error
	Tools *Tools // nil: tool calls are ignored

	Strict bool // an invalid answer is an error
	Repair bool // an invalid answer is repaired, if possible
	// Markdown removes emphasis from the strings of an answer, even where the answer is valid
	// with it.
	Markdown bool
	Retries  int // number of retries after an invalid answer

	// Write generates one answer to a conversation; number counts the tries from 0.
	Write func(ctx context.Context, turns []Turn, number int) (*Written, error)

	Log     *slog.Logger
	Observe func(Try) // receives every try; may be nil
}

// A Turn is a message of a conversation.
type Turn struct {
	Role, Content string
	Calls         []remote.Call // with role assistant
	CallID        string        // with role tool: the call that it answers
}

// Written is the output of a model.
type Written struct {
	Text    string
	Data    json.RawMessage // the document, if the upstream returned it as JSON rather than text
	Refusal string          // the reason that the model gives for not answering
	Calls   []remote.Call   // tool calls, each with an ID
	Cut     bool            // the budget ended it, not the model
	Usage   remote.Usage
}

// A Try is the result of one try.
type Try struct {
	Strategy Strategy
	Model    string
	Number   int   // from 0
	Failed   Stage // "": the answer is valid
	Last     bool  // no further try follows
	Edited   bool  // the answer was edited
}

// An Attempt describes one try to clients.
type Attempt struct {
	Strategy   Strategy `json:"strategy"`
	Stage      Stage    `json:"stage,omitempty"` // at which it failed; "": it succeeded
	Prompt     int      `json:"prompt_tokens"`
	Completion int      `json:"completion_tokens"`
}

// An Answer is a valid answer or, if the task is not strict, the last invalid one.
type Answer struct {
	Text     string
	JSON     bool           // Text is a JSON document
	Valid    *bool          // nil: unknown, for the reason in Warnings
	Calls    []remote.Call  // tool calls; then Text is the text beside them
	Issues   []schema.Issue // validation errors
	Edits    []repair.Edit  // changes to the text
	Tries    int
	Attempts []Attempt    // one for each try
	Usage    remote.Usage // sum over all tries
	Last     *Written     // the unedited output
	Warnings []string
}

// Ask runs a task. The error is a *FailureReason.
func Ask(ctx context.Context, t Task) (*Answer, error) {
	if t.Log == nil {
		t.Log = slog.Default()
	}
	a, err := t.ask(ctx)
	if err != nil {
		reason := Translate(ctx, t.Log, err, t.Strategy, t.Model)
		if a != nil && a.Last != nil {
			reason.Text = a.Last.shown()
		}
		return nil, reason
	}
	return a, nil
}

func (t *Task) ask(ctx context.Context) (*Answer, error) {
	var turns []Turn
	var usage remote.Usage
	var attempts []Attempt
	for number := 0; ; number++ {
		w, err := t.Write(ctx, turns, number)
		if err != nil {
			t.observe(Try{Number: number, Failed: StageUpstream, Last: true})
			attempts = append(attempts, Attempt{Strategy: t.Strategy, Stage: StageUpstream})
			return nil, &Failure{Parser: t.Strategy, Model: t.Model, Stage: StageUpstream, Cause: err, tries: number + 1, attempts: attempts}
		}
		usage.Add(w.Usage)
		a, bad := t.judge(w)
		attempts = append(attempts, Attempt{Strategy: t.Strategy, Prompt: w.Usage.Prompt, Completion: w.Usage.Completion})
		if bad != nil {
			attempts[number].Stage, bad.attempts = bad.Stage, attempts
		}
		a.Tries, a.Usage, a.Attempts = number+1, usage, attempts
		try := Try{Number: number, Edited: len(a.Edits) > 0}
		if bad == nil {
			try.Last = true
			t.observe(try)
			t.Log.LogAttrs(ctx, slog.LevelInfo, "answer accepted", slog.String("model", t.Model), slog.String("strategy", string(t.Strategy)), slog.Int("tries", number+1),
				slog.Int("edits", len(a.Edits)), slog.Int("prompt_tokens", usage.Prompt), slog.Int("completion_tokens", usage.Completion))
			return a, nil
		}
		bad.tries = number + 1
		try.Failed, try.Last = bad.Stage, number >= t.Retries || errors.Is(bad.Cause, errRefusal)
		t.observe(try)
		if try.Last && (t.Strict || !t.lenient(bad)) {
			return a, bad
		}
		if try.Last {
			a.Warnings = append(a.Warnings, "the answer does not fit what was asked for and is returned as it is: "+bad.Cause.Error())
			return a, nil
		}
		t.Log.LogAttrs(ctx, slog.LevelInfo, "answer rejected, retrying", slog.Any("failure", bad))
		turns = t.again(w, bad)
	}
}

// lenient reports whether an invalid answer can be returned. An empty answer cannot,
// nor can some tool calls.
func (t *Task) lenient(f *Failure) bool {
	return (f.Stage == StageParse || f.Stage == StageValidation) && !f.hard
}

func (t *Task) observe(try Try) {
	if t.Observe != nil {
		try.Strategy, try.Model = t.Strategy, t.Model
		t.Observe(try)
	}
}

// judge parses and validates an output.
func (t *Task) judge(w *Written) (*Answer, *Failure) {
	a := &Answer{Text: w.Text, Last: w}
	fail := func(stage Stage, issues []schema.Issue, cause error) (*Answer, *Failure) {
		no := false
		a.Valid, a.Issues = &no, issues
		return a, &Failure{Parser: t.Strategy, Model: t.Model, Stage: stage, Content: cut(w.shown(), maxContent), Cause: cause, issues: issues}
	}
	yes := true
	switch {
	case w.Refusal != "":
		return fail(StageEmpty, nil, fmt.Errorf("%w: %s", errRefusal, cut(w.Refusal, maxContent)))
	case t.Tools != nil && (len(w.Calls) > 0 || t.Tools.Must):
		return t.judgeCalls(w, a, fail)
	case t.Format == nil:
		return a, nil
	case !t.Format.JSON:
		return t.judgeText(a, fail)
	}
	text := w.Text
	if len(w.Data) > 0 {
		text = string(w.Data)
	}
	out := repair.Read(text, repair.Options{Check: t.Check, Repair: t.Repair, Markdown: t.Markdown, Hints: repair.Hints{Ended: !w.Cut, Cut: w.Cut}})
	a.Text, a.JSON, a.Edits = out.Text, out.JSON, out.Edits
	if out.Unfinished != nil {
		a.Warnings = append(a.Warnings, "not all conversions were tried: "+out.Unfinished.Error())
	}
	var syntax *repair.SyntaxError
	switch {
	case out.Fine():
		a.Valid = &yes
		if out.Edited(repair.StepTruncated) {
			a.Warnings = append(a.Warnings, "the model left brackets open at the end of its answer; they were closed")
		}
		return a, nil
	case errors.Is(out.Err, repair.ErrEmpty):
		return fail(StageEmpty, nil, out.Err)
	case errors.As(out.Err, &syntax):
		return fail(StageParse, []schema.Issue{{Keyword: "json", Reason: syntax.Reason, Line: syntax.Line, Column: syntax.Column}}, parseCause(syntax, w.Cut))
	case out.Err != nil:
		a.Warnings = append(a.Warnings, "the independent validator has no verdict: "+out.Err.Error())
		return a, nil
	}
	return fail(StageValidation, out.Issues, errors.New(listed(out.Issues)))
}

// judgeText is judge for formats that are not JSON.
func (t *Task) judgeText(a *Answer, fail verdict) (*Answer, *Failure) {
	if t.Match == nil {
		return a, nil
	}
	err := t.Match(a.Text)
	if trimmed := strings.TrimSpace(a.Text); err != nil && trimmed != a.Text && t.Match(trimmed) == nil {
		a.Text, err = trimmed, nil
		a.Edits = []repair.Edit{{Step: repair.StepSurround, Note: "white space dropped"}}
	}
	if err != nil {
		if strings.TrimSpace(a.Text) == "" {
			return fail(StageEmpty, nil, err)
		}
		var placed interface{ Places() []schema.Issue }
		if errors.As(err, &placed) {
			return fail(StageValidation, placed.Places(), err)
		}
		return fail(StageValidation, []schema.Issue{{Reason: err.Error()}}, err)
	}
	yes := true
	a.Valid = &yes
	return a, nil
}

// parseCause returns the syntax error of a text, and whether max_tokens caused it.
func parseCause(e *repair.SyntaxError, cut bool) error {
	switch {
	case cut:
		return fmt.Errorf("max_tokens cut the answer off: %w", e)
	case e.Repair != nil:
		return fmt.Errorf("%w; %w", e, e.Repair)
	}
	return e
}

// listed joins issues in one line.
func listed(issues []schema.Issue) string {
	parts := make([]string, 0, len(issues))
	for _, i := range issues {
		parts = append(parts, i.String())
	}
	return strings.Join(parts, "; ")
}

// Limits of the feedback to the model.
const (
	maxShown  = 8 << 10
	maxIssues = 12
	maxNear   = 200
)

// feedback returns the message to the model about an invalid answer: the errors,
// their places, and the rules.
func (t *Task) feedback(f *Failure) string {
	var b strings.Builder
	b.WriteString("That answer can't be used. ")
	var syntax *repair.SyntaxError
	switch {
	case f.Stage == StageEmpty:
		b.WriteString("It is empty.")
	case errors.As(f.Cause, &syntax):
		fmt.Fprintf(&b, "It is not JSON. Line %d, column %d: %s.", syntax.Line, syntax.Column, syntax.Reason)
		if near := strings.TrimSpace(syntax.Near); near != "" {
			fmt.Fprintf(&b, " That line is:\n%s\n", cut(near, maxNear))
		}
	default:
		b.WriteString("It does not fit:")
		for i, issue := range f.issues {
			if i == maxIssues {
				fmt.Fprintf(&b, "\n- and %d more", len(f.issues)-i)
				break
			}
			b.WriteString("\n- ")
			if issue.Pointer != "" || t.Format != nil && t.Format.JSON {
				fmt.Fprintf(&b, "at %q: ", issue.Pointer)
			}
			if issue.Keyword != "" && !strings.HasPrefix(issue.Reason, issue.Keyword) {
				fmt.Fprintf(&b, "%s: ", issue.Keyword)
			}
			b.WriteString(issue.Reason)
		}
	}
	b.WriteString("\n")
	b.WriteString(t.rules(f))
	return b.String()
}
