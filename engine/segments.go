package engine

import (
	"errors"
	"strings"
	"sync"

	"stencil/decoder"
	"stencil/decoder/sampling"
	"stencil/vocab"
)

// A Segment is one part of a text that is constrained in parts only: free text
// up to a marker, text that is given, a document. Segments form a graph; a text
// is a walk through it.
type Segment struct {
	Kind SegmentKind

	// Text is, of a free segment, the marker that ends it ("": it goes on to
	// the end of the text); of a given one, its text.
	Text string
	// Grammar is what a document must fit. All that may follow a complete
	// document must be the next segment's: JSON objects are of that kind.
	Grammar *decoder.Grammar
	// MayEnd says that the text may end where a free segment or document is,
	// or before a given one.
	MayEnd bool
	// Tokens is how long a free segment may be before its marker is written
	// for the model; 0: as long as it likes.
	Tokens int
	// Next is the number of the segment that follows; of an End, nothing.
	Next int
	// Or is, of a Fork, the number of the document that may stand in place
	// of the given text that is Next. Which of the two it is, the first byte
	// tells: one that the text begins with is the text's.
	Or int
}

// SegmentKind says what a segment is.
type SegmentKind uint8

// The kinds of segments.
const (
	SegmentFree     SegmentKind = iota // any text up to a marker
	SegmentGiven                       // exactly this text
	SegmentDocument                    // a text of a grammar
	SegmentFork                        // a given text or a document
	SegmentEnd                         // nothing more
)

// Segments makes a Constraint of a graph of segments, of which the first one
// begins the text.
//
// Unlike decoder.Sequence, which compiles all parts into one grammar of its own,
// this one leaves each document its grammar, which other requests share with
// all that it has learnt; and it has forks.
//
// A token that reaches from one segment into the next is accepted, but is in no
// mask, so that a model is not offered spellings that depend on what follows. The
// exception is a marker: a token may end with it and not go beyond it.
func Segments(v *vocab.Vocab, list []Segment) Constraint {
	return &segments{vocab: v, list: list, free: map[freeState]vocab.Bitset{}}
}

type segments struct {
	vocab *vocab.Vocab
	list  []Segment

	mu   sync.Mutex
	free map[freeState]vocab.Bitset // masks of free text
}

// freeState is where free text stands: which segment, and how many bytes of its
// marker are there.
type freeState struct{ segment, marked int }

// NewMatcher implements Constraint.
func (s *segments) NewMatcher() Matcher { return &segmentMatcher{segments: s} }

// A segmentMatcher follows one text.
type segmentMatcher struct {
	*segments
	at   segmentState
	past []segmentState
}

// segmentState is where a text stands.
type segmentState struct {
	segment int
	pos     int // bytes of a given text or of a marker that are there
	tokens  int // tokens of a free segment
	inner   *innerRun
	steps   int // of inner
	ended   bool
}

// An innerRun is a document that is being written, and how many steps its
// matcher has made.
type innerRun struct {
	m     *decoder.Matcher
	steps int
}

func (m *segmentMatcher) now() *Segment { return &m.list[m.at.segment] }

// Free reports whether the text is free at present and may end anywhere.
func (m *segmentMatcher) Free() bool {
	s := m.now()
	return s.Kind == SegmentFree && s.MayEnd
}

// run returns the document that is being written.
func (m *segmentMatcher) run() *innerRun {
	if m.at.inner == nil {
		m.at.inner = &innerRun{m: m.now().Grammar.NewMatcher()}
	}
	return m.at.inner
}

// enter goes on to a segment.
func (m *segmentMatcher) enter(segment int) { m.at = segmentState{segment: segment} }

// Mask implements Matcher.
func (m *segmentMatcher) Mask() (sampling.Set, error) {
	s := m.now()
	switch {
	case m.at.ended:
		return tokenSet{}, nil
	case s.Kind == SegmentFree && s.Tokens > 0 && m.at.tokens >= s.Tokens:
		return tokenSet{extra: prefixTokens(m.vocab.Trie(), s.Text[m.at.pos:])}, nil
	case s.Kind == SegmentFree:
		return tokenSet{base: m.freeMask(freeState{m.at.segment, m.at.pos})}, nil
	case s.Kind == SegmentGiven:
		list := prefixTokens(m.vocab.Trie(), s.Text[m.at.pos:])
		if m.Accepting() {
			list = append(list, m.vocab.EOG()...)
		}
		return tokenSet{extra: list}, nil
	case s.Kind == SegmentFork:
		return m.forkMask(s)
	case s.Kind == SegmentEnd:
		return tokenSet{extra: m.vocab.EOG()}, nil
	}
	return matcher{m.run().m}.Mask()
}

// tokenSet is a sampling.Set.
type tokenSet struct {
	base  vocab.Bitset
	extra []int32
}

// Parts implements sampling.Set.
func (s tokenSet) Parts() (vocab.Bitset, []int32) { return s.base, s.extra }

// forkMask is the mask of a document, without the tokens with which the given
// text begins, and those of the given text.
func (m *segmentMatcher) forkMask(s *Segment) (sampling.Set, error) {
	text := m.list[s.Next].Text
	mask, err := m.list[s.Or].Grammar.NewMatcher().Mask()
	if err != nil {
		return nil, err
	}
	set := vocab.NewBitset(m.vocab.Len())
	mask.Fill(set)
	for id := range int32(m.vocab.Len()) {
		if b := m.vocab.Bytes(id); len(b) > 0 && b[0] == text[0] {
			set.Clear(id)
		}
	}
	for _, id := range prefixTokens(m.vocab.Trie(), text) {
		set.Set(id)
	}
	return tokenSet{base: set}, nil
}

// freeMask returns the tokens that free text may go on with: all that add text
// and don't go beyond the marker.
func (m *segmentMatcher) freeMask(at freeState) vocab.Bitset {
	m.mu.Lock()
	defer m.mu.Unlock()
	if set, ok := m.free[at]; ok {
		return set
	}
	s := &m.list[at.segment]
	set := vocab.NewBitset(m.vocab.Len())
	for id := range int32(m.vocab.Len()) {
		b := m.vocab.Bytes(id)
		if len(b) > 0 {
			if _, used := mark(s.Text, at.marked, b); used < 0 || used == len(b) {
				set.Set(id)
			}
		}
	}
	if s.MayEnd {
		for _, id := range m.vocab.EOG() {
			set.Set(id)
		}
	}
	m.free[at] = set
	return set
}

// mark reads on with pos bytes of a marker read. It returns how many are read
// then and, if the marker became complete, after how many bytes of b; -1 if it
// did not.
func mark(marker string, pos int, b []byte) (int, int) {
	if marker == "" {
		return 0, -1
	}
	for i, c := range b {
		for pos > 0 && marker[pos] != c {
			pos = border(marker[:pos])
		}
		if marker[pos] == c {
			pos++
		}
		if pos == len(marker) {
			return pos, i + 1
		}
	}
	return pos, -1
}

// border returns the length of the longest proper beginning of s that is also
// its end.
func border(s string) int {
	for n := len(s) - 1; n > 0; n-- {
		if strings.HasSuffix(s, s[:n]) {
			return n
		}
	}
	return 0
}

// prefixTokens returns the tokens that text begins with.
func prefixTokens(trie *vocab.Trie, text string) (out []int32) {
	if text == "" {
		return nil
	}
	node := trie.Child[text[0]]
	for depth := 1; node >= 0; depth++ {
		out = append(out, trie.At(node)...)
		if depth == len(text) {
			break
		}
		node = childOf(trie, node, text[depth])
	}
	return out
}

var errSegment = errors.New("engine: the token does not fit its part of the text")

// Accept implements Matcher.
func (m *segmentMatcher) Accept(token int32) error {
	before := m.at
	m.past = append(m.past, before)
	var err error
	if m.vocab.IsEOG(token) {
		if err = errSegment; m.Accepting() {
			m.at.ended, err = true, nil
		}
	} else if b := m.vocab.Bytes(token); len(b) == 0 {
		err = errSegment
	} else {
		m.at.tokens++
		err = m.accept(b)
	}
	if err != nil {
		return errors.Join(err, m.Rollback(1))
	}
	return nil
}

// accept reads bytes, which may go through several segments.
func (m *segmentMatcher) accept(b []byte) error {
	for len(b) > 0 {
		s := m.now()
		switch s.Kind {
		case SegmentFree:
			pos, used := mark(s.Text, m.at.pos, b)
			if m.at.pos = pos; used < 0 {
				return nil
			}
			b = b[used:]
			m.enter(s.Next)
		case SegmentGiven:
			n := min(len(b), len(s.Text)-m.at.pos)
			if string(b[:n]) != s.Text[m.at.pos:m.at.pos+n] {
				return errSegment
			}
			b = b[n:]
			if m.at.pos += n; m.at.pos == len(s.Text) {
				m.enter(s.Next)
			}
		case SegmentFork:
			if b[0] == m.list[s.Next].Text[0] {
				m.enter(s.Next)
			} else {
				m.enter(s.Or)
			}
		case SegmentDocument:
			run := m.run()
			n, err := run.m.AcceptBytes(b)
			run.steps++
			m.at.steps = run.steps
			if err != nil && (n == 0 || s.MayEnd || !run.m.Accepting()) {
				return err
			}
			b = b[n:]
			if !s.MayEnd && run.m.Accepting() {
				m.enter(s.Next)
			}
		default:
			return errSegment
		}
	}
	return nil
}

// Rollback implements Matcher.
func (m *segmentMatcher) Rollback(tokens int) error {
	if tokens > len(m.past) {
		return errors.New("engine: rollback of more tokens than were accepted")
	}
	for range tokens {
		to := m.past[len(m.past)-1]
		m.past = m.past[:len(m.past)-1]
		if run := to.inner; run != nil {
			if err := run.m.Rollback(run.steps - to.steps); err != nil {
				return err
			}
			run.steps = to.steps
		}
		m.at = to
	}
	return nil
}

// Accepting implements Matcher.
func (m *segmentMatcher) Accepting() bool {
	s := m.now()
	switch s.Kind {
	case SegmentFree:
		return m.at.ended || s.MayEnd
	case SegmentGiven:
		return m.at.ended || s.MayEnd && m.at.pos == 0
	case SegmentDocument:
		return m.at.ended || s.MayEnd && m.run().m.Accepting()
	}
	return m.at.ended || s.Kind == SegmentEnd
}

// ForcedTokens implements Matcher.
func (m *segmentMatcher) ForcedTokens() []int32 {
	s := m.now()
	switch {
	case m.at.ended || m.Accepting():
		return nil
	case s.Kind == SegmentDocument:
		return m.run().m.ForcedTokens()
	case s.Kind == SegmentGiven:
		return spell(m.vocab, []byte(s.Text[m.at.pos:]))
	case s.Kind == SegmentFree && s.Tokens > 0 && m.at.tokens >= s.Tokens:
		return spell(m.vocab, []byte(s.Text[m.at.pos:]))
	}
	return nil
}

// ShortestCompletion implements Matcher.
func (m *segmentMatcher) ShortestCompletion() []byte {
	if m.Accepting() {
		return nil
	}
	s := m.now()
	switch s.Kind {
	case SegmentFree, SegmentGiven:
		return append([]byte(s.Text[m.at.pos:]), m.shortest(s.Next)...)
	case SegmentDocument:
		text := append([]byte(nil), m.run().m.ShortestCompletion()...)
		if s.MayEnd {
			return text
		}
		return append(text, m.shortest(s.Next)...)
	case SegmentFork:
		text, document := m.shortest(s.Next), m.shortest(s.Or)
		if len(document) > 0 && len(document) < len(text) && document[0] != m.list[s.Next].Text[0] {
			return document
		}
		return text
	}
	return nil
}

// shortest returns a shortest text from the beginning of a segment to the end.
func (m *segmentMatcher) shortest(segment int) []byte {
	return (&segmentMatcher{segments: m.segments, at: segmentState{segment: segment}}).ShortestCompletion()
}
