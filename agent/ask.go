package agent

import (
	"context"
	"encoding/json"
)

// An Asker sends questions to a model. It must be safe for concurrent use.
type Asker interface {
	// Ask returns the model's reply to a conversation. It returns soon after ctx
	// ends, with the error of ctx. An error that wraps ErrNoRoom means that
	// MaxTokens is too small for any answer.
	Ask(ctx context.Context, q *Question) (*Reply, error)
	// CountTokens counts tokens with the model's tokenizer; known is false if
	// there is no tokenizer.
	CountTokens(text string) (n int, known bool)
}

// A Question is one request to the model.
type Question struct {
	Frame     int  // for logs
	Synthesis bool // asks for a synthesis of the conclusions of sub-tasks
	Messages  []Message
	Schema    json.RawMessage // the schema of the answer, enforced if possible
	Tools     []Tool          // tools that the model may call instead of answering
	MaxTokens int             // maximum number of tokens to generate
	Seed      uint64
}

// A Message is a turn of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user, assistant, tool
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`   // with role assistant
	CallID  string `json:"call_id,omitempty"` // with role tool: the call that it answers
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema
}

// A Call is a tool call.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// A Reply is the output of the model: a text, or tool calls.
type Reply struct {
	Text  string
	Raw   string // the text before it was cleaned and repaired; "": Text
	Calls []Call

	PromptTokens     int
	CompletionTokens int
	Surprise         *float64 // 1 - the geometric mean probability of the sampled tokens; nil: unknown
	Constrained      bool     // masks enforced the schema
}

// A Toolbox is a set of tools. It must be safe for concurrent use.
type Toolbox interface {
	Tools() []Tool
	// Call runs a tool and returns the text for the model, which describes the
	// error if the call failed.
	Call(ctx context.Context, name string, arguments json.RawMessage) string
}
