package engine

import (
	"time"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Request is what one client asks for.
type Request struct {
	ID     string // for logs
	Client string // requests of one client wait behind one another, not before other clients'

	Prompt    []int32 // at least one token
	Marks     []int   // how many tokens of it other prompts may begin with: where the system's part ends, where turns begin. See Engine.WantsMarks and WantsOpening
	Sampling  sampling.Options
	MaxTokens int      // tokens to generate at most; 0: what the context has left
	Stop      []string // end free text before any of these; not looked for in constrained text
	Choices   int      // how many texts to generate; 0: one. Choice i samples with seed + i

	// Questions are asked instead of having texts generated: one of each of
	// several continuations of the prompt, which they share. The results are in
	// their order and have Scores.
	Questions []Question

	Constraint Constraint // nil: free text
	NoForced   bool       // sample forced text token by token
	Truncate   bool       // let the budget cut the document off

	// Watch makes what reads a choice's passages as they come; the text ends where it
	// returns true. It must not take long: the engine waits for it.
	Watch func() func(Passage) bool

	// Recast makes what may change how the model reads a choice's text in segments. It is asked after each token, with the
	// segments and the text so far, marks and all; the tokens that it returns take the text's place in the model's context
	// from then on. The text so far and the constraint stay as they are. It is not asked where the cache can't be cut, nor
	// after it has returned something. It must not take long.
	Recast func() func(spans []decoder.Span, text []byte) []int32

	// Until makes what looks at a choice's free text as it grows; the text ends, as if its budget were used up, where it
	// returns true, and keeps that many bytes of it. What has been sent is not taken back. It must not take long, and it is
	// not asked about texts in parts.
	Until func() func(text []byte) (keep int, ends bool)

	Logprobs     bool // report the logarithm of each token's probability
	Alternatives int  // and of so many likeliest tokens at its place
	Progress     bool // send events that say how much of the prompt is known, about the first choice
	Measure      bool // report what the model thought of each place before the constraint: Token.Allowed and Options

	// Adapters has a scale for each of the model's adapters; nil: the engine's, see Engine.Adapt. Requests with other
	// scales are never in one batch, and what is known of prompts holds for one set of scales at a time.
	Adapters []float32

	// Place is the number of the place that the first choice is to have, which may be too large by multiples of
	// Config.Parallel; nil: any. It is where Save, Restore and Erase find the text, and has no influence on it.
	Place *int

	Solo    bool // never in one batch with other requests, nor from cells that they filled
	NoReuse bool // read the whole prompt, whatever is known of it

	Timeout time.Duration // from Submit to the end; 0: none
}

// A Question is what a model thinks of some tokens at one place.
type Question struct {
	After  []int32 // what comes between the prompt and that place
	Tokens []int32
}

// An Event is a piece of one choice's text. Its text is whole characters.
type Event struct {
	Choice   int
	Text     string
	Passages []Passage // of a text in segments: whose the text is. Marks that end free text are in neither
	Tokens   []Token   // the tokens behind the text, with Request.Logprobs or Measure
	Done     *Result   // in the last event of a choice
	Progress *Progress // in events before any text, which have nothing else, with Request.Progress
}

// Progress is how much of a prompt is known.
type Progress struct {
	Total  int // tokens of the prompt
	Cached int // of those, the ones that were known from the start
	Known  int // and those that are known by now
	Took   time.Duration
}

// A Token is one token of the text. Its bytes may be part of a character, and
// where a character or a possible stop string is not complete they come in the
// text of a later event.
type Token struct {
	ID      int32
	Bytes   []byte // shared, read-only
	Forced  bool   // appended without asking the model; it has no probability
	Logprob float32
	Top     []sampling.Alternative
	// TopBytes are the bytes of Top's tokens, where these are no vocabulary's.
	TopBytes [][]byte

	// Allowed is the probability, before the constraint, of all tokens that
	// the constraint allowed at this place; 1 in free text.
	Allowed float64
	// Options are those tokens, if they are few: what there was to choose
	// from.
	Options []sampling.Alternative

	// Kept are those that the token was drawn from, the likeliest Request.Alternatives of them, and KeptLogprob is its own
	// share, with Sampling.Keep.
	Kept        []sampling.Alternative
	KeptLogprob float32

	Segment int // of a text in segments: the one that its last byte belongs to
	Before  int // and how many of its bytes come before that one
}

// FinishReason says why a text ended.
type FinishReason string

// The finish reasons.
const (
	FinishStop   FinishReason = "stop"   // the model or the constraint ended it, or a stop string
	FinishLength FinishReason = "length" // the budget cut it off
)

// A Result is what is known about a choice once it is complete.
type Result struct {
	Text       string
	Finish     FinishReason
	StopString string // the stop string that ended the text, if one did
	Seed       uint64
	Place      int // see Request.Place

	PromptTokens     int
	CachedTokens     int // tokens of the prompt that were not computed again
	CompletionTokens int // tokens of the text, forced ones included
	DraftTokens      int // guesses that were decoded beside the text, see Config.Draft
	AcceptedTokens   int // of those, the ones that came true

	// Scores are the logarithms of the probabilities of a question's tokens.
	Scores []float64

	Timings    Timings
	Constraint *ConstraintResult // nil for free text
}

// Timings say where the time of a choice went.
type Timings struct {
	Queued   time.Duration // until a slot was free
	Prompt   time.Duration // from then until the prompt was computed; not its forced continuation, which is computed with it
	Generate time.Duration // from then to the end
}

// A ConstraintResult says what the constraint did to a text.
type ConstraintResult struct {
	ForcedTokens int // appended without asking the model
	SavedSteps   int // of the model, which forced text and an end that had to come made needless
	Masks        int // computed or looked up
	MaskTotal    time.Duration
	MaskMax      time.Duration
	BudgetClosed bool // tokens were refused, or the text was ended, to stay within the budget
	Closing      int  // bytes of text when that happened first
}
