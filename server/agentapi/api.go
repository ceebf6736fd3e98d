package agentapi

import (
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/generation"
)

// Handlers answers POST /agent/run.
type Handlers struct {
	*generation.Service
	Settings
	counts  counts
	waiting *pausedRuns
}

// Settings are what runs of agents get and may ask for.
type Settings struct {
	Tools       agent.Toolbox  // nil: nothing
	Prompts     *agent.Prompts // nil: the default ones
	Bounds      agent.Bounds   // the most that a run may ask for
	Paused      int            // runs kept that wait for their users
	PausedBytes int64          // what they may occupy together
	PausedTime  time.Duration  // how long they wait
}

// New returns an agentAPI that asks the models of a service.
func New(s *generation.Service, set Settings) *Handlers {
	return &Handlers{
		Service: s, Settings: set, counts: newCounts(),
		waiting: &pausedRuns{number: set.Paused, bytes: set.PausedBytes, time: set.PausedTime, runs: map[string]*pausedRun{}},
	}
}
