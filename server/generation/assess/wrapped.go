package assess

import (
	"regexp"

	"github.com/stencil-json/stencil/server/wire"
)

// This file is about upstreams that keep a text to a schema by themselves. Nothing
// may follow the document there, so that it is made a member of an object, with the
// signals beside it.

// wrapped finds the answer in an object of it and the signals, as it comes.
type wrapped struct {
	Start, End int // of the answer; -1: not found yet
	scan       wire.Scanner
	at         int // so much was read of it
}

// NewWrapped returns a Wrapped that has read nothing.
func NewWrapped() *wrapped { return &wrapped{Start: -1, End: -1} }

var wrapBegin = regexp.MustCompile(`^\s*\{\s*"answer"\s*:\s*`)

// wrapHead is longer than any sensible beginning of such an object.
const wrapHead = 128

// Read reads on in a text, of which it is given all that there is.
func (w *wrapped) Read(text string) {
	if w.Start < 0 {
		at := wrapBegin.FindStringIndex(text[:min(len(text), wrapHead)])
		if at == nil || at[1] == len(text) {
			return
		}
		w.Start = at[1]
	}
	for i := w.Start + w.at; i < len(text) && w.End < 0; i++ {
		w.at++
		w.scan.Next(text[i], func(f wire.Field) {
			if f.Pointer == "" {
				w.End = w.Start + f.End
			}
		})
	}
}

// Shown returns the answer, or as much of it as there is.
func (w *wrapped) Shown(text string) string {
	switch {
	case w.Start < 0:
		return ""
	case w.End < 0:
		return text[w.Start:]
	}
	return text[w.Start:w.End]
}
