package asking

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
)

// Tools are the tools that a model may call.
type Tools struct {
	Names  []string
	Must   bool // the model must call a tool
	Single bool // at most one call at a time
	// Check returns the validator for the arguments of a tool, nil if there is no
	// such tool, and whether invalid arguments are always an error.
	Check func(name string) (check repair.Check, strict bool)
}

// judgeCalls is judge for answers that call tools, or should. The client will run the
// calls, so even in a lenient task a call is passed on only if it names a tool and
// its arguments are an object.
func (t *Task) judgeCalls(w *Written, a *Answer, fail verdict) (*Answer, *Failure) {
	if len(w.Calls) == 0 {
		a, bad := fail(StageValidation, []schema.Issue{{Reason: "no tool was called, and one has to be"}}, errors.New("no tool was called"))
		bad.calls, bad.hard = true, true
		return a, bad
	}
	calls := w.Calls
	if t.Tools.Single && len(calls) > 1 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("the model made %d calls at once; parallel calls are off, so only the first was passed on", len(calls)))
		calls = calls[:1]
	}
	var issues []schema.Issue
	stage, hard := StageValidation, false
	for _, c := range calls {
		place := "/" + c.Name
		check, strict := t.Tools.Check(c.Name)
		if plain := repair.Bare(c.Name); check == nil && plain != c.Name {
			if check, strict = t.Tools.Check(plain); check != nil {
				a.Edits = append(a.Edits, repair.Edit{Step: repair.StepMarkers, Pointer: place, Note: "emphasis around the name dropped"})
				c.Name, place = plain, "/"+plain
			}
		}
		if check == nil {
			issues, hard = append(issues, schema.Issue{Pointer: place, Reason: "there is no tool of that name; there are " + strings.Join(t.Tools.Names, ", ")}), true
			a.Calls = append(a.Calls, c)
			continue
		}
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}" // some models write missing arguments like this
		}
		out := repair.Read(c.Arguments, repair.Options{Check: check, Repair: t.Repair, Markdown: t.Markdown, Hints: repair.Hints{Ended: !w.Cut, Cut: w.Cut}})
		c.Arguments = out.Text
		if out.Unfinished != nil {
			a.Warnings = append(a.Warnings, "not all conversions were tried: "+out.Unfinished.Error())
		}
		a.Calls = append(a.Calls, c)
		for _, e := range out.Edits {
			e.Pointer = place + e.Pointer
			a.Edits = append(a.Edits, e)
		}
		var syntax *repair.SyntaxError
		switch {
		case errors.As(out.Err, &syntax):
			stage, hard = StageParse, true
			reason := syntax.Reason
			if w.Cut {
				reason = "max_tokens cut the answer off: " + reason
			}
			issues = append(issues, schema.Issue{Pointer: place, Keyword: "json", Reason: reason, Line: syntax.Line, Column: syntax.Column})
		case out.Err != nil:
			a.Warnings = append(a.Warnings, "the independent validator has no verdict: "+out.Err.Error())
		}
		if len(out.Issues) > 0 && (strict || !isObject(c.Arguments)) {
			hard = true
		}
		for _, i := range out.Issues {
			i.Pointer = place + i.Pointer
			issues = append(issues, i)
		}
	}
	if len(issues) > 0 {
		a, bad := fail(stage, issues, errors.New(listed(issues)))
		bad.calls, bad.hard = true, hard
		return a, bad
	}
	yes := true
	a.Valid = &yes
	return a, nil
}

func isObject(text string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &members) == nil && members != nil
}

// shown returns an output as text, including tool calls.
func (w *Written) shown() string {
	out := w.Text
	for _, c := range w.Calls {
		if out != "" {
			out += "\n"
		}
		out += c.Name + "(" + c.Arguments + ")"
	}
	return out
}

// again continues the conversation after an invalid answer. The feedback on tool
// calls is sent as their results, if every server can read these.
func (t *Task) again(w *Written, bad *Failure) []Turn {
	feedback := t.feedback(bad)
	asCalls := len(w.Calls) > 0
	for _, c := range w.Calls {
		asCalls = asCalls && isObject(c.Arguments) && c.ID != "" && len(c.Arguments) <= maxShown
	}
	if asCalls {
		turns := []Turn{{Role: "assistant", Content: cut(w.Text, maxShown), Calls: w.Calls}}
		for _, c := range w.Calls {
			turns = append(turns, Turn{Role: "tool", CallID: c.ID, Content: feedback})
		}
		return turns
	}
	turns := []Turn{{Role: "assistant", Content: cut(w.shown(), maxShown)}, {Role: "user", Content: feedback}}
	if strings.TrimSpace(turns[0].Content) == "" {
		return turns[1:]
	}
	return turns
}

// rules returns the rules for the answer, to repeat in the feedback.
func (t *Task) rules(f *Failure) string {
	if f.calls {
		return "Correct it and call again. The arguments of a call are one JSON object that fits the schema of its tool. The tools are " + strings.Join(t.Tools.Names, ", ") + "."
	}
	return "Correct it and write the whole answer again. " + t.Format.Rules()
}

// A verdict returns the results of judge for an invalid answer.
type verdict func(stage Stage, issues []schema.Issue, cause error) (*Answer, *Failure)
