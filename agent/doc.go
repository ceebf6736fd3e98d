// Package agent works on a query as a tree of sub-tasks, whose nodes are answered in
// constrained JSON: with reasoning, a confidence and a next action.
//
// It knows neither HTTP nor engines: it calls the model through an [Asker].
//
// # The envelope
//
// Every answer is an [Envelope]. For a local model, masks enforce its [Schema]; the
// text of other models is read by [Parse], which accepts any text.
//
// # A run
//
// A [Run] is a tree of frames. A frame asks the model for an answer to its query. If
// the next action of the answer is continue, each sub-task becomes a child frame, in
// order of priority. When all children have ended, the frame asks again, for a
// synthesis of their conclusions:
//
//	ready ──answer──► finalize ──────────────────────────────► done
//	  ▲                 │ continue                              ▲
//	  │ Answer          ▼                                       │
//	waiting ◄─ask_user─ split ─── all sub-tasks ended ──synthesis
//
// The tree is plain data and determines the next frame: the first one that can
// proceed, depth first; with parallelism, the first several. A run that waits for its
// user can therefore be saved and resumed elsewhere.
//
// # Bounds
//
// A run stays within its [Bounds]. When it reaches one, it ends with a synthesis of
// the results so far, marked with the name of the bound; tokens and time for this are
// reserved from the start. If the root has no sub-tasks but an answer of its user, it
// gets one last answer instead.
package agent
