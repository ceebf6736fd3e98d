package engine

import (
	"time"

	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Request is what a client submits.
type Request struct {
	ID     string // for logs
	Client string // clients take turns; the requests of one client wait for one another

	Prompt    []int32 // at least one token
	Marks     []int   // lengths of prefixes that other prompts may share: the end of the system prompt, the starts of turns. See Engine.WantsMarks and WantsOpening
	Sampling  sampling.Options
	MaxTokens int      // most tokens to generate; 0: the rest of the context
	full      bool     // MaxTokens is the rest of the context
	Stop      []string // free text ends before any of these; ignored in constrained text
	MinTokens int      // free text does not end before so many tokens, and Stop is looked for behind them
	Choices   int      // number of texts to generate; 0: one. Choice i samples with seed + i

	// Questions replace the generation of texts. Each is a continuation of the prompt, which they
	// share. The results are in their order and have Scores.
	Questions []Question

	Constraint Constraint // nil: free text
	Gate       *Gate      // nil: none; only for texts in segments
	Doubt      *Doubt     // nil: none; only for texts in segments
	Special    bool       // special tokens add their spelling to the text; only without a constraint
	NoForced   bool       // sample forced text token by token
	Truncate   bool       // the budget may cut the document off

	// Watch returns a function for each choice, which receives the choice's passages as they come;
	// the text ends if it returns true. It must be fast: the engine waits for it.
	Watch func() func(Passage) bool

	// Recast returns a function for each choice, which may replace the text in segments in the
	// model's context. It is called after each token with the segments and the text so far, marks
	// included; if it returns tokens, they take the text's place in the context from then on. The
	// text so far and the constraint are unaffected. It is not called if the model can't rewind,
	// nor after it has returned tokens. It must be fast.
	Recast func() Recaster

	// Started is called when the first text leaves the queue. It must be fast. nil: nothing is called.
	Started func()

	// Until returns a function for each choice, which sees the choice's free text as it grows. If
	// it returns true, the text ends as if its budget were used up, and only the first keep bytes
	// remain; text already sent is not taken back. It must be fast. It is not called for texts in
	// segments.
	Until func() func(text []byte) (keep int, ends bool)

	Logprobs     bool // report the logarithm of each token's probability
	Alternatives int  // and of this many of the most likely tokens at its place
	Progress     bool // send events with the progress of the prompt, for the first choice
	Measure      bool // report probabilities before the constraint at each place: Token.Allowed and Options

	// Adapters has a scale for each of the model's adapters; nil: the engine's, see Engine.Adapt.
	// Requests with different scales never share a batch, and cached prompts are valid for one set
	// of scales at a time.
	Adapters []float32

	// Place is the number of the place for the first choice, modulo Config.Parallel; nil: any. It is where Save,
	// Restore and Erase find the text, and has no influence on it.
	Place *int

	// Aside is for a request on whose result another one waits, as in Doubt.Ask: it goes ahead of the queue, and isn't refused
	// because that is full.
	Aside bool

	Solo    bool // never share a batch or KV cells with other requests
	NoReuse bool // prefill the whole prompt, regardless of caches

	Timeout time.Duration // from Submit to the end; 0: none
}

// A Question asks for the probabilities of some tokens at one place.
type Question struct {
	After  []int32 // tokens between the prompt and that place
	Tokens []int32
}

// An Event is a piece of one choice's text. Its text consists of complete characters.
type Event struct {
	Choice   int
	Text     string
	Passages []Passage // of a text in segments: the text by segment. Marks that end free text are in neither
	Tokens   []Token   // the tokens of the text, with Request.Logprobs or Measure
	Done     *Result   // set in the last event of a choice
	Progress *Progress // set in events before any text, which have nothing else, with Request.Progress
}

// Progress reports how much of a prompt has been computed.
type Progress struct {
	Total  int // tokens of the prompt
	Cached int // of those, tokens reused from caches
	Known  int // of those, tokens computed or reused so far
	Took   time.Duration
}

// A Token is one token of the text. Its bytes may be part of a character. If a character or a
// possible stop string is incomplete, its text comes in a later event.
type Token struct {
	ID      int32
	Bytes   []byte // shared, read-only
	Forced  bool   // appended without sampling; it has no probability
	Logprob float32
	Top     []sampling.Alternative
	// TopBytes are the bytes of Top's tokens if these have no IDs in a vocabulary.
	TopBytes [][]byte

	// Allowed is the total probability, before the constraint, of all tokens that the constraint
	// allowed at this place; 1 in free text.
	Allowed float64
	// Options are those tokens, if they are few.
	Options []sampling.Alternative

	// Kept are the candidates that the token was drawn from, at most Request.Alternatives of the
	// most likely, and KeptLogprob is its own log probability among the candidates; both are set
	// with Sampling.Keep.
	Kept        []sampling.Alternative
	KeptLogprob float32

	Segment int // of a text in segments: the segment of its last byte
	Before  int // number of its bytes before that segment
}

// FinishReason says why a text ended.
type FinishReason string

// The finish reasons.
const (
	FinishStop   FinishReason = "stop"   // the model or the constraint ended it, or a stop string
	FinishLength FinishReason = "length" // the budget cut it off
)

// A Result describes a complete choice.
type Result struct {
	Text       string
	Finish     FinishReason
	Tokens     []int32 // of the text, as the model's context has them
	StopString string  // the stop string that ended the text, if one did
	Seed       uint64
	Place      int // see Request.Place

	PromptTokens     int
	CachedTokens     int // tokens of the prompt that were reused
	CompletionTokens int // tokens of the text, including forced ones
	DraftTokens      int // guesses decoded for the text, see Config.Draft
	AcceptedTokens   int // of those, the ones that came true

	// Scores are the log probabilities of a question's tokens.
	Scores []float64

	Timings    Timings
	Constraint *ConstraintResult // nil for free text
}

// Timings report where the time of a choice went.
type Timings struct {
	Queued   time.Duration // until a slot was free
	Prompt   time.Duration // from then until the prompt was computed, without the forced text computed with it
	Generate time.Duration // from then to the end
}

// A ConstraintResult reports what the constraint did to a text.
type ConstraintResult struct {
	ForcedTokens int // appended without sampling
	SavedSteps   int // model steps saved by forced text and by an end that had to follow
	Masks        int // computed or looked up
	MaskTotal    time.Duration
	MaskMax      time.Duration
	BudgetClosed bool     // tokens were refused, or the text ended, to stay within the budget
	Closing      int      // bytes of text when that first happened
	Doubted      *float64 // what decided Request.Doubt, as in Doubt.Least; nil if nothing was decided
	Asked        *float64 // Opinion.Yes of Doubt.Ask, if there was one
	Unwanted     bool     // the text began with what Request.Doubt excludes, and ends there
	Gated        *float64 // the total probability of the tokens of Request.Gate where it last applied; nil if it didn't
}
