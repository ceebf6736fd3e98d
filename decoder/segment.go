package decoder

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/vocab"
)

// A Segment is a part of a text: free, fixed, or constrained. Exactly one of Free,
// Fixed, OneOf, Grammar and Fork is set.
type Segment struct {
	Free  *Free
	Fixed []Piece // the text that must follow
	// OneOf are several fixed texts, one of which must follow. Each names its own next
	// segment; Next is ignored. If one is a prefix of another, both readings continue.
	OneOf []Stop
	// Grammar is the constraint. The sequence takes ownership: the grammar must not be used
	// elsewhere, nor in two segments.
	Grammar *Grammar
	// Fork lists alternatives for this segment, which must not be forks. The text determines
	// the alternative.
	Fork []int
	// MayEnd allows the text to end before the fixed text.
	MayEnd bool
	// Next is the index of the segment that follows, or [End]. Free text ignores it. Where a
	// constraint may either end or continue, both readings are followed.
	Next int
}

// End stands for the end of the text, in place of a segment's index.
const End = -1

// Free is text without a constraint. It ends at the first stop.
type Free struct {
	// Stops end the text. A stop hides the longer ones of which it is a prefix.
	Stops []Stop
	// MayEnd allows the generation to end here. It is required without stops.
	MayEnd bool
	// Budget is the number of tokens after which the first stop is forced or,
	// without stops, the text ends; 0 means no limit.
	Budget int // not allowed if the first stop is AtStart
}

// A Stop ends free text and names the segment, or [End], that follows.
type Stop struct {
	Mark []Piece
	Next int
	// AtStart makes the stop count only at the start of the free text.
	AtStart bool
	// Steps replaces Mark for a stop that can be written in several ways. Such a stop counts
	// only at the start of the free text or, with AtLine, of a line.
	Steps  []Step
	AtLine bool
	// Kept is the length of the prefix of Mark's text, in bytes, that belongs to the free
	// text.
	Kept int
}

// A Piece is a text or, if Text is empty, the token Token. A token with text is
// equivalent to its text.
type Piece struct {
	Text  string
	Token int32
}

// Limits of sequences.
const (
	maxSegments   = 1 << 11
	maxMarkBytes  = 1 << 14 // of all marks of free text: a kilobyte of tables for each
	maxFixedBytes = 1 << 18 // of all marks of fixed text
)

// A Sequence is a text made of segments, such as reasoning before an answer, or tool
// calls within free text. Segments may meet at any byte, even within a token. A
// Sequence is safe for concurrent use.
type Sequence struct {
	grammar *Grammar
	source  *sequenceSource
}

// NewSequence returns a sequence that starts with the first segment. An error describes an
// invalid segment.
func NewSequence(v *vocab.Vocab, segments []Segment, limits Limits) (*Sequence, error) {
	if len(segments) == 0 || len(segments) > maxSegments {
		return nil, fmt.Errorf("decoder: %d segments: want 1 to %d", len(segments), maxSegments)
	}
	s := &Sequence{}
	src := &sequenceSource{vocab: v}
	b := &sequenceBuilder{src}
	for i, x := range segments {
		part, err := b.part(x, len(segments))
		if err != nil {
			return nil, fmt.Errorf("decoder: segment %d: %w", i, err)
		}
		src.parts = append(src.parts, part)
	}
	src.Reset()
	for i := range src.parts {
		if err := src.checkWays(i); err != nil {
			return nil, fmt.Errorf("decoder: segment %d: %w", i, err)
		}
	}
	if i := src.findEnds(); i >= 0 {
		return nil, fmt.Errorf("decoder: segment %d: the text never ends", i)
	}
	s.source = src
	s.grammar = New(src, v, limits)
	s.grammar.spelled = true
	return s, nil
}

// maxEntry is the maximum number of frames that one edge can lead to.
const maxEntry = 3

// checkWays checks the alternatives of a fork and the frames that segment i starts with.
func (s *sequenceSource) checkWays(i int) error {
	for _, k := range s.parts[i].fork {
		switch {
		case k < 0 || k >= len(s.parts):
			return fmt.Errorf("there is no segment %d to follow", k)
		case s.parts[k].fork != nil:
			return fmt.Errorf("a fork leads to the fork %d", k)
		case i == 0 && s.parts[k].free != nil:
			return fmt.Errorf("a fork at the beginning leads to free text")
		}
	}
	for _, frames := range s.entries(i) {
		if len(frames) > maxEntry {
			return fmt.Errorf("more than two constraints follow one another")
		}
	}
	return nil
}

// A sequenceBuilder builds the parts of a sequence.
type sequenceBuilder struct{ *sequenceSource }

// part checks a segment and prepares it.
func (s *sequenceBuilder) part(x Segment, n int) (*sequencePart, error) {
	p := &sequencePart{next: x.Next}
	kinds := 0
	var err error
	if x.Free != nil {
		kinds++
		p.next = End
		err = s.free(x.Free, p, n)
	}
	if x.Fixed != nil {
		kinds++
		p.mayEnd = x.MayEnd
		err = s.fixed([]Stop{{Mark: x.Fixed, Next: x.Next}}, p, n)
	}
	if x.OneOf != nil {
		kinds++
		p.next, p.mayEnd = End, x.MayEnd
		err = s.fixed(x.OneOf, p, n)
	}
	if x.Fork != nil {
		kinds++
		p.next, p.fork = End, x.Fork
		if len(x.Fork) == 0 {
			err = fmt.Errorf("there is nothing to choose from")
		}
	}
	if x.Grammar != nil {
		kinds++
		if x.Grammar.vocab != s.vocab {
			return nil, fmt.Errorf("the grammar is of another vocabulary")
		}
		p.sub = x.Grammar.t.src
		if f, ok := p.sub.(Followed); ok && x.Next != End {
			f.Follow()
		}
	}
	switch {
	case kinds != 1:
		return nil, fmt.Errorf("want one of free text, fixed texts, a grammar and a fork")
	case p.next != End && (p.next < 0 || p.next >= n):
		return nil, fmt.Errorf("there is no segment %d to follow", p.next)
	}
	return p, err
}

// Followed is a Source that must know, before it is used, that other text may follow its own.
type Followed interface {
	// Follow announces that any text may follow.
	Follow()
}

func (s *sequenceBuilder) free(f *Free, p *sequencePart, n int) error {
	if !f.MayEnd && !slices.ContainsFunc(f.Stops, func(x Stop) bool { return !x.AtStart && x.Steps == nil }) {
		return fmt.Errorf("free text without a stop has to be allowed to end")
	}
	if f.Budget > 0 && len(f.Stops) > 0 && (f.Stops[0].AtStart || f.Stops[0].Steps != nil) {
		return fmt.Errorf("the first stop, which ends the budget, counts only at the beginning")
	}
	marks, err := s.marks(f.Stops, p, n, maxMarkBytes)
	if err != nil {
		return err
	}
	var list []opening
	for i, stop := range f.Stops {
		p.atStart = append(p.atStart, stop.AtStart || stop.Steps != nil)
		p.kept = append(p.kept, stop.Kept)
		if stop.Steps != nil {
			list = append(list, opening{stop.Steps, stop.AtLine, i})
		}
	}
	finder := newMarkFinder(marks, p.atStart)
	if list != nil {
		if finder = finder.withOpenings(list); finder == nil {
			return ErrOpenings
		}
	}
	p.free, p.mayEnd, p.budget = finder, f.MayEnd, f.Budget
	return nil
}

func (s *sequenceBuilder) fixed(stops []Stop, p *sequencePart, n int) error {
	if len(stops) == 0 {
		return fmt.Errorf("there is nothing to choose from")
	}
	marks, err := s.marks(stops, p, n, maxFixedBytes)
	p.fixed = newMarkTree(marks)
	return err
}

// ErrOpenings reports that stops with steps take too many states.
var ErrOpenings = errors.New("the openings of free text have too many states")

// marks spells the marks of stops and records the segment after each.
func (s *sequenceBuilder) marks(stops []Stop, p *sequencePart, n, most int) (marks [][]byte, err error) {
	total := 0
	for _, stop := range stops {
		var mark []byte
		if stop.Steps == nil {
			if mark, err = s.spell(stop.Mark); err != nil {
				return nil, err
			}
		}
		if stop.Next != End && (stop.Next < 0 || stop.Next >= n) {
			return nil, fmt.Errorf("there is no segment %d to follow", stop.Next)
		}
		marks = append(marks, mark)
		p.after = append(p.after, stop.Next)
		if total += len(mark); total > most {
			return nil, fmt.Errorf("marks of more than %d bytes", most)
		}
	}
	return marks, nil
}

// spell returns pieces as bytes, with spelled tokens.
func (s *sequenceBuilder) spell(pieces []Piece) (out []byte, err error) {
	for _, p := range pieces {
		text := []byte(p.Text)
		if p.Text == "" {
			switch {
			case p.Token < 0 || int(p.Token) >= s.vocab.Len():
				return nil, fmt.Errorf("token %d is not in the vocabulary of %d", p.Token, s.vocab.Len())
			case s.vocab.IsEOG(p.Token):
				return nil, fmt.Errorf("token %d ends a generation", p.Token)
			}
			if text = s.vocab.Bytes(p.Token); len(text) == 0 {
				out = append(out, SpellToken(p.Token)...)
				if !slices.Contains(s.tokens, p.Token) {
					s.tokens = append(s.tokens, p.Token)
				}
				continue
			}
		}
		if slices.Contains(text, spelledByte) {
			return nil, fmt.Errorf("a mark with the byte 0x%X, which no UTF-8 has", spelledByte)
		}
		out = append(out, text...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("a mark without text")
	}
	return out, nil
}

// NewMatcher returns a matcher for a new text.
func (s *Sequence) NewMatcher() *SequenceMatcher {
	m := &SequenceMatcher{m: s.grammar.NewMatcher(), s: s}
	m.begin()
	m.settle()
	return m
}

// Held returns the memory held, as [Grammar.Held] does.
func (s *Sequence) Held() int { return s.grammar.Held() }

// Stats returns the sizes of the tables of the sequence.
func (s *Sequence) Stats() Stats { return s.grammar.Stats() }

// A SequenceMatcher is the state of one text within a sequence, as a [Matcher] is
// within a grammar. It must be used by one goroutine at a time.
type SequenceMatcher struct {
	m     *Matcher
	s     *Sequence
	past  []visit // one per accepted token
	now   visit
	spans spanTrack

	openedFor int // bytes of an opening read before the current byte
}

// A visit is the current segment and the number of its tokens so far. In the
// history it also holds the state of the spans before a token.
type visit struct {
	segment int
	tokens  int
	track   spanTrack
}

// settle updates the current segment, and ends free text that has used up its
// budget.
func (m *SequenceMatcher) settle() {
	if m.m.fail != nil {
		return
	}
	g := m.s.grammar
	m.m.lock()
	defer m.m.unlock()
	m.m.sync()
	if at, _ := m.segment(m.m.cfg, noSegment, noSegment); at != m.now.segment {
		m.now.segment, m.now.tokens = at, 0
	}
	if m.m.done || m.now.segment == End || m.m.cfg&1 != 0 {
		return
	}
	p := m.s.source.parts[m.now.segment]
	if p.free == nil || p.budget == 0 || m.now.tokens < p.budget {
		return
	}
	if len(p.after) == 0 {
		m.m.cfg = 0 // the empty stack: the text is complete
		return
	}
	if state, ok := m.s.source.freeState(g.t.stackFrame[m.m.cfg>>1]); ok {
		f := m.s.source.own(sequenceFrame{part: int32(m.now.segment), closing: true, at: p.free.prefix(state)})
		m.m.cfg = g.t.push(f, 0) << 1
	}
}

// Bind stops the matcher's work when ctx ends, as [Matcher.Bind] does.
func (m *SequenceMatcher) Bind(ctx context.Context) { m.m.Bind(ctx) }

// Err returns what made the matcher unusable, as [Matcher.Err] does.
func (m *SequenceMatcher) Err() error { return m.m.Err() }

// Segment returns the index of the current segment, [End] if nothing may follow.
func (m *SequenceMatcher) Segment() int { return m.now.segment }

// Mask returns the tokens that may come next. An error is a limit that was exceeded.
func (m *SequenceMatcher) Mask() (*Mask, error) {
	m.settle()
	return m.m.Mask()
}

// Accept appends a token, as [Matcher.Accept] does.
func (m *SequenceMatcher) Accept(tok int32) error {
	m.settle()
	from := m.here()
	if err := m.m.Accept(tok); err != nil {
		return err
	}
	m.now.track = m.spans
	m.past = append(m.past, m.now)
	m.now.tokens++
	m.track(from)
	m.settle()
	return m.m.fail
}

// Rollback removes the last n tokens.
func (m *SequenceMatcher) Rollback(n int) error {
	if err := m.m.Rollback(n); err != nil || n == 0 {
		return err
	}
	m.now = m.past[len(m.past)-n]
	m.past = m.past[:len(m.past)-n]
	m.spans = m.now.track
	m.settle()
	return nil
}

// Clone returns an independent copy of the matcher.
func (m *SequenceMatcher) Clone() *SequenceMatcher {
	c := &SequenceMatcher{m: m.m.Clone(), s: m.s, past: slices.Clone(m.past), now: m.now, spans: m.spans}
	c.spans.done = slices.Clone(m.spans.done)
	for i := range c.past { // their slices are prefixes of the shared one
		c.past[i].track.done = c.spans.done[:len(c.past[i].track.done)]
	}
	return c
}

// Accepting reports whether the accepted text is complete.
func (m *SequenceMatcher) Accepting() bool {
	m.settle()
	return m.m.Accepting()
}

// Done reports whether an end-of-generation token was accepted.
func (m *SequenceMatcher) Done() bool { return m.m.Done() }

// Text returns the accepted text. Tokens without text are omitted.
func (m *SequenceMatcher) Text() []byte { return m.s.shown(m.m.text) }

// Free reports whether the current segment is free text that may end anywhere.
func (m *SequenceMatcher) Free() bool {
	if m.now.segment == End {
		return false
	}
	p := m.s.source.parts[m.now.segment]
	return p.free != nil && p.mayEnd
}

// shown removes the spellings of tokens that add no text.
func (s *Sequence) shown(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); i++ {
		if s.isControl(text[i:]) {
			i += spelledSize - 1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// isControl reports whether text begins with the spelling of a token without
// text.
func (s *Sequence) isControl(text []byte) bool {
	tok, ok := spelledToken(text)
	return ok && int(tok) < s.grammar.vocab.Len() && len(s.grammar.vocab.Bytes(tok)) == 0
}

// ForcedTokens returns the tokens that must follow, as [Matcher.ForcedTokens] does.
func (m *SequenceMatcher) ForcedTokens() []int32 {
	m.settle()
	return m.m.ForcedTokens()
}

// ShortestCompletion returns a shortest text that completes the accepted text. It
// omits tokens without text, see [SequenceMatcher.Remaining].
func (m *SequenceMatcher) ShortestCompletion() []byte {
	m.settle()
	return m.m.ShortestCompletion()
}

// Remaining returns a shortest completion, including tokens without text.
func (m *SequenceMatcher) Remaining() []Piece {
	m.settle()
	return m.m.Remaining()
}
