package chat

import (
	"encoding/json"

	"github.com/stencil-json/stencil/chat/jinja"
)

// This file keeps tools, which come again with each request of a conversation, as values of templates.

// A keptTool is a tool whose texts need no guards.
type keptTool struct{ value *jinja.Dict }

const (
	// mostTools is the size in bytes of the tools kept, as JSON, of either generation. Their values take several times as
	// much.
	mostTools = 1 << 20
	// guardAnywhere stands for the guard of a conversation, which is its first unused character from here on.
	guardAnywhere = 0xF0000
)

// keep returns the kept tools among those given, nil for others: these have texts that need guards, or hold characters
// that may be guards.
func (p *Prompts) keep(tools []json.RawMessage) []*keptTool {
	if len(tools) == 0 {
		return nil
	}
	out := make([]*keptTool, len(tools))
	for i, raw := range tools {
		out[i] = p.tools.Get(string(raw), func() (*keptTool, int) { return p.newTool(raw), len(raw) })
	}
	return out
}

func (p *Prompts) newTool(raw json.RawMessage) *keptTool {
	g := guards{prompts: p, guard: guardAnywhere}
	g.first, g.last = p.controls.Ends()
	for _, mark := range []func(string, []string) string{g.spellings, g.everywhere, withoutGuards} {
		g.mark = mark
		g.document(raw)
	}
	value, err := jinja.FromJSON(raw)
	tool, isDict := value.(*jinja.Dict)
	if g.changed || err != nil || !isDict {
		return nil
	}
	tool.Keep()
	return &keptTool{tool}
}

// withoutGuards removes the characters that may be guards.
func withoutGuards(text string, _ []string) string {
	for i, r := range text {
		if r >= guardAnywhere {
			return text[:i]
		}
	}
	return text
}
