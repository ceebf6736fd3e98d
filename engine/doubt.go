package engine

import (
	"bytes"
	"context"
	"math"
	"slices"
	"time"
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
	// Least is how sure the model must be: the geometric mean of the probabilities that it gives to the part's sampled
	// tokens, before bias, temperature and constraint, must not be smaller. Tokens without a letter or a digit don't count:
	// they lay values out; nor do those with which the budget closes the text.
	Least float64
	// Tokens begin such a part. If one of them is sampled where At reports true, their total probability there must not be
	// smaller either. At must be fast, and is as in Gate.
	Tokens []int32
	At     func(spans []decoder.Span, text []byte) bool
	// Refuse reports whether what follows the part shows that its meaning is another one, and whether that is known yet; nil: it
	// never is. It must be fast.
	Refuse func(spans []decoder.Span, text []byte) (known, refused bool)
	// Ask may return a second opinion on a part of which the model was sure to some degree, nil where there is none. It may take
	// long, and submit requests with Aside. ctx ends with the request; an error ends it, too.
	Ask func(ctx context.Context, spans []decoder.Span, sure float64) (*Opinion, error)
	// Exempt reports whether the part counts however sure the model is of it; nil: none does. It must be fast.
	Exempt func(spans []decoder.Span) bool
	// Unwanted reports whether the text must not begin with the part, once the deciding span is complete; nil: it may. The text then
	// ends there, without the part, and ConstraintResult.Unwanted is set. It must be fast.
	Unwanted func(spans []decoder.Span, text []byte) bool
	// Instead returns the constraint that takes over where the model wasn't. It must accept the text so far, with the same
	// spans before the part. If it is nil, the text ends as with Unwanted.
	Instead Fallback
}

// An Opinion is an answer to the question whether a part is what it seems.
type Opinion struct {
	Yes  float64 // how much of a yes it is, from 0 to 1
	Sure float64 // how sure the model is of the part in view of it, for Doubt.Least
}

// doubt is a Doubt about one sequence that is not decided. A nil doubt is decided.
type doubt struct {
	*Doubt
	s   *sequence
	sum float64 // of the logarithms of n tokens' probabilities
	n   int

	first  bool                  // At reported true of the next token
	begin  float64               // probability of Tokens where it last did
	begins bool                  // one of them was sampled there
	next   *sampling.Measurement // of the next token, if that is in the part
}

// find is Find of the text so far.
func (d *doubt) find() (part, decides int) {
	if d == nil {
		return -1, -1
	}
	return d.Find(d.s.parts.m.Spans())
}

// look notes what the model says of the next token, if that counts. measured is known already if the sequence measures
// every token.
func (d *doubt) look(measured *sampling.Measurement) {
	if d == nil {
		return
	}
	s := d.s
	part, _ := d.find()
	d.next, d.first = nil, part < 0 && d.At(s.parts.m.Spans(), s.parts.raw)
	switch {
	case d.first:
		d.begin = s.distribution(gateSet(d.Tokens)).Allowed
	case part < 0:
	case s.measurer != nil:
		d.next = measured
	default:
		m := s.distribution(nil)
		d.next = &m
	}
}

// sampled counts the token that came.
func (d *doubt) sampled(token int32) {
	switch {
	case d == nil:
	case d.first:
		d.begins = slices.Contains(d.Tokens, token)
	case d.next != nil && !d.s.limits.BudgetClosed && bytes.ContainsFunc(d.s.vocab.Bytes(token), says):
		d.sum += float64(d.s.logprob(d.next, token))
		d.n++
	}
}

// says reports whether a character is more than layout; so does a part of a character.
func says(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c >= utf8.RuneSelf }

// holds reports whether text must not be sent yet: that of the part and, if that may be left out, what may become its
// beginning.
func (d *doubt) holds() bool {
	part, _ := d.find()
	return part >= 0 || d != nil && (d.Unwanted != nil || d.Instead == nil) && d.s.parts.m.Held() > 0
}

// decide ends the doubt if its span is over, or the text is.
func (d *doubt) decide(complete bool) {
	part, decides := d.find()
	if part < 0 || !complete && (decides < 0 || decides == len(d.s.parts.m.Spans())-1) {
		return
	}
	if decides >= 0 && d.Unwanted != nil && d.Unwanted(d.s.parts.m.Spans(), d.s.parts.raw) {
		d.leaveOut()
		return
	}
	exempt := d.Exempt != nil && d.Exempt(d.s.parts.m.Spans())
	known, refused := true, false
	if d.Refuse != nil && !exempt {
		known, refused = d.Refuse(d.s.parts.m.Spans(), d.s.parts.raw)
	}
	if !known && !complete {
		return
	}
	sure := 1.0
	if d.n > 0 {
		sure = math.Exp(d.sum / float64(d.n))
	}
	if d.begins {
		sure = min(sure, d.begin)
	}
	if !refused && !exempt && d.Ask != nil {
		answer, err := d.ask(sure)
		if err != nil {
			d.s.doubt = nil
			d.s.fail(err)
			return
		}
		if answer != nil {
			sure, d.s.limits.Asked = answer.Sure, &answer.Yes
		}
	}
	if d.s.doubt = nil; !exempt {
		d.s.limits.Doubted = &sure
	}
	switch unsure := !exempt && (sure < d.Least || refused); {
	case unsure && d.Instead == nil:
		d.leaveOut()
		return
	case unsure:
		d.takeBack()
	}
	if !complete {
		d.s.tell(false)
	}
}

// leaveOut ends the text without the part and what is held back before it.
func (d *doubt) leaveOut() {
	s := d.s
	s.doubt, s.holding, s.unsent = nil, false, nil
	s.limits.Unwanted = true
	s.ended, s.result.Finish = true, FinishStop
}

// ask is Ask. What it waits for is no work of the step.
func (d *doubt) ask(sure float64) (*Opinion, error) {
	s, begun := d.s, time.Now()
	answer, err := d.Ask(s.job.ctx, s.parts.m.Spans(), sure)
	waited := time.Since(begun)
	s.waited += waited
	s.toll.waited(waited)
	return answer, err
}

// takeBack has Instead take over.
func (d *doubt) takeBack() {
	s := d.s
	if s.replace(d.Instead) != nil {
		return // to Instead, too, the text is more than text
	}
	s.masked, s.recast = false, nil
	end := s.size
	for i := len(s.unsent) - 1; i >= 0; i-- {
		if t := &s.unsent[i]; len(t.Bytes) > 0 {
			segment, start := s.parts.segmentAt(end)
			t.Segment, t.Before = segment, max(0, start-(end-len(t.Bytes)))
			end -= len(t.Bytes)
		}
	}
}
