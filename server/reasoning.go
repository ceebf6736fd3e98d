package server

import (
	"strings"

	"stencil/engine"
	"stencil/vocab"
)

// How reasoning is marked in a text: as DeepSeek's and Qwen's models do it, and
// most that came after them.
const (
	thinkOpening = "<think>\n"
	thinkMarker  = "</think>"
	thinkGap     = "\n\n" // between the marker and the answer
)

// reason puts reasoning before the answer of a generation: free text, of as many
// tokens as it may have, and then whatever the rule says.
func (g *generation) reason() {
	v, q := g.model.engine.Vocab(), g.query
	list := []engine.Segment{
		{Kind: engine.SegmentFree, Text: thinkMarker, Tokens: q.ThinkTokens},
		{Kind: engine.SegmentGiven, Text: thinkGap},
	}
	if !begunToThink(v, g.request.Prompt) {
		list = append([]engine.Segment{{Kind: engine.SegmentGiven, Text: thinkOpening}}, list...)
		g.layout.opening = thinkOpening
	}
	g.layout.think = thinkMarker + thinkGap
	for i := range list {
		list[i].Next = i + 1
	}
	shift := len(list)
	switch {
	case g.rule == nil || g.rule.free:
		list = append(list, engine.Segment{Kind: engine.SegmentFree, MayEnd: true})
	case g.rule.segments == nil:
		list = append(list, engine.Segment{Kind: engine.SegmentDocument, Grammar: g.rule.bound, MayEnd: true})
	default:
		for _, s := range g.rule.segments {
			s.Next += shift
			s.Or += shift
			list = append(list, s)
		}
	}
	g.request.Constraint = engine.Segments(v, list)
}

// begunToThink reports whether a prompt ends with the marker that begins
// reasoning, as the templates of some models do.
func begunToThink(v *vocab.Vocab, prompt []int32) bool {
	const last = 8 // tokens that the marker and a line break may take
	var b strings.Builder
	for _, t := range prompt[max(0, len(prompt)-last):] {
		if text := v.Bytes(t); len(text) > 0 {
			b.Write(text)
		} else {
			b.WriteString(v.Text(t))
		}
	}
	return strings.HasSuffix(strings.TrimSpace(b.String()), strings.TrimSpace(thinkOpening))
}
