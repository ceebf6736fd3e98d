package engine

import (
	"crypto/sha256"
	"slices"
	"strings"

	"stencil/decoder"
	"stencil/decoder/sampling"
	"stencil/vocab"
)

// Sequences keeps texts that are constrained in parts, with all that they have
// learnt. It is safe for concurrent use.
type Sequences struct {
	vocab *vocab.Vocab
	cache *cache[[sha256.Size]byte, *sequenceOf]
}

// NewSequences keeps up to limit sequences for one vocabulary.
func NewSequences(v *vocab.Vocab, limit int) *Sequences {
	return &Sequences{v, newCache[[sha256.Size]byte, *sequenceOf](limit)}
}

// A Segment is a segment of a sequence.
type Segment struct {
	decoder.Segment
	Keep bool // of free text: the mark that ends it belongs to it
}

// Get returns the constraint of a sequence. All that its segments depend on must
// be in key; segments are only asked for when there is none of that key.
func (c *Sequences) Get(key []byte, segments func() ([]Segment, error)) (Constraint, error) {
	return c.cache.get(sha256.Sum256(key), func() (*sequenceOf, error) {
		list, err := segments()
		if err != nil {
			return nil, err
		}
		out := new(sequenceOf)
		var parts []decoder.Segment
		for _, x := range list {
			parts = append(parts, x.Segment)
			out.free = append(out.free, x.Free != nil && x.Free.MayEnd)
			out.keep = append(out.keep, x.Keep)
		}
		out.Sequence, err = decoder.NewSequence(c.vocab, parts, decoder.Limits{})
		return out, err
	})
}

// A Document is what can be a part of a sequence: a schema or a grammar.
type Document struct {
	Key   string                           // equal for equal documents
	Fresh func() (*decoder.Grammar, error) // which sequences need each of their own
}

// sequenceOf is a decoder.Sequence as a Constraint.
type sequenceOf struct {
	*decoder.Sequence
	free []bool // the segments that are free text which may end anywhere
	keep []bool // and those whose marks belong to them
}

// NewMatcher implements Constraint.
func (s *sequenceOf) NewMatcher() Matcher {
	return &segmented{s.Sequence.NewMatcher(), s}
}

// segmented is the matcher of a sequence.
type segmented struct {
	*decoder.SequenceMatcher
	of *sequenceOf
}

// Mask implements Matcher.
func (m *segmented) Mask() (sampling.Set, error) {
	mask, err := m.SequenceMatcher.Mask()
	if err != nil {
		return nil, err // not a typed nil
	}
	return mask, nil
}

// isFree reports whether a segment is free text that may end anywhere.
func (s *sequenceOf) isFree(segment int) bool { return segment >= 0 && s.free[segment] }

// Pieces returns a text in which tokens are spelt by their names, such as
// "<|channel|>final<|message|>", as what it stands for: those that the model has
// as tokens without text are tokens, all else is text.
func Pieces(v *vocab.Vocab, text string) []decoder.Piece {
	var out []decoder.Piece
	plain := 0 // where text begins that is not in out yet
	flush := func(end int) {
		if plain < end {
			out = append(out, decoder.Piece{Text: text[plain:end]})
		}
	}
	for i := 0; i < len(text); {
		token, name := controlAt(v, text[i:])
		if name == "" {
			i++
			continue
		}
		flush(i)
		out = append(out, decoder.Piece{Token: token})
		i += len(name)
		plain = i
	}
	flush(len(text))
	return out
}

// controlAt returns the token without text whose name text begins with, and the
// name: the longest one.
func controlAt(v *vocab.Vocab, text string) (token int32, name string) {
	if !strings.ContainsAny(text[:1], "<[") {
		return 0, "" // what names of such tokens begin with
	}
	for n := min(len(text), maxControlName); n > 1; n-- {
		if id, ok := v.Find(text[:n]); ok && len(v.Bytes(id)) == 0 && !v.IsEOG(id) {
			return id, text[:n]
		}
	}
	return 0, ""
}

// maxControlName is longer than the name of any token that marks something, in
// bytes.
const maxControlName = 64

// A Passage is text of one segment of a sequence.
type Passage struct {
	Segment int
	Visit   int // counts the segments that the text has been in, so that a segment can come twice
	Text    string
}

// partTracker tells the parts of a text as it comes.
type partTracker struct {
	m     *segmented
	raw   []byte // the text, marks and all
	shown int    // how much of it has been told or left out
	visit int    // the span that comes next
}

// newPartTracker returns nil for constraints on the whole text.
func newPartTracker(m Matcher) *partTracker {
	if s, ok := m.(*segmented); ok {
		return &partTracker{m: s}
	}
	return nil
}

// next returns what can be told of the text that was not told before, without
// the marks that end free text; all of it once the text is complete. With each
// part, more says whether its segment goes on.
func (t *partTracker) next(complete bool) (parts []Passage, more []bool) {
	spans := t.m.Spans()
	known := spans[len(spans)-1].End
	if !complete {
		known -= t.m.Held()
	}
	for t.visit < len(spans) {
		span := spans[t.visit]
		last := t.visit == len(spans)-1
		end := span.End - span.Mark
		if t.m.of.keep[span.Segment] {
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
