package agent

import (
	"context"
	"encoding/json"
)

// An Asker asks a model. It is used by several goroutines at once.
type Asker interface {
	// Ask has the model go on with a conversation. It returns soon after ctx
	// ends, with its error. An error that wraps ErrNoRoom says that the tokens
	// are too few for an answer.
	Ask(ctx context.Context, q *Question) (*Reply, error)
	// CountTokens counts with the model's tokenizer; known is false where there
	// is none to count with.
	CountTokens(text string) (n int, known bool)
}

// A Question is what a model is asked.
type Question struct {
	Frame     int  // for logs
	Synthesis bool // of the conclusions of sub-tasks
	Messages  []Message
	Schema    json.RawMessage // what the answer is to fit, where that can be had
	Tools     []Tool          // may be called instead of answering
	MaxTokens int             // to generate
	Seed      uint64
}

// A Message is a turn of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user, assistant, tool
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`   // of an assistant
	CallID  string `json:"call_id,omitempty"` // of a tool: which call it answers
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema
}

// A Call is a call of a tool.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// A Reply is what a model says: a text, or calls.
type Reply struct {
	Text  string
	Calls []Call

	PromptTokens     int
	CompletionTokens int
	Surprise         *float64 // 1 - the geometric mean of the probabilities of what was sampled; nil: not known
	Constrained      bool     // a mask made the text fit the schema
}

// A Toolbox holds tools. It is used by several goroutines at once.
type Toolbox interface {
	Tools() []Tool
	// Call returns the result as the model is to read it; so does what went
	// wrong come back.
	Call(ctx context.Context, name string, arguments json.RawMessage) string
}
