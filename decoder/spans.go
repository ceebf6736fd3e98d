package decoder

import (
	"cmp"
	"slices"
)

// A Span is the part of a text that belongs to a segment. Offsets are in bytes of
// the text that Text returns, which omits tokens without text, so a span may be
// empty.
type Span struct {
	Segment    int
	Start, End int
	Mark       int // for free text: length in bytes of the stop at its end
}

// spanTrack assigns the bytes of a text to segments.
type spanTrack struct {
	done  []Span // the complete spans
	last  Span
	entry place // the start of last
	lead  int   // bytes of last before entry
	split bool  // the last bytes may still turn out to belong to another segment
	whole Span  // replaces last if the text ends here; set only if it is not empty
	// opening is 1 + the offset of the opening being read in free text; 0: none.
	opening int
}

// A place is an offset in the text, including spelled tokens, and the configuration
// there.
type place struct {
	cfg, epoch int32
	at         int
}

// noSegment stands for neither a segment nor the end.
const noSegment = -2

// Spans returns the assignment of the text to segments, up to the last token. If
// several segments are still possible, it chooses one whose constraint continues. The
// slice is valid until the next call.
func (m *SequenceMatcher) Spans() []Span {
	if m.spans.last.Segment == End {
		return m.spans.done
	}
	return append(m.spans.done, m.spans.last)
}

// Held returns the number of bytes at the end whose segment may still change: they
// may belong to a stop, or to another alternative of a fork.
func (m *SequenceMatcher) Held() int {
	t := &m.spans
	if t.split || t.mayBeWhole() {
		return t.last.End - t.last.Start
	}
	if m.m.fail != nil {
		return 0
	}
	m.m.lock()
	defer m.m.unlock()
	m.m.sync()
	held := max(len(m.s.shown(m.readMark(m.m.cfg, t.last.Segment))), m.begunMark(m.m.cfg, t.last.Segment, nil))
	if t.opening > 0 {
		held = max(held, len(m.m.text)-(t.opening-1))
	}
	return held
}

// readMark returns the part of a mark that has been read in free text.
func (m *SequenceMatcher) readMark(c int32, segment int) (read []byte) {
	m.tops(c, segment, func(f Frame) {
		src := m.s.source
		if _, sub, at := src.split(f); sub == nil {
			x := src.frames[at]
			switch p := src.parts[segment]; {
			case p.free == nil:
			case x.closing:
				read = p.free.marks[0][:x.at]
			default:
				read = p.free.text[x.at]
			}
		}
	})
	return read
}

// begunMark returns the length of the longest beginning of a fixed text that has been read in configuration c while the segment, a
// constraint, could also go on with it; 0 if there is none. With takes, only beginnings that go on count.
func (m *SequenceMatcher) begunMark(c int32, segment int, takes func(f Frame) bool) (n int) {
	src := m.s.source
	if segment < 0 || src.parts[segment].sub == nil {
		return 0
	}
	t := m.s.grammar.t
	t.stacks(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		f := t.stackFrame[s]
		i, sub, at := src.split(f)
		if sub == nil && i != segment && src.parts[i].fixed != nil && !src.frames[at].begin && (takes == nil || takes(f)) {
			n = max(n, len(m.s.shown(src.parts[i].fixed.nodes[src.frames[at].at].text)))
		}
		return true
	})
	return n
}

// endedMark returns the length of the mark that the given byte or spelled token
// completes, without the bytes that the free text keeps.
func (m *SequenceMatcher) endedMark(c int32, segment int, read []byte) (n int) {
	src := m.s.source
	if segment < 0 || src.parts[segment].free == nil {
		return 0
	}
	finder, kept := src.parts[segment].free, src.parts[segment].kept
	m.tops(c, segment, func(f Frame) {
		_, _, at := src.split(f)
		x := src.frames[at]
		if x.closing {
			n = len(m.s.shown(finder.marks[0])) - kept[0]
		} else if to := finder.follow(x.at, read); to < 0 {
			if n = len(m.s.shown(finder.marks[^to])) - kept[^to]; len(finder.marks[^to]) == 0 {
				n = m.openedFor + len(read) // an opening
			}
		}
	})
	return n
}

// tops calls yield for the top frames of c that belong to a segment.
func (m *SequenceMatcher) tops(c int32, segment int, yield func(f Frame)) {
	t := m.s.grammar.t
	t.stacks(c, func(s int32) bool {
		if s > anyStack {
			if i, _, _ := m.s.source.split(t.stackFrame[s]); i == segment {
				yield(t.stackFrame[s])
			}
		}
		return true
	})
}

// segment returns the segment of configuration c. If several are possible, it is
// prefer, else one other than avoid, else one whose constraint continues.
func (m *SequenceMatcher) segment(c int32, prefer, avoid int) (at int, several bool) {
	at = End
	sure := false
	m.s.grammar.t.stacks(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		i, sub, _ := m.s.source.split(m.s.grammar.t.stackFrame[s])
		switch {
		case at == End:
			at, sure = i, sub != nil
		case at == i:
		default:
			several = true
			if at != prefer && (i == prefer || at == avoid || i != avoid && sub != nil && !sure) {
				at, sure = i, sub != nil
			}
		}
		return true
	})
	return at, several
}

// reads reports whether an input can extend a segment when read in configuration c;
// takes reports whether a frame accepts the input. The segment cannot be extended if
// the input shows that its constraint has ended.
func (m *SequenceMatcher) reads(c int32, segment int, takes func(f Frame) bool) bool {
	t := m.s.grammar.t
	return !t.reading(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		f := t.stackFrame[s]
		i, _, _ := m.s.source.split(f)
		return i != segment || !takes(f)
	})
}

// readsElsewhere reports whether, in another reading of configuration c, the input
// can belong to a segment that does not follow the given one.
func (m *SequenceMatcher) readsElsewhere(c int32, segment int, takes func(f Frame) bool) (found bool) {
	t := m.s.grammar.t
	t.stacks(c, func(s int32) bool {
		if s > anyStack {
			f := t.stackFrame[s]
			i, _, _ := m.s.source.split(f)
			found = found || i != segment && !m.s.source.leads(segment, i) && takes(f)
		}
		return !found
	})
	return found
}

// reader returns the segment after the given one that reads the input in
// configuration c, or noSegment if there is none or more than one.
func (m *SequenceMatcher) reader(c int32, after int, takes func(f Frame) bool) int {
	found := noSegment
	t := m.s.grammar.t
	t.reading(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		f := t.stackFrame[s]
		if i, _, _ := m.s.source.split(f); i != after && i != found && m.s.source.leads(after, i) && takes(f) {
			if found != noSegment {
				found = noSegment
				return false
			}
			found = i
		}
		return true
	})
	return found
}

// here returns the current end of the text.
func (m *SequenceMatcher) here() place { return place{m.m.cfg, m.m.epoch, len(m.m.text)} }

// begin records the start of the text.
func (m *SequenceMatcher) begin() {
	m.m.lock()
	defer m.m.unlock()
	m.m.sync()
	m.spans.entry = m.here()
	m.spans.last.Segment, m.spans.split = m.segment(m.m.cfg, noSegment, noSegment)
}

// mayBeWhole reports whether another span replaces the last one if the text ends
// here.
func (t *spanTrack) mayBeWhole() bool {
	return t.whole.End > 0 && t.whole.Start == t.last.Start && t.whole.End == t.last.End
}

// Finish settles the last span of a text that is complete.
func (m *SequenceMatcher) Finish() {
	if t := &m.spans; t.mayBeWhole() {
		t.last, t.split = t.whole, false
	}
}

// track assigns the text after a place to segments.
func (m *SequenceMatcher) track(from place) {
	if m.m.fail != nil {
		return
	}
	m.m.lock()
	defer m.m.unlock()
	m.m.sync()
	m.trackFrom(from, noSegment)
}

func (m *SequenceMatcher) trackFrom(from place, avoid int) {
	t := &m.spans
	c, text := from.cfg, m.m.text
	if from.epoch != m.m.epoch {
		// The grammar has discarded its tables in the meantime.
		c = m.m.replay(from.at)
	}
	tables := m.s.grammar.t
	for i := from.at; i < len(text) && c != dead; i++ {
		first, n := i, 1 // offset and length of the token or byte
		before := c
		read := text[i : i+1]
		takes := func(f Frame) bool { return tables.lookup(f, tables.frame(f), read[0]) != codeNone }
		tok, end, whole := m.wholeAt(c, i)
		if whole {
			i, n, read = end-1, len(m.s.shown(text[i:end])), SpellToken(tok)
			takes = func(f Frame) bool { return tables.tokens.leads(f, tok) }
		}
		own := n == 0 || m.reads(c, t.last.Segment, takes)
		otherWay := t.split && !own && m.readsElsewhere(c, t.last.Segment, takes)
		m.openedFor = 0
		if t.opening > 0 {
			m.openedFor = first - (t.opening - 1)
		}
		mark := m.endedMark(c, t.last.Segment, read)
		if whole {
			c = m.m.readToken(c, tok, text[:first:first])
		} else {
			c = m.m.stepByte(c, text[i], text[:i])
		}
		if c == dead {
			break
		}
		to, several := m.segment(c, t.last.Segment, avoid)
		entry := place{c, m.m.epoch, i + 1}
		if !own {
			entry = place{before, m.m.epoch, first}
		}
		switch {
		case to == t.last.Segment, own && m.begunMark(c, t.last.Segment, nil) > 0:
			// In the second case the constraint has ended, but perhaps earlier: the next input tells.
			t.last.End += n
		case t.last.Segment != End && m.s.source.parts[t.last.Segment].fork != nil:
			t.last.End += n
			if whole := (Span{m.s.source.taker(t.last.Segment, to, takes), t.last.Start, t.last.End, 0}); tables.accepting(c) && to != End {
				t.whole = whole
			} else if to == End { // the alternative ends with this input
				t.done = append(t.done, whole)
				t.last, t.entry, t.lead = Span{Segment: End, Start: t.last.End, End: t.last.End}, entry, 0
				break
			}
			t.last.Segment = to // the bytes so far are a prefix of it
		case otherWay && t.entry.epoch == m.m.epoch && avoid == noSegment:
			// It was another alternative of the fork.
			wrong := t.last.Segment
			t.last.Segment, _ = m.segment(t.entry.cfg, noSegment, wrong)
			t.last.End, t.split = t.last.Start+t.lead, false
			m.trackFrom(t.entry, wrong)
			return
		default:
			end, begun := t.last.End, 0
			if own {
				end += n
			} else {
				// The constraint could have gone on with what turns out to begin the next part.
				begun = min(m.begunMark(before, t.last.Segment, takes), end-t.last.Start)
				end, n = end-begun, n+begun
			}
			t.done = append(t.done, Span{t.last.Segment, t.last.Start, end, mark})
			via := noSegment
			if !own {
				via = m.reader(before, t.last.Segment, takes)
			}
			if via >= 0 && via != to { // a segment that begins and ends within the token
				t.done = append(t.done, Span{Segment: via, Start: end, End: end + n})
				end += n
				entry = place{c, m.m.epoch, i + 1}
			}
			t.last = Span{Segment: to, Start: end, End: max(end, t.last.End+n-begun)}
			t.entry, t.lead = entry, max(0, t.last.End-end-(n-begun))
		}
		t.split = several
		switch in, begun := m.inOpening(c, t.last.Segment); {
		case !in:
			t.opening = 0
		case begun || t.opening == 0:
			t.opening = 1 + first
		}
	}
}

// inOpening reports whether part of an opening has been read in free text, and
// whether the last byte was its first.
func (m *SequenceMatcher) inOpening(c int32, segment int) (in, begun bool) {
	src := m.s.source
	if segment < 0 || src.parts[segment].free == nil || src.parts[segment].free.live == nil {
		return false, false
	}
	finder := src.parts[segment].free
	m.tops(c, segment, func(f Frame) {
		if state, ok := src.freeState(f); ok {
			in, begun = in || finder.live[state], begun || finder.begun[state]
		}
	})
	return in, begun
}

// wholeAt returns the token at an offset of the text that was read as a whole in
// configuration c, and its end.
func (m *SequenceMatcher) wholeAt(c int32, at int) (tok int32, end int, ok bool) {
	t := m.s.grammar.t
	if t.tokens == nil {
		return 0, 0, false
	}
	past := m.m.past
	i, ok := slices.BinarySearchFunc(past, int32(at), func(s step, at int32) int { return cmp.Compare(s.text, at) })
	if !ok || past[i].token < 0 || t.stepToken(c, past[i].token) == dead {
		return 0, 0, false
	}
	end = len(m.m.text)
	if i+1 < len(past) {
		end = int(past[i+1].text)
	}
	return past[i].token, end, true
}

// taker returns the first alternative of a fork, other than the given one, that reads
// the input at its start.
func (s *sequenceSource) taker(fork, other int, takes func(f Frame) bool) int {
	for _, k := range s.parts[fork].fork {
		for _, frames := range s.entries(k) {
			if k != other && takes(frames[len(frames)-1]) {
				return k
			}
		}
	}
	return other
}

// leads reports whether one segment may follow another.
func (s *sequenceSource) leads(from, to int) bool {
	p := s.parts[from]
	for _, next := range append(p.after[:len(p.after):len(p.after)], p.next) {
		if next == to {
			return true
		}
		if next != End {
			for _, k := range s.parts[next].fork {
				if k == to {
					return true
				}
			}
		}
	}
	return false
}
