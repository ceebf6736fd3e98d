package server

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stencil/chat"
	"stencil/decoder/sampling"
)

var (
	ollamaShared   = slices.Concat([]string{"model", "stream", "format", "options", "think", "logprobs", "top_logprobs"}, ownFields)
	ollamaHarmless = append([]string{"truncate", "shift", "_debug_render_only"}, harmlessFields...)

	// ollamaChatNames and ollamaGenerateNames are the fields of POST /api/chat
	// and /api/generate.
	ollamaChatNames = names{
		known:      append([]string{"messages", "tools", "tool_choice"}, ollamaShared...),
		constraint: append([]string{"format"}, ollamaConstraint...),
		harmless:   ollamaHarmless,
		refused:    []string{"prompt", "images", "response_format", "structured_outputs", "json_schema", "json_mode", "schema", "grammar", "regex", "choice"},
	}
	ollamaGenerateNames = names{
		known:      append([]string{"prompt", "system", "raw"}, ollamaShared...),
		constraint: append([]string{"format"}, ollamaConstraint...),
		harmless:   ollamaHarmless,
		refused: []string{
			"suffix", "template", "context", "images", "width", "height", "steps", "messages", "tools",
			"response_format", "structured_outputs", "json_schema", "json_mode", "schema", "grammar", "regex", "choice",
		},
	}
	ollamaConstraint = []string{"property_order", "whitespace", "on_unsupported", "strict"}

	// ollamaOptions are the names in options.
	ollamaOptions = names{
		known: slices.Concat([]string{"num_predict", "stop"}, samplingFields),
		harmless: []string{
			"num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "use_mlock", "num_thread", "num_keep", "numa", "low_vram", "f16_kv",
			"vocab_only", "penalize_newline", "draft_num_predict",
		},
		refused: []string{"mirostat", "mirostat_tau", "mirostat_eta", "tfs_z"},
	}
)

// ollamaSampling are Ollama's defaults.
var ollamaSampling = sampling.Options{Temperature: 0.8, TopK: 40, TopP: 0.9, RepeatPenalty: 1.1, RepeatLastN: 64}

// readOllama reads what /api/chat and /api/generate share.
func (q *ollamaRequest) readOllama(o *object, fields *names) error {
	var err error
	if q.Warnings, err = fields.check(o); err != nil {
		return err
	}
	q.Stream = true
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return o.boolean("stream", &q.Stream) },
		func() error { return o.boolean("logprobs", &q.Logprobs) },
		func() error { return o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs) },
		func() error { return q.readOwn(o) },
		func() error { return q.readOllamaFormat(o) },
		func() error { return q.readOllamaOptions(o) },
		func() error { return q.readThink(o) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	if q.TopLogprobs > 0 {
		q.Logprobs = true
	}
	if q.Model == "" {
		return invalid("model", "model is required")
	}
	return nil
}

// readOllamaFormat reads format: nothing, "json", or a schema.
func (q *ollamaRequest) readOllamaFormat(o *object) error {
	c := &q.Constraint
	if err := c.readOptions(o); err != nil {
		return err
	}
	if err := o.boolean("strict", &c.Strict); err != nil {
		return err
	}
	if !o.given("strict") {
		c.Strict = false
	}
	if !o.given("format") {
		return nil
	}
	var word string
	if json.Unmarshal(o.members["format"], &word) == nil {
		switch word {
		case "":
			return nil
		case "json":
			return c.setObject("format")
		}
	}
	if raw := string(o.members["format"]); !strings.HasPrefix(raw, "{") {
		return o.wrongType("format", `"json" or a JSON Schema`)
	}
	return c.set(o, "format", "schema")
}

// readOllamaOptions reads options.
func (q *ollamaRequest) readOllamaOptions(o *object) error {
	opt, err := o.child("options")
	if err != nil {
		return err
	}
	if opt == nil {
		opt = &object{path: "options."}
	}
	more, err := ollamaOptions.check(opt)
	if err != nil {
		return err
	}
	for _, w := range more {
		q.Warnings = append(q.Warnings, "options: "+w)
	}
	if err := q.readSampling(opt, ollamaSampling); err != nil {
		return err
	}
	if err := q.readStop(opt, "stop"); err != nil {
		return err
	}
	predict := -1
	if err := opt.integer("num_predict", &predict, -2, maxTokensLimit); err != nil {
		return err
	}
	if opt.given("num_predict") && predict == 0 {
		return invalid("options.num_predict", "options.num_predict must be at least 1, or -1 for no limit of its own")
	}
	q.MaxTokens = max(predict, 0)
	return nil
}

// readThink reads whether and how much the model is to think.
func (q *ollamaRequest) readThink(o *object) error {
	if !o.given("think") {
		return nil
	}
	if json.Unmarshal(o.members["think"], &q.Reasoning) == nil {
		if !q.Reasoning {
			q.effort("none")
		}
		return nil
	}
	effort := ""
	if err := o.oneOf("think", &effort, "low", "medium", "high"); err != nil {
		return err
	}
	q.Reasoning = true
	q.effort(effort)
	return nil
}

// readOllamaChat decodes the body of POST /api/chat.
func readOllamaChat(o *object) (*ollamaRequest, error) {
	q := &ollamaRequest{newQuery()}
	if err := q.readOllama(o, &ollamaChatNames); err != nil {
		return nil, err
	}
	list, err := o.list("messages")
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		one, err := readOllamaMessage(m)
		if err != nil {
			return nil, err
		}
		q.Messages = append(q.Messages, one)
	}
	if err := q.readTools(o); err != nil {
		return nil, err
	}
	return q, q.readToolChoice(o)
}

func readOllamaMessage(m *object) (chat.Message, error) {
	var one chat.Message
	if !m.given("role") {
		return one, invalid(m.path+"role", "%srole is missing", m.path)
	}
	var images []json.RawMessage
	for _, err := range []error{
		m.oneOf("role", &one.Role, "system", "developer", "user", "assistant", "tool"),
		m.str("content", &one.Content),
		m.str("thinking", &one.Reasoning),
		m.str("tool_name", &one.Name),
		m.str("tool_call_id", &one.ToolCallID),
		m.decode("images", &images, "an array"),
		readPastCalls(m, &one),
	} {
		if err != nil {
			return one, err
		}
	}
	if len(images) > 0 {
		return one, notOffered(m.path+"images", m.path+"images")
	}
	return one, nil
}

// readOllamaGenerate decodes the body of POST /api/generate. A prompt goes
// through the chat template unless it is raw.
func readOllamaGenerate(o *object) (*ollamaRequest, error) {
	q := &ollamaRequest{newQuery()}
	if err := q.readOllama(o, &ollamaGenerateNames); err != nil {
		return nil, err
	}
	prompt, system, raw := "", "", false
	for _, err := range []error{o.str("prompt", &prompt), o.str("system", &system), o.boolean("raw", &raw)} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case prompt == "": // only to load or unload the model
	case raw && system != "":
		return nil, invalid("system", "raw and system exclude each other")
	case raw:
		q.Prompt = &prompt
	default:
		if system != "" {
			q.Messages = append(q.Messages, chat.Message{Role: "system", Content: system})
		}
		q.Messages = append(q.Messages, chat.Message{Role: "user", Content: prompt})
	}
	return q, nil
}

// The answers.

// ollamaReply is a line of a stream, or the whole answer, of both endpoints:
// one has Message, the other Response.
type ollamaReply struct {
	Model      string         `json:"model"`
	CreatedAt  time.Time      `json:"created_at"`
	Message    *ollamaMessage `json:"message,omitempty"`
	Response   *string        `json:"response,omitempty"`
	Thinking   string         `json:"thinking,omitempty"` // beside Response
	Done       bool           `json:"done"`
	DoneReason string         `json:"done_reason,omitempty"`
	Logprobs   []chatToken    `json:"logprobs,omitempty"`
	*ollamaMetrics
	Constraint *receipt `json:"x_constraint,omitempty"`
	appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Thinking string       `json:"thinking,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
}

type ollamaCall struct {
	ID       string         `json:"id,omitempty"`
	Function ollamaFunction `json:"function"`
}

type ollamaFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object, not a string of JSON
}

// ollamaMetrics are in nanoseconds.
type ollamaMetrics struct {
	TotalDuration      time.Duration `json:"total_duration"`
	LoadDuration       time.Duration `json:"load_duration"`
	PromptEvalCount    int           `json:"prompt_eval_count"`
	PromptEvalDuration time.Duration `json:"prompt_eval_duration"`
	EvalCount          int           `json:"eval_count"`
	EvalDuration       time.Duration `json:"eval_duration"`
}

// An ollamaRequest is the body of POST /api/chat or /api/generate.
type ollamaRequest struct{ *query }
