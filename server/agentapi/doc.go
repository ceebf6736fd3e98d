// Package agentapi runs agents for POST /agent/run. Each question of a run is an ordinary request; runs that wait for
// their users are kept.
package agentapi
