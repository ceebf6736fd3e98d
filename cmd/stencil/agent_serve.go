package main

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/agent/files"
	"github.com/stencil-json/stencil/server"
)

// agentServeFlags configure and limit agent runs.
type agentServeFlags struct {
	folder  string
	prompts string
}

func (f *agentServeFlags) register(flags *pflag.FlagSet, c *server.Config) {
	most := &server.MaxAgentBounds
	flags.StringVar(&f.folder, "agent-folder", "", "folder that agents may read through file tools (default: no tools)")
	flags.StringVar(&f.prompts, "agent-prompts", "", "file of agent prompts; 'stencil agent --print-prompts' prints the default")
	flags.IntVar(&c.AgentBounds.Depth, "agent-max-depth", most.Depth, "upper limit for bounds.depth of a run")
	flags.IntVar(&c.AgentBounds.Frames, "agent-max-frames", most.Frames, "upper limit for bounds.frames of a run")
	flags.IntVar(&c.AgentBounds.Tokens, "agent-max-tokens", most.Tokens, "upper limit for bounds.tokens of a run")
	flags.DurationVar(&c.AgentBounds.Time, "agent-max-time", most.Time, "upper limit for bounds.seconds of a run")
	flags.IntVar(&c.AgentPaused, "agent-paused", 64, "maximum number of paused runs to keep")
	flags.Int64Var(&c.AgentPausedBytes, "agent-paused-bytes", 64<<20, "maximum memory for paused runs in bytes")
	flags.DurationVar(&c.AgentPausedTime, "agent-paused-time", time.Hour, "time after which a paused run is discarded")
	group(flags, "Agents")
}

// resultBytes returns the maximum length of a tool result: as many bytes as the
// context has tokens, which takes about a quarter of the context.
func resultBytes(context int) int { return min(usualResult, max(leastResult, context)) }

// usualResult is the default of package files; leastResult is the smallest maximum
// length.
const (
	usualResult = 16 << 10
	leastResult = 1 << 10
)

// open reads the files that the flags name into a server configuration. context is
// the context size in tokens, 0 if unknown. The returned function closes the folder.
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
	return func() { _ = box.Close() }, nil // the folder was only read from
}

// contextTokens returns the context size of the served model in tokens; 0 if it is
// unknown, as for an upstream.
func (f *serveFlags) contextTokens() int {
	if f.upstream.given() && f.model.path == "" {
		return 0
	}
	return cmp.Or(f.model.context.Size, usualContext)
}

// usualContext is the assumed context size if --context is not given, as the model
// is not loaded yet.
const usualContext = 4096
