package engine

import "time"

// A Part is what a stretch of the engine's time went into.
type Part uint8

// The parts. Those of a sequence do not overlap one another; PartStep holds
// PartForward and what sequences do after it.
const (
	PartQueue   Part = iota // a request waits for a slot
	PartStep                // a batch and all that follows from it
	PartForward             // the model computes a batch
	PartMask                // the tokens that may come next
	PartMeasure             // probabilities for the request
	PartSample              // a token is drawn
	PartAccept              // the constraint and the budget take it
	PartForce               // the text that has to follow is found and appended
	PartText                // the token becomes text
	PartDeliver             // text is handed to its reader
)

var partNames = [...]string{"queue", "step", "forward", "mask", "measure", "sample", "accept", "force", "detokenize", "deliver"}

// String returns the name of a part in one word.
func (p Part) String() string { return partNames[p] }

// A Span is a stretch of time that went into a part.
type Span struct {
	Part   Part
	Start  time.Time
	Took   time.Duration
	Tokens int // decoded or drawn, where that means something

	Request string // Request.ID; empty for what is done for all at once
	Choice  int
}

// A Tracer is told where the time goes. Span is called by the loop and its
// workers, several at once.
type Tracer interface{ Span(Span) }

// tracing hands spans to a tracer; nil does nothing, and takes no time.
type tracing struct{ to Tracer }

func newTracing(t Tracer) *tracing {
	if t == nil {
		return nil
	}
	return &tracing{t}
}

// clock returns the time at which a span begins.
func (t *tracing) clock() (now time.Time) {
	if t != nil {
		now = time.Now()
	}
	return now
}

// span ends a span that began at start and returns the time, at which the next
// one may begin. A nil sequence stands for all of them.
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
