package assess

import (
	"regexp"

	"github.com/stencil-json/stencil/server/wire"
)

// This file is for upstreams that enforce a schema themselves. Nothing may follow
// the document there, so the document becomes a member of an object, with the
// signals beside it.

// wrapped finds the answer within such an object as it arrives.
type wrapped struct {
	Start, End int // position of the answer; -1: not found yet
	scan       wire.Scanner
	at         int // bytes of the answer read
}

// NewWrapped returns a wrapped that has read nothing.
func NewWrapped() *wrapped { return &wrapped{Start: -1, End: -1} }

var wrapBegin = regexp.MustCompile(`^\s*\{\s*"answer"\s*:\s*`)

// wrapHead is more than the longest plausible start of such an object.
const wrapHead = 128

// Read reads the new part of text, which must be all text so far.
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

// Shown returns the answer, as far as it has arrived.
func (w *wrapped) Shown(text string) string {
	switch {
	case w.Start < 0:
		return ""
	case w.End < 0:
		return text[w.Start:]
	}
	return text[w.Start:w.End]
}
