package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/vocab"
)

// A job is one request on its way through the engine. Its sequences are the
// loop's; ctx and stream may be used by anyone.
type job struct {
	req       Request
	cutting   cutting // of its prompt
	ctx       context.Context
	cancel    context.CancelCauseFunc
	forget    func() // ends ctx without waking the loop, and all that hangs on it
	stream    *Stream
	sequences []*sequence
	begun     int   // sequences that have left the queue
	open      int   // sequences that have not ended
	away      int   // sequences that are away
	lost      error // why the job ended, while sequences of it are still away
	submitted time.Time

	readable, known int // how much of the prompt can be read from disk, and is there or about to be
}

// A sequence is one choice of a job.
type sequence struct {
	job     *job
	choice  int
	errand  func(*sequence) // what a worker does with it
	back    chan struct{}   // that it is done; of size 1
	stage   stage
	slow    bool // its last step took long
	outside bool // it is away
	emptied bool // its slot lost its cells while it was away

	looking sync.Mutex // at logits, and when they are exchanged for a copy
	vocab   *vocab.Vocab

	tokens   []int32   // the prompt, and what was generated
	prompt   int       // how many of them are the prompt
	reported int       // how much of the prompt events were about, and one more
	cached   int       // how many were in the slot when it was first given one
	asked    *Question // nil: a text is wanted
	slot     *slot
	taken    int // how many of its tokens are in the running batch
	row      int // which logits of the running batch are its, -1 if none
	logits   []float32
	shared   int                // how many of its tokens were in other slots' cells when it got its own
	ready    bool               // begin has run
	sits     bool               // it has a place, result.Place
	primed   bool               // the whole prompt has been decoded once
	stored   *stored            // what is read from disk for it, until it has its slot
	from     origin             // of what its slot had of the prompt
	stops    []stop             // where its state is to be kept, in order
	kind     spanKind           // how its tokens in the running batch are computed
	given    []float32          // the logits after all of its tokens, which an earlier request left
	watch    func(Passage) bool // Request.Watch; nil: nobody
	until    func([]byte) (int, bool)
	recast   func([]decoder.Span, []byte) []int32 // Request.Recast; nil: nobody

	changed bool // the context is another one than what was decoded
	shrunk  int  // how many tokens fewer than were generated are in the context

	model  string // for messages
	looked bool   // at a row of logits, whether it is one

	drafter  *drafter // nil if nothing is guessed
	sampler  *sampling.Sampler
	measurer *sampling.Measurer // nil unless probabilities are wanted
	matcher  Matcher            // nil for free text
	budget   *budget            // nil for free text and with Request.Truncate
	mask     sampling.Set
	masked   bool    // mask is the one of the present position
	exclude  []int32 // scratch of choose
	one      [1]int32
	few      []int32 // the tokens that the mask allows at the present position, if they are few

	tracing   *tracing
	masking   time.Duration // what masks have taken lately
	advancing time.Duration // what the last advance took

	tail      textTail
	size      int          // of the whole text in bytes
	parts     *partTracker // nil unless the constraint is a sequence
	text      []byte       // what can be shown
	sent      int          // how much of it went into events
	told      time.Time    // when the last one was sent
	done      bool         // the result has been sent
	unsent    []Token
	passages  []Passage
	result    Result
	limits    ConstraintResult
	ended     bool
	err       error
	started   time.Time
	prefilled time.Time
}

// progress says how much of the prompt is known, unless that has been said.
func (s *sequence) progress(now time.Time, known int) {
	if known = min(known, s.prompt); !s.job.req.Progress || s.choice > 0 || s.primed || s.asked != nil || known < s.reported {
		return
	}
	s.reported = known + 1
	s.job.stream.send(Event{Choice: s.choice, Progress: &Progress{Total: s.prompt, Cached: s.cached, Known: known, Took: now.Sub(s.started)}})
}

// left returns how many tokens may still be generated.
func (s *sequence) left() int {
	return s.job.req.MaxTokens - max(s.generated(), len(s.tokens)-s.prompt)
}

func (s *sequence) generated() int { return len(s.tokens) - s.prompt + s.shrunk }

// pending returns the tokens that have not been decoded.
func (s *sequence) pending() []int32 { return s.tokens[len(s.slot.tokens):] }

// begin appends what the constraint forces at the very start, before anything
// has been decoded. It runs on a worker.
func (s *sequence) begin() {
	s.sampler.Prompt(s.tokens[:s.prompt])
	if s.matcher == nil {
		return
	}
	if s.force(); !s.ended {
		s.settle()
	}
}

// prepare makes sure that mask is the one of the present position. It runs on
// a worker while the model decodes, if that is worth it.
func (s *sequence) prepare() {
	if s.matcher == nil || s.masked || s.ended {
		return
	}
	start := time.Now()
	mask, err := s.matcher.Mask()
	took := time.Since(start)
	if err != nil {
		s.fail(s.constraintError(err))
		return
	}
	s.mask, s.masked = mask, true
	s.limits.Masks++
	s.limits.MaskTotal += took
	s.limits.MaskMax = max(s.limits.MaskMax, took)
	s.masking = recent(s.masking, took)
	s.tracing.span(PartMask, start, s, 0)
}

// constraintError returns the error for what a matcher refuses, or for what made it
// unusable, where that is known.
func (s *sequence) constraintError(err error) error {
	if cause := matcherErr(s.matcher); cause != nil {
		err = cause
	}
	return s.refused(err)
}

// advance samples the next token from the logits, and appends it and the text
// that is forced after it; further tokens as long as the batch had what was
// written as guesses. Sequences advance on several goroutines at once if
// that is worth it.
func (s *sequence) advance() {
	start := time.Now()
	s.goOn()
	for s.draftCame() && !s.ended {
		s.goOn()
	}
	s.advancing = time.Since(start)
}

// draftCame makes the logits after a guess that came true those of the present place.
func (s *sequence) draftCame() bool {
	d := s.drafter
	if d == nil || d.used == 0 || s.changed {
		return false
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	logits := d.after(s.tokens)
	if logits != nil {
		s.logits = logits
	}
	return logits != nil
}

// measure looks at the logits for the first time at a place. It reports whether they
// are numbers.
func (s *sequence) measure() (measured sampling.Measurement, ok bool) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if !s.looked {
		s.looked = true
		if !finite(s.logits) {
			return measured, false
		}
	}
	if s.measurer != nil {
		start := s.tracing.clock()
		measured = s.measurer.Measure(s.logits, s.mask, s.job.req.Alternatives)
		s.tracing.span(PartMeasure, start, s, 0)
	}
	return measured, true
}

// logprob returns the logarithm of a token's probability at the present place.
func (s *sequence) logprob(m *sampling.Measurement, token int32) float32 {
	s.looking.Lock()
	defer s.looking.Unlock()
	return m.LogprobIn(s.logits, token)
}

// sample draws a token.
func (s *sequence) sample() (token int32, err error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.sampler.Sample(s.logits, s.mask, s.exclude)
}

// possible reports whether the logit of a token is a number.
func (s *sequence) possible(token int32) bool {
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.logits[token] <= math.MaxFloat32
}

func (s *sequence) goOn() {
	if s.prepare(); s.ended {
		return
	}
	measured, ok := s.measure()
	if !ok {
		s.fail(&LogitsError{s.model})
		return
	}
	if s.asked != nil {
		for _, token := range s.asked.Tokens {
			s.result.Scores = append(s.result.Scores, float64(s.logprob(&measured, token)))
		}
		s.end(FinishStop)
		return
	}
	s.few = s.fewOptions()
	token, ok := s.choose()
	if !ok || s.ended {
		return
	}
	if !s.has(token) {
		return
	}
	if !s.possible(token) {
		s.fail(&LogitsError{s.model})
		return
	}
	if s.vocab.IsEOG(token) {
		s.end(FinishStop)
		return
	}
	s.append(token, false, &measured)
	if s.matcher != nil && !s.ended {
		start := s.tracing.clock()
		s.force()
		s.tracing.span(PartForce, start, s, 0)
	}
	if !s.ended {
		s.reread()
	}
	if !s.ended {
		s.settle()
	}
}

// reread puts other tokens in the place of the text in the model's context, if somebody wants that.
func (s *sequence) reread() {
	if s.recast == nil {
		return
	}
	as := s.recast(s.parts.m.Spans(), s.parts.raw)
	if as == nil {
		return
	}
	s.recast = nil
	if growth := s.prompt + len(as) - len(s.tokens); growth >= s.left() {
		return
	}
	for _, token := range as {
		if !s.has(token) {
			return
		}
	}
	s.shrunk = len(s.tokens) - s.prompt - len(as)
	s.tokens = append(s.tokens[:s.prompt:s.prompt], as...)
	s.changed = true
}

// has fails the sequence unless there is such a token: in a batch it would fail
// the others as well.
func (s *sequence) has(token int32) bool {
	if token < 0 || int(token) >= s.vocab.Len() {
		s.fail(fmt.Errorf("engine: token %d is not in the vocabulary of %d", token, s.vocab.Len()))
		return false
	}
	return true
}

// finite reports whether a row of logits is one: none is NaN or +Inf, and not all
// are -Inf, which some may be.
func finite(logits []float32) bool {
	some := false
	for _, l := range logits {
		if !(l <= math.MaxFloat32) {
			return false
		}
		some = some || l >= -math.MaxFloat32
	}
	return some
}

// maxOptions is how many tokens count as few to choose from: more than the
// spellings of an enumeration's next characters, fewer than those of a number.
const maxOptions = 256

// fewOptions returns the tokens that the mask allows if they are few and wanted.
func (s *sequence) fewOptions() []int32 {
	if s.matcher == nil || !s.job.req.Measure {
		return nil
	}
	base, extra := s.mask.Parts()
	if base != nil || len(extra) > maxOptions {
		return nil
	}
	return extra
}

// isFree reports whether the text is free at present, without a constraint or
// between the parts that have one.
func (s *sequence) isFree() bool {
	if s.matcher == nil {
		return true
	}
	return s.parts != nil && s.parts.m.Free()
}

// settle ends the sequence where nothing more can or may follow.
func (s *sequence) settle() {
	if s.matcher != nil && s.onlyEndFollows() {
		s.limits.SavedSteps++
		s.end(FinishStop)
		return
	}
	switch {
	case s.ended || s.left() > 0:
	case s.budget != nil && !s.isFree():
		// The invariant says that the text is complete; it could have gone
		// on.
		if !s.matcher.Accepting() {
			s.fail(s.constraintError(errors.New("the document is not complete at the end of its budget")))
			return
		}
		s.closing()
		s.end(FinishStop)
	default:
		s.end(FinishLength)
	}
}

// closing notes that the budget has a say in the text from here on.
func (s *sequence) closing() {
	if !s.limits.BudgetClosed {
		s.limits.BudgetClosed, s.limits.Closing = true, s.size
	}
}

// maxTries is how many tokens that would not fit the budget are sampled at one
// place before the document is simply completed. Each try costs a step of the
// matcher and a pass over the logits.
const maxTries = 16

// choose samples a token that may follow and, if there is a matcher, has it
// accepted. It reports false when the sequence has ended instead.
func (s *sequence) choose() (int32, bool) {
	s.prepare()
	if s.ended {
		return 0, false
	}
	s.exclude = s.exclude[:0]
	for {
		start := s.tracing.clock()
		token, err := s.sample()
		start = s.tracing.span(PartSample, start, s, 1)
		switch {
		case err != nil && len(s.exclude) > 0:
			return s.follow()
		case errors.Is(err, sampling.ErrEmpty) && s.matcher != nil && s.matcher.Accepting():
			s.end(FinishStop) // a vocabulary without end-of-generation tokens
			return 0, false
		case err != nil:
			s.fail(s.constraintError(err))
			return 0, false
		}
		if s.matcher == nil || s.vocab.IsEOG(token) {
			return token, true
		}
		if err := s.matcher.Accept(token); err != nil {
			s.fail(s.constraintError(err))
			return 0, false
		}
		s.masked = false
		if s.budget == nil {
			s.tracing.span(PartAccept, start, s, 1)
			return token, true
		}
		s.one[0] = token
		if s.budget.fits(s.one[:], s.left()-1) {
			s.budget.commit()
			s.tracing.span(PartAccept, start, s, 1)
			return token, true
		}
		if err := s.matcher.Rollback(1); err != nil {
			s.fail(s.constraintError(err))
			return 0, false
		}
		s.masked = true
		s.closing()
		if s.exclude = append(s.exclude, token); len(s.exclude) >= maxTries {
			return s.follow()
		}
	}
}

// follow takes the next token of the budget's completion, or ends the text if
// it is complete.
func (s *sequence) follow() (int32, bool) {
	s.closing()
	plan := s.budget.complete()
	if len(plan) == 0 {
		if !s.matcher.Accepting() {
			s.fail(s.constraintError(errors.New("no spelling of a completion in this vocabulary")))
			return 0, false
		}
		s.end(FinishStop)
		return 0, false
	}
	token := plan[0]
	if err := s.matcher.Accept(token); err != nil {
		s.fail(s.constraintError(err))
		return 0, false
	}
	s.masked = false
	s.one[0] = token
	if !s.budget.fits(s.one[:], s.left()-1) {
		s.fail(s.constraintError(errors.New("the planned completion does not fit the budget")))
		return 0, false
	}
	s.budget.commit()
	return token, true
}

// force appends the text that has to follow, if it fits the budget.
func (s *sequence) force() {
	if s.job.req.NoForced {
		return
	}
	forced := s.matcher.ForcedTokens()
	if err := matcherErr(s.matcher); err != nil {
		s.fail(s.refused(err))
		return
	}
	if s.budget == nil {
		forced = forced[:min(len(forced), max(0, s.left()))]
	}
	if len(forced) == 0 {
		return
	}
	at := len(s.tokens)
	s.tokens = append(s.tokens, forced...) // forced is the matcher's; this copy is ours
	forced = s.tokens[at:]
	s.tokens = s.tokens[:at]
	for i, token := range forced {
		if err := s.matcher.Accept(token); err != nil {
			s.fail(s.constraintError(errors.Join(err, s.matcher.Rollback(i))))
			return
		}
	}
	if s.budget != nil {
		if !s.budget.fits(forced, s.left()-len(forced)) {
			// The same text in the budget's own spelling does fit; it is
			// sampled, with little to choose from.
			if err := s.matcher.Rollback(len(forced)); err != nil {
				s.fail(s.constraintError(err))
			}
			return
		}
		s.budget.commit()
	}
	s.masked = false
	s.limits.ForcedTokens += len(forced)
	s.limits.SavedSteps += len(forced)
	for _, token := range forced {
		s.append(token, true, nil)
	}
}

// append adds a token to the text.
func (s *sequence) append(token int32, forced bool, measured *sampling.Measurement) {
	if !s.has(token) {
		return
	}
	if !forced { // else it is a part of PartForce
		start := s.tracing.clock()
		defer func() { s.tracing.span(PartText, start, s, 1) }()
	}
	s.tokens = append(s.tokens, token)
	s.sampler.Accept(token)
	b := s.vocab.Bytes(token)
	if s.measurer != nil {
		t := Token{ID: token, Bytes: b, Forced: forced}
		if !forced {
			t.Logprob = s.logprob(measured, token)
			t.Top = append(t.Top, measured.Top...)
			t.Allowed = measured.Allowed
			if req := &s.job.req; req.Sampling.Keep {
				t.Kept, t.KeptLogprob = s.sampler.Kept(nil, req.Alternatives), s.sampler.KeptLogprob(token)
			}
			for _, option := range s.few {
				t.Options = append(t.Options, sampling.Alternative{Token: option, Logprob: s.logprob(measured, option)})
			}
		}
		s.unsent = append(s.unsent, t)
	}
	s.size += len(b)
	if s.parts != nil {
		s.parts.raw = append(s.parts.raw, b...)
		if s.measurer != nil && len(b) > 0 {
			t := &s.unsent[len(s.unsent)-1]
			segment, start := s.parts.segmentAt(s.size)
			t.Segment, t.Before = segment, max(0, start-(s.size-len(b)))
		}
		s.tell(false)
		return
	}
	s.tail.stops = nil
	if s.isFree() {
		s.tail.stops = s.job.req.Stop
	}
	text, stop := s.tail.add(b)
	s.text = append(s.text, text...)
	s.stop(stop)
	if s.until == nil && s.job.req.Until != nil {
		s.until = s.job.req.Until()
	}
	if s.until != nil && !s.ended && s.isFree() {
		if keep, ends := s.until(s.text); ends {
			s.text = s.text[:min(max(keep, s.sent), len(s.text))]
			s.tail.held = s.tail.held[:0]
			s.end(FinishLength)
		}
	}
}

// stop ends the text at a stop string, if there is one.
func (s *sequence) stop(stop string) {
	if stop != "" {
		s.result.StopString = stop
		s.end(FinishStop)
	}
}

// tell adds what can be told of a text in parts; all of it once it is complete.
func (s *sequence) tell(complete bool) {
	parts, more := s.parts.next(complete)
	for i, p := range parts {
		s.tail.stops = nil
		if s.parts.m.EndsAnywhere(p.Segment) {
			s.tail.stops = s.job.req.Stop
		}
		text, stop := s.tail.add([]byte(p.Text))
		if stop == "" && (complete || !more[i]) {
			text += s.tail.flush()
		}
		s.text = append(s.text, text...)
		s.passages = appendPassage(s.passages, Passage{p.Segment, p.Visit, text})
		if stop != "" {
			s.stop(stop)
			return
		}
		if s.watch != nil && s.watch(Passage{p.Segment, p.Visit, text}) && !complete {
			s.end(FinishStop)
			return
		}
	}
}

// onlyEndFollows reports whether the text is complete and can't go on.
func (s *sequence) onlyEndFollows() bool {
	if !s.matcher.Accepting() {
		return false
	}
	if s.prepare(); s.ended {
		return false
	}
	base, extra := s.mask.Parts()
	ends := len(s.vocab.EOG())
	if len(extra)+base.Count() > ends {
		return false
	}
	for _, t := range base.AppendTo(extra[:len(extra):len(extra)]) {
		if !s.vocab.IsEOG(t) {
			return false
		}
	}
	return true
}

func (s *sequence) end(reason FinishReason) {
	s.ended = true
	s.result.Finish = reason
	if s.parts != nil && s.result.StopString == "" {
		s.tell(true)
		return
	}
	s.text = append(s.text, s.tail.flush()...)
}

func (s *sequence) fail(err error) {
	s.ended = true
	s.err = err
}

// summary completes the result of a sequence that has ended.
func (s *sequence) summary(now time.Time) *Result {
	r := s.result
	r.Text = string(s.text)
	r.Seed = s.job.req.Sampling.Seed + uint64(s.choice)
	r.PromptTokens, r.CachedTokens, r.CompletionTokens = s.prompt, min(s.cached, s.prompt), s.generated()
	if s.prefilled.IsZero() {
		s.prefilled = now
	}
	r.Timings = Timings{Queued: s.started.Sub(s.job.submitted), Prompt: s.prefilled.Sub(s.started), Generate: now.Sub(s.prefilled)}
	if d := s.drafter; d != nil {
		r.DraftTokens, r.AcceptedTokens = d.drafted, d.accepted
	}
	if s.matcher != nil {
		limits := s.limits
		r.Constraint = &limits
	}
	return &r
}
