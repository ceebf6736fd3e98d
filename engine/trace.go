package engine

import "time"

// A Part is a category of the engine's time.
type Part uint8

// The parts. Those of a sequence do not overlap; PartStep includes PartForward
// and what sequences do after it.
const (
	PartQueue   Part = iota // a request waits for a slot
	PartStep                // a batch and all processing after it
	PartForward             // the model computes a batch
	PartMask                // finding the allowed tokens
	PartMeasure             // measuring probabilities for the request
	PartSample              // sampling a token
	PartAccept              // the constraint and the budget accept it
	PartForce               // finding and appending forced text
	PartText                // turning the token into text
	PartDeliver             // sending text to the reader
)

var partNames = [...]string{"queue", "step", "forward", "mask", "measure", "sample", "accept", "force", "detokenize", "deliver"}

// String returns the name of the part in one word.
func (p Part) String() string { return partNames[p] }

// A Span is a period of time spent on a part.
type Span struct {
	Part   Part
	Start  time.Time
	Took   time.Duration
	Tokens int // decoded or sampled, if applicable

	Request string // Request.ID; empty for work on several requests
	Choice  int
}

// A Tracer receives the spans of the engine's time. Span is called
// concurrently by the loop and its workers.
type Tracer interface{ Span(Span) }

// tracing passes spans to a tracer; nil does nothing, at no cost.
type tracing struct{ to Tracer }

func newTracing(t Tracer) *tracing {
	if t == nil {
		return nil
	}
	return &tracing{t}
}

// clock returns the start time of a span.
func (t *tracing) clock() (now time.Time) {
	if t != nil {
		now = time.Now()
	}
	return now
}

// span ends a span that began at start and returns the time, at which the next
// one may begin. A nil sequence stands for all sequences.
func (t *tracing) span(p Part, start time.Time, s *sequence, tokens int) (now time.Time) {
	if t == nil {
		return now
	}
	now = time.Now()
	span := Span{Part: p, Start: start, Took: now.Sub(start), Tokens: tokens}
	if s != nil {
		span.Request, span.Choice = s.job.req.ID, s.choice
	}
	t.to.Span(span)
	return now
}
