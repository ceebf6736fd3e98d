package agentapi

import (
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/shares"
)

// Handlers implements POST /agent/run.
type Handlers struct {
	*generation.Service
	Settings
	counts  counts
	waiting *pausedRuns
}

// Settings configure agent runs.
type Settings struct {
	Tools       agent.Toolbox  // nil: none
	Prompts     *agent.Prompts // nil: the default prompts
	Bounds      agent.Bounds   // upper limits of the bounds that a run may request
	Paused      int            // paused runs kept while they wait for their users
	PausedBytes int64          // their total size
	PausedTime  time.Duration  // how long they are kept
}

// New returns handlers whose runs use the models of a service.
func New(s *generation.Service, set Settings) *Handlers {
	return &Handlers{
		Service: s, Settings: set, counts: newCounts(),
		waiting: &pausedRuns{
			time: set.PausedTime, runs: map[string]*pausedRun{},
			of: shares.Shares{Limit: shares.Share{Number: set.Paused, Bytes: set.PausedBytes}},
		},
	}
}
