package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stencil/chat"
)

// chatNames are the fields of POST /v1/chat/completions.
var chatNames = names{
	known: slices.Concat([]string{
		"model", "messages", "max_tokens", "max_completion_tokens", "stop", "n", "stream", "stream_options", "logprobs", "top_logprobs",
		"tools", "tool_choice", "parallel_tool_calls", "modalities", "reasoning_effort", "chat_template_kwargs", "repetition_penalty",
		"n_predict", "continue_final_message", "add_generation_prompt",
	}, samplingFields, ownFields),
	constraint: constraintSpellings,
	harmless:   slices.Concat(harmlessFields, []string{"cache_prompt", "timings_per_token", "return_progress", "id_slot", "include_stop_str_in_output"}),
	refused: []string{
		"functions", "function_call", "audio", "web_search_options", "verbosity", "moderation", "min_tokens", "ignore_eos", "best_of",
		"use_beam_search", "length_penalty", "stop_token_ids", "bad_words", "allowed_token_ids", "logits_processors", "prompt",
		"structural_tag", "guided_decoding_backend", "guided_whitespace_pattern", "echo", "suffix", "mirostat", "dry_multiplier",
		"xtc_probability", "documents", "chat_template", "grammar_lazy", "grammar_triggers",
		"custom_params", "thinking_budget_tokens",
	},
}

// A chatRequest is the body of POST /v1/chat/completions.
type chatRequest struct {
	*query
	includeUsage bool
}

// readChat decodes a body.
func readChat(o *object) (*chatRequest, error) {
	q := &chatRequest{query: newQuery()}
	var err error
	if q.Constraint, err = readSpellings(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = chatNames.check(o); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return q.readChatMessages(o) },
		func() error { return q.readContinuation(o) },
		func() error { return q.readOpenAISampling(o) },
		func() error { return q.readMaxTokens(o, "n_predict", "max_tokens", "max_completion_tokens") },
		func() error { return o.boolean("logprobs", &q.Logprobs) },
		func() error { return o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs) },
		func() error { return q.readTools(o) },
		func() error { return q.readToolChoice(o) },
		func() error { return q.readTemplateVariables(o) },
		func() error { return q.readModalities(o) },
		func() error { return q.readStreaming(o, &q.includeUsage) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if q.TopLogprobs > 0 && !q.Logprobs {
		return nil, invalid("top_logprobs", "top_logprobs needs logprobs: true")
	}
	return q, nil
}

// readContinuation reads whether the answer goes on with the last message, as
// vLLM's clients say it.
func (q *query) readContinuation(o *object) error {
	goOn, fresh := false, true
	if err := o.boolean("continue_final_message", &goOn); err != nil {
		return err
	}
	if goOn {
		fresh = false
	}
	if err := o.boolean("add_generation_prompt", &fresh); err != nil {
		return err
	}
	switch {
	case goOn == fresh && goOn:
		return invalid("add_generation_prompt", "add_generation_prompt and continue_final_message exclude each other")
	case goOn == fresh:
		return notOffered("add_generation_prompt", "add_generation_prompt: false without continue_final_message")
	case goOn:
		return q.continueLast("messages")
	}
	return nil
}

// readModel reads which model is asked for; none is whichever there is.
func (q *query) readModel(o *object) error { return o.str("model", &q.Model) }

// readMaxTokens reads the budget from the first of several fields.
func (q *query) readMaxTokens(o *object, names ...string) error {
	for _, name := range names {
		if err := o.integer(name, &q.MaxTokens, 1, maxTokensLimit); err != nil {
			return err
		}
	}
	return nil
}

// readOpenAISampling reads what the endpoints of OpenAI's dialect share.
func (q *query) readOpenAISampling(o *object) error {
	for _, err := range []error{
		q.readSampling(o, plainSampling),
		o.number("repetition_penalty", &q.Sampling.RepeatPenalty),
		q.readStop(o, "stop"),
		o.integer("n", &q.N, 1, maxChoices),
		q.readOwn(o),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// readStreaming reads stream and stream_options.
func (q *query) readStreaming(o *object, includeUsage *bool) error {
	if err := o.boolean("stream", &q.Stream); err != nil {
		return err
	}
	opt, err := o.child("stream_options")
	if opt == nil || err != nil {
		return err
	}
	if !q.Stream {
		return invalid("stream_options", "stream_options needs stream: true")
	}
	return opt.boolean("include_usage", includeUsage)
}

// readModalities refuses every output but text.
func (q *query) readModalities(o *object) error {
	var list []string
	if err := o.decode("modalities", &list, "an array of strings"); err != nil {
		return err
	}
	for _, m := range list {
		if m != "text" {
			return notOffered("modalities", fmt.Sprintf("the modality %q", m))
		}
	}
	return nil
}

// readTemplateVariables reads what goes to the model's chat template.
func (q *query) readTemplateVariables(o *object) error {
	if err := o.decode("chat_template_kwargs", &q.Variables, "an object"); err != nil {
		return err
	}
	effort := ""
	if err := o.oneOf("reasoning_effort", &effort, "none", "minimal", "low", "medium", "high", "xhigh"); err != nil {
		return err
	}
	if effort != "" {
		q.effort(effort)
	}
	return nil
}

// effort tells the chat template how much the model is to think, in the words
// of those templates that know any.
func (q *query) effort(effort string) {
	q.variable("reasoning_effort", effort)
	if effort == "none" {
		q.variable("enable_thinking", false)
		q.NoThoughts = true
	}
}

// variable sets a variable of the chat template unless the request has.
func (q *query) variable(name string, value any) {
	if q.Variables == nil {
		q.Variables = map[string]any{}
	}
	if _, given := q.Variables[name]; !given {
		q.Variables[name] = value
	}
}

// readChatMessages reads a conversation as OpenAI's clients send it, and as
// they send back what they were answered.
func (q *query) readChatMessages(o *object) error {
	if !o.given("messages") {
		return invalid("messages", "messages is missing")
	}
	list, err := o.list("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return invalid("messages", "messages must not be empty")
	}
	for _, m := range list {
		one, err := readChatMessage(m)
		if err != nil {
			return err
		}
		q.Messages = append(q.Messages, one)
	}
	return nil
}

func readChatMessage(m *object) (chat.Message, error) {
	var one chat.Message
	if !m.given("role") {
		return one, invalid(m.path+"role", "%srole is missing", m.path)
	}
	if err := m.oneOf("role", &one.Role, "system", "developer", "user", "assistant", "tool", "function"); err != nil {
		return one, err
	}
	if one.Role == "function" { // from before there were tools
		one.Role = "tool"
	}
	for _, err := range []error{
		m.str("name", &one.Name),
		m.str("tool_call_id", &one.ToolCallID),
		m.str("reasoning_content", &one.Reasoning),
		readMessageContent(m, &one),
		readPastCalls(m, &one),
	} {
		if err != nil {
			return one, err
		}
	}
	if !m.given("content") && one.Role != "assistant" {
		return one, invalid(m.path+"content", "%scontent is missing", m.path)
	}
	if one.Role == "tool" && one.ToolCallID == "" && one.Name == "" {
		return one, invalid(m.path+"tool_call_id", "%stool_call_id is missing", m.path)
	}
	return one, nil
}

// readMessageContent reads a text or a list of parts, all of which must be text.
func readMessageContent(m *object, to *chat.Message) error {
	if !m.given("content") {
		return m.str("refusal", &to.Content)
	}
	if json.Unmarshal(m.members["content"], &to.Content) == nil {
		return nil
	}
	parts, err := m.list("content")
	if err != nil {
		return m.wrongType("content", "a string or an array of parts")
	}
	var texts []string
	for _, p := range parts {
		kind, text := "", ""
		if err := p.str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "text", "input_text", "output_text", "refusal":
			name := "text"
			if kind == "refusal" {
				name = "refusal"
			}
			if !p.given(name) {
				return invalid(p.path+name, "%s%s is missing", p.path, name)
			}
			if err := p.str(name, &text); err != nil {
				return err
			}
			texts = append(texts, text)
		case "":
			return invalid(p.path+"type", "%stype is missing", p.path)
		default:
			return notOffered(p.path+"type", fmt.Sprintf("content of type %q", kind))
		}
	}
	to.Content = strings.Join(texts, "\n")
	return nil
}

// readPastCalls reads the calls of an assistant's message. History is never
// refused: a call that can't be read is passed on as text.
func readPastCalls(m *object, to *chat.Message) error {
	if !m.given("tool_calls") {
		return nil
	}
	calls, err := m.list("tool_calls")
	if err != nil {
		return err
	}
	for _, c := range calls {
		past := chat.ToolCall{}
		f, err := c.child("function")
		if err != nil || f == nil {
			return invalid(c.path+"function", "%sfunction must be an object with name and arguments", c.path)
		}
		arguments := ""
		for _, err := range []error{c.str("id", &past.ID), f.str("name", &past.Name)} {
			if err != nil {
				return err
			}
		}
		if json.Unmarshal(f.members["arguments"], &arguments) != nil {
			arguments = string(f.members["arguments"]) // an object, as Ollama's clients have it
		}
		addCall(to, past, arguments)
	}
	return nil
}

// addCall adds a past call to a message, as text if its arguments are not an
// object.
func addCall(to *chat.Message, past chat.ToolCall, arguments string) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if _, err := parseObject([]byte(arguments), ""); err != nil {
		if to.Content != "" {
			to.Content += "\n"
		}
		to.Content += past.Name + "(" + arguments + ")"
		return
	}
	past.Arguments = json.RawMessage(arguments)
	to.ToolCalls = append(to.ToolCalls, past)
}

// readTools reads OpenAI's list of tools.
func (q *query) readTools(o *object) error {
	list, err := o.list("tools")
	if err != nil {
		return err
	}
	set := &toolSet{Mode: toolsAuto, Parallel: true}
	for _, t := range list {
		if err := readTool(set, t); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	if err := o.boolean("parallel_tool_calls", &set.Parallel); err != nil {
		return err
	}
	return nil
}

func readTool(set *toolSet, t *object) error {
	kind := ""
	if !t.given("type") {
		return invalid(t.path+"type", "%stype is missing", t.path)
	}
	if err := t.str("type", &kind); err != nil {
		return err
	}
	if kind != "function" {
		return notOffered(t.path+"type", fmt.Sprintf("a tool of type %q", kind))
	}
	if err := t.only("type", "function", "cache_control"); err != nil {
		return err
	}
	f, err := t.child("function")
	if err != nil {
		return err
	}
	if f == nil {
		return invalid(t.path+"function", "%sfunction is missing", t.path)
	}
	if err := f.only("name", "description", "parameters", "strict"); err != nil {
		return err
	}
	return readFunction(set, f, "parameters")
}

// readFunction reads the name, description and schema of a tool.
func readFunction(set *toolSet, f *object, schema string) error {
	one := tool{Parameters: f.members[schema], Param: f.path + schema}
	for _, err := range []error{
		f.str("name", &one.Name), f.str("description", &one.Description), f.boolean("strict", &one.Strict),
	} {
		if err != nil {
			return err
		}
	}
	return set.add(one, f.path)
}

// readToolChoice reads OpenAI's tool_choice: a word, a named tool, or a list of
// those that are allowed.
func (q *query) readToolChoice(o *object) error {
	if !o.given("tool_choice") {
		return nil
	}
	var word string
	if json.Unmarshal(o.members["tool_choice"], &word) == nil {
		if err := o.oneOf("tool_choice", &word, toolsAuto, toolsNone, toolsRequired, "any"); err != nil {
			return err
		}
		if word == "any" { // as Mistral has it
			word = toolsRequired
		}
		if q.Tools == nil {
			if word == toolsRequired {
				return invalid("tool_choice", "tool_choice needs tools")
			}
			return nil
		}
		q.Tools.Mode = word
		return nil
	}
	c, err := o.child("tool_choice")
	if err != nil {
		return o.wrongType("tool_choice", `"auto", "none", "required" or an object`)
	}
	if q.Tools == nil {
		return invalid("tool_choice", "tool_choice needs tools")
	}
	kind := ""
	if err := c.oneOf("type", &kind, "function", "allowed_tools"); err != nil {
		return err
	}
	switch kind {
	case "function":
		return q.readNamedTool(c)
	case "allowed_tools":
		return q.readAllowedTools(c)
	}
	return invalid(c.path+"type", "%stype is missing", c.path)
}

// readNamedTool reads {"type": "function", "function": {"name"}} or, as
// /v1/responses has it, {"type": "function", "name"}.
func (q *query) readNamedTool(c *object) error {
	if err := c.only("type", "function", "name"); err != nil {
		return err
	}
	f := c
	if c.given("function") {
		var err error
		if f, err = c.child("function"); err != nil {
			return err
		}
		if err := f.only("name"); err != nil {
			return err
		}
	}
	name := ""
	if !f.given("name") {
		return invalid(f.path+"name", "%sname is missing", f.path)
	}
	if err := f.str("name", &name); err != nil {
		return err
	}
	q.Tools.Mode = toolsRequired
	q.Tools.Parallel = false // one name, one call
	return q.Tools.allow(f.path+"name", []string{name})
}

// readAllowedTools reads {"type": "allowed_tools", "allowed_tools": {"mode",
// "tools"}} or the same without the inner object.
func (q *query) readAllowedTools(c *object) error {
	in := c
	if c.given("allowed_tools") {
		var err error
		if in, err = c.child("allowed_tools"); err != nil {
			return err
		}
	}
	if err := in.only("type", "mode", "tools"); err != nil {
		return err
	}
	if err := in.oneOf("mode", &q.Tools.Mode, toolsAuto, toolsRequired); err != nil {
		return err
	}
	list, err := in.list("tools")
	if err != nil {
		return err
	}
	var allowed []string
	for _, t := range list {
		f := t
		if t.given("function") {
			if f, err = t.child("function"); err != nil {
				return err
			}
		}
		name := ""
		if !f.given("name") {
			return invalid(f.path+"name", "%sname is missing", f.path)
		}
		if err := f.str("name", &name); err != nil {
			return err
		}
		allowed = append(allowed, name)
	}
	if len(allowed) == 0 {
		return invalid(in.path+"tools", "%stools must not be empty", in.path)
	}
	return q.Tools.allow(in.path+"tools", allowed)
}
