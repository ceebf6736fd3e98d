package upstream

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/server/generation"
)

// leavesRoom reports whether an upstream's text may have a block of signals after
// the answer, which it can't if the upstream enforces a format.
func (g *run) leavesRoom() bool { return len(g.extra) == 0 || g.Signals.Wrapped }

// warnOfSignals adds warnings about signals that an upstream can't provide.
func (g *run) warnOfSignals() {
	q := g.Request
	switch {
	case g.Signals == nil:
	case !g.leavesRoom():
		q.Warnings = append(q.Warnings, "the upstream keeps its text to the format by itself, which leaves no room for signals")
	case q.PromptSchema == "never":
		generation.Instructed(q, "", nil)
	}
	if g.Signals != nil && !g.from.client.Capabilities().Logprobs {
		q.Warnings = append(q.Warnings, "the upstream gives no probabilities, so that surprise is not measured")
	}
}

// wrap makes an upstream enforce an object of the answer and the signals, if that
// doesn't affect the answer: not if its schema has references, which would then
// point elsewhere, nor if its tokens are requested.
func (g *run) wrap(caps remote.Capabilities, f *asking.Format) {
	if g.Signals == nil || f == nil || !f.JSON || len(g.extra) == 0 || g.calls() || g.Request.Logprobs {
		return
	}
	switch g.strategy {
	case asking.Native, asking.Structured, asking.StructuredLogprobs:
	default:
		return
	}
	var schema map[string]any
	if json.Unmarshal(f.Schema, &schema) != nil || refers(schema) {
		return
	}
	both := *f
	both.Schema = json.RawMessage(fmt.Sprintf(
		`{"type":"object","properties":{"answer":%s,"signals":%s},"required":["answer","signals"],"additionalProperties":false}`, f.Schema, signals.Plain()))
	if strategy, extra := asking.Choose(caps, &both); strategy == g.strategy {
		g.extra, g.Signals.Wrapped = extra, true
	}
}

// refers reports whether a schema may have references, or identifiers for them.
func refers(schema any) bool {
	switch v := schema.(type) {
	case map[string]any:
		for name, x := range v {
			if strings.HasPrefix(name, "$") && name != "$comment" || name == "id" && isText(x) || refers(x) {
				return true
			}
		}
	case []any:
		for _, x := range v {
			if refers(x) {
				return true
			}
		}
	}
	return false
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
