package agent

// An Event tells of a run while it grows.
type Event struct {
	Type    string   `json:"type"`
	Frame   *Frame   `json:"frame,omitempty"` // as it is now; a copy
	Tool    *ToolUse `json:"tool,omitempty"`
	Skipped *Skipped `json:"skipped,omitempty"`
}

// The types of events.
const (
	EventStarted   = "frame"     // a frame is being asked for its answer
	EventSynthesis = "synthesis" // a frame is being asked to bring its sub-tasks together
	EventTool      = "tool"      // a frame has called a tool
	EventAnswer    = "answer"    // a frame has an answer, not its last one: it continues or asks
	EventSkipped   = "skipped"   // a sub-task of a frame will not be run
	EventFinished  = "finished"  // a frame has ended
)
