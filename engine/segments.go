package engine

import (
	"slices"

	"github.com/stencil-json/stencil/decoder"
)

// A SegmentMatcher follows a text that is constrained in segments. Spans, Held
// and Free are those of *decoder.SequenceMatcher.
type SegmentMatcher interface {
	Matcher
	// Spans returns the segments of the text so far, the current one last.
	Spans() []decoder.Span
	// Finish marks the text as complete, which may change its last span.
	Finish()
	// Held returns how many bytes at the end may become a mark.
	Held() int
	// Free reports whether the text is in a segment of free text.
	Free() bool
	// EndsAnywhere reports whether a segment is free text that may end anywhere.
	EndsAnywhere(segment int) bool
	// KeepsMark reports whether the mark that ends a segment belongs to it.
	KeepsMark(segment int) bool
}

// A Passage is text of one segment of a sequence.
type Passage struct {
	Segment int
	Visit   int // index of the span, as a segment can occur repeatedly
	Text    string
}

// partTracker splits a text into its parts as it grows.
type partTracker struct {
	m     SegmentMatcher
	raw   []byte // the text, including marks
	shown int    // how much of it has been returned or left out
	visit int    // index of the next span
}

// newPartTracker returns nil for constraints on the whole text.
func newPartTracker(m Matcher) *partTracker {
	if s, ok := m.(SegmentMatcher); ok {
		return &partTracker{m: s}
	}
	return nil
}

// next returns the text not returned before, without the marks that end free
// text; all of it once the text is complete. For each part, more reports
// whether its segment continues.
func (t *partTracker) next(complete bool) (parts []Passage, more []bool) {
	if complete {
		t.m.Finish()
	}
	spans := t.m.Spans()
	known := spans[len(spans)-1].End
	if !complete {
		known -= t.m.Held()
	}
	for t.visit < len(spans) {
		span := spans[t.visit]
		last := t.visit == len(spans)-1
		end := span.End - span.Mark
		if t.m.KeepsMark(span.Segment) {
			end = span.End
		}
		if last {
			end = known
		}
		end = min(end, len(t.raw))
		over := !last && span.End <= len(t.raw)
		if t.shown < end || over || complete {
			parts = append(parts, Passage{span.Segment, t.visit, string(t.raw[min(t.shown, end):end])})
			more = append(more, !over)
			t.shown = max(t.shown, end)
		}
		if !over {
			break
		}
		t.shown = span.End
		t.visit++
	}
	return parts, more
}

// segmentAt returns the segment of the byte before an offset, and where that
// segment starts.
func (t *partTracker) segmentAt(offset int) (segment, start int) {
	spans := t.m.Spans()
	i := slices.IndexFunc(spans[t.visit:], func(s decoder.Span) bool { return s.End >= offset })
	if i < 0 {
		i = len(spans) - 1 - t.visit
	}
	s := spans[t.visit+i]
	return s.Segment, s.Start
}
