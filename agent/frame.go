package agent

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
)

// A Status is the state of a frame or a run.
type Status string

// The statuses.
const (
	StatusReady   Status = "ready"   // waits for its turn
	StatusRunning Status = "running" // waits for the model
	StatusWaiting Status = "waiting" // waits for the user
	StatusSplit   Status = "split"   // waits for its sub-tasks
	StatusDone    Status = "done"
	StatusFailed  Status = "failed" // Error says why
)

// A Frame is a node of the tree: a query and its result.
type Frame struct {
	ID       int    `json:"id"` // from 1, the root
	Parent   int    `json:"parent,omitempty"`
	Depth    int    `json:"depth"` // 1 for the root
	Query    string `json:"query"`
	Priority int    `json:"priority,omitempty"`
	Status   Status `json:"status"`

	Conclusion  string    `json:"conclusion,omitempty"`
	Confidence  float64   `json:"confidence"`
	Envelope    *Envelope `json:"envelope,omitempty"`    // the last one
	Constrained bool      `json:"constrained"`           // masks enforced the envelope
	Synthesized bool      `json:"synthesized,omitempty"` // the envelope is a synthesis
	Bound       string    `json:"bound,omitempty"`       // the bound that limited it, if any
	Error       string    `json:"error,omitempty"`       // why there is no conclusion
	Invalid     string    `json:"invalid,omitempty"`     // why the envelope is not valid, such as an error that the model reports

	Children []int     `json:"children,omitempty"` // in order of priority
	Skipped  []Skipped `json:"skipped,omitempty"`
	Tools    []ToolUse `json:"tools,omitempty"`

	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	ProseTokensSaved *int     `json:"prose_tokens_saved,omitempty"` // by the envelopes, compared with Prose; nil without a tokenizer
	Surprise         *float64 `json:"surprise,omitempty"`
	TimeMS           float64  `json:"time_ms"` // time spent on its questions, tools included

	// The conversation, without the system text.
	Messages []Message `json:"messages,omitempty"`
	// Place is the path from the root, from which seeds are derived.
	Place []int `json:"place,omitempty"`
	Asked int   `json:"asked,omitempty"` // questions put to the model
}

// ended reports whether a frame is done or has failed.
func (f *Frame) ended() bool { return f.Status == StatusDone || f.Status == StatusFailed }

// A Skipped sub-task is one that was not run.
type Skipped struct {
	SubTask
	Reason string `json:"reason"`          // a bound, or "repeated"
	Frame  int    `json:"frame,omitempty"` // for a repeated sub-task: the frame of its first occurrence
}

// reasonRepeated is the reason for skipping a query that another frame has.
const reasonRepeated = "repeated"

// A ToolUse is a call that a frame has made.
type ToolUse struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Bytes     int             `json:"bytes"` // size of the result
	TimeMS    float64         `json:"time_ms"`
}

// key normalises a query, to recognise repeated ones: case, white space and final
// punctuation are ignored.
func key(query string) string {
	words := strings.Join(strings.Fields(strings.ToLower(query)), " ")
	bare := strings.TrimRightFunc(words, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	return cmp.Or(bare, words)
}
