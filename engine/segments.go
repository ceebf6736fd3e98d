package engine

import (
	"slices"

	"github.com/stencil-json/stencil/decoder"
)

// A SegmentMatcher follows a text that is constrained in segments. Spans, Held
// and Free are those of *decoder.SequenceMatcher.
type SegmentMatcher interface {
	Matcher
	// Spans are the segments that the text has been in, the present one last.
	Spans() []decoder.Span
	// Finish says that the text is complete, which may change its last span.
	Finish()
	// Held is how many bytes at the end may yet be a mark.
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
	Visit   int // counts the segments that the text has been in, so that a segment can come twice
	Text    string
}

// partTracker tells the parts of a text as it comes.
type partTracker struct {
	m     SegmentMatcher
	raw   []byte // the text, marks and all
	shown int    // how much of it has been told or left out
	visit int    // the span that comes next
}

// newPartTracker returns nil for constraints on the whole text.
func newPartTracker(m Matcher) *partTracker {
	if s, ok := m.(SegmentMatcher); ok {
		return &partTracker{m: s}
	}
	return nil
}

// next returns what can be told of the text that was not told before, without
// the marks that end free text; all of it once the text is complete. With each
// part, more says whether its segment goes on.
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

// segmentAt returns the segment that the byte before an offset belongs to, and
// where that one begins.
func (t *partTracker) segmentAt(offset int) (segment, start int) {
	spans := t.m.Spans()
	i := slices.IndexFunc(spans[t.visit:], func(s decoder.Span) bool { return s.End >= offset })
	if i < 0 {
		i = len(spans) - 1 - t.visit
	}
	s := spans[t.visit+i]
	return s.Segment, s.Start
}
