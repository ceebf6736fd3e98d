package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// The edits of context_management shorten a conversation before it is rendered. They only affect the prompt: the
// client's own copy stays complete.

// The types of edits.
const (
	clearToolUses = "clear_tool_uses_20250919"
	clearThinking = "clear_thinking_20251015"
	compact       = "compact_20260112"
)

// Anthropic's defaults for edits.
const (
	defaultTrigger       = 100_000 // input tokens
	defaultCompaction    = 150_000 // input tokens
	defaultKeptToolUses  = 3
	defaultThinkingTurns = 1
	keepEverything       = -1
)

// cleared replaces the result of a cleared tool use.
const cleared = "[cleared to make room]"

// An edit is an entry of context_management.edits.
type edit struct {
	kind string
	keep int // tool uses, or turns with reasoning

	// Of clear_tool_uses:
	tokens   int // trigger: input tokens; 0: none
	uses     int // trigger: tool uses; 0: none
	atLeast  int // input tokens
	excluded []string
	inputs   bool     // clear the inputs of all tools
	inputsOf []string // clear the inputs of these tools
}

// readEdits reads context_management.
func (q *messagesRequest) readEdits(o *wire.Object) error {
	in, err := o.Child("context_management")
	if in == nil || err != nil {
		return err
	}
	if err := in.Only("edits"); err != nil {
		return err
	}
	list, err := in.List("edits")
	if err != nil {
		return err
	}
	for _, e := range list {
		one, err := readEdit(e)
		if err != nil {
			return err
		}
		for _, before := range q.edits {
			switch {
			case before.kind == one.kind:
				return wire.Invalid(e.Path+"type", "%stype: there are two edits of type %s", e.Path, one.kind)
			case one.kind == clearThinking:
				return wire.Invalid(e.Path+"type", "%stype: %s comes before %s", e.Path, clearThinking, before.kind)
			}
		}
		q.edits = append(q.edits, one)
	}
	return nil
}

func readEdit(e *wire.Object) (edit, error) {
	var one edit
	if !e.Given("type") {
		return one, wire.Invalid(e.Path+"type", "%stype is missing", e.Path)
	}
	if err := e.Str("type", &one.kind); err != nil {
		return one, err
	}
	switch one.kind {
	case clearThinking:
		one.keep = defaultThinkingTurns
		if err := e.Only("type", "keep"); err != nil {
			return one, err
		}
		word := ""
		if json.Unmarshal(e.Members["keep"], &word) == nil && word == "all" {
			one.keep = keepEverything
			return one, nil
		}
		_, err := readAmount(e, "keep", &one.keep, 1, "thinking_turns", "all")
		return one, err
	case clearToolUses:
		return one, one.readClearToolUses(e)
	case compact:
		one.tokens = defaultCompaction
		instructions, pause := "", false
		for _, err := range []error{
			e.Only("type", "instructions", "pause_after_compaction", "trigger"), e.Str("instructions", &instructions), e.Boolean("pause_after_compaction", &pause),
		} {
			if err != nil {
				return one, err
			}
		}
		_, err := readAmount(e, "trigger", &one.tokens, 0, "input_tokens")
		return one, err
	}
	return one, wire.NotOffered(e.Path+"type", fmt.Sprintf("an edit of type %q", one.kind))
}

func (one *edit) readClearToolUses(e *wire.Object) error {
	one.keep, one.tokens = defaultKeptToolUses, defaultTrigger
	if err := e.Only("type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"); err != nil {
		return err
	}
	trigger := 0
	unit, err := readAmount(e, "trigger", &trigger, 0, "input_tokens", "tool_uses")
	if err != nil {
		return err
	}
	switch unit {
	case "input_tokens":
		one.tokens = trigger
	case "tool_uses":
		one.tokens, one.uses = 0, trigger
	}
	if _, err := readAmount(e, "keep", &one.keep, 0, "tool_uses"); err != nil {
		return err
	}
	if _, err := readAmount(e, "clear_at_least", &one.atLeast, 0, "input_tokens"); err != nil {
		return err
	}
	if err := e.Decode("exclude_tools", &one.excluded, "an array of strings"); err != nil {
		return err
	}
	if json.Unmarshal(e.Members["clear_tool_inputs"], &one.inputs) != nil {
		return e.Decode("clear_tool_inputs", &one.inputsOf, "true, false or an array of strings")
	}
	return nil
}

// readAmount reads {"type": one of units, "value": n} and returns the unit; "" if the member is not given. The unit
// "all" has no value.
func readAmount(e *wire.Object, name string, to *int, least int, units ...string) (unit string, err error) {
	in, err := e.Child(name)
	if in == nil || err != nil {
		return "", err
	}
	if !in.Given("type") {
		return "", wire.Invalid(in.Path+"type", "%stype is missing", in.Path)
	}
	if err := in.OneOf("type", &unit, units...); err != nil {
		return "", err
	}
	if unit == "all" {
		*to = keepEverything
		return unit, in.Only("type")
	}
	if err := in.Only("type", "value"); err != nil {
		return "", err
	}
	if !in.Given("value") {
		return "", wire.Invalid(in.Path+"value", "%svalue is missing", in.Path)
	}
	return unit, in.Integer("value", to, least, request.MaxTokensLimit)
}

// contextReply reports the edits that were applied.
type contextReply struct {
	Applied []appliedEdit `json:"applied_edits"`
}

type appliedEdit struct {
	Type          string `json:"type"`
	ToolUses      *int   `json:"cleared_tool_uses,omitempty"`
	ThinkingTurns *int   `json:"cleared_thinking_turns,omitempty"`
	Tokens        int    `json:"cleared_input_tokens"`
}

// accept finds the model of a request and prepares the request after applying its edits. It also returns the length of
// the prompt before the edits.
func (s *Handlers) accept(r *http.Request, q *messagesRequest) (*registry.Model, *generation.Generation, int, error) {
	try := func(messages []chat.Message) (*registry.Model, *generation.Generation, error) {
		one := *q.Request
		one.Messages, one.Warnings = messages, slices.Clip(q.Warnings)
		return s.Accept(r, &one)
	}
	m, g, err := try(q.Messages)
	if err != nil {
		return nil, nil, 0, err
	}
	counts := generation.WriterOf(m).Abilities().Counts
	size := func(g *generation.Generation) int {
		if !counts {
			return estimate(g.Request)
		}
		return len(g.Job.Prompt)
	}
	original := size(g)
	if len(q.edits) > 0 {
		q.context = &contextReply{Applied: []appliedEdit{}}
	}
	whole := ""
	for _, e := range q.edits {
		before := size(g)
		if e.kind == compact {
			// The answer comes from more than the client asked for, which serves it better than an error would.
			if before > e.tokens {
				whole = fmt.Sprintf("the conversation has %d tokens, more than the trigger of %s: it was left whole, as nothing summarizes conversations here", before, compact)
			}
			continue
		}
		if e.kind == clearToolUses && !e.triggered(g.Request.Messages, before) {
			continue
		}
		messages, n := e.apply(g.Request.Messages)
		if n == 0 {
			continue
		}
		_, next, err := try(messages)
		if err != nil {
			return nil, nil, 0, err
		}
		done := appliedEdit{Type: e.kind, Tokens: max(0, before-size(next))}
		if e.atLeast > done.Tokens {
			continue
		}
		if e.kind == clearThinking {
			done.ThinkingTurns = &n
		} else {
			done.ToolUses = &n
		}
		q.context.Applied = append(q.context.Applied, done)
		g = next
	}
	if q.Request = g.Request; whole != "" {
		q.Warnings = append(q.Warnings, whole)
	}
	return m, g, original, nil
}

// estimate returns the approximate size of a conversation for an upstream, whose tokenizer is unknown: a token per four
// bytes.
func estimate(q *request.Request) int {
	n := 0
	for i := range q.Messages {
		m := &q.Messages[i]
		n += len(m.Content) + len(m.Reasoning)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n / 4
}

// triggered reports whether a conversation is long enough for tool uses to be cleared.
func (e *edit) triggered(list []chat.Message, tokens int) bool {
	if e.uses == 0 && e.tokens == 0 {
		return true
	}
	if e.uses > 0 {
		n := 0
		for i := range list {
			n += len(list[i].ToolCalls)
		}
		return n > e.uses
	}
	return tokens > e.tokens
}

// apply returns a conversation without what an edit clears, and the number of cleared tool uses or turns.
func (e *edit) apply(list []chat.Message) (out []chat.Message, n int) {
	if e.keep == keepEverything {
		return list, 0
	}
	out = slices.Clone(list)
	if e.kind == clearThinking {
		left := e.keep
		for i := len(out) - 1; i >= 0; i-- {
			switch {
			case out[i].Reasoning == "":
			case left > 0:
				left--
			default:
				out[i].Reasoning = ""
				n++
			}
		}
		return slices.DeleteFunc(out, func(m chat.Message) bool { // a turn that was only reasoning
			return m.Role == "assistant" && m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0
		}), n
	}
	left := e.keep
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Role != "tool" {
			continue
		}
		switch name := out[i].Name; {
		case slices.Contains(e.excluded, name) || out[i].Content == cleared:
		case left > 0:
			left--
		default:
			out[i].Content = cleared
			n++
			if e.inputs || slices.Contains(e.inputsOf, name) {
				clearInput(out[:i], out[i].ToolCallID)
			}
		}
	}
	return out, n
}

// clearInput removes the arguments of a call.
func clearInput(list []chat.Message, id string) {
	for i := len(list) - 1; i >= 0; i-- {
		for j := range list[i].ToolCalls {
			if list[i].ToolCalls[j].ID == id {
				list[i].ToolCalls = slices.Clone(list[i].ToolCalls)
				list[i].ToolCalls[j].Arguments = json.RawMessage("{}")
				return
			}
		}
	}
}
