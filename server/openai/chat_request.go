package openai

import (
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// chatNames are the fields of POST /v1/chat/completions.
var chatNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "messages", "max_tokens", "max_completion_tokens", "stop", "n", "stream", "stream_options", "logprobs", "top_logprobs",
		"tools", "tool_choice", "parallel_tool_calls", "modalities", "reasoning_effort", "chat_template_kwargs", "repetition_penalty",
		"n_predict", "continue_final_message", "add_generation_prompt", "verbosity", "functions", "function_call", "timings_per_token", "return_progress", "verbose", "reasoning_budget_tokens", "thinking_budget_tokens", "reasoning_budget_message", "reasoning_format",
	}, beside, request.SamplingFields, request.OwnFields),
	Constraint: request.ConstraintAliases,
	Harmless: slices.Concat(wire.HarmlessFields, []string{
		"include_stop_str_in_output", "guided_decoding_backend", "spaces_between_special_tokens",
		"response_fields", "num_ctx", // as llama-server ignores them
	}),
	Refused: append([]string{"prompt", "echo", "suffix"}, refusedFields...),
}

// beside are fields of chat completions, completions and responses: OpenAI's moderation, and vLLM's.
var beside = []string{"moderation", "min_tokens", "skip_special_tokens"}

// refusedFields are refused by chat completions and completions.
var refusedFields = []string{
	"audio", "web_search_options", "best_of",
	"use_beam_search", "length_penalty", "stop_token_ids", "bad_words", "allowed_token_ids", "logits_processors",
	"structural_tag", "guided_whitespace_pattern",
	"documents", "chat_template", "grammar_lazy", "grammar_triggers",
	"custom_params",
}

// A chatRequest is the body of POST /v1/chat/completions.
type chatRequest struct {
	*request.Request
	includeUsage bool
	functions    bool // the tools were given as functions

	// Of llama-server:
	llama   bool // at a path of its own
	timings bool // timings in every event
	verbose bool // include the prompt in the answer
}

// readChatAs decodes a body for a path of OpenAI's or of llama-server's. With the latter, an assistant message at the
// end is continued.
func readChatAs(o *wire.Object, llama bool) (*chatRequest, error) {
	q := &chatRequest{Request: request.New(), llama: llama}
	left, err := takeOptions(o)
	if err != nil {
		return nil, err
	}
	if q.Constraint, err = request.ReadAliases(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = chatNames.Check(o); err != nil {
		return nil, err
	}
	q.Warnings = append(q.Warnings, left...)
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return q.readChatMessages(o) },
		func() error { return q.readContinuation(o) },
		func() error { return checkThoughts(o) },
		func() error { return readOpenAISampling(q.Request, o) },
		func() error { return q.ReadMaxTokens(o, "n_predict", "max_tokens", "max_completion_tokens") },
		func() error { return o.Boolean("logprobs", &q.Logprobs) },
		func() error { return o.Integer("top_logprobs", &q.TopLogprobs, 0, request.MaxTopLogprobs) },
		func() error { return readBeside(q.Request, o) },
		func() error { return q.ReadTools(o, true) },
		func() error { return q.ReadToolChoice(o) },
		func() error { return q.readFunctions(o) },
		func() error { return readVerbosity(q.Request, o) },
		func() error { return q.readTemplateVariables(o) },
		func() error { return q.readModalities(o) },
		func() error { return q.readThinkingBudget(o) },
		func() error { return o.Boolean("timings_per_token", &q.timings) },
		func() error { return o.Boolean("return_progress", &q.Progress) },
		func() error { return o.Boolean("verbose", &q.verbose) },
		func() error { return readStreaming(q.Request, o, &q.includeUsage) },
		func() error { return q.CheckOptions(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if q.TopLogprobs > 0 && !q.Logprobs {
		return nil, wire.Invalid("top_logprobs", "top_logprobs needs logprobs: true")
	}
	return q, nil
}

// ReadChat decodes a body for dialects with the same conversations.
func ReadChat(o *wire.Object) (*request.Request, error) {
	q, err := readChatAs(o, true)
	if err != nil {
		return nil, err
	}
	return q.Request, nil
}

// checkThoughts accepts the values of reasoning_format that separate reasoning from the answer, which is always done
// here.
func checkThoughts(o *wire.Object) error {
	const name = "reasoning_format"
	var format string
	if err := o.Str(name, &format); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "auto", "deepseek"}, format) {
		return wire.NotOffered(name, fmt.Sprintf("%s: %s", name, wire.Sketch(o.Members[name])))
	}
	return nil
}

// takeOptions moves the sampler fields of the object options, which llamafile's clients send, to the top level, where
// given fields take precedence.
func takeOptions(o *wire.Object) (warnings []string, err error) {
	in, err := o.Child("options")
	if in == nil || err != nil {
		return nil, err
	}
	o.Names = slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return name == "options" })
	for _, name := range in.Names {
		switch {
		case !slices.Contains(request.SamplingFields, name):
			warnings = append(warnings, fmt.Sprintf("the field %s is not known and was ignored", in.Path+name))
		case !o.Given(name):
			o.Names, o.Members[name] = append(o.Names, name), in.Members[name]
		}
	}
	return warnings, nil
}

// readContinuation reads whether the answer continues the last message, in vLLM's fields.
func (q *chatRequest) readContinuation(o *wire.Object) error {
	goOn, fresh := false, true
	if err := o.Boolean("continue_final_message", &goOn); err != nil {
		return err
	}
	if goOn {
		fresh = false
	}
	if err := o.Boolean("add_generation_prompt", &fresh); err != nil {
		return err
	}
	if n := len(q.Messages); q.llama && n > 0 && !o.Given("continue_final_message") && !o.Given("add_generation_prompt") {
		if last := q.Messages[n-1]; last.Role != "assistant" || len(last.ToolCalls) > 0 || last.Reasoning != "" {
			return nil
		}
		if n > 1 && q.Messages[n-2].Role == "assistant" {
			return wire.Invalid("messages", "a conversation can't end with two messages of the assistant")
		}
		return q.ContinueLast("messages")
	}
	switch {
	case goOn == fresh && goOn:
		return wire.Invalid("add_generation_prompt", "add_generation_prompt and continue_final_message exclude each other")
	case goOn == fresh:
		return wire.NotOffered("add_generation_prompt", "add_generation_prompt: false without continue_final_message")
	case goOn:
		return q.ContinueLast("messages")
	}
	return nil
}

// readOpenAISampling reads the fields that the endpoints of OpenAI's dialect share.
func readOpenAISampling(q *request.Request, o *wire.Object) error {
	for _, err := range []error{
		q.ReadSampling(o, request.PlainSampling),
		q.CheckTemperature(o, 2),
		o.Number("repetition_penalty", &q.Sampling.RepeatPenalty),
		q.ReadStop(o, "stop"),
		o.Integer("n", &q.N, 1, request.MaxChoices),
		q.ReadOwn(o),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// readBeside reads the fields of beside. The budget must have been read before.
func readBeside(q *request.Request, o *wire.Object) error {
	for _, err := range []error{readModeration(q, o), q.ReadMinTokens(o, "min_tokens"), q.ReadSpecial(o)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// readModeration reads moderation. Scores come beside the text, so that nothing is lost but them; a policy that blocks
// texts is refused, since its client relies on it.
func readModeration(q *request.Request, o *wire.Object) error {
	const name = "moderation"
	if !o.Given(name) || wire.OffValue(o.Members[name]) {
		return nil
	}
	m, err := o.Child(name)
	if err != nil {
		return err
	}
	policy, err := m.Child("policy")
	if err != nil {
		return err
	}
	for _, of := range []string{"input", "output"} {
		if policy == nil {
			break
		}
		side, mode := (*wire.Object)(nil), ""
		if side, err = policy.Child(of); side == nil && err == nil {
			continue
		}
		if err == nil {
			err = side.OneOf("mode", &mode, "score", "block")
		}
		if err != nil {
			return err
		}
		if mode == "block" {
			return wire.NotOffered(side.Path+"mode", side.Path+`mode "block"`)
		}
	}
	q.Warnings = append(q.Warnings, "moderation was ignored: nothing is moderated here, and the answer has no scores")
	return nil
}

// readStreaming reads stream and stream_options.
func readStreaming(q *request.Request, o *wire.Object, includeUsage *bool) error {
	if err := o.Boolean("stream", &q.Stream); err != nil {
		return err
	}
	opt, err := o.Child("stream_options")
	if opt == nil || err != nil {
		return err
	}
	if !q.Stream {
		return wire.Invalid("stream_options", "stream_options needs stream: true")
	}
	return opt.Boolean("include_usage", includeUsage)
}

// readThinkingBudget reads the reasoning budget under llama-server's names: -1 is no limit, 0 is no reasoning.
func (q *chatRequest) readThinkingBudget(o *wire.Object) error {
	for _, name := range []string{"thinking_budget_tokens", "reasoning_budget_tokens"} {
		n := -1
		if err := o.Integer(name, &n, -1, request.MaxTokensLimit); err != nil {
			return err
		}
		switch {
		case n == 0:
			q.Reasoning = false
			q.Effort("none")
		case n > 0:
			q.ThinkTokens = n
		}
	}
	if err := o.Str("reasoning_budget_message", &q.ThinkOver); err != nil {
		return err
	}
	if len(q.ThinkOver) > request.MaxThinkOver {
		return wire.Invalid("reasoning_budget_message", "reasoning_budget_message has %d bytes, at most %d are possible", len(q.ThinkOver), request.MaxThinkOver)
	}
	return nil
}

// readModalities refuses any output but text.
func (q *chatRequest) readModalities(o *wire.Object) error {
	var list []string
	if err := o.Decode("modalities", &list, "an array of strings"); err != nil {
		return err
	}
	for _, m := range list {
		if m != "text" {
			return wire.NotOffered("modalities", fmt.Sprintf("the modality %q", m))
		}
	}
	return nil
}

// readTemplateVariables reads the variables of the model's chat template.
func (q *chatRequest) readTemplateVariables(o *wire.Object) error {
	if err := o.Decode("chat_template_kwargs", &q.Variables, "an object"); err != nil {
		return err
	}
	effort := ""
	if err := o.OneOf("reasoning_effort", &effort, request.Efforts...); err != nil {
		return err
	}
	if effort != "" {
		q.Effort(effort)
	}
	return nil
}

// readChatMessages reads a conversation as OpenAI's clients send it, including earlier answers.
func (q *chatRequest) readChatMessages(o *wire.Object) error {
	if !o.Given("messages") {
		return wire.Invalid("messages", "messages is missing")
	}
	list, err := o.List("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return wire.Invalid("messages", "messages must not be empty")
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

func readChatMessage(m *wire.Object) (chat.Message, error) {
	var one chat.Message
	if !m.Given("role") {
		return one, wire.Invalid(m.Path+"role", "%srole is missing", m.Path)
	}
	if err := m.OneOf("role", &one.Role, "system", "developer", "user", "assistant", "tool", "function"); err != nil {
		return one, err
	}
	if one.Role == "function" { // from clients that use functions
		one.Role = "tool"
	}
	for _, err := range []error{
		m.Str("name", &one.Name),
		m.Str("tool_call_id", &one.ToolCallID),
		m.Str("reasoning_content", &one.Reasoning),
		request.ReadMessageContent(m, &one),
		request.ReadPastCalls(m, &one),
		readPastFunction(m, &one),
	} {
		if err != nil {
			return one, err
		}
	}
	none := one.Role == "tool" && m.Members["content"] != nil // null is the result of a tool that has none
	if !m.Given("content") && one.Role != "assistant" && !none {
		return one, wire.Invalid(m.Path+"content", "%scontent is missing", m.Path)
	}
	if one.Role == "tool" && one.ToolCallID == "" && one.Name == "" {
		return one, wire.Invalid(m.Path+"tool_call_id", "%stool_call_id is missing", m.Path)
	}
	return one, nil
}
