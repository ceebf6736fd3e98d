package agentapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"stencil/agent"
	"stencil/server/exposition"
)

// counts counts what runs of agents do.
type counts struct {
	mu     sync.Mutex
	active int
	runs   map[string]uint64 // by status and bound, as labels
	frames map[string]uint64 // that have ended, by status
	tools  map[string]uint64 // calls by name
	// What envelopes took against the same content as prose: the difference can
	// have either sign, and a counter can't.
	saved, lost uint64
}

func (c *counts) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active++
}

// end counts a run that has ended, or waits for its user.
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active--
	exposition.CountOf(&c.runs, fmt.Sprintf("status=%q,bound=%q", status, cmp.Or(bound, "none")))
}

// event counts what happens in a run with these tools.
func (c *counts) event(e agent.Event, tools func() []agent.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Type {
	case agent.EventTool:
		name := e.Tool.Name
		if !slices.ContainsFunc(tools(), func(t agent.Tool) bool { return t.Name == name }) {
			name = "other" // what a model makes up is no label
		}
		exposition.CountOf(&c.tools, name)
	case agent.EventFinished:
		exposition.CountOf(&c.frames, string(e.Frame.Status))
		if n := e.Frame.TokensSaved; n != nil && *n > 0 {
			c.saved += uint64(*n)
		} else if n != nil {
			c.lost += uint64(-*n)
		}
	}
}

func (c *counts) print(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	exposition.Family(b, "agent_runs_active", "gauge", "Runs of agents that are worked on.")
	fmt.Fprintf(b, "stencil_agent_runs_active %d\n", c.active)
	exposition.Family(b, "agent_runs_total", "counter", "Runs of agents that ended or stopped to ask their user, by status and the bound they reached.")
	for _, labels := range slices.Sorted(maps.Keys(c.runs)) {
		fmt.Fprintf(b, "stencil_agent_runs_total{%s} %d\n", labels, c.runs[labels])
	}
	exposition.PrintCounts(b, "agent_frames_total", "Frames of agents that ended.", "status", c.frames)
	exposition.PrintCounts(b, "agent_tool_calls_total", "Calls of tools by agents.", "tool", c.tools)
	exposition.Family(b, "agent_tokens_saved_total", "counter", "Tokens by which answers of frames were shorter than the same content as prose; stencil_agent_tokens_lost_total has those that were longer.")
	fmt.Fprintf(b, "stencil_agent_tokens_saved_total %d\n", c.saved)
	exposition.Family(b, "agent_tokens_lost_total", "counter", "Tokens by which answers of frames were longer than the same content as prose.")
	fmt.Fprintf(b, "stencil_agent_tokens_lost_total %d\n", c.lost)
}

// print writes what waits.
func (l *pausedRuns) print(b *strings.Builder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	exposition.Family(b, "agent_paused_runs", "gauge", "Runs of agents that wait for their users.")
	fmt.Fprintf(b, "stencil_agent_paused_runs %d\n", len(l.runs))
	exposition.Family(b, "agent_paused_bytes", "gauge", "What they occupy.")
	fmt.Fprintf(b, "stencil_agent_paused_bytes %d\n", l.used)
	exposition.Family(b, "agent_paused_lost_total", "counter", "Runs that waited too long, or made room for others.")
	fmt.Fprintf(b, "stencil_agent_paused_lost_total %d\n", l.lost)
}
