// Package agent builds on constrained JSON: answers with reasoning, confidence
// and a next step, and work that is split into sub-tasks, run as a tree and
// brought together.
//
// It knows neither HTTP nor engines: it asks through an [Asker].
//
// # The envelope
//
// Every answer is an [Envelope]. Where masks can be laid over the model's text,
// [Schema] makes it one; what comes from elsewhere is read by [Parse], which
// takes whatever comes.
//
// # A run
//
// A [Run] is a tree of frames. A frame asks for an answer to its query. If the
// answer is to continue, each of its sub-tasks becomes a frame below it, in
// order of priority, and when all of them have ended the frame asks once more,
// for a synthesis that sees their conclusions:
//
//	ready ──answer──► finalize ──────────────────────────────► done
//	  ▲                 │ continue                              ▲
//	  │ Answer          ▼                                       │
//	waiting ◄─ask_user─ split ─── all sub-tasks ended ──synthesis
//
// The tree is plain data, and which frame is next follows from it alone: the
// first one that can go on, depth first. So a run that waits for its user can
// be written down and go on elsewhere, and several frames at once are the first
// several.
//
// # Bounds
//
// A run ends within its [Bounds]. Reaching one ends in a synthesis of what
// there is, marked with the bound's name: its tokens and its time are set aside
// from the beginning. Of a root without sub-tasks that its user has answered, it
// is one last answer.
package agent
