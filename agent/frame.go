package agent

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
)

// A Status is how far a frame or a run has come.
type Status string

// The statuses.
const (
	StatusReady   Status = "ready"   // to be asked
	StatusRunning Status = "running" // is being asked
	StatusWaiting Status = "waiting" // for its user
	StatusSplit   Status = "split"   // for its sub-tasks
	StatusDone    Status = "done"
	StatusFailed  Status = "failed" // Error says why
)

// A Frame is a query and what came of it.
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
	Constrained bool      `json:"constrained"`           // masks made it one
	Synthesized bool      `json:"synthesized,omitempty"` // it brings sub-tasks together
	Bound       string    `json:"bound,omitempty"`       // what kept it from doing all it wanted
	Error       string    `json:"error,omitempty"`       // why there is no conclusion

	Children []int     `json:"children,omitempty"` // in order of priority
	Skipped  []Skipped `json:"skipped,omitempty"`
	Tools    []ToolUse `json:"tools,omitempty"`

	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	TokensSaved      *int     `json:"tokens_saved,omitempty"` // against the same content in prose, where there is a tokenizer
	Surprise         *float64 `json:"surprise,omitempty"`
	TimeMS           float64  `json:"time_ms"` // of asking, tools included

	// The conversation, without the system text.
	Messages []Message `json:"messages,omitempty"`
	// Place is the way from the root, which seeds are made of.
	Place []int `json:"place,omitempty"`
	Asked int   `json:"asked,omitempty"` // questions put to the model
}

// ended reports whether nothing more will come of a frame.
func (f *Frame) ended() bool { return f.Status == StatusDone || f.Status == StatusFailed }

// A Skipped sub-task is one that was not run.
type Skipped struct {
	SubTask
	Reason string `json:"reason"`          // a bound, or "repeated"
	Frame  int    `json:"frame,omitempty"` // of a repeated one: where it was asked first
}

// reasonRepeated is the reason to skip what was asked before.
const reasonRepeated = "repeated"

// A ToolUse is a call that a frame has made.
type ToolUse struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Bytes     int             `json:"bytes"` // of the result
	TimeMS    float64         `json:"time_ms"`
}

// key is equal for queries that ask for the same: case, spaces and what stands at
// the end of a sentence make no difference.
func key(query string) string {
	words := strings.Join(strings.Fields(strings.ToLower(query)), " ")
	bare := strings.TrimRightFunc(words, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	return cmp.Or(bare, words)
}
