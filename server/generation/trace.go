package generation

import (
	"encoding/json"
	"math"
	"sort"
	"strings"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// A Trace follows a constrained text token by token: the model's unconstrained
// probabilities at each place, and which values of the document are complete.
//
// # Confidence
//
// The confidence of a value is the probability that the model gave to it, without a
// constraint and at temperature 1: the product over the value's tokens. Forced text
// was not sampled and counts as certain. A token that extends beyond the value
// counts in proportion to its bytes inside.
// to its bytes inside.
//
// For an enumeration or a boolean it is the share among the alternatives: at each
// token that distinguishes some of them, the probabilities of all allowed tokens are
// added to the alternatives that they are consistent with. Probability shared by
// alternatives other than the one written is divided evenly.
type Trace struct {
	vocab  *vocab.Vocab
	Rule   *Constraint
	Layout *layout.Layout
	Text   []byte
	Begin  int // start of the document; -1: not begun yet
	steps  []step
	scan   wire.Scanner
	fields []wire.Field
	told   int // number of fields that Fresh has returned
	worst  float64
	at     string // where the pressure was largest
	sum    float64
	asked  int
}

// A step is a token and its position in the text.
type step struct {
	start int
	token engine.Token
}

// NewTrace returns the trace of a text of a generation.
func NewTrace(g *Generation) *Trace {
	t := &Trace{vocab: g.Model.Text.Vocab(), Rule: g.Constraint, Layout: g.Layout}
	if t.Layout != nil {
		t.Begin = -1
	}
	return t
}

// Add adds tokens and returns the values completed by them.
func (t *Trace) Add(tokens []engine.Token) []wire.Field {
	for _, tok := range tokens {
		t.steps = append(t.steps, step{len(t.Text), tok})
		if t.Begin < 0 && t.Layout.IsDocument(tok.Segment) && len(tok.Bytes) > 0 {
			t.Begin = len(t.Text) + tok.Before
		}
		for _, c := range tok.Bytes {
			if t.Rule.document != nil && t.Begin >= 0 && len(t.Text) >= t.Begin {
				t.scan.Next(c, t.emit)
			}
			t.Text = append(t.Text, c)
		}
		if !tok.Forced {
			taken := max(0, 1-tok.Allowed)
			t.sum += taken
			t.asked++
			if taken > t.worst {
				t.worst, t.at = taken, t.scan.Pointer()
			}
		}
	}
	return t.Fresh()
}

// End marks the end of the text. Fresh then returns the values that it completes.
func (t *Trace) End() { t.scan.Finish(t.emit) }

func (t *Trace) emit(f wire.Field) {
	f.Start += t.Begin
	f.End += t.Begin
	t.fields = append(t.fields, f)
}

// Fresh returns the complete values that were not returned before.
func (t *Trace) Fresh() []wire.Field {
	out := t.fields[t.told:]
	t.told = len(t.fields)
	return out
}

func (t *Trace) pressure() pressureReply {
	p := pressureReply{Max: round(t.worst), At: t.at}
	if t.asked > 0 {
		p.Mean = round(t.sum / float64(t.asked))
	}
	return p
}

// shortened returns the pointers of the values written after the budget began to run
// out: leaves that were not complete at from; if there are none, the innermost value
// that was open there or ended there.
func (t *Trace) shortened(from int) []string {
	out := []string{}
	var open *wire.Field
	for i, f := range t.fields {
		switch {
		case f.End < from || f.Start > from:
		case open == nil || f.Start > open.Start || f.Start == open.Start && f.End <= open.End:
			open = &t.fields[i]
		}
		if f.Leaf && f.End > from {
			out = append(out, f.Pointer)
		}
	}
	if len(out) == 0 && open != nil {
		out = append(out, open.Pointer)
	}
	return out
}

// A FieldReply reports the model's confidence in a leaf.
type FieldReply struct {
	Confidence   float64            `json:"confidence"`
	Alternatives map[string]float64 `json:"alternatives,omitempty"`
}

// Replies returns the confidence of every leaf, by pointer.
func (t *Trace) Replies() map[string]FieldReply {
	out := make(map[string]FieldReply)
	for _, f := range t.fields {
		if f.Leaf {
			out[f.Pointer] = t.Reply(f)
		}
	}
	return out
}

// Reply returns the confidence of a leaf.
func (t *Trace) Reply(f wire.Field) FieldReply {
	options := t.Rule.optionsAt(f.Pointer)
	if len(options) == 1 {
		return FieldReply{Confidence: 1} // the model could choose only its layout
	}
	if len(options) > 1 {
		shares := t.shares(f, options)
		chosen := string(t.Text[f.Start:f.End])
		out := FieldReply{Alternatives: make(map[string]float64, len(options))}
		for i, o := range options {
			if o == chosen {
				out.Confidence = round(shares[i])
			}
			out.Alternatives[label(o)] += round(shares[i])
		}
		return out
	}
	return FieldReply{Confidence: round(t.probability(f))}
}

// label returns the name of an alternative: a string's value, or any other value's
// JSON.
func label(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil && strings.HasPrefix(text, `"`) {
		return s
	}
	return text
}

// round drops digits beyond the precision of float32 logits.
func round(p float64) float64 { return math.Round(p*1e7) / 1e7 }

// over returns the steps whose tokens overlap a value.
func (t *Trace) over(f wire.Field) []step {
	first := sort.Search(len(t.steps), func(i int) bool { return t.steps[i].start+len(t.steps[i].token.Bytes) > f.Start })
	last := sort.Search(len(t.steps), func(i int) bool { return t.steps[i].start >= f.End })
	return t.steps[min(first, last):last]
}

func (t *Trace) probability(f wire.Field) float64 {
	sum := 0.0
	for _, s := range t.over(f) {
		if s.token.Forced || len(s.token.Bytes) == 0 {
			continue
		}
		inside := min(f.End, s.start+len(s.token.Bytes)) - max(f.Start, s.start)
		sum += float64(s.token.Logprob) * float64(inside) / float64(len(s.token.Bytes))
	}
	return min(1, math.Exp(sum))
}

// shares returns the probability of each alternative; their sum is 1.
func (t *Trace) shares(f wire.Field, options []string) []float64 {
	out := make([]float64, len(options))
	mass := 1.0
	left := make([]bool, len(options))
	for i := range left {
		left[i] = true
	}
	for _, s := range t.over(f) {
		if s.token.Forced || len(s.token.Options) < 2 {
			continue
		}
		// known is the value's text before this token; before is the token's text
		// that precedes the value.
		known := string(t.Text[f.Start:max(f.Start, s.start)])
		before := string(t.Text[min(s.start, f.Start):f.Start])
		begun := func(b []byte) []bool {
			text := string(b)
			if n := min(len(text), len(before)); text[:n] != before[:n] {
				return nil
			}
			value := known + text[min(len(text), len(before)):]
			set := make([]bool, len(options))
			some := false
			for i, o := range options {
				set[i] = left[i] && (strings.HasPrefix(o, value) || strings.HasPrefix(value, o))
				some = some || set[i]
			}
			if !some {
				return nil
			}
			return set
		}
		chosen := begun(s.token.Bytes)
		if chosen == nil {
			continue
		}
		along, total := 0.0, 0.0
		var others []weighedSet
		for _, o := range s.token.Options {
			set, p := begun(t.vocab.Bytes(o.Token)), math.Exp(float64(o.Logprob))
			switch {
			case set == nil:
				continue
			case equal(set, chosen):
				along += p
			default:
				others = append(others, weighedSet{set, p})
			}
			total += p
		}
		if total <= 0 {
			continue
		}
		for _, o := range others {
			spread(out, o.set, mass*o.p/total)
		}
		mass *= along / total
		left = chosen
	}
	text := string(t.Text[f.Start:f.End])
	for i, o := range options {
		if o == text {
			out[i] += mass
			return out
		}
	}
	spread(out, left, mass)
	return out
}

type weighedSet struct {
	set []bool
	p   float64
}

func spread(out []float64, set []bool, mass float64) {
	n := 0
	for _, in := range set {
		if in {
			n++
		}
	}
	for i, in := range set {
		if in {
			out[i] += mass / float64(n)
		}
	}
}

func equal(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
