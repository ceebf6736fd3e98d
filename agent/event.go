package agent

// An Event reports progress of a run.
type Event struct {
	Type    string   `json:"type"`
	Frame   *Frame   `json:"frame,omitempty"` // a copy of its current state
	Tool    *ToolUse `json:"tool,omitempty"`
	Skipped *Skipped `json:"skipped,omitempty"`
}

// The types of events.
const (
	EventStarted   = "frame"     // a frame asks the model for an answer
	EventSynthesis = "synthesis" // a frame asks the model for a synthesis
	EventTool      = "tool"      // a frame has called a tool
	EventAnswer    = "answer"    // a frame has an answer and continues, or asks the user
	EventSkipped   = "skipped"   // a sub-task of a frame will not be run
	EventFinished  = "finished"  // a frame has ended
)
