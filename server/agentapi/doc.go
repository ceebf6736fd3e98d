// Package agentapi runs agents for POST /agent/run: each question of a run is a request like any other, and runs that
// wait for their users are kept.
package agentapi
