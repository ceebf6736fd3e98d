// Package background runs what goes on after its client has gone: each run has its place among a bounded number, a state
// that can be asked for, and events that clients follow, from any of them on.
package background
