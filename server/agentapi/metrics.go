package agentapi

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/exposition"
)

// counts holds the metrics of agent runs.
type counts struct {
	active prometheus.Gauge
	runs   exposition.Counts
	frames exposition.Counts // finished frames
	tools  exposition.Counts
	// Tokens saved by envelopes compared with the same content as prose. The
	// difference can have either sign, which a counter can't.
	saved, lost prometheus.Counter
}

func newCounts() counts {
	return counts{
		active: exposition.NewGauge("agent_runs_active", "Agent runs in progress."),
		runs:   exposition.NewCounts("agent_runs_total", "Agent runs that ended or paused, by status and the bound they reached.", "status", "bound"),
		frames: exposition.NewCounts("agent_frames_total", "Agent frames that ended.", "status"),
		tools:  exposition.NewCounts("agent_tool_calls_total", "Tool calls by agents.", "tool"),
		saved:  exposition.NewCounter("agent_prose_tokens_saved_total", "Tokens by which answers of frames were shorter than the same content as prose; stencil_agent_prose_tokens_lost_total has those that were longer."),
		lost:   exposition.NewCounter("agent_prose_tokens_lost_total", "Tokens by which answers of frames were longer than the same content as prose."),
	}
}

// end counts a run that has ended or waits for its user.
func (c *counts) end(out *agent.Outcome, err error) {
	status, bound := agent.StatusFailed, ""
	switch {
	case err == nil:
		status, bound = out.Status, out.Bound
	case errors.Is(err, context.Canceled):
		status = "cancelled"
	case errors.Is(err, agent.ErrTime):
		bound = agent.BoundTime
	case errors.Is(err, agent.ErrNoRoom):
		bound = agent.BoundTokens
	}
	c.active.Dec()
	c.runs.Count(string(status), string(cmp.Or(bound, "none")))
}

// event counts an event of a run with these tools.
func (c *counts) event(e agent.Event, tools func() []agent.Tool) {
	switch e.Type {
	case agent.EventTool:
		name := e.Tool.Name
		if !slices.ContainsFunc(tools(), func(t agent.Tool) bool { return t.Name == name }) {
			name = "other" // a name that the model made up must not become a label
		}
		c.tools.Count(name)
	case agent.EventFinished:
		c.frames.Count(string(e.Frame.Status))
		if n := e.Frame.ProseTokensSaved; n != nil && *n > 0 {
			c.saved.Add(float64(*n))
		} else if n != nil {
			c.lost.Add(float64(-*n))
		}
	}
}

// Metrics returns the collectors for runs, including paused ones.
func (s *Handlers) Metrics() []prometheus.Collector {
	c := &s.counts
	return []prometheus.Collector{c.active, c.runs, c.frames, c.tools, c.saved, c.lost, s.waiting}
}

// Metrics read from the paused runs.
var (
	pausedNumber = exposition.NewReading("agent_paused_runs", "gauge", "Agent runs paused for an answer of their user.")
	pausedBytes  = exposition.NewReading("agent_paused_bytes", "gauge", "Memory of paused agent runs, in bytes.")
	pausedLost   = exposition.NewReading("agent_paused_lost_total", "counter", "Paused agent runs discarded after too long a wait, or to make room.")
)

// Describe implements prometheus.Collector.
func (l *pausedRuns) Describe(to chan<- *prometheus.Desc) {
	for _, r := range []exposition.Reading{pausedNumber, pausedBytes, pausedLost} {
		r.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (l *pausedRuns) Collect(to chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pausedNumber.Read(to, float64(len(l.runs)))
	pausedBytes.Read(to, float64(l.of.Used.Bytes))
	pausedLost.Read(to, float64(l.lost))
}
