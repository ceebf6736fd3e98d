package server

import (
	"regexp"
)

// This file is about upstreams that keep a text to a schema by themselves. Nothing
// may follow the document there, so that it is made a member of an object, with the
// signals beside it.

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
