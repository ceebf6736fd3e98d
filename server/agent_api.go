package server

import (
	"strings"
	"time"

	"stencil/agent"
)

// agentAPI answers POST /agent/run.
type agentAPI struct {
	*service
	agentSettings
	runs    agentCounts
	waiting *pausedRuns
}

// agentSettings are what runs of agents get and may ask for.
type agentSettings struct {
	tools       agent.Toolbox  // nil: nothing
	prompts     *agent.Prompts // nil: the default ones
	bounds      agent.Bounds   // the most that a run may ask for
	paused      int            // runs kept that wait for their users
	pausedBytes int64          // what they may occupy together
	pausedTime  time.Duration  // how long they wait
}

// newAgentAPI returns an agentAPI that asks the models of a service.
func newAgentAPI(s *service, set agentSettings) *agentAPI {
	return &agentAPI{
		service: s, agentSettings: set,
		waiting: &pausedRuns{number: set.paused, bytes: set.pausedBytes, time: set.pausedTime, runs: map[string]*pausedRun{}},
	}
}

// print writes the metrics of runs.
func (s *agentAPI) print(b *strings.Builder) {
	s.runs.print(b)
	s.waiting.print(b)
}
