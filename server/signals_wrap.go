package server

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"stencil/agent/signals"
	"stencil/asking"
	"stencil/backend/remote"
	"stencil/engine"
)

// This file is about upstreams that keep a text to a schema by themselves. Nothing
// may follow the document there, so that it is made a member of an object, with the
// signals beside it.

// wrap has an upstream keep to an object of the answer and the signals, where that
// changes nothing about the answer: not where its schema has references, which
// would point elsewhere, nor where its tokens are asked for.
func (g *generation) wrap(caps remote.Capabilities, f *asking.Format) {
	if g.noted == nil || f == nil || !f.JSON || len(g.extra) == 0 || g.callsThere() || g.query.Logprobs {
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
		g.extra, g.noted.wrapped = extra, true
	}
}

// refers reports whether a schema may have references, or names for them.
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

// wrapped finds the answer in an object of it and the signals, as it comes.
type wrapped struct {
	start, end int // of the answer; -1: not found yet
	scan       scanner
	at         int // so much was read of it
}

func newWrapped() *wrapped { return &wrapped{start: -1, end: -1} }

var wrapBegin = regexp.MustCompile(`^\s*\{\s*"answer"\s*:\s*`)

// wrapHead is longer than any sensible beginning of such an object.
const wrapHead = 128

// read reads on in a text, of which it is given all that there is.
func (w *wrapped) read(text string) {
	if w.start < 0 {
		at := wrapBegin.FindStringIndex(text[:min(len(text), wrapHead)])
		if at == nil || at[1] == len(text) {
			return
		}
		w.start = at[1]
	}
	for i := w.start + w.at; i < len(text) && w.end < 0; i++ {
		w.at++
		w.scan.next(text[i], func(f field) {
			if f.pointer == "" {
				w.end = w.start + f.end
			}
		})
	}
}

// shown returns the answer, or as much of it as there is.
func (w *wrapped) shown(text string) string {
	switch {
	case w.start < 0:
		return ""
	case w.end < 0:
		return text[w.start:]
	}
	return text[w.start:w.end]
}

// unwrap takes the answer and the signals out of an object of both. It reports false
// if the text is none; then nothing changes.
func unwrap(m *message) bool {
	w := newWrapped()
	if w.read(m.Content); w.start < 0 {
		return false
	}
	var both struct{ Signals json.RawMessage }
	if json.Unmarshal([]byte(m.Content), &both) == nil {
		m.Signals = string(both.Signals)
	}
	m.Content = w.shown(m.Content)
	return true
}

// unwrapTokens returns the tokens of the answer in a text.
func unwrapTokens(text string, tokens []engine.Token) []engine.Token {
	w := newWrapped()
	if w.read(text); w.start < 0 {
		return tokens
	}
	after := 0
	if w.end >= 0 {
		after = len(text) - w.end
	}
	return withoutEnd(withoutStart(tokens, w.start), after)
}

// withoutStart drops bytes at the beginning of a list of tokens.
func withoutStart(list []engine.Token, bytes int) []engine.Token {
	for bytes > 0 && len(list) > 0 {
		first := list[0]
		list = list[1:]
		if n := len(first.Bytes); n > bytes {
			first.Bytes = first.Bytes[bytes:]
			return append([]engine.Token{first}, list...)
		}
		bytes -= len(first.Bytes)
	}
	return list
}
