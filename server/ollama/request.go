package ollama

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

var (
	ollamaShared   = slices.Concat([]string{"model", "stream", "format", "options", "think", "logprobs", "top_logprobs"}, request.OwnFields)
	ollamaHarmless = append([]string{"truncate", "shift", "_debug_render_only"}, wire.HarmlessFields...)

	// ollamaChatNames and ollamaGenerateNames are the fields of POST /api/chat
	// and /api/generate.
	ollamaChatNames = wire.Names{
		Known:      append([]string{"messages", "tools", "tool_choice"}, ollamaShared...),
		Constraint: append([]string{"format"}, ollamaConstraint...),
		Harmless:   ollamaHarmless,
		Refused:    []string{"prompt", "images", "response_format", "structured_outputs", "json_schema", "json_mode", "schema", "grammar", "regex", "choice"},
	}
	ollamaGenerateNames = wire.Names{
		Known:      append([]string{"prompt", "system", "raw", "suffix", "context"}, ollamaShared...),
		Constraint: append([]string{"format"}, ollamaConstraint...),
		Harmless:   ollamaHarmless,
		Refused: []string{
			"template", "images", "width", "height", "steps", "messages", "tools",
			"response_format", "structured_outputs", "json_schema", "json_mode", "schema", "grammar", "regex", "choice",
		},
	}
	ollamaConstraint = []string{"property_order", "whitespace", "on_unsupported", "open_objects", "strict"}

	// ollamaOptions are the fields of options.
	ollamaOptions = wire.Names{
		Known: slices.Concat([]string{"num_predict", "stop"}, request.SamplingFields),
		Harmless: []string{
			"num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "use_mlock", "num_thread", "num_keep", "numa", "low_vram", "f16_kv",
			"vocab_only", "penalize_newline", "draft_num_predict", "embedding_only", "logits_all",
		},
		Refused: []string{"tfs_z"},
	}
)

// ollamaSampling are Ollama's defaults.
var ollamaSampling = sampling.Options{Temperature: 0.8, TopK: 40, TopP: 0.9, RepeatPenalty: 1.1, RepeatLastN: 64}

// readOllama reads the fields that /api/chat and /api/generate share.
func (q *ollamaRequest) readOllama(o *wire.Object, fields *wire.Names) error {
	var err error
	if q.Warnings, err = fields.Check(o); err != nil {
		return err
	}
	q.Stream = true
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return o.Boolean("stream", &q.Stream) },
		func() error { return o.Boolean("logprobs", &q.Logprobs) },
		func() error { return o.Integer("top_logprobs", &q.TopLogprobs, 0, request.MaxTopLogprobs) },
		func() error { return q.ReadOwn(o) },
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
		return wire.Invalid("model", "model is required")
	}
	return nil
}

// readOllamaFormat reads format: absent, "json", or a schema.
func (q *ollamaRequest) readOllamaFormat(o *wire.Object) error {
	c := &q.Constraint
	if err := c.ReadOptions(o); err != nil {
		return err
	}
	if err := o.Boolean("strict", &c.Strict); err != nil {
		return err
	}
	if !o.Given("strict") {
		c.Strict = false
	}
	if !o.Given("format") {
		return nil
	}
	var word string
	if json.Unmarshal(o.Members["format"], &word) == nil {
		switch word {
		case "":
			return nil
		case "json":
			return c.SetObject("format")
		}
	}
	if raw := string(o.Members["format"]); !strings.HasPrefix(raw, "{") {
		return o.WrongType("format", `"json" or a JSON Schema`)
	}
	return c.Set(o, "format", "schema")
}

// readOllamaOptions reads options.
func (q *ollamaRequest) readOllamaOptions(o *wire.Object) error {
	opt, err := o.Child("options")
	if err != nil {
		return err
	}
	if opt == nil {
		opt = &wire.Object{Path: "options."}
	}
	more, err := ollamaOptions.Check(opt)
	if err != nil {
		return err
	}
	for _, w := range more {
		q.Warnings = append(q.Warnings, "options: "+w)
	}
	if err := q.ReadSampling(opt, ollamaSampling); err != nil {
		return err
	}
	if err := q.ReadStop(opt, "stop"); err != nil {
		return err
	}
	predict := -1
	if err := opt.Integer("num_predict", &predict, -2, request.MaxTokensLimit); err != nil {
		return err
	}
	if opt.Given("num_predict") && predict == 0 {
		return wire.Invalid("options.num_predict", "options.num_predict must be at least 1, or -1 for no limit of its own")
	}
	q.MaxTokens = max(predict, 0)
	return nil
}

// readThink reads think: whether and how much the model reasons.
func (q *ollamaRequest) readThink(o *wire.Object) error {
	if !o.Given("think") {
		return nil
	}
	if json.Unmarshal(o.Members["think"], &q.Reasoning) == nil {
		if !q.Reasoning {
			q.Effort("none")
		}
		return nil
	}
	effort := ""
	if err := o.OneOf("think", &effort, "low", "medium", "high"); err != nil {
		return err
	}
	q.Reasoning = true
	q.Effort(effort)
	return nil
}

// readOllamaChat decodes the body of POST /api/chat.
func readOllamaChat(o *wire.Object) (*ollamaRequest, error) {
	q := &ollamaRequest{Request: request.New()}
	if err := q.readOllama(o, &ollamaChatNames); err != nil {
		return nil, err
	}
	list, err := o.List("messages")
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
	if err := q.ReadTools(o, false); err != nil {
		return nil, err
	}
	return q, q.ReadToolChoice(o)
}

func readOllamaMessage(m *wire.Object) (chat.Message, error) {
	var one chat.Message
	if !m.Given("role") {
		return one, wire.Invalid(m.Path+"role", "%srole is missing", m.Path)
	}
	var images []json.RawMessage
	for _, err := range []error{
		m.OneOf("role", &one.Role, "system", "developer", "user", "assistant", "tool"),
		m.Str("content", &one.Content),
		m.Str("thinking", &one.Reasoning),
		m.Str("tool_name", &one.Name),
		m.Str("tool_call_id", &one.ToolCallID),
		m.Decode("images", &images, "an array"),
		request.ReadPastCalls(m, &one),
	} {
		if err != nil {
			return one, err
		}
	}
	if len(images) > 0 {
		return one, wire.NotOffered(m.Path+"images", m.Path+"images")
	}
	return one, nil
}

// readOllamaGenerate decodes the body of POST /api/generate. The prompt goes through
// the chat template unless raw is set.
func readOllamaGenerate(o *wire.Object) (*ollamaRequest, error) {
	q := &ollamaRequest{Request: request.New()}
	if err := q.readOllama(o, &ollamaGenerateNames); err != nil {
		return nil, err
	}
	prompt, system, raw := "", "", false
	var before []int32
	for _, err := range []error{
		o.Str("prompt", &prompt), o.Str("system", &system), o.Boolean("raw", &raw), o.Str("suffix", &q.suffix), o.Decode("context", &before, "an array of token numbers"),
	} {
		if err != nil {
			return nil, err
		}
	}
	if len(before) > 0 {
		q.Before = before
	}
	switch {
	case q.suffix != "" && system != "":
		return nil, wire.Invalid("system", "suffix and system exclude each other: models fill in text without a conversation")
	case q.Before != nil && (raw || q.suffix != ""):
		return nil, wire.Invalid("context", "context continues a conversation, which a prompt with raw or suffix is not")
	case q.suffix != "":
		q.Prompt = &prompt
	case prompt == "": // only to load or unload the model
	case raw && system != "":
		return nil, wire.Invalid("system", "raw and system exclude each other")
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

// Replies.

// ollamaReply is a line of a stream, or the whole answer, of both endpoints: /api/chat
// sets Message, /api/generate sets Response.
type ollamaReply struct {
	Model      string                    `json:"model"`
	CreatedAt  time.Time                 `json:"created_at"`
	Message    *ollamaMessage            `json:"message,omitempty"`
	Response   *string                   `json:"response,omitempty"`
	Thinking   string                    `json:"thinking,omitempty"` // of /api/generate
	Done       bool                      `json:"done"`
	DoneReason string                    `json:"done_reason,omitempty"`
	Logprobs   []generation.TokenLogprob `json:"logprobs,omitempty"`
	Context    []int32                   `json:"context,omitempty"` // of /api/generate: the prompt and the answer, for a request that continues it
	*ollamaMetrics
	Constraint *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
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

// ollamaMetrics holds durations in nanoseconds.
type ollamaMetrics struct {
	TotalDuration      time.Duration `json:"total_duration"`
	LoadDuration       time.Duration `json:"load_duration"`
	PromptEvalCount    int           `json:"prompt_eval_count"`
	PromptEvalDuration time.Duration `json:"prompt_eval_duration"`
	EvalCount          int           `json:"eval_count"`
	EvalDuration       time.Duration `json:"eval_duration"`
}

// An ollamaRequest is the body of POST /api/chat or /api/generate.
type ollamaRequest struct {
	*request.Request
	suffix string // what follows the text; "": the prompt is continued
}
