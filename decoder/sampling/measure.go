package sampling

import (
	"math"

	"github.com/stencil-json/stencil/vocab"
)

// An Alternative is a token with the natural logarithm of its probability.
type Alternative struct {
	Token   int32
	Logprob float32
}

// A Measurement reports the model's own distribution at a step: before bias,
// penalties, truncation and temperature, and before the constraint.
type Measurement struct {
	// Top holds the likeliest tokens, the likeliest first. It is valid until
	// the Measurer's next call.
	Top []Alternative
	// Allowed is the total probability that the model gave to the allowed tokens; the
	// mask excludes the rest of 1.
	Allowed float64

	logits []float32
	logSum float64
}

// Logprob returns the natural logarithm of the probability of a token.
func (m *Measurement) Logprob(token int32) float32 {
	return float32(float64(m.logits[token]) - m.logSum)
}

// LogprobIn is Logprob for when the measured row may no longer be valid; logits is a
// copy of it.
func (m *Measurement) LogprobIn(logits []float32, token int32) float32 {
	return float32(float64(logits[token]) - m.logSum)
}

// A Measurer computes measurements. It keeps its scratch between calls and is
// used by one goroutine at a time.
type Measurer struct {
	size int
	all  vocab.Bitset
	set  vocab.Bitset
	heap topHeap
	top  []Alternative
}

// NewMeasurer returns a Measurer for a vocabulary of size tokens.
func NewMeasurer(size int) *Measurer {
	m := &Measurer{size: size, all: vocab.NewBitset(size), set: vocab.NewBitset(size)}
	fillAll(m.all, size)
	return m
}

// Measure reads a row of logits, which the Measurement refers to. A nil
// allowed is the whole vocabulary. It takes one pass over the row for the
// likeliest token, one for the normalisation, and one more when alternatives,
// the number of entries wanted in Top, is not zero.
func (m *Measurer) Measure(logits []float32, allowed Set, alternatives int) Measurement {
	logits = logits[:m.size]
	_, top := argmax(m.all, logits)
	if math.IsInf(float64(top), 0) {
		top = 0 // the row holds no distribution; avoid NaN
	}
	total := weigh(m.all, logits, top, 1, nil)
	out := Measurement{Allowed: 1, logits: logits, logSum: float64(top) + math.Log(total)}
	if allowed != nil && total > 0 {
		out.Allowed = min(1, m.weighSet(logits, allowed, top)/total)
	}
	if alternatives > 0 {
		out.Top = m.likeliest(&out, alternatives)
	}
	return out
}

func (m *Measurer) weighSet(logits []float32, allowed Set, top float32) float64 {
	base, extra := allowed.Parts()
	if base == nil {
		var sum float64
		for _, t := range extra {
			sum += float64(weight(top - logits[t]))
		}
		return sum
	}
	if len(extra) > 0 {
		copy(m.set, base)
		for _, t := range extra {
			m.set.Set(t)
		}
		base = m.set
	}
	return weigh(base, logits, top, 1, nil)
}

func (m *Measurer) likeliest(of *Measurement, n int) []Alternative {
	m.heap.reset(n)
	offerAll(&m.heap, m.all, of.logits)
	sortByLogit(m.heap.kept)
	m.top = m.top[:0]
	for _, c := range m.heap.kept {
		m.top = append(m.top, Alternative{c.token, of.Logprob(c.token)})
	}
	return m.top
}
