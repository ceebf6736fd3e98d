package server

import (
	"fmt"
	"strings"

	"stencil/agent/signals"
)

// callable returns how many tools may be called.
func (r *rule) callable() int {
	if r == nil {
		return 0
	}
	return len(r.tools)
}

// rated returns the tools that a model rates: those that it may call, if they are
// not too many.
func (r *rule) rated() (names []string) {
	if n := r.callable(); n == 0 || n > maxRatedTools {
		return nil
	}
	for _, t := range r.tools {
		names = append(names, t.Name)
	}
	return names
}

// masked reports whether a mask sees to it that signals follow the answer,
// whatever that is.
func (r *rule) masked() bool { return r.fromBeginning() && r.tags == nil }

// signalInstruction is what the model is told about its signals.
func signalInstruction(q *query, r *rule) string {
	if q.Signals == nil {
		return ""
	}
	form := signals.Fenced
	if r.masked() {
		form = signals.LastLine
	}
	return signals.Instruction(q.Signals.Mode, form, r.rated())
}

// instructed returns a prompt's instruction with that about signals, where the
// prompt has a place for it, or else warns.
func instructed(q *query, instruction string, r *rule) string {
	switch {
	case q.Signals == nil:
		return instruction
	case q.PromptSchema == "never" || q.PromptTokens != nil:
		q.Warnings = append(q.Warnings, "the prompt says nothing about signals: prompt_schema is \"never\", or the prompt is given as tokens")
		return instruction
	case q.Messages == nil && q.PromptSchema != "always":
		q.Warnings = append(q.Warnings, "the prompt is gone on with as it is and says nothing about signals; prompt_schema: \"always\" writes an instruction before it, and messages have a place for one")
		return instruction
	}
	return withSignals(q, instruction, r)
}

// withSignals returns an instruction with that about signals.
func withSignals(q *query, instruction string, r *rule) string {
	return alsoOf(instruction, signalInstruction(q, r))
}

// alsoOf returns an instruction with one about signals.
func alsoOf(instruction, note string) string {
	if instruction == "" {
		return note
	}
	return instruction + "\n\nAll of that is about the answer alone. " + note
}

// noRoom is a warning.
const noRoom = "the context has no room for signals after the answer; they were left out"

// shortestSignals is the shortest document of signals, with the line break before
// it.
func shortestSignals(tools []string) string {
	var b strings.Builder
	b.WriteString("\n" + `{"confidence":0,"difficulty":"easy","escalation":"none"`)
	for i, name := range tools {
		b.WriteString(map[bool]string{true: `,"tools":{`, false: ","}[i == 0])
		fmt.Fprintf(&b, "%q:0", name)
	}
	if len(tools) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.String()
}

// maxRatedTools is how many tools a model is asked to rate.
const maxRatedTools = 16
