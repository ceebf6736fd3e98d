package server

import (
	"fmt"
	"slices"

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
		func() error { return readOpenAISampling(q.query, o) },
		func() error { return q.readMaxTokens(o, "n_predict", "max_tokens", "max_completion_tokens") },
		func() error { return o.boolean("logprobs", &q.Logprobs) },
		func() error { return o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs) },
		func() error { return q.readTools(o) },
		func() error { return q.readToolChoice(o) },
		func() error { return q.readTemplateVariables(o) },
		func() error { return q.readModalities(o) },
		func() error { return readStreaming(q.query, o, &q.includeUsage) },
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
func (q *chatRequest) readContinuation(o *object) error {
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

// readOpenAISampling reads what the endpoints of OpenAI's dialect share.
func readOpenAISampling(q *query, o *object) error {
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
func readStreaming(q *query, o *object, includeUsage *bool) error {
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
func (q *chatRequest) readModalities(o *object) error {
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
func (q *chatRequest) readTemplateVariables(o *object) error {
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

// readChatMessages reads a conversation as OpenAI's clients send it, and as
// they send back what they were answered.
func (q *chatRequest) readChatMessages(o *object) error {
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
