package sets

import (
	"encoding/json"
)

// A Message is a message of a conversation, in OpenAI's format.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Tool is a function that the model may call, with the JSON Schema of its
// arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// A Case is a conversation and what its answer should be. It is immutable and safe
// for concurrent use.
type Case struct {
	Set       string
	ID        string // unique within the set
	Messages  []Message
	Schema    json.RawMessage // of the document; nil: any object, or calls
	Tools     []Tool          // if not empty, calls are wanted instead of a document
	MaxTokens int             // maximum number of tokens of the answer

	judge judge
	fits  func(Answer) bool
}

// An Answer is the answer of a model to a case.
type Answer struct {
	Document json.RawMessage // nil: the answer contains none
	Calls    []Call
	Stray    []Call // without calls: what looks like calls in the text
}

// A Call is a tool call. The arguments are as the model wrote them, and need not be
// valid JSON.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A Score counts what is right in an answer. Scores can be added.
type Score struct {
	Valid    bool `json:"valid"`    // the document fits the schema, or the calls fit their tools
	Fields   int  `json:"fields"`   // fields that were asked for
	Right    int  `json:"right"`    // fields with the right value, which may be empty
	Wanted   int  `json:"wanted"`   // fields that should not be empty
	Given    int  `json:"given"`    // fields that are not empty
	Hits     int  `json:"hits"`     // fields that should not be empty and are right
	Checked  int  `json:"checked"`  // given values that should occur in the text
	Standing int  `json:"standing"` // given values that do occur in it

	Cause Cause `json:"cause,omitempty"` // why calls are wrong
}

// A Cause says why calls are not those that were wanted.
type Cause string

// The causes. Of several, the first in this order counts.
const (
	UnwantedCall    Cause = "unwanted_call" // none was wanted
	InText          Cause = "in_text"       // the answer has none, but its text holds one of a tool
	Unparsed        Cause = "parse_failure" // the arguments are no object
	NoCall          Cause = "no_call"       // some were wanted
	WrongCount      Cause = "wrong_count"
	WrongFunction   Cause = "wrong_function"
	MissingArgument Cause = "missing_argument"
	ExtraArgument   Cause = "extra_argument" // unknown, or not to be given
	WrongValue      Cause = "wrong_value"    // or one of another type
	Unanswered      Cause = "request_failed" // the server gave no answer
)

// Causes are all causes, in the order of reports.
var Causes = []Cause{WrongFunction, WrongValue, MissingArgument, ExtraArgument, WrongCount, NoCall, InText, UnwantedCall, Unparsed, Unanswered}

// Exact reports whether every field is right.
func (s Score) Exact() bool { return s.Fields > 0 && s.Right == s.Fields }

// judge computes a score without Valid.
type judge interface{ judge(Answer) Score }

// Judge scores an answer.
func (c *Case) Judge(a Answer) Score {
	s := c.judge.judge(a)
	s.Valid = c.fits(a)
	return s
}
