package engine

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Doubt takes the meaning of a part of the text back if the model was not sure of it: another constraint then takes
// over, to which the same text is nothing special. Until that is decided, nothing is sent from the part on.
type Doubt struct {
	// Find returns the indices of the span with which the part begins and of the one whose tokens decide; -1 while
	// there is none. The first part counts. It must be fast.
	Find func(spans []decoder.Span) (part, decides int)
	// Least is the smallest geometric mean of the probabilities that the model gives to the part's sampled tokens, before
	// bias, temperature and constraint. Tokens without a letter or a digit don't count: they lay values out.
	Least float64
	// Instead takes over where the mean is smaller. It must accept the text so far, with the same spans before the part.
	Instead Constraint
}

// doubt is a Doubt about one sequence that is not decided. A nil doubt is decided.
type doubt struct {
	*Doubt
	s   *sequence
	sum float64 // of the logarithms of n tokens' probabilities
	n   int
}

// find is Find of the text so far.
func (d *doubt) find() (part, decides int) {
	if d == nil {
		return -1, -1
	}
	return d.Find(d.s.parts.m.Spans())
}

// measure returns the distribution at the current position if the next token counts. measured is known already if the
// sequence measures every token.
func (d *doubt) measure(measured *sampling.Measurement) *sampling.Measurement {
	if part, _ := d.find(); part < 0 {
		return nil
	}
	s := d.s
	if s.measurer != nil {
		return measured
	}
	if s.gate == nil {
		s.gate = sampling.NewMeasurer(s.vocab.Len())
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	m := s.gate.Measure(s.logits, nil, 0)
	return &m
}

// weigh counts a sampled token, if measure returned a distribution.
func (d *doubt) weigh(m *sampling.Measurement, token int32) {
	if m != nil && bytes.ContainsFunc(d.s.vocab.Bytes(token), says) {
		d.sum += float64(d.s.logprob(m, token))
		d.n++
	}
}

// says reports whether a character is more than layout; so does a part of a character.
func says(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c >= utf8.RuneSelf }

// holds reports whether text must not be sent yet.
func (d *doubt) holds() bool {
	part, _ := d.find()
	return part >= 0
}

// decide ends the doubt if its span is over, or the text is.
func (d *doubt) decide(complete bool) {
	part, decides := d.find()
	if part < 0 || !complete && (decides < 0 || decides == len(d.s.parts.m.Spans())-1) {
		return
	}
	mean := 1.0
	if d.n > 0 {
		mean = math.Exp(d.sum / float64(d.n))
	}
	d.s.doubt, d.s.limits.Sureness = nil, &mean
	if mean < d.Least {
		d.takeBack()
	}
	if !complete {
		d.s.tell(false)
	}
}

// takeBack has Instead take over, if it accepts the text.
func (d *doubt) takeBack() {
	s := d.s
	m, ok := d.Instead.NewMatcher().(SegmentMatcher)
	if !ok {
		return
	}
	if b, ok := m.(bounded); ok {
		b.Bind(s.job.ctx)
	}
	for _, token := range s.tokens[s.prompt:] {
		if m.Accept(token) != nil {
			return // the text means something there too
		}
	}
	s.matcher, s.parts.m, s.masked, s.recast = m, m, false, nil
	if s.budget != nil {
		s.budget = &budget{vocab: s.vocab, matcher: m}
	}
	end := s.size
	for i := len(s.unsent) - 1; i >= 0; i-- {
		t := &s.unsent[i]
		if len(t.Bytes) > 0 {
			segment, start := s.parts.segmentAt(end)
			t.Segment, t.Before = segment, max(0, start-(end-len(t.Bytes)))
			end -= len(t.Bytes)
		}
	}
}
