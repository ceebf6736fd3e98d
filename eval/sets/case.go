package sets

import (
	"encoding/json"
)

// A Message is one of a conversation, in OpenAI's form.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Tool is a function that may be called, with the JSON Schema of its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// A Case is a conversation and what its answer should be. It is not changed once
// made, and may be shared.
type Case struct {
	Set       string
	ID        string // unique within the set
	Messages  []Message
	Schema    json.RawMessage // of the document; nil: any object, or calls
	Tools     []Tool          // not empty: calls are asked for, not a document
	MaxTokens int             // what the answer may have

	judge judge
	fits  func(Answer) bool
}

// An Answer is what a model made of a case.
type Answer struct {
	Document json.RawMessage // nil: none was found in what it wrote
	Calls    []Call
}

// A Call is a call of a tool. The arguments are what the model wrote, which need
// not be JSON.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A Score counts what is right in an answer. Sums of scores are scores.
type Score struct {
	Valid    bool `json:"valid"`    // a document that fits the schema, or calls that fit their tools
	Fields   int  `json:"fields"`   // that were asked for
	Right    int  `json:"right"`    // of them, those that hold what they should, nothing included
	Wanted   int  `json:"wanted"`   // fields that should hold something
	Given    int  `json:"given"`    // fields that hold something
	Hits     int  `json:"hits"`     // fields that should hold something and hold it
	Checked  int  `json:"checked"`  // values given that should stand in the text
	Standing int  `json:"standing"` // of them, those that do
}

// Exact tells whether every field is right.
func (s Score) Exact() bool { return s.Fields > 0 && s.Right == s.Fields }

// judge counts what is right; Valid is not its business.
type judge interface{ judge(Answer) Score }

// Judge counts what is right in an answer.
func (c *Case) Judge(a Answer) Score {
	s := c.judge.judge(a)
	s.Valid = c.fits(a)
	return s
}
