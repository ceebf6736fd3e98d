package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/wire"
)

// This file is about tools of a model behind an upstream. The upstream gets
// them in OpenAI's form, and calls are checked before the client sees them, in
// streams too.

// calls reports whether an upstream's model may call tools.
func (g *run) calls() bool {
	return g.Constraint != nil && g.Constraint.Tools != nil
}

// choose chooses the strategy. Masks that the upstream's engine applies to the
// whole text would prevent calls, unless the engine is stencil or OpenAI's;
// with tools, other upstreams get the format only in the prompt.
func (g *run) choose() {
	caps, format := g.from.client.Capabilities(), g.Format()
	if g.calls() {
		if format == nil {
			g.strategy = asking.ByTools
			return
		}
		if caps.Engine != remote.Stencil && !(caps.Engine == remote.OpenAI && caps.JSONSchema) {
			caps = remote.Capabilities{Engine: remote.OpenAI}
		}
	}
	g.strategy, g.extra = asking.Choose(caps, format)
	g.wrap(caps, format)
}

// addTools adds the callable tools to a request.
func (g *run) addTools(r *remote.Request) {
	for _, t := range g.Constraint.Tools {
		r.Tools = append(r.Tools, remote.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, Strict: t.Strict})
	}
	r.MustCall, r.SingleCall = g.Constraint.Must, !g.Constraint.Parallel
}

// tools returns the tools of a generation for package asking.
func (g *run) tools(ctx context.Context) *asking.Tools {
	out := &asking.Tools{Must: g.Constraint.Must, Single: !g.Constraint.Parallel}
	for _, t := range g.Constraint.Tools {
		out.Names = append(out.Names, t.Name)
	}
	out.Check = func(name string) (repair.Check, bool) {
		i := slices.IndexFunc(g.Constraint.Tools, func(t generation.CompiledTool) bool { return t.Name == name })
		if i < 0 {
			return nil, false
		}
		tool := &g.Constraint.Tools[i]
		return func(arguments []byte) ([]schema.Issue, error) { return tool.Check(ctx, arguments) }, tool.Strict
	}
	return out
}

// identified gives every call a unique ID where the upstream did not.
func identified(list []remote.Call) []remote.Call {
	for i, c := range list {
		if c.ID == "" || slices.ContainsFunc(list[:i], func(other remote.Call) bool { return other.ID == c.ID }) {
			list[i].ID = wire.NewID("call_")
		}
	}
	return list
}

// withIDs returns a conversation in which every call and every result has an
// ID, which some dialects lack. A result without one belongs to the first call
// of its tool that has no result yet.
func withIDs(list []chat.Message) []chat.Message {
	out := slices.Clone(list)
	var open []chat.ToolCall // without a result
	made := 0
	for i := range out {
		m := &out[i]
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for k := range m.ToolCalls {
			if m.ToolCalls[k].ID == "" {
				made++
				m.ToolCalls[k].ID = fmt.Sprintf("call_%d", made)
			}
		}
		open = append(open, m.ToolCalls...)
		if m.Role != "tool" {
			continue
		}
		at := slices.IndexFunc(open, func(c chat.ToolCall) bool {
			if m.ToolCallID != "" {
				return c.ID == m.ToolCallID
			}
			return m.Name == "" || c.Name == m.Name
		})
		if at >= 0 {
			m.ToolCallID = open[at].ID
			open = slices.Delete(open, at, at+1)
		}
	}
	return out
}
