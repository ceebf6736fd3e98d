package main

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/pflag"

	"stencil/agent"
	"stencil/agent/files"
	"stencil/server"
)

// agentServeFlags say what runs of agents may use, and how much.
type agentServeFlags struct {
	folder  string
	prompts string
}

func (f *agentServeFlags) register(flags *pflag.FlagSet, c *server.Config) {
	most := &server.MaxAgentBounds
	flags.StringVar(&f.folder, "agent-folder", "", "folder that agents may read: POST /agent/run has tools for it (default: no tools)")
	flags.StringVar(&f.prompts, "agent-prompts", "", "file with the texts that agents are asked with; `stencil agent --print-prompts` prints the usual ones")
	flags.IntVar(&c.AgentBounds.Depth, "agent-max-depth", most.Depth, "the largest bounds.depth of a run")
	flags.IntVar(&c.AgentBounds.Frames, "agent-max-frames", most.Frames, "the largest bounds.frames")
	flags.IntVar(&c.AgentBounds.Tokens, "agent-max-tokens", most.Tokens, "the largest bounds.tokens")
	flags.DurationVar(&c.AgentBounds.Time, "agent-max-time", most.Time, "the largest bounds.seconds")
	flags.IntVar(&c.AgentPaused, "agent-paused", 64, "runs kept that wait for their users")
	flags.Int64Var(&c.AgentPausedBytes, "agent-paused-bytes", 64<<20, "bytes that they may occupy together")
	flags.DurationVar(&c.AgentPausedTime, "agent-paused-time", time.Hour, "time that they wait")
}

// resultBytes is how long the result of a tool may be: as many bytes as the
// context has tokens, which is about a quarter of it.
func resultBytes(context int) int { return min(usualResult, max(leastResult, context)) }

// usualResult is package files' default.
const (
	usualResult = 16 << 10
	leastResult = 1 << 10
)

// open reads what the flags name into a server's configuration. What it returns
// closes the folder. The model's context has so many tokens; 0: nobody knows.
func (f *agentServeFlags) open(c *server.Config, context int) (func(), error) {
	if f.prompts != "" {
		text, err := os.ReadFile(f.prompts)
		if err != nil {
			return nil, err
		}
		if c.AgentPrompts, err = agent.ParsePrompts(string(text)); err != nil {
			return nil, err
		}
	}
	if f.folder == "" {
		return func() {}, nil
	}
	var opt files.Options
	if context > 0 {
		opt.ResultBytes = resultBytes(context)
	}
	box, err := files.Open(f.folder, opt)
	if err != nil {
		return nil, err
	}
	c.AgentTools = box
	return func() { _ = box.Close() }, nil // it was only read
}

// contextTokens is how many tokens the served model's context holds; 0 where nobody
// knows, as behind an API.
func (f *serveFlags) contextTokens() int {
	if f.upstream.given() && f.model.path == "" {
		return 0
	}
	return cmp.Or(f.model.context.Size, usualContext)
}

// usualContext is what any model holds; how much more is known once it is loaded.
const usualContext = 4096
